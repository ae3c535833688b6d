#include "core/worker/base/bytes.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/builder/base/random.hpp"
#include "core/worker/base/checksum.hpp"

namespace keysieve {
namespace {

TEST(Bytes, RoundsUpToWholePages) {
  EXPECT_EQ(round_up_to_page(0), 0U);
  EXPECT_EQ(round_up_to_page(1), 4096U);
  EXPECT_EQ(round_up_to_page(4096), 4096U);
  EXPECT_EQ(round_up_to_page(4097), 8192U);
  EXPECT_EQ(round_up_to_page(std::uint64_t{1} << 45), std::uint64_t{1} << 45);
}

TEST(Bytes, LoadsAndStoresLittleEndianAtAnyAddress) {
  std::array<std::byte, 9> bytes{};
  store<std::uint32_t>(bytes.data() + 1, 0x04030201);
  for (std::size_t i = 1; i <= 4; ++i) EXPECT_EQ(bytes[i], std::byte(i));
  EXPECT_EQ(load<std::uint32_t>(bytes.data() + 1), 0x04030201U);
  EXPECT_EQ(load<std::uint64_t>(bytes.data() + 1), 0x04030201U);
}

TEST(Bytes, ViewTextAsBytesAndBack) {
  using namespace std::string_view_literals;
  EXPECT_EQ(as_text(as_bytes("a\0b"sv)), "a\0b"sv);
  EXPECT_TRUE(as_bytes("").empty());
}

// Known answers of XXH3-64: every existing snapshot depends on them.
TEST(Checksum, IsXxh3OfTheBytes) {
  EXPECT_EQ(checksum({}), 0x2d06800538d394c2U);
  EXPECT_EQ(checksum(as_bytes("keysieve")), 0xde04fc2c65c8f542U);
}

TEST(Random, FillsAllOfALongStretch) {
  std::array<std::array<std::uint64_t, 8>, 100> words{};
  fill_random(std::as_writable_bytes(std::span(words)));
  for (const auto& stretch : words) EXPECT_NE(stretch, (std::array<std::uint64_t, 8>{}));
}

}  // namespace
}  // namespace keysieve
