#include "tools/program/units.hpp"

#include <limits>

#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

template <typename Parse>
void expect_refused(Parse parse, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts)
    EXPECT_EQ(failure_of([&] { parse(text); }), ErrorKind::Usage) << text;
}

TEST(Counts, AreWholeNumbersWithoutSign) {
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("80000"), 80'000U);
  EXPECT_EQ(parse_count("9223372036854775807"), kLargest);
  expect_refused(parse_count, {"", " ", "-5", "+5", "1e6", "1.5", "5 ", " 5", "80,000", "0x10",
                               "9223372036854775808", "99999999999999999999", "k", "4k"});
}

TEST(KeyCounts, AreWholeNumbersThousandsOrMillions) {
  EXPECT_EQ(parse_key_count("0"), 0U);
  EXPECT_EQ(parse_key_count("80000"), 80'000U);
  EXPECT_EQ(parse_key_count("30k"), 30'000U);
  EXPECT_EQ(parse_key_count("5M"), 5'000'000U);
  expect_refused(parse_key_count,
                 {"1e6", "", "k", "30K", "30 k", "1.5M", "-1k", "30kk", "9223372036854775807k"});
}

TEST(Sizes, AreBytesOrPowersOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  for (const char* text : {"4KiB", "4k", "4K"}) EXPECT_EQ(parse_bytes(text), 4096U) << text;
  for (const char* text : {"64MiB", "64M"}) EXPECT_EQ(parse_bytes(text), 67'108'864U) << text;
  for (const char* text : {"1GiB", "1G"}) EXPECT_EQ(parse_bytes(text), 1'073'741'824U) << text;
  EXPECT_EQ(parse_bytes("8589934591GiB"), 8'589'934'591U << 30U);
}

TEST(Sizes, RefuseOtherUnitsFractionsAndTooLargeValues) {
  expect_refused(parse_bytes, {"", "KiB", "4 KiB", "4KB", "4kb", "4kib", "1.5MiB", "-1", "+1", "1TiB",
                               "4096x", "9223372036854775808", "8589934592GiB", "18446744073709551616"});
}

TEST(Durations, HaveAUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("5s"), 5s);
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("0s"), 0s);
  EXPECT_EQ(parse_duration("9223372036854775807ms").count(), std::numeric_limits<std::int64_t>::max());
}

TEST(Durations, RefuseOtherUnitsFractionsAndTooLongTimes) {
  expect_refused(parse_duration, {"", "ms", "s", "0", "5", "90", "1.5h", "-5s", "5 s", "5sec", "1w", "5M",
                                  "9223372036854775808ms", "9223372036854775807s", "106751991168d"});
}

TEST(Shares, AreFractionsOrPercentages) {
  EXPECT_DOUBLE_EQ(parse_share("0.2"), 0.2);
  EXPECT_DOUBLE_EQ(parse_share("20%"), 0.2);
  EXPECT_DOUBLE_EQ(parse_share("20 %"), 0.2);
  EXPECT_DOUBLE_EQ(parse_share("0.1%"), 0.001);
  EXPECT_DOUBLE_EQ(parse_share("1e-6"), 1e-6);
  EXPECT_EQ(parse_share("1e-7%"), 1e-9) << "the lowest target, to the last bit";
  EXPECT_EQ(parse_share("0.0000001 %"), 1e-9);
  EXPECT_EQ(parse_share("0"), 0.0);
  EXPECT_EQ(parse_share("1"), 1.0);
  EXPECT_EQ(parse_share("100%"), 1.0);
}

TEST(Shares, RefuseValuesNotBetween0And1) {
  expect_refused(parse_share,
                 {"", "%", "2", "1.0001", "-0.1", "101%", "nan", "inf", "-1%", "0.2x", "20%%", "20  %"});
}

TEST(Moments, AreUnixSecondsOrUtc) {
  EXPECT_EQ(parse_moment("@0"), 0);
  EXPECT_EQ(parse_moment("@1700000000"), 1'700'000'000);
  EXPECT_EQ(parse_moment("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_moment("2023-11-14T22:13:20Z"), 1'700'000'000);
  EXPECT_EQ(parse_moment("2024-02-29T23:59:59Z"), 1'709'251'199);
}

TEST(Moments, CanBeNow) {
  const UnixSeconds before = unix_now();
  const UnixSeconds now = parse_moment("now");
  EXPECT_GE(now, before);
  EXPECT_LE(now, unix_now());
}

TEST(Moments, RefuseInvalidDatesAndThoseBefore1970) {
  expect_refused(parse_moment, {"",
                                "@",
                                "@-1",
                                "@x",
                                "@1 ",
                                "Now",
                                "1700000000",
                                "2026-11-21",
                                "@99999999999999999999",
                                "2026-02-30T00:00:00Z",
                                "2025-02-29T00:00:00Z",
                                "2026-13-01T00:00:00Z",
                                "2026-11-21T24:00:00Z",
                                "2026-11-21T07:00:60Z",
                                "2026-11-21T07:00:00",
                                "2026-11-21T07:00:00+01:00",
                                "2026-11-21 07:00:00Z",
                                " 2026-11-21T07:00:00Z",
                                "2026-11-21T07:00:00Zx",
                                "2026-1-1T00:00:00Z",
                                "1969-12-31T23:59:59Z",
                                "26-11-21T07:00:00Z"});
  EXPECT_EQ(failure_of([&] { parse_moment(std::string("2026-11-21T07:00:00Z") + '\0'); }),
            ErrorKind::Usage);  // with its NUL
}

TEST(Sizes, AreShownWithOneDecimal) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(4096), "4.0 KiB");
  EXPECT_EQ(format_bytes(1'048'576 - 52), "1023.9 KiB");
  EXPECT_EQ(format_bytes(1'048'576 - 51), "1.0 MiB");  // not 1024.0 KiB
  EXPECT_EQ(format_bytes(82'000'000), "78.2 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(Durations, AreShownInTheirTwoLargestUnits) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(45s), "45s");
  EXPECT_EQ(format_duration(59s), "59s");
  EXPECT_EQ(format_duration(60s), "1m");
  EXPECT_EQ(format_duration(61s), "1m 1s");
  EXPECT_EQ(format_duration(3600s), "1h");
  EXPECT_EQ(format_duration(3601s), "1h");
  EXPECT_EQ(format_duration(24h), "1d");
  EXPECT_EQ(format_duration(51h + 59min), "2d 3h");
  EXPECT_EQ(format_duration(-90s), "-1m 30s");
}

TEST(Moments, AreShownInUtc) {
  EXPECT_EQ(format_moment(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_moment(1'700'000'000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(format_moment(kFarthestMoment), "33658-09-27T01:46:40Z");
  EXPECT_EQ(format_moment(std::numeric_limits<UnixSeconds>::max()), "@9223372036854775807");
  EXPECT_EQ(parse_moment(format_moment(1'795'244'400)), 1'795'244'400);
}

TEST(Shares, AreShownWithThreeSignificantDigits) {
  EXPECT_EQ(format_share(0.0), "0 %");
  EXPECT_EQ(format_share(1.0), "100 %");
  EXPECT_EQ(format_share(0.9999), "99.9 %");
  EXPECT_EQ(format_share(0.2), "20.0 %");
  EXPECT_EQ(format_share(0.01), "1.00 %");
  EXPECT_EQ(format_share(0.010249), "1.02 %");
  EXPECT_EQ(format_share(0.000123), "0.0123 %");
  EXPECT_EQ(format_share(1e-6), "0.000100 %");
  EXPECT_EQ(format_share(1e-7), "0.0000100 %");
  EXPECT_EQ(format_share(1e-9), "0.000000100 %");
  EXPECT_EQ(format_share(1e-10), "0.0000000100 %");
  EXPECT_EQ(format_share(0.9e-10), "below 0.00000001 %");
}

TEST(Units, BitsPerKeyOfATinySetAreNotWrittenInFull) {
  EXPECT_EQ(format_bits_per_key(6.752), "6.75");
  EXPECT_EQ(format_bits_per_key(100), "100.00");
  EXPECT_EQ(format_bits_per_key(32'768), "over 100");
}

TEST(Units, ACountOfOneIsSingular) {
  EXPECT_EQ(format_count_of(0, "key"), "0 keys");
  EXPECT_EQ(format_count_of(1, "key"), "1 key");
  EXPECT_EQ(format_count_of(1234, "key"), "1,234 keys");
}

TEST(Counts, AreShownWithThousandsSeparated) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace keysieve::test
