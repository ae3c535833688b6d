// Files that are no snapshot, or no longer one: each verb that reads a snapshot refuses them with the file
// and the reason, and what was published before goes on answering.
#include <cstring>

#include "core/worker/snapshot/layout.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class BadSnapshot : public KeysieveProgram {
 protected:
  BadSnapshot() {
    publish(build("old", numbered_lines(100) + "old\n"));
    push(path("old.ks"));
    build("new", numbered_lines(100) + "new\n", {"--like", path("old.ks")});
    bytes_ = read(path("new.ks"));
  }

  void expect_refused(const std::string& bytes, const std::string& reason) {
    const std::string bad = write("bad.ks", bytes);
    const auto names_the_reason = AllOf(StartsWith(bad + ": "), HasSubstr(reason));
    const std::vector<Words> calls{{"inspect", bad},
                                   {"verify", bad, "--keys", path("new.txt")},
                                   {"push", bad, store()},
                                   {"publish", bad}};
    for (const Words& call : calls) EXPECT_THAT(refusal(65, call), names_the_reason) << call[0];
    EXPECT_THAT(refusal(2, {"query", "--file", bad, "tags", "new"}), names_the_reason);
    EXPECT_EQ(answer("old"), "maybe");
    EXPECT_EQ(answer("new"), "absent");
    EXPECT_THAT(status_of_set(), has({{"publication", 1}}));
    EXPECT_THAT(pull(), has({{"generation", 1}}));
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

TEST_F(BadSnapshot, IsRefusedWhenTheFileIsNoneOrCutShort) {
  expect_refused("", "is not a whole snapshot: 0 bytes");
  expect_refused(numbered_lines(2000), "no magic KEYSIEVE");
  expect_refused(bytes_.substr(0, 4096), "is cut short");
  expect_refused(bytes_ + '\0', "is too long");
}

TEST_F(BadSnapshot, IsRefusedWhenItsLastByteHasChanged) {
  std::string changed = bytes_;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  expect_refused(changed, "shards are damaged");
}

TEST_F(BadSnapshot, IsRefusedWhenItsHeaderIsOfAnotherVersionOrHostile) {
  expect_refused(with_header([](SnapshotHeader& header) { ++header.format; }),
                 "has snapshot format 2, this version reads 1: damaged, or written by a newer version");
  expect_refused(with_header([](SnapshotHeader& header) { header.kind = 200; }),
                 "filter kind 200 is not known to this version");
  const auto leave_the_folder = [](SnapshotHeader& header) {
    header.set_name.fill('\0');
    header.set_name[0] = header.set_name[1] = '.';
  };
  expect_refused(with_header(leave_the_folder), "set name in the header is not valid");
}

}  // namespace
}  // namespace keysieve::test
