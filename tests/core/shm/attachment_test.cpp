#include "core/worker/shm/attachment.hpp"

#include <gmock/gmock.h>

#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kPieceBytes = 1024 * 1024;

class AttachmentTest : public test::SharedMemory {
 protected:
  void SetUp() override {
    publish(large_snapshot_of("key"));
    attachment_.emplace(SetFolder::open(directory_.path(), kSet, std::nullopt), kSet,
                        PublicationId{writable_control().page().instance, 1});
  }

  [[nodiscard]] std::uint64_t snapshot_bytes() const { return attachment_->snapshot().bytes().size(); }

  // Bytes of the snapshot that are in this process's page table.
  [[nodiscard]] std::uint64_t present_bytes() const {
    std::ifstream smaps("/proc/self/smaps");
    std::uint64_t kib = 0;
    bool is_ours = false;
    for (std::string line; std::getline(smaps, line);) {
      if (line.find(' ') < line.find(':')) is_ours = line.ends_with(file(snapshot_file_name(1)));
      if (is_ours && line.starts_with("Rss:")) kib += std::stoull(line.substr(4));
    }
    return kib * 1024;
  }

  std::optional<Attachment> attachment_;
};

TEST_F(AttachmentTest, WarmsPieceByPiece) {
  EXPECT_LT(present_bytes(), snapshot_bytes());
  std::uint64_t pieces = 1;
  while (!attachment_->warm_some(kPieceBytes)) ++pieces;
  EXPECT_EQ(pieces, snapshot_bytes() / kPieceBytes + 1);
  EXPECT_EQ(present_bytes(), snapshot_bytes());
}

TEST_F(AttachmentTest, DetachesPieceByPiece) {
  while (!attachment_->warm_some(kPieceBytes)) continue;
  EXPECT_FALSE(attachment_->let_go_of_some(kPieceBytes));
  EXPECT_EQ(present_bytes(), snapshot_bytes() - kPieceBytes);
  EXPECT_TRUE(attachment_->let_go_of_some(snapshot_bytes()));
  EXPECT_EQ(present_bytes(), 0U);
}

TEST_F(AttachmentTest, GivesTheSameAnswersWarmAndCold) {
  while (!attachment_->warm_some(kPieceBytes)) continue;
  for (const std::string& key : test::numbered_keys("key", 100)) {
    EXPECT_TRUE(attachment_->may_contain(attachment_->snapshot().hasher()(key)));
  }
  EXPECT_FALSE(attachment_->may_contain(attachment_->snapshot().hasher()("absent")));
}

}  // namespace
}  // namespace keysieve
