// Compares one mapping of a set per thread, as the extension has with ZTS, with one for the whole process.
// thread_mappings thread|process DIRECTORY SET THREADS prints what the mappings cost in memory, and the
// processor time of all threads to touch each page once, and of a lookup afterwards.
// docs/architecture.md says what follows.
#include <fmt/core.h>

#include <algorithm>
#include <barrier>
#include <ctime>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/worker/shm/set_reader.hpp"
#include "tools/workshop/bench/program.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kPasses = 15;
constexpr std::uint64_t kLookups = 500'000;

double thread_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Of the numbers in /proc/self/`file` behind `name`, which are in kB.
std::uint64_t kilobytes_of(const std::string& file, const std::string& name) {
  std::ifstream lines("/proc/self/" + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1));
  }
  throw std::runtime_error("/proc/self/" + file + " has no " + name);
}

std::size_t mapping_count() {
  std::ifstream lines("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  return count;
}

// Milliseconds to read a byte of each page.
double touch_pages(const Attachment& attachment) {
  const Bytes bytes = attachment.snapshot().bytes();
  const double began = thread_nanoseconds();
  for (std::size_t at = 0; at < bytes.size(); at += kPageBytes)
    static_cast<void>(*static_cast<const volatile std::byte*>(&bytes[at]));
  return (thread_nanoseconds() - began) / 1e6;
}

// Nanoseconds of one lookup.
double look_up(const Attachment& attachment, std::uint64_t seed) {
  const KeyHasher hasher({seed});
  std::uint64_t maybe = 0;
  const double began = thread_nanoseconds();
  for (std::uint64_t n = 0; n < kLookups; ++n) {
    const std::uint64_t number = seed + n;
    const KeyHash hash = hasher(as_text(std::as_bytes(std::span(&number, 1))));
    maybe += attachment.may_contain(hash) ? 1U : 0U;
  }
  const double each = (thread_nanoseconds() - began) / static_cast<double>(kLookups);
  if (maybe == kLookups) throw std::runtime_error("every answer was maybe");
  return each;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(const std::string& mode, const std::string& directory, const std::string& set, std::size_t threads) {
  if (mode != "thread" && mode != "process") throw std::runtime_error("no mode \"" + mode + "\"");
  const std::size_t mappings = mapping_count();
  const std::uint64_t tables = kilobytes_of("status", "VmPTE");
  std::vector<std::unique_ptr<SetReader>> readers;
  for (std::size_t i = 0; i < (mode == "thread" ? threads : 1); ++i) {
    readers.push_back(std::make_unique<SetReader>(ReaderSettings{.directory = directory}, set));
    if (readers.back()->follow() == nullptr) throw std::runtime_error(std::string(readers.back()->reason()));
  }
  const std::size_t mapped = mapping_count() - mappings;

  std::vector<double> touched(threads);
  std::vector<double> passes(kPasses * threads);
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> started;
  for (std::size_t i = 0; i < threads; ++i) {
    started.emplace_back([&, i] {
      const Attachment& attachment = *readers[i % readers.size()]->attachment();
      together.arrive_and_wait();
      touched[i] = touch_pages(attachment);
      for (std::size_t number = i; number < passes.size(); number += threads) {
        together.arrive_and_wait();
        passes[number] = look_up(attachment, (number + 1) << 32);
      }
    });
  }
  for (std::thread& thread : started) thread.join();

  fmt::print("{:8} {:3} mappings, {:6} kB of page tables, {:8} kB resident, {:6} kB proportional, ", mode,
             mapped, kilobytes_of("status", "VmPTE") - tables, kilobytes_of("status", "RssShmem"),
             kilobytes_of("smaps_rollup", "Pss"));
  fmt::print("{:6.1f} ms to touch each page, {:5.1f} ns of a lookup\n",
             std::accumulate(touched.begin(), touched.end(), 0.0), median(passes));
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main(
      "thread_mappings thread|process DIRECTORY SET THREADS", argc, argv, [](char** arguments) {
        keysieve::run(arguments[1], arguments[2], arguments[3], std::stoul(arguments[4]));
      });
}
