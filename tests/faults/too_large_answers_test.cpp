// A store whose answers are too large.
#include <sys/resource.h>

#include <filesystem>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

using ::testing::Values;

constexpr std::size_t kLarge = std::size_t{64} << 20;
constexpr long kFewKilobytes = 16 * 1024;

struct LargeValue {
  StoreKind kind;
  void (*put)(const TemporaryDirectory& directory, const std::string& key);

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const LargeValue& value, std::ostream* out) { *out << value.kind.name; }
};

void put_into_redis(const TemporaryDirectory&, const std::string& key) {
  shared_redis().command("SETRANGE " + key + " " + std::to_string(kLarge - 1) + " x");
}
void put_into_folder(const TemporaryDirectory& directory, const std::string& key) {
  std::filesystem::resize_file(directory / "dir/" + key, kLarge);
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class TooLargeAnswer : public ::testing::TestWithParam<LargeValue> {};

TEST_P(TooLargeAnswer, IsRefusedBeforeAllOfItArrives) {
  const TemporaryDirectory directory{fast_folder()};
  const std::string url = GetParam().kind.empty_store(directory);
  const auto store = open_store(url);
  pushing(0)(*store);
  const SnapshotRecord record = read_pointer(*store, "tags")->current.value();
  for (const std::string& key : {chunk_keys_of(*store, record).front(), pointer_key(*store, "tags")}) {
    GetParam().put(directory, key);
    EXPECT_EQ(run_in_process([&] {
                const auto fresh = open_store(url);
                const long before = peak_kilobytes();
                const auto message = message_of<ErrorKind::Data>([&] { pull(*fresh, "tags"); });
                if (message != fresh->name() + ": " + key + ": is larger than a record can be") return 1;
                return peak_kilobytes() - before < kFewKilobytes ? 0 : 2;
              }),
              0)
        << key;
  }
}

std::string value_name(const ::testing::TestParamInfo<LargeValue>& of) {
  return of.param.kind.name;
}
INSTANTIATE_TEST_SUITE_P(Stores, TooLargeAnswer,
                         Values(LargeValue{kRedisUnix, put_into_redis}, LargeValue{kRedisTcp, put_into_redis},
                                LargeValue{kDir, put_into_folder}),
                         value_name);

}  // namespace
}  // namespace keysieve::test
