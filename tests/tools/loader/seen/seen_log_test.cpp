// The entries of the log through which hosts exchange a seen set, as bytes.
#include "tools/loader/seen/seen_log.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/message_of.hpp"

namespace keysieve::test {
namespace {

SeenLogEntry an_entry() {
  SeenLogEntry entry{.seed = {77},
                     .sender = 78,
                     .number = 79,
                     .ended_at = 80,
                     .plan = {{1, 2, 3}, 0, 1'000, 1e-5, {512, 8}},
                     .host = "web1"};
  for (std::uint64_t i = 0; i < 64; ++i) {
    const unsigned bits = 3 + static_cast<unsigned>(i) % 38;
    entry.tags.push_back({i, (i * 0x9e37'79b9'7f4a'7c15) >> (64 - bits), bits});
  }
  return entry;
}

TEST(SeenLogEntries, AreReadAsTheyWereWritten) {
  SeenLogEntry entry = an_entry();
  EXPECT_EQ(decode_seen_log_entry(encode(entry), "entry"), entry);
  entry.plan.size = {kMaxSeenWords, 4};
  entry.host = std::string(kMostSeenHostBytes, 'h');
  entry.tags.assign(kTagsPerEntry + kMostTags, {0, low_bits(~std::uint64_t{0}, kMostTagBits), kMostTagBits});
  entry.tags.back().block = kMaxSeenWords / 4 - 1;
  const std::string value = encode(entry);
  EXPECT_LE(value.size(), kMaxValueBytes);
  EXPECT_EQ(decode_seen_log_entry(value, "entry"), entry);
}

TEST(SeenLogEntries, AreRefusedIfAnyByteIsWrong) {
  constexpr std::size_t kVersionAt = 7;
  const std::string value = encode(an_entry());
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string damaged = value;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(failure_of([&] { decode_seen_log_entry(damaged, "entry"); }),
              i == kVersionAt ? ErrorKind::Incompatible : ErrorKind::Data)
        << i;
    EXPECT_EQ(failure_of([&] { decode_seen_log_entry(value.substr(0, i), "entry"); }), ErrorKind::Data) << i;
  }
  EXPECT_EQ(failure_of([&] { decode_seen_log_entry(value + '\0', "entry"); }), ErrorKind::Data);
}

TEST(SeenLogEntries, AreRefusedIfNoLoaderWritesSuch) {
  const auto is_refused = [](const auto& change) {
    SeenLogEntry entry = an_entry();
    change(entry);
    try {
      decode_seen_log_entry(encode(entry), "entry");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Data;
    }
  };
  EXPECT_FALSE(is_refused([](auto&) {}));
  for (const SeenSize& size :
       {SeenSize{0, 8}, {513, 8}, {2 * kMaxSeenWords, 8}, {512, 0}, {512, 32}, {256, 8}})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.size = size; }))
        << size.words << " " << size.block_words;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.window.ends = -1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.ended_at = kFarthestMoment + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.growth = kFiltersPerWindow; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.capacity = 0; }));
  for (const double rate : {0.0, 1.0, std::nan("")})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.rate = rate; })) << rate;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.number = 0; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.host.assign(kMostSeenHostBytes + 1, 'h'); }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().block = 64; })) << "behind the last block";
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = kMostTagBits + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = tag_bits(kMostTags) - 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back() = {63, 8, 3}; })) << "more than its bits";
}

}  // namespace
}  // namespace keysieve::test
