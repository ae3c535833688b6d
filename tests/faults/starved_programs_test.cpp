// The programs as they are, whose memory runs out at allocations from main() on: exit status 71 or that of an
// error, and a message.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

// Memory that runs out in another program, which has the library of failing_allocations.cpp.
class PreloadedFaults {
 public:
  explicit PreloadedFaults(std::string path) : path_(std::move(path)) {
    const FileDescriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    void* address = MAP_FAILED;
    if (::ftruncate(file.get(), sizeof(AllocationFaults)) == 0)
      address = ::mmap(nullptr, sizeof(AllocationFaults), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    faults_ = static_cast<AllocationFaults*>(address);
    std::filesystem::create_symlink(FAILING_ALLOCATIONS, library());
  }
  PreloadedFaults(const PreloadedFaults&) = delete;
  PreloadedFaults& operator=(const PreloadedFaults&) = delete;
  ~PreloadedFaults() { ::munmap(faults_, sizeof(AllocationFaults)); }

  // For a program that is to have the library. A leak or a wrong access ends it with a status of its own.
  static constexpr int kSanitizer = 99;
  [[nodiscard]] std::vector<std::string> environment() const {
    const char* options = std::getenv("ASAN_OPTIONS");
    return {"LD_PRELOAD=" + library(), "KEYSIEVE_ALLOCATIONS=" + path_,
            std::string("ASAN_OPTIONS=") + (options == nullptr ? "" : options) +
                ":verify_asan_link_order=0:exitcode=" + std::to_string(kSanitizer)};
  }

  // In a program that runs, or in the next one: from now on, as begin_failing_allocations().
  void begin(std::uint64_t number, bool lasts) noexcept {
    faults_->made = 0;
    faults_->last = lasts ? ~std::uint64_t{0} : number;
    faults_->first = number;
  }
  std::uint64_t end() noexcept {
    faults_->first = 0;
    return faults_->made;
  }
  [[nodiscard]] std::uint64_t made() const noexcept { return faults_->made; }

 private:
  // A space, which the path of the build may have, would end the name.
  [[nodiscard]] std::string library() const { return path_ + ".so"; }

  std::string path_;
  AllocationFaults* faults_;
};

constexpr int kNoMemory = 71;
// A program makes thousands, most of them for its command line. Those at the end are the verb's own.
constexpr std::uint64_t kSpread = 8;
constexpr std::uint64_t kLast = 4;

class StarvedPrograms : public ::testing::Test {
 protected:
  [[nodiscard]] ProgramResult keysieve(const std::vector<std::string>& arguments) const {
    return run_program(
        {.program = KEYSIEVE_PROGRAM, .arguments = arguments, .environment = faults_.environment()});
  }
  // The same with enough memory; returns what it prints.
  std::string succeed(const std::vector<std::string>& arguments) const {
    const ProgramResult result = keysieve(arguments);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.output;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }

  TemporaryDirectory directory_{fast_folder()};
  PreloadedFaults faults_{directory_ / "allocations"};

