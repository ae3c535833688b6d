#include "core/worker/snapshot/snapshot.hpp"

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

template <std::size_t Size>
std::string_view padded_text(const std::array<char, Size>& text) noexcept {
  return {text.data(), strnlen(text.data(), Size)};
}

// Decodes once: each step relies on what the steps before it have checked.
class Decoder {
 public:
  Decoder(Bytes bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  const SnapshotHeader& header() {
    if (bytes_.size() < kPageBytes) {
      fail("is not a whole snapshot: " + std::to_string(bytes_.size()) + " bytes, the header alone has 4096");
    }
    header_ = reinterpret_cast<const SnapshotHeader*>(bytes_.data());
    if (header_->magic != kSnapshotMagic) fail("is not a keysieve snapshot: no magic KEYSIEVE at offset 0");
    check_snapshot_format(header_->format, std::string(source_));
    if (header_->header_checksum != header_checksum(*header_))
      fail("header is damaged: its checksum does not match");
    check_hash();
    check_values();
    return *header_;
  }

  const LookupKind& kind() const {
    const LookupKind* kind = find_lookup_kind(header_->kind);
    if (kind == nullptr) {
      throw Error(ErrorKind::Incompatible, std::string(source_) + ": filter kind " +
                                               std::to_string(header_->kind) +
                                               " is not known to this version");
    }
    if (!kind->takes_hash_count(header_->hash_count)) {
      fail("k = " + std::to_string(header_->hash_count) + " is out of range for " + std::string(kind->name));
    }
    return *kind;
  }

  SnapshotLayout layout() const {
    if (!is_shard_bytes(header_->shard_bytes)) {
      fail("shard size of " + std::to_string(header_->shard_bytes) +
           " bytes is not 1024, 2048, 4096 or 8192");
    }
    if (header_->shard_count == 0) fail("has no shards");
    if (header_->shard_count > kMaxShards) {
      fail("has " + std::to_string(header_->shard_count) + " shards, " + std::to_string(kMaxShards) +
           " are the most");
    }
    check_second_level();
    check_map();
    check_unsigned();
    const SnapshotLayout layout = snapshot_layout(*header_);
    if (header_->shard_table != layout.shard_table || header_->retrieval_seeds != layout.retrieval_seeds ||
        header_->checksum_table != layout.checksum_table || header_->shards != layout.shards ||
        header_->file_bytes != layout.file_bytes) {
      fail("tables are not where " + std::to_string(header_->shard_count) + " shards put them");
    }
    return layout;
  }

  void check_size(const SnapshotLayout& layout) const {
    if (bytes_.size() == layout.file_bytes) return;
    fail("is " + (bytes_.size() < layout.file_bytes ? std::string("cut short") : std::string("too long")) +
         ": " + std::to_string(bytes_.size()) + " bytes instead of " + std::to_string(layout.file_bytes));
  }

  FilterParams params() const { return params_of(*header_); }

  void check_tables(const SnapshotLayout& layout, const LookupKind& kind) const {
    if (checksum(tables_of(bytes_, layout)) != header_->tables_checksum) {
      fail("tables are damaged: their checksum does not match (offset 4096 to " +
           std::to_string(layout.shards.offset) + ")");
    }
    const auto entries = shard_table(layout);
    std::uint64_t keys = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      keys += entries[i].key_count;
      if (const char* fault = kind.fault_of(params(), entries[i])) {
        fail("entry of shard " + std::to_string(i) + " cannot be: " + fault);
      }
    }
    if (keys != header_->key_count) {
      fail("shard table counts " + std::to_string(keys) + " keys, the header " +
           std::to_string(header_->key_count));
    }
  }

  std::span<const ShardEntry> shard_table(const SnapshotLayout& layout) const {
    return {reinterpret_cast<const ShardEntry*>(bytes_.data() + layout.shard_table.offset),
            header_->shard_count};
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(ErrorKind::Data, std::string(source_) + ": " + reason);
  }

  void check_hash() const {
    if (header_->hash_id != kHashIdXxh3) {
      throw Error(ErrorKind::Incompatible, std::string(source_) + ": hash " +
                                               std::to_string(header_->hash_id) +
                                               " is not known to this version");
    }
  }

  void check_values() const {
    if (header_->header_bytes != kPageBytes) fail("header size is not 4096");
    if (header_->seed.is_zero()) fail("seed is zero");
    if (!is_set_name(padded_text(header_->set_name))) fail("set name in the header is not valid");
    if (!(header_->target_fpr >= kMinFpr && header_->target_fpr <= kMaxFpr))
      fail("target FPR is out of range");
    if (!(header_->estimated_fpr >= 0.0 && header_->estimated_fpr <= 1.0))
      fail("estimated FPR is out of range");
    if (!is_moment(header_->as_of) || !is_moment(header_->built_at))
      fail("as_of or built_at is out of range");
    if (!is_moment(header_->valid_for)) fail("valid_for is out of range");
  }

  void check_second_level() const {
    const std::uint32_t bytes = header_->retrieval_bytes;
    if (bytes % kRetrievalUnit != 0 || bytes > kMaxShardBytes || params().stride() > kMaxShardBytes)
      fail("second levels of " + std::to_string(bytes) + " bytes are out of range");
    if (bytes == 0 && header_->known_absent != 0) fail("has known-absent keys but no second levels");
    if (header_->sample_count > std::min<std::uint64_t>(kKnownAbsentSample, header_->known_absent))
      fail("has more known-absent keys in its sample than there are");
  }

