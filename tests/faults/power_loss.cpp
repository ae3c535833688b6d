#include "tests/faults/power_loss.hpp"

#include <algorithm>
#include <filesystem>

#include "tests/support/forked.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

constexpr std::uint64_t kSeed = 42;
constexpr unsigned kStatesAtACall = 32;

std::size_t hash_of(const DiskState& state, std::size_t acknowledged) {
  constexpr std::size_t kFactor = 0x9e3779b97f4a7c15;
  std::size_t hash = acknowledged;
  for (const auto& [path, content] : state) {
    for (const std::string_view text : {std::string_view(path), content ? std::string_view(*content) : "/"})
      hash = (hash ^ std::hash<std::string_view>{}(text)) * kFactor;
  }
  return hash;
}

std::string text_of(const DiskState& state) {
  std::string text;
  for (const auto& [path, content] : state)
    text += "\n  " + path + (content ? ": " + std::to_string(content->size()) + " bytes" : "/");
  return text;
}

}  // namespace

Places::Places(const std::string& root) : disk(root + "/disk"), memory(root + "/memory") {
  for (const std::string& folder : {disk, memory}) std::filesystem::create_directory(folder);
}

PowerLosses::PowerLosses(const Story& story, std::optional<std::size_t> killed_after) : story_(story) {
  const auto work = [this](int part) {
    return [this, part] {
      story_.work(places_, *acknowledged_, part);
      return 0;
    };
  };
  if (recorder_.run(work(0), killed_after)) return;
  first_ = calls().size();
  recorder_.run(work(1));
}

std::string PowerLosses::find_wrong(std::optional<std::size_t> without) {
  is_apart_ = without.has_value();
  std::mt19937_64 random(kSeed);
  Disk disk;
  for (std::size_t call = 0;; ++call) {
    if (call >= std::max(first_, without.value_or(0))) {
      std::string wrong = try_states(disk, call, random);
      if (!wrong.empty()) return wrong;
    }
    if (call == calls().size()) return "";
    if (call != without) calls()[call].repeat(disk);
  }
}

// The power is lost right before that call.
std::string PowerLosses::try_states(const Disk& disk, std::size_t call, std::mt19937_64& random) {
  const bool is_end = call == calls().size();
  const unsigned count = is_end ? acknowledged_->count() : calls()[call].acknowledged;
  std::string wrong;
  for_each_state(disk, soak_rounds(kStatesAtACall, 8 * kStatesAtACall), random, [&](const DiskState& state) {
    const std::size_t hash = hash_of(state, count);
    if (good_.contains(hash)) return true;
    wrong = check(state, acknowledged_->first(count));
    if (wrong.empty()) good_.insert(hash);
    return wrong.empty();
  });
  if (wrong.empty()) return wrong;
  return std::string(story_.name) + ", power lost " +
         (is_end ? "at the end" : "before call " + std::to_string(call) + ", " + calls()[call].text) + ", " +
         std::to_string(count) + " acknowledged: " + wrong;
}

std::string PowerLosses::check(const DiskState& state, Acknowledgements acknowledged) {
  ++states_;
  const TemporaryDirectory root(fast_folder());
  const Places places(root.path());
  write_state(state, places.disk);
  std::string wrong;
  try {
    // LMDB ends a process by SIGBUS if its file is shorter than what it has committed.
    if (!is_apart_) {
      wrong = story_.check(places, acknowledged);
    } else if (run_in_process([&] { return story_.check(places, acknowledged).empty() ? 0 : 1; }) != 0) {
      wrong = "something";
    }
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  return wrong.empty() ? wrong : wrong + text_of(state);
}

}  // namespace keysieve::test
