// A store whose answers are too large, short, damaged, old, or of another set.
#include <sys/resource.h>

#include <filesystem>
#include <random>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
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

// Tells the truth about two records of three.
class LyingStore : public StoreDecorator {
 public:
  struct Lies {
    std::mt19937 random{1};
    unsigned told = 0;
    bool has_begun = false;
    std::vector<std::string> others;  // what other records hold or held
  };

  LyingStore(std::unique_ptr<Store> real, Lies& lies)
      : StoreDecorator(*real), real_(std::move(real)), lies_(lies) {}

  std::optional<std::string> get(const std::string& key) override {
    return distort(StoreDecorator::get(key));
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    auto values = StoreDecorator::get_many(keys);
    for (auto& value : values) value = distort(std::move(value));
    return values;
  }

 private:
  std::size_t below(std::size_t end) { return lies_.random() % end; }

  std::optional<std::string> distort(std::optional<std::string> value) {
    if (!value) return value;
    lies_.others.push_back(*value);
    if (!lies_.has_begun || below(3) != 0) return value;
    ++lies_.told;
    switch (below(5)) {
      case 0:
        return std::nullopt;
      case 1:
        return value->substr(0, below(value->size()));
      case 2:
        return *value + std::string(1 + below(1000), 'x');
      case 3: {
        char& changed = (*value)[below(value->size())];
        changed = static_cast<char>(changed ^ (1 << below(8)));
      }
        return value;
      default:
        return lies_.others[below(lies_.others.size())];
    }
  }

  std::unique_ptr<Store> real_;
  Lies& lies_;
};

class WrongAnswers : public SetRefresherTest {
 protected:
  WrongAnswers() {
    lying_.try_again_now();
    refresher_.emplace(set_, loader_, lying_, [] { return true; });
  }

  LyingStore::Lies lies_;
  StoreConnection lying_{[this] { return std::make_unique<LyingStore>(open_store(url_), lies_); },
                         "the store", kPollInterval};
};

// Every generation holds one more key. The live set is always a whole pushed generation and never goes
// back.
TEST_F(WrongAnswers, NeverGoLive) {
  const unsigned rounds = soak_rounds(50, 2000);
  site_.push("shop", kKeys);
  unsigned refused = 0;
  std::uint64_t live = 0;
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    const int keys = 1000 + static_cast<int>(round);
    const std::uint64_t generation = site_.push("tags", {0, keys}).generation;
    lies_.others.push_back(open_store(url_)->get("keysieve:shop:current").value());
    lies_.has_begun = round > 0;
    const RefreshOutcome& outcome = refresh();
    lying_.close();
    const auto found = site_.live("tags").value();
    EXPECT_GE(found.generation, live) << round;
    live = found.generation;
    EXPECT_LE(live, generation) << round;
    const int live_keys = 1000 + static_cast<int>(live) - 1;
    EXPECT_EQ(found.key_count, static_cast<std::uint64_t>(live_keys)) << round;
    EXPECT_TRUE(site_.knows("tags", {0, live_keys})) << round;
    if (outcome.trouble == Trouble::None) continue;
    ++refused;
    EXPECT_NE(outcome.reason, "");
  }
  EXPECT_GT(refused, 0U);
  lies_.has_begun = false;
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), rounds);
  soak_report(lies_.told, "wrong answers");
}

}  // namespace
}  // namespace keysieve::test
