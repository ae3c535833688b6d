#include "tools/loader/seen/seen_log.hpp"

#include <array>

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr std::array<char, 8> kMagic{'K', 'S', 'S', 'E', 'E', 'N', 'L', '1'};

struct Head {
  std::array<char, 8> magic;
  std::uint64_t checksum;
  HashSeed seed;
  std::uint64_t sender;
  std::uint64_t number;
  UnixSeconds ended_at;
  SeenPlan plan;
  std::uint32_t tags;
  std::uint32_t host_bytes;
};
static_assert(sizeof(Head) == 128 && std::is_trivially_copyable_v<Head>);
constexpr std::size_t kChecked = offsetof(Head, seed);

bool is_possible(const Head& head) noexcept {
  const SeenPlan& plan = head.plan;
  return is_moment(head.ended_at) && is_moment(plan.window.begins) && is_moment(plan.window.ends) &&
         is_moment(plan.window.kept_for) && plan.growth < kFiltersPerWindow && plan.capacity != 0 &&
         plan.rate > 0 && plan.rate < 1 && plan.size.is_possible() && head.number != 0 && head.tags != 0 &&
         !head.seed.is_zero() && head.host_bytes <= kMostSeenHostBytes;
}

void put_number(std::string& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<char>(number | 0x80));
  to.push_back(static_cast<char>(number));
}

// Reads from a payload; what is behind its end is nothing.
class TagReader {
 public:
  explicit TagReader(Bytes bytes) : left_(bytes) {}

  // False: there is none, or it is none.
  bool read(SeenTag& tag) noexcept {
    std::uint64_t blocks = 0;
    std::uint64_t bits = 0;
    if (!number(blocks) || !bytes(1, bits)) return false;
    if (bits < tag_bits(kMostTags) || bits > kMostTagBits || blocks > kMaxSeenWords) return false;
    tag.block += blocks;
    tag.bits = static_cast<unsigned>(bits);
    return bytes((bits + 7) / 8, tag.tag) && tag.tag >> bits == 0;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return left_.empty(); }

 private:
  bool number(std::uint64_t& value) noexcept {
    for (unsigned shift = 0; shift < 63; shift += 7) {
      std::uint64_t part = 0;
      if (!bytes(1, part)) return false;
      value |= (part & 0x7f) << shift;
      if (part < 0x80) return true;
    }
    return false;
  }
  bool bytes(std::size_t count, std::uint64_t& value) noexcept {
    if (left_.size() < count) return false;
    value = 0;
    std::memcpy(&value, left_.data(), count);
    left_ = left_.subspan(count);
    return true;
  }

  Bytes left_;
};

}  // namespace

std::string encode(const SeenLogEntry& entry) {
  Head head{.magic = kMagic,
            .checksum = 0,
            .seed = entry.seed,
            .sender = entry.sender,
            .number = entry.number,
            .ended_at = entry.ended_at,
            .plan = entry.plan,
            .tags = static_cast<std::uint32_t>(entry.tags.size()),
            .host_bytes = static_cast<std::uint32_t>(entry.host.size())};
  std::string value(as_text(std::as_bytes(std::span(&head, 1))));
  value += entry.host;
  std::uint64_t block = 0;
  for (const SeenTag& tag : entry.tags) {
    put_number(value, tag.block - std::exchange(block, tag.block));
    value.push_back(static_cast<char>(tag.bits));
    for (unsigned bits = 0; bits < tag.bits; bits += 8) value.push_back(static_cast<char>(tag.tag >> bits));
  }
  head.checksum = checksum(as_bytes(std::string_view(value).substr(kChecked)));
  std::memcpy(value.data() + offsetof(Head, checksum), &head.checksum, sizeof head.checksum);
  return value;
}

SeenLogEntry decode_seen_log_entry(std::string_view value, const std::string& source) {
  const auto refuse = [&] { throw Error(ErrorKind::Data, source + ": is not an entry of a seen set"); };
  if (value.size() < sizeof(Head)) refuse();
  const Head head = load<Head>(as_bytes(value).data());
  if (head.magic != kMagic) {
    if (value.substr(0, kMagic.size() - 1) != std::string_view(kMagic.data(), kMagic.size() - 1)) refuse();
    throw Error(ErrorKind::Incompatible, source + ": was written by another version");
  }
  if (head.checksum != checksum(as_bytes(value.substr(kChecked))))
    throw Error(ErrorKind::Data, source + ": is damaged: its checksum does not match");
  if (!is_possible(head) || value.size() - sizeof head < head.host_bytes) refuse();
  SeenLogEntry entry{.seed = head.seed,
                     .sender = head.sender,
                     .number = head.number,
                     .ended_at = head.ended_at,
                     .plan = head.plan,
                     .host = std::string(value.substr(sizeof head, head.host_bytes))};
  TagReader reader(as_bytes(value.substr(sizeof head + head.host_bytes)));
  const std::uint64_t blocks = head.plan.size.words / head.plan.size.block_words;
  SeenTag tag;
  for (std::uint32_t i = 0; i < head.tags; ++i) {
    if (!reader.read(tag) || tag.block >= blocks) refuse();
    entry.tags.push_back(tag);
  }
  if (!reader.is_at_end()) refuse();
  return entry;
}

}  // namespace keysieve
