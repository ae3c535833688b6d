// What happens in a simulation, one line each, with a digest that two runs of a seed must share.
#pragma once

#include <fmt/core.h>

#include <deque>
#include <string>

#include "core/worker/base/checksum.hpp"
#include "tests/simulation/promises.hpp"
#include "tests/simulation/scheduler.hpp"

namespace keysieve::test {

class Story {
 public:
  // The path of `folder` is left out of what is told, because it is another each time.
  Story(const SimulatedTime& time, const Scheduler& scheduler, std::string folder)
      : time_(time), scheduler_(scheduler), folder_(std::move(folder)) {}

  void tell(std::string what) {
    for (std::size_t at = 0; (at = what.find(folder_, at)) != std::string::npos;)
      what.erase(at, folder_.size());
    const Actor* actor = scheduler_.running();
    std::string line = fmt::format("{:02}:{:02}:{:02}.{:03} {}: {}", time_.now / kHour,
                                   time_.now / kMinute % 60, time_.now / kSecond % 60, time_.now % kSecond,
                                   actor == nullptr ? "end" : actor->name, what);
    digest_ = checksum(as_bytes(fmt::format("{} {}", digest_, line)));
    lines_.push_back(std::move(line));
    if (lines_.size() > kMostLines) lines_.pop_front();
  }
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  static constexpr std::size_t kMostLines = 100'000;

  const SimulatedTime& time_;
  const Scheduler& scheduler_;
  std::string folder_;
  std::deque<std::string> lines_;
  std::uint64_t digest_ = 0;
};

// What is wrong at the end of the work, which the story tells, too; empty: nothing.
template <typename Work>
std::string broken_in(Story& story, const Work& work) {
  std::string what;
  try {
    work();
  } catch (const Broken& broken) {
    what = broken.what;
  } catch (const std::exception& error) {
    what = error.what();
  }
  if (!what.empty()) story.tell(what);
  return what;
}

}  // namespace keysieve::test
