// Control and live pages with a changed byte or cut short, met by a reader that already serves a
// publication. It keeps serving that, or answers maybe, or the byte has no meaning; it never answers
// anything else.
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

class DamagedPages : public LiveLayers {
 protected:
  DamagedPages() : LiveLayers(fast_folder()) {}

  [[nodiscard]] std::string bytes_of_file(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Does not overwrite the old bytes, which are mapped.
  void replace(const std::string& name, const std::string& bytes) const {
    std::ofstream(file("replacement"), std::ios::binary) << bytes;
    std::filesystem::rename(file("replacement"), file(name));
  }
  // Calls meet(bytes, whether they must be refused) for every changed byte and every other length. Any
  // change of the header up to its checksum must be refused. Returns the number of calls.
  template <typename Header, typename Meet>
  static std::uint64_t for_each_damage(const std::string& good, std::size_t bytes, const Meet& meet) {
    std::uint64_t tried = 0;
    for (std::size_t at = 0; at < bytes; ++at) {
      const bool is_header = at < offsetof(Header, header_checksum) + sizeof(std::uint64_t);
      for (unsigned round = 0; round < soak_rounds(1, 255) && !HasFailure(); ++round, ++tried) {
        SCOPED_TRACE("offset " + std::to_string(at));
        meet(changed(good, at, round), is_header);
      }
    }
    for (std::size_t size = 0; size < good.size() && !HasFailure(); ++size, ++tried) {
      SCOPED_TRACE("size " + std::to_string(size));
      meet(good.substr(0, size), true);
    }
    meet(good + '\0', true);
    return tried + 1;
  }

 private:
  // Changes the byte to another of the 255 values in each round; the first ones differ with the offset.
  static std::string changed(std::string bytes, std::size_t at, unsigned round) {
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1 + (round + at) % 255));
    return bytes;
  }
};

// A reader that had attached, or attaches now, either gives a reason or answers `absent` only for absent
// keys.
TEST_F(DamagedPages, ControlPageLeavesReadersTheirPublicationOrAReason) {
  publish("old");
  const std::string good = bytes_of_file(kControlName);
  ASSERT_EQ(good.size(), kPageBytes);
  std::uint64_t refused = 0;
  const auto meet = [&](const std::string& bytes, bool must_refuse) {
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(kControlName, bytes);
    reader.check_soon();
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_TRUE(seen == 1 || !reader.reason().empty());
    EXPECT_TRUE(may_contain(reader, "old1"));
    SetReader newcomer = this->reader();
    if (!newcomer.follow()) {
      ++refused;
      EXPECT_NE(newcomer.reason(), "");
    } else {
      EXPECT_FALSE(must_refuse);
    }
    replace(kControlName, good);
  };
  const std::uint64_t tried = for_each_damage<ControlPage>(good, good.size(), meet);
  soak_report("control pages, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(refused) + " refused; readers keep what they have or answer maybe");
}

// The page's header names its publication and the layer behind it. The count of keys and the layer's bits
// change all the time and have no checksum.
TEST_F(DamagedPages, LiveLayerLeavesReadersThePublicationBefore) {
  publish_with({});
  NewLayer layer = empty_layer(100);
  layer.add(hash("live1"));
  publish_with(layer);
  const std::string live = live_file_name(2);
  const std::string good = bytes_of_file(live);
  std::uint64_t refused = 0;
  const auto meet = [&](const std::string& bytes, bool must_refuse) {
    make_current_by_hand(1);
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(live, bytes);
    make_current_by_hand(2);
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_EQ(seen, must_refuse ? 1U : 2U) << reader.reason();
    EXPECT_TRUE(may_contain(reader, "base1"));
    EXPECT_FALSE(may_contain(reader, "absent"));
    if (seen == 1) {
      EXPECT_NE(reader.reason(), "");
      ++refused;
    }
  };
  const std::uint64_t tried = for_each_damage<LivePage>(good, sizeof(LivePage), meet);
  soak_report("live pages, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(refused) + " refused by readers, which keep the publication before");
}

}  // namespace
}  // namespace keysieve::test
