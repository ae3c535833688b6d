// Pushes a snapshot of 1 GiB to every store and pulls it, in processes with bounded memory. It takes
// minutes, 3 GiB of disk and as much memory, so ctest leaves it out; `tools/test large` runs it.
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/resource.h>

#include <fstream>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

constexpr std::uint32_t kShards = std::uint32_t{1} << 18;  // of 4 KiB
constexpr std::uint64_t kSnapshotBytes = std::uint64_t{kShards} * 4096;
// What a push or pull may use besides the snapshot: two batches of 64 chunks and the connection's buffers.
constexpr std::uint64_t kWorkingBytes = std::uint64_t{64} << 20;

// The private memory that this process has asked for.
std::uint64_t private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::uint64_t kib = 0;
    if (name == "VmData:" && status >> kib) return kib * 1024;
  }
  return 0;
}

// Runs it in a process that can get only that much more private memory.
template <typename Work>
int run_with_memory(std::uint64_t bytes, Work work) {
  return run_in_process([&] {
    ::malloc_trim(0);  // what the parent has freed would come on top
    const rlim_t most = private_bytes() + bytes;
    const rlimit limit{most, most};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) return kUnexpected;
    return work();
  });
}

class LargeSnapshot : public ::testing::TestWithParam<StoreKind> {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryDirectory>();
    const auto built = build_snapshot({.shard_count = kShards});
    checksum_ = checksum(built.get());
    write_durable_file(path(), built.get());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void TearDown() override { shared_redis().command("FLUSHALL"); }

  static std::string path() { return *folder_ / "large.ks"; }

  static inline std::unique_ptr<TemporaryDirectory> folder_;
  static inline std::uint64_t checksum_ = 0;
  TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

INSTANTIATE_TEST_SUITE_P(Stores, LargeSnapshot, ::testing::ValuesIn(usual_stores_that({.write = true})),
                         store_kind_name);

TEST_P(LargeSnapshot, ComesBackAsItWasPushed) {
  const auto push_it = [this] {
    const MappedRegion file = map_file(path());
    push(*open_store(url_), SnapshotView::decode(bytes_of(file), path(), Check::Everything), {});
    return 0;
  };
  const auto pull_it = [this] {
    const Pulled pulled = pull(*open_store(url_, IfMissing::Refuse), "tags");
    return checksum(pulled.snapshot.get()) == checksum_ ? 0 : 1;
  };
  EXPECT_EQ(run_with_memory(kWorkingBytes, push_it), 0);
  EXPECT_EQ(run_with_memory(kSnapshotBytes + kWorkingBytes, pull_it), 0);
}

TEST_P(LargeSnapshot, CannotBePulledIntoLessMemory) {
  const auto few = build_snapshot({.shard_count = kShardsOfSomeBatches});
  push(*open_store(url_), view_of(few), {});
  const auto pull_it = [this] {
    pull(*open_store(url_), "tags");
    return 0;
  };
  EXPECT_EQ(run_with_memory(kWorkingBytes, pull_it), 0);
  EXPECT_EQ(run_with_memory(few.get().size(), pull_it), kUnexpected) << "the limit means something";
}

}  // namespace
}  // namespace keysieve::test
