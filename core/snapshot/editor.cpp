#include "core/snapshot/editor.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/hash/key_hash.hpp"
#include "core/snapshot/seal.hpp"

namespace keysieve {
namespace {

SnapshotBytes copy_of(Bytes bytes) {
  SnapshotBytes copy(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get().begin());
  return copy;
}

std::string cannot(const FilterKind& kind, std::string_view set_name, const std::string& change,
                   const std::string& kinds) {
  return "set \"" + std::string(set_name) + "\": keys cannot be " + change + " filter kind " +
         std::string(kind.name) + " (kinds that can: " + kinds +
         "); build the set anew from its whole list, with build --like";
}

}  // namespace

void check_can_add(const FilterKind& kind, std::string_view set_name) {
  if (kind.can_add()) return;
  throw UsageError(cannot(kind, set_name, "added to",
                          kind_names([](const FilterKind& other) { return other.can_add(); })));
}

void check_can_remove(const FilterKind& kind, std::string_view set_name) {
  if (kind.can_remove) return;
  throw UsageError(cannot(kind, set_name, "removed from",
                          kind_names([](const FilterKind& other) { return other.can_remove; })));
}

SnapshotEditor::SnapshotEditor(const SnapshotView& base)
    : bytes_(copy_of(base.bytes())), view_(SnapshotView::decode(bytes_.get(), "the copy", Check::Tables)) {
  check_can_add(view_.kind(), view_.set_name());
}

void SnapshotEditor::add(std::string_view key) {
  const SnapshotHeader& header = view_.header();
  const KeyHash hash = hash_key(key, view_.seed());
  const std::uint32_t index = shard_of(hash, header.shard_count);
  if (!view_.may_contain(hash)) {
    std::byte* const at = bytes_.get().data() + header.shard_table.offset + index * sizeof(ShardEntry);
    auto entry = load<ShardEntry>(at);
    check_not_overfull(view_.set_name(), index, std::uint64_t{entry.key_count} + 1);
    ++entry.key_count;
    store(at, entry);
    ++new_keys_;
  }
  const MutableBytes shard = bytes_.get().subspan(
      header.shards.offset + std::uint64_t{index} * header.shard_bytes, header.shard_bytes);
  view_.kind().add(shard, view_.shards().params, hash);
}

SnapshotBytes SnapshotEditor::finish(UnixSeconds as_of) {
  if (!is_moment(as_of)) throw UsageError("as_of is out of range: 1970 to the year 33658");
  SnapshotHeader header = view_.header();
  header.key_count += new_keys_;
  header.as_of = std::max(header.as_of, as_of);
  header.built_at = unix_now();
  header.build_id = random_value<BuildId>();
  seal(bytes_.get(), view_.kind(), header);
  return std::move(bytes_);
}

}  // namespace keysieve
