#include "tests/simulation/clocks.hpp"

#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

namespace keysieve::test {
namespace {

constexpr SimulatedMs kUnixBegin = 1'700'006'400 * kSecond;
constexpr SimulatedMs kBootTakes = 30 * kSecond;
constexpr SimulatedMs kSteadyBegin = kHour;  // a steady clock of 0 means "never" to the loader
constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

SimulatedTime* time_in_force = nullptr;
const Machine anywhere{"anywhere"};

// Work takes no time.
SimulatedMs simulated_clock(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
      return kUnixBegin + time_in_force->now + time_in_force->machine->clock_is_off;
    case CLOCK_BOOTTIME:
      return kBootTakes + time_in_force->now - time_in_force->machine->booted_at;
    case CLOCK_MONOTONIC:
      return kSteadyBegin + time_in_force->now;
    default:
      return 0;
  }
}

}  // namespace

SimulatedTime::SimulatedTime(std::uint64_t seed) : machine(&anywhere), random(seed) {
  time_in_force = this;
}

SimulatedTime::~SimulatedTime() {
  time_in_force = nullptr;
}

}  // namespace keysieve::test

// These take the place of libc's, also for libstdc++.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace keysieve::test;
  if (time_in_force == nullptr) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  const SimulatedMs now = simulated_clock(clock);
  time->tv_sec = now / kSecond;
  time->tv_nsec = now % kSecond * kNanosecondsPerMs;
  return 0;
}

// Four bytes are the number of a seen set's segment, which this program shares with the machine's others.
extern "C" ssize_t getrandom(void* bytes, size_t count, unsigned flags) {
  using namespace keysieve::test;
  if (time_in_force == nullptr || count == sizeof(std::uint32_t)) {
    return ::syscall(SYS_getrandom, bytes, count, flags);
  }
  for (size_t done = 0; done < count; done += sizeof(std::uint64_t)) {
    const std::uint64_t drawn = time_in_force->random();
    std::memcpy(static_cast<char*>(bytes) + done, &drawn, std::min(sizeof drawn, count - done));
  }
  return static_cast<ssize_t>(count);
}
