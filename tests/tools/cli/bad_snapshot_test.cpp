// Files that are no snapshot, or no longer one: each verb that reads a snapshot refuses them with the file
// and the reason, and what was published before goes on answering.
#include <cstring>

#include "core/snapshot/layout.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BadSnapshot : public KeysieveProgram {
 protected:
  BadSnapshot() {
    build("old", numbered_lines(100) + "old\n");
    static_cast<void>(said({"publish", path("old.ks")}));
    static_cast<void>(said({"push", path("old.ks"), store()}));
    build("new", numbered_lines(100) + "new\n", {"--seed-from", path("old.ks")});
    bytes_ = read(path("new.ks"));
  }

  void expect_refused(const std::string& bytes, const std::string& reason) {
    const std::string bad = write("bad.ks", bytes);
    const std::vector<Words> calls{{"inspect", bad},
                                   {"verify", bad, "--keys", path("new.txt")},
                                   {"push", bad, store()},
                                   {"publish", bad}};
    for (const Words& call : calls) {
      EXPECT_THAT(refusal(65, call), AllOf(StartsWith(bad + ": "), HasSubstr(reason))) << call[0];
    }
    EXPECT_THAT(refusal(2, {"query", "--file", bad, "tags", "new"}),
                AllOf(StartsWith(bad + ": "), HasSubstr(reason)));
    expect_old_is_live();
  }

  void expect_old_is_live() {
    EXPECT_EQ(answer("old"), "maybe");
    EXPECT_EQ(answer("new"), "absent");
    EXPECT_EQ(json({"status"}).at("sets").at(0).at("publication"), 1);
    EXPECT_EQ(json({"pull", store(), "tags", "-o", path("pulled.ks")}).at("generation"), 1);
    EXPECT_EQ(read(path("pulled.ks")), read(path("old.ks")));
  }

  // The bytes with another header, whose checksum is right.
  template <typename Change>
  [[nodiscard]] std::string with_header(Change change) const {
    SnapshotHeader header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    change(header);
    header.header_checksum = header_checksum(header);
    std::string changed = bytes_;
    std::memcpy(changed.data(), &header, sizeof header);
    return changed;
  }

  std::string bytes_;
};

TEST_F(BadSnapshot, MayBeNoSnapshotAtAll) {
  expect_refused("", "is not a whole snapshot: 0 bytes");
  expect_refused("hello\n", "is not a whole snapshot: 6 bytes");
  expect_refused(numbered_lines(2000), "no magic KEYSIEVE");
}

TEST_F(BadSnapshot, MayBeCutShort) {
  expect_refused(bytes_.substr(0, 4095), "is not a whole snapshot");
  expect_refused(bytes_.substr(0, 4096), "is cut short");
  expect_refused(bytes_.substr(0, bytes_.size() - 1), "is cut short");
  expect_refused(bytes_ + '\0', "is too long");
}

TEST_F(BadSnapshot, MayHaveAChangedByte) {
  const auto with_change_at = [this](std::size_t offset) {
    std::string changed = bytes_;
    changed[offset] = static_cast<char>(changed[offset] ^ 1);
    return changed;
  };
  expect_refused(with_change_at(0), "no magic KEYSIEVE");
  expect_refused(with_change_at(48), "header is damaged");
  expect_refused(with_change_at(4096), "tables are damaged");
  expect_refused(with_change_at(bytes_.size() - 1), "shards are damaged");
}

TEST_F(BadSnapshot, MayBeOfANewerFormat) {
  expect_refused(with_header([](SnapshotHeader& header) { ++header.format; }),
                 "has snapshot format 2, this version reads 1: damaged, or written by a newer version");
}

TEST_F(BadSnapshot, MayBeOfAnUnknownKind) {
  expect_refused(with_header([](SnapshotHeader& header) { header.kind = 200; }),
                 "filter kind 200 is not known to this version");
}

TEST_F(BadSnapshot, MayNameASetThatLeavesItsFolder) {
  expect_refused(with_header([](SnapshotHeader& header) {
                   header.set_name.fill('\0');
                   header.set_name[0] = header.set_name[1] = '.';
                 }),
                 "set name in the header is not valid");
}

TEST_F(BadSnapshot, MayBeOfAnotherSet) {
  build("shop", "new\n", {}, "shop");
  static_cast<void>(said({"publish", path("shop.ks")}));
  EXPECT_EQ(answer("new", "shop"), "maybe");
  EXPECT_EQ(refusal(2, {"query", "--file", path("shop.ks"), "tags", "new"}),
            path("shop.ks") + ": is of set shop");
  EXPECT_EQ(answer("new", "tags"), "absent");
  EXPECT_EQ(answer("old", "tags"), "maybe");
}

}  // namespace
}  // namespace keysieve::test
