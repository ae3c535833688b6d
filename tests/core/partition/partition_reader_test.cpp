#include "core/builder/partition/partition_reader.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>
#include <thread>

#include "core/builder/partition/shard_order.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

using Hashes = std::vector<KeyHash>;

constexpr MemoryPlan kInMemory{.threads = 2};
constexpr MemoryPlan kPartlySpilled{
    .threads = 2, .chunk_hashes = 16, .kept_chunks = 1'000, .piece_hashes = 400};
constexpr MemoryPlan kSpilledInPieces{.threads = 2, .chunk_hashes = 8, .kept_chunks = 0, .piece_hashes = 50};

class Partitions : public ::testing::Test {
 protected:
  // Holds each of these 30,000 hashes once or more.
  Partitions() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 30'000; ++i) hashes_.push_back({random()});
    hashes_.push_back({0});
    hashes_.push_back({UINT64_MAX});
    hashes_.insert(hashes_.end(), hashes_.begin(), hashes_.begin() + 5'000);
    hashes_.insert(hashes_.end(), 2'000, hashes_.front());
    sorted_ = hashes_;
    sort_and_dedupe(sorted_);
  }

  std::unique_ptr<HashPartitions> partitioned(const MemoryPlan& plan) const {
    auto partitions = std::make_unique<HashPartitions>(plan, directory_.path());
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      partitions->writer(static_cast<unsigned>(i % plan.threads)).add(hashes_[i]);
    }
    partitions->finish_writing();
    return partitions;
  }

  static Hashes read(PartitionReader& reader, const HashRange& range = {}) {
    Hashes all;
    reader.read(range, [&all](std::span<const KeyHash> piece) {
      EXPECT_FALSE(piece.empty());
      all.insert(all.end(), piece.begin(), piece.end());
    });
    return all;
  }

  test::TemporaryDirectory directory_;
  Hashes hashes_;
  Hashes sorted_;
};

TEST_F(Partitions, ReturnEachHashOnceAndInOrder) {
  for (const MemoryPlan& plan : {kInMemory, kPartlySpilled, kSpilledInPieces}) {
    const auto partitions = partitioned(plan);
    PartitionReader reader(*partitions, plan.piece_hashes);
    EXPECT_TRUE(read(reader) == sorted_) << plan.piece_hashes;
    std::uint64_t distinct = 0;
    for (std::size_t i = 0; i < kPartitions; ++i) distinct += reader.count_distinct(i);
    EXPECT_EQ(distinct, sorted_.size()) << plan.piece_hashes;
    EXPECT_TRUE(read(reader) == sorted_) << plan.piece_hashes << ", once counted";
  }
}

TEST_F(Partitions, CanBeReadWithLessRoomThanTheyWereSortedWith) {
  const auto partitions = partitioned(kInMemory);
  PartitionReader sorting(*partitions, 100'000);
  for (std::size_t i = 0; i < kPartitions; ++i) sorting.count_distinct(i);
  PartitionReader reader(*partitions, 50);
  EXPECT_TRUE(read(reader) == sorted_);
}

TEST_F(Partitions, CanBeReadFromAndToAnyHash) {
  for (const MemoryPlan& plan : {kInMemory, kPartlySpilled, kSpilledInPieces}) {
    const auto partitions = partitioned(plan);
    PartitionReader reader(*partitions, plan.piece_hashes);
    for (const bool is_counted : {false, true}) {
      for (const auto& [first, last] :
           {std::pair{0, 0}, {1, 5}, {100, 101}, {77, 20'000}, {29'990, 30'001}}) {
        const HashRange range{sorted_.at(static_cast<std::size_t>(first)),
                              sorted_.at(static_cast<std::size_t>(last))};
        EXPECT_EQ(read(reader, range), Hashes(sorted_.begin() + first, sorted_.begin() + last + 1))
            << first << " to " << last << (is_counted ? ", once counted" : "");
      }
      for (std::size_t i = 0; i < kPartitions; ++i) reader.count_distinct(i);
    }
  }
}

TEST_F(Partitions, SpillOnlyHashesThatDoNotFit) {
  const auto spilled = [](HashPartitions& partitions) {
    std::uint64_t hashes = 0;
    for (std::size_t i = 0; i < kPartitions; ++i) hashes += partitions.partition(i).spilled.size();
    return hashes;
  };
  EXPECT_EQ(spilled(*partitioned(kInMemory)), 0U);
  const std::uint64_t some = spilled(*partitioned(kPartlySpilled));
  EXPECT_GT(some, 0U);
  EXPECT_LT(some, hashes_.size() - 1'000 * 16);
  EXPECT_GT(spilled(*partitioned(kSpilledInPieces)), some);
}

TEST_F(Partitions, LeaveNoNameInTheirFolder) {
  const auto partitions = partitioned(kSpilledInPieces);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(Partitions, TakeHashesFromSeveralThreadsAtOnce) {
  for (const MemoryPlan& plan : {kInMemory, kPartlySpilled}) {
    HashPartitions partitions(plan, directory_.path());
    {
      std::vector<std::jthread> threads;
      for (unsigned thread = 0; thread < plan.threads; ++thread) {
        threads.emplace_back([&, thread] {
          for (const KeyHash& hash : hashes_) partitions.writer(thread).add(hash);
        });
      }
    }
    partitions.finish_writing();
    PartitionReader reader(partitions, plan.piece_hashes);
    EXPECT_TRUE(read(reader) == sorted_);
  }
}

TEST(HashRange, HoldsTheHashesOfItsShards) {
  for (const std::uint32_t shards : {1U, 2U, 3U, 1'000U, 65'537U, UINT32_MAX}) {
    for (const std::uint32_t begin : {0U, 1U, shards / 2, shards - 1}) {
      if (begin >= shards) continue;
      const HashRange range = range_of_shards(begin, begin + 1, shards);
      EXPECT_EQ(shard_of(range.first, shards), begin);
      EXPECT_EQ(shard_of(range.last, shards), begin);
      if (begin > 0) {
        EXPECT_EQ(shard_of({range.first.word - 1}, shards), begin - 1);
      }
      if (begin + 1 < shards) {
        EXPECT_EQ(shard_of({range.last.word + 1}, shards), begin + 1);
      }
    }
  }
  EXPECT_EQ(range_of_shards(0, 5, 5), HashRange{});
}

}  // namespace
}  // namespace keysieve