  void check_map() const {
    const std::uint32_t bits = header_->value_bits;
    if (bits > kMaxValueBits) fail("values of " + std::to_string(bits) + " bits are out of range");
    if (bits != 0 && !kind().can_have_values()) fail(std::string(kind().name) + " cannot have values");
    if (header_->sampled_count > (bits != 0 ? kValueSample : 0))
      fail("has a sample of more values than there can be");
  }

  // Otherwise a program might take it for a signed one.
  void check_unsigned() const {
    const bool has_rest = header_->contents_digest != Digest{} || header_->signature != Signature{};
    if (has_rest && !header_->is_signed()) fail("has parts of a signature but no public key");
  }

  Bytes bytes_;
  std::string_view source_;
  const SnapshotHeader* header_ = nullptr;
};

}  // namespace

SnapshotView SnapshotView::decode(Bytes bytes, std::string_view source, Check check) {
  Decoder decoder(bytes, source);
  const SnapshotHeader& header = decoder.header();
  SnapshotView view(header.seed);
  view.bytes_ = bytes;
  view.header_ = &header;
  view.kind_ = &decoder.kind();
  const SnapshotLayout layout = decoder.layout();
  decoder.check_size(layout);
  decoder.check_tables(layout, *view.kind_);
  view.array_ = {bytes.data() + layout.shards.offset, decoder.shard_table(layout).data(),
                 view.header_->shard_count, decoder.params(),
                 reinterpret_cast<const std::uint8_t*>(bytes.data() + layout.retrieval_seeds.offset)};
  if (check == Check::Everything) {
    view.check_shards(0, bytes.subspan(layout.shards.offset, layout.shards.bytes), source);
  }
  view.lookup_ = view.kind_->lookup(view.array_.params, best_instruction_set());
  return view;
}

SnapshotHeader decode_header(Bytes start, std::string_view source) {
  Decoder decoder(start, source);
  const SnapshotHeader header = decoder.header();
  decoder.kind();
  decoder.layout();
  return header;
}

std::vector<SampledValue> value_sample_of(const SnapshotHeader& header) {
  std::vector<SampledValue> sample;
  for (std::uint32_t i = 0; i < header.sampled_count; ++i) {
    sample.push_back({header.sampled_hashes[i], header.sampled_values[i]});
  }
  return sample;
}

std::string_view SnapshotView::set_name() const noexcept {
  return padded_text(header_->set_name);
}

void SnapshotView::check_set_name(std::string_view expected, const std::string& source) const {
  if (set_name() == expected) return;
  throw Error(ErrorKind::Data, source + " holds set \"" + std::string(set_name()) + "\", not \"" +
                                   std::string(expected) + "\"");
}

std::string_view SnapshotView::key_profile() const noexcept {
  return padded_text(header_->key_profile);
}

UnixSeconds SnapshotView::valid_until() const noexcept {
  return header_->valid_for == 0 ? 0 : header_->as_of + header_->valid_for;
}

Bytes SnapshotView::some_shards(std::uint64_t first) const noexcept {
  constexpr std::uint64_t kBytesAtATime = std::uint64_t{64} << 10;
  const std::uint64_t count = std::min(kBytesAtATime / array_.stride, array_.shard_count - first);
  return {array_.shard(first), count * array_.stride};
}

void SnapshotView::check_shards(std::uint64_t first, Bytes shards, std::string_view source) const {
  const std::byte* expected = bytes_.data() + header_->checksum_table.offset + first * sizeof(std::uint64_t);
  for (std::size_t at = 0; at < shards.size(); at += array_.stride, expected += sizeof(std::uint64_t)) {
    if (checksum(shards.subspan(at, array_.stride)) == load<std::uint64_t>(expected)) continue;
    throw Error(ErrorKind::Data, std::string(source) + ": shards are damaged: a checksum does not match (" +
                                     std::to_string(array_.stride) + " bytes from offset " +
                                     std::to_string(header_->shards.offset + first * array_.stride + at) +
                                     ")");
  }
}

std::span<const KeyHash> SnapshotView::known_absent_sample() const noexcept {
  return std::span(header_->known_absent_sample).first(header_->sample_count);
}

double SnapshotView::bits_per_key() const noexcept {
  return header_->key_count == 0
             ? 0.0
             : 8.0 * static_cast<double>(bytes_.size()) / static_cast<double>(header_->key_count);
}

std::optional<double> SnapshotView::fill_ratio(std::uint32_t shard) const {
  if (kind_->fill_ratio == nullptr) return std::nullopt;
  return kind_->fill_ratio(array_.shard_bytes(shard), array_.entries[shard], array_.params);
}

std::optional<double> SnapshotView::fill_ratio() const {
  if (kind_->fill_ratio == nullptr) return std::nullopt;
  double sum = 0.0;
  for (std::uint32_t i = 0; i < header_->shard_count; ++i) sum += *fill_ratio(i);
  return sum / header_->shard_count;
}

}  // namespace keysieve
