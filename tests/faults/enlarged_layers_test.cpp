// A worker asks for keys while they are added and the layer that holds them is enlarged.
#include <atomic>

#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

constexpr int kFirst = 100'000;
constexpr int kKeysPerAdd = 1'000;

struct AskedKeys {
  std::atomic<int> known{0};  // so many keys of those added have been seen
  std::atomic<int> absent{0};
  std::atomic<std::uint64_t> publication{0};  // that the last round was asked of
  std::atomic<bool> is_over{false};
};

class EnlargedLayers : public SetRefresherTest {
 protected:
  // All that were known before the worker began to ask.
  int serve() const {
    SetReader worker({.directory = site_.directory()}, "tags");
    while (!asked_->is_over) {
      const int known = asked_->known;
      for (int i = 0; i < known; ++i) {
        const Attachment* attached = worker.follow();
        if (attached == nullptr) return kUnexpected;
        if (!attached->may_contain(attached->snapshot().hasher()(key_number(kFirst + i)))) ++asked_->absent;
      }
      if (known > 0) asked_->publication = worker.attachment()->id().publication;
    }
    return 0;
  }

  const SharedPage<AskedKeys> asked_;
};

TEST_F(EnlargedLayers, NeverLoseAKeyOfAWorker) {
  go_live();
  const pid_t worker = start_process([this] { return serve(); });
  for (std::uint64_t publication = 1; publication < 4 && !HasFailure();) {
    const KeyRange added{kFirst + asked_->known, kKeysPerAdd};
    site_.add("tags", added);
    EXPECT_EQ(trouble(), Trouble::None);
    EXPECT_TRUE(site_.knows("tags", added));
    asked_->known += kKeysPerAdd;
    publication = site_.live("tags")->id.publication;
    EXPECT_TRUE(eventually([&] { return asked_->publication == publication; }));
    EXPECT_LT(asked_->known, 100'000) << "it is not enlarged";
  }
  asked_->is_over = true;
  EXPECT_EQ(wait_for(worker), 0);
  EXPECT_EQ(asked_->absent, 0);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

}  // namespace
}  // namespace keysieve::test
