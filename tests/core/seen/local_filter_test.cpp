// A filter for one thread alone.
#include "core/worker/seen/local_filter.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

using test::numbered_hash;

class FullLocalFilter : public ::testing::Test {
 protected:
  // One block takes so many tags at most.
  void SetUp() override {
    for (std::uint64_t key = 0; key < kWordsPerLine * kMostTags; ++key)
      filter_.add_if_new(numbered_hash(key));
  }
  bool is_any_absent(std::uint64_t keys) const {
    for (std::uint64_t key = 0; key < keys; ++key) {
      if (!filter_.may_contain(numbered_hash(kOthers + key))) return true;
    }
    return false;
  }

  static constexpr std::uint64_t kOthers = 1'000'000;
  alignas(kWordsPerLine * sizeof(Word)) std::array<Word, kWordsPerLine> words_{};
  LocalFilter filter_{words_};
};

TEST_F(FullLocalFilter, CallsNothingAbsentOnceAKeyHadNoRoom) {
  EXPECT_TRUE(is_any_absent(1'000));
  for (std::uint64_t key = 0; key < 10'000; ++key) filter_.add_if_new(numbered_hash(kOthers + key));
  EXPECT_FALSE(is_any_absent(20'000));
  EXPECT_FALSE(filter_.add_if_new(numbered_hash(2 * kOthers)));
}

}  // namespace
}  // namespace keysieve