  static std::vector<std::uint64_t> numbers(std::uint64_t all, bool lasts) {
    std::vector<std::uint64_t> some;
    for (std::uint64_t i = 0; i < kSpread; ++i)
      some.push_back(1 + (2 * i + (lasts ? 1 : 0)) * all / (2 * kSpread));
    for (std::uint64_t i = 0; i < kLast; ++i)
      some.push_back(all - std::min(all - 1, 2 * i + (lasts ? 1 : 0)));
    return some;
  }
};

// Exit status 1 would say that the key is absent. Memory runs out at some allocations, alone and with all
// that follow, spread over all that are made.
TEST_F(StarvedPrograms, ThatOnlyReadPrintTheTruthOrNothing) {
  std::ofstream(path("keys")) << "key0\nkey1\n";
  std::filesystem::create_directory(path("shm"));
  succeed({"build", "--set", "tags", path("keys"), "-o", path("tags.ks")});
  succeed({"publish", "--directory", path("shm"), path("tags.ks")});
  const std::vector<std::vector<std::string>> calls{{"query", "--directory", path("shm"), "tags", "key1"},
                                                    {"inspect", path("tags.ks")}};
  for (const auto& call : calls) {
    faults_.begin(0, false);
    const std::string truth = succeed(call);
    const std::uint64_t all = faults_.end();
    int without_memory = 0;
    int failed = 0;  // the others could do without it
    int tried = 0;
    for (const bool lasts : {false, true}) {
      for (const std::uint64_t number : numbers(all, lasts)) {
        SCOPED_TRACE(call.front() + ", allocation " + std::to_string(number) + (lasts ? " and so on" : ""));
        faults_.begin(number, lasts);
        const ProgramResult result = keysieve(call);
        faults_.end();
        EXPECT_GE(result.exit_status, 0) << "ended by a signal: " << result.errors;
        EXPECT_THAT(result.exit_status, Not(AnyOf(1, PreloadedFaults::kSanitizer))) << result.errors;
        EXPECT_TRUE(result.exit_status == 0 || !result.errors.empty());
        EXPECT_THAT(result.output, AnyOf(truth, result.exit_status == 0 ? truth : ""));
        const bool says_so = result.errors.find("not enough memory") != std::string::npos;
        EXPECT_TRUE(says_so || result.exit_status != kNoMemory) << result.errors;
        without_memory += says_so ? 1 : 0;
        failed += result.exit_status == 0 ? 0 : 1;
        ++tried;
      }
    }
    EXPECT_GT(failed, tried / 2);
    EXPECT_GT(without_memory, failed * 3 / 4);
    soak_report(static_cast<std::uint64_t>(tried), "allocations of keysieve " + call.front());
  }
}

class StarvedKeysieved : public StarvedPrograms {
 protected:
  // With a seen set and a status page.
  StarvedKeysieved() {
    site_.push("tags", kKeys);
    site_.configure("[status]\nlisten = \"unix:" + socket_ + "\"\n" + tags_set +
                    "[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"1h\"\nwindows = 2\n");
  }
  ~StarvedKeysieved() override { remove_segments_of(seen_directory(site_.directory()) + "/clicks"); }

  void start() {
    keysieved_.emplace(std::vector<std::string>{"--config", site_.config_path()}, faults_.environment());
    ASSERT_TRUE(eventually([&] { return ask(socket_, "/startz").status == 200; }))
        << keysieved_->standard_error();
  }

  Site site_;
  std::string socket_ = site_.root() / "status.sock";
  std::optional<KeysievedProcess> keysieved_;
};

// While it runs. Where it ends, it does so with exit status 71, and the next one goes on.
TEST_F(StarvedKeysieved, GoesOnOrIsFollowedByOneThatDoes) {
  start();
  constexpr int kTries = 20;
  int ended = 0;
  std::uint64_t number = 1;
  for (int i = 0; i < kTries && !HasFailure(); ++i, number += 1 + static_cast<std::uint64_t>(i) / 4) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    const bool lasts = i % 5 == 4;
    faults_.begin(number, lasts);
    const std::uint64_t generation = site_.push("tags", kKeys).generation;
    site_.add("tags", {100'000 + i, 1});
    for (const char* page : {"/metrics", "/status.json", "/healthz"}) ask(socket_, page);
    if (lasts) {  // until it has met it
      EXPECT_TRUE(eventually([&] { return faults_.made() >= number; }));
      faults_.end();
    }
    const bool goes_on =
        eventually([&] { return site_.live_generation("tags") == generation || keysieved_->has_ended(); });
    EXPECT_TRUE(goes_on) << keysieved_->standard_error();
    if (keysieved_->has_ended()) {
      EXPECT_EQ(keysieved_->exit_status(), kNoMemory) << keysieved_->standard_error();
      faults_.end();
      ++ended;
      start();
      EXPECT_TRUE(eventually([&] { return site_.live_generation("tags") == generation; }));
    }
    faults_.end();
    EXPECT_TRUE(eventually([&] {
      return site_.knows("tags", {100'000, i + 1});
    })) << keysieved_->standard_error();
    EXPECT_TRUE(eventually([&] { return ask(socket_, "/healthz").status == 200; }))
        << keysieved_->standard_error();
  }
  EXPECT_EQ(keysieved_->stop(), 0) << keysieved_->standard_error();
  soak_report(kTries, "allocations");
}

}  // namespace
}  // namespace keysieve::test
