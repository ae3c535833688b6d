// What the stores in a folder have in common, beyond the behaviour of every store.
#include <filesystem>

#include "tests/support/matchers.hpp"
#include "tests/tools/stores/store_conformance.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

class FolderStore : public StoreConformance {
 protected:
  std::string folder_ = directory_ / GetParam().name;
};

INSTANTIATE_TEST_SUITE_P(Stores, FolderStore, ::testing::Values(kLmdb, kDir), store_kind_name);

TEST_P(FolderStore, IsUnavailableWithoutAParentFolder) {
  const std::string url = std::string(GetParam().name) + ":" + directory_ / "missing/store";
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>(url),
            url + ": cannot create the folder: No such file or directory");
}

TEST_P(FolderStore, IsNotCreatedByAReader) {
  const auto read = [this] { return open_store(url_, IfMissing::Refuse)->get("a"); };
  EXPECT_THAT(message_of<ErrorKind::Unavailable>(read),
              AllOf(StartsWith(url_ + ": cannot open"), EndsWith(": No such file or directory")));
  EXPECT_FALSE(fs::exists(folder_));
  put(*open(), "a", "1");
  EXPECT_EQ(read(), "1");
}

TEST_P(FolderStore, KeepsALogApartFromARecordOfTheSameName) {
  const auto store = open();
  append(*store, {"a"});
  put(*store, kLog, "a record of the same name");
  append(*store, {"b"});
  EXPECT_EQ(store->get(kLog), "a record of the same name");
  EXPECT_THAT(keys_in(*store), ElementsAre("a", "b"));
  EXPECT_THAT(store->keys_with_prefix(""), ElementsAre(kLog));
}

TEST_P(FolderStore, WatchEndsWithTheFolder) {
  const auto store = open();
  const auto removed = store->watch();
  const auto renamed = store->watch();
  fs::rename(folder_, folder_ + ".old");
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { renamed->take(); }),
              HasSubstr(url_ + ": cannot watch: No such file"));
  fs::remove_all(folder_ + ".old");
  EXPECT_EQ(failure_of([&] { removed->take(); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->watch(); }), ErrorKind::Unavailable);
}

}  // namespace
}  // namespace keysieve::test
