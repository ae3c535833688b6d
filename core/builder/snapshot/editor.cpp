#include "core/builder/snapshot/editor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/builder/base/random.hpp"
#include "core/builder/snapshot/counters.hpp"
#include "core/builder/snapshot/seal.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"

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
         "); build the set again from its whole list, with build --like";
}

// A key of the set needs a bit in the second level, and the bits of all others depend on it.
void check_has_one_level(const SnapshotView& base) {
  if (base.shards().params.retrieval_bytes == 0) return;
  throw Error(ErrorKind::Usage,
              "set \"" + std::string(base.set_name()) +
                  "\": was built with --known-absent, so it can only be changed by a build from both lists; "
                  "until then keysieve add makes new keys maybe");
}

void check_signer(const SnapshotView& base, const Signer* signer) {
  if (base.header().is_signed() == (signer != nullptr)) return;
  throw Error(ErrorKind::Usage,
              "set \"" + std::string(base.set_name()) +
                  (signer == nullptr ? "\": is signed, and would lose its signature; give --sign-key"
                                     : "\": is not signed, so it is unknown who built it; build it again "
                                       "from its whole list, with build --sign-key"));
}

}  // namespace

void check_can_add(const FilterKind& kind, std::string_view set_name) {
  if (kind.can_add()) return;
  throw Error(ErrorKind::Usage, cannot(kind, set_name, "added to",
                                       kind_names([](const FilterKind& other) { return other.can_add(); })));
}

void check_can_count(const FilterKind& kind, std::string_view set_name) {
  if (kind.can_count()) return;
  throw Error(ErrorKind::Usage, "set \"" + std::string(set_name) + "\": filter kind " +
                                    std::string(kind.name) + " has no --counting (kinds that have it: " +
                                    kind_names([](const FilterKind& other) { return other.can_count(); }) +
                                    ")");
}

void check_can_remove(const FilterKind& kind, std::string_view set_name, bool has_counters) {
  if (kind.can_remove() || has_counters) return;
  const std::string counting = kind_names([](const FilterKind& other) { return other.can_count(); });
  throw Error(ErrorKind::Usage,
              cannot(kind, set_name, "removed from",
                     kind_names([](const FilterKind& other) { return other.can_remove(); }) +
                         "; with build --counting: " + counting));
}

SnapshotEditor::SnapshotEditor(const SnapshotView& base, std::optional<SnapshotBytes> counters,
                               const Signer* signer)
    : bytes_(copy_of(base.bytes())),
      view_(SnapshotView::decode(bytes_.get(), "the copy", Check::Tables)),
      kind_(filter_kind_of(view_.kind())),
      counters_(std::move(counters)),
      signer_(signer) {
  check_can_add(kind_, view_.set_name());
  check_has_one_level(view_);
  check_signer(view_, signer);
  if (counters_) {
    check_counters(counters_->get(), view_, "counters of set \"" + std::string(view_.set_name()) + "\"");
  }
}

void SnapshotEditor::add(KeyHash hash) {
  const std::uint64_t index = shard_of(hash, view_.header().shard_count);
  ShardEntry entry = entry_of(index);
  const bool is_new = keeps_keys_apart() || !view_.may_contain(hash);
  if (is_new) check_not_overfull(view_.set_name(), index, std::uint64_t{entry.key_count} + 1);
  if (!add_to_shard(index, entry, hash)) throw Error(ErrorKind::Data, why_no_room(index, entry, hash));
  if (!is_new) return;
  ++entry.key_count;
  put_entry(index, entry);
  ++new_keys_;
}

bool SnapshotEditor::remove(KeyHash hash) {
  check_can_remove(kind_, view_.set_name(), counters_.has_value());
  const std::uint64_t index = shard_of(hash, view_.header().shard_count);
  ShardEntry entry = entry_of(index);
  if (entry.key_count == 0 || !remove_from_shard(index, entry, hash)) return false;
  --entry.key_count;
  put_entry(index, entry);
  ++removed_keys_;
  return true;
}

bool SnapshotEditor::add_to_shard(std::uint64_t index, const ShardEntry& entry, KeyHash hash) {
  const FilterParams& params = view_.shards().params;
  if (!counters_) return kind_.add(shard(index), entry, params, hash);
  const MutableBytes counters = shard_counters(counters_->get(), index, params.shard_bytes);
  kind_.counting->add(shard(index), counters, params, hash);
  return true;
}

bool SnapshotEditor::remove_from_shard(std::uint64_t index, const ShardEntry& entry, KeyHash hash) {
  const FilterParams& params = view_.shards().params;
  if (!counters_) return kind_.remove(shard(index), entry, params, hash);
  const MutableBytes counters = shard_counters(counters_->get(), index, params.shard_bytes);
  return kind_.counting->remove(shard(index), counters, params, hash);
}

std::string SnapshotEditor::why_no_room(std::uint64_t index, const ShardEntry& entry, KeyHash hash) {
  const FilterParams& params = view_.shards().params;
  std::vector<std::byte> others(shard(index).begin(), shard(index).end());
  std::vector<std::byte> alike(params.shard_bytes);
  std::uint32_t copies = 0;
  for (; kind_.can_remove() && kind_.remove(others, entry, params, hash); ++copies)
    kind_.add(alike, entry, params, hash);
  const std::string set = "set \"" + std::string(view_.set_name()) + "\": ";
  if (!kind_.add(alike, entry, params, hash)) {
    return set + "a key to add is already there " + std::to_string(copies) +
           " times, the most that can be counted; add only new keys, or build the set again from " +
           "its whole list";
  }
  return set + "shard " + std::to_string(index) + " is full with " + std::to_string(entry.key_count) +
         " keys; build the set again from its whole list, with build --growth";
}

ShardEntry SnapshotEditor::entry_of(std::uint64_t index) const {
  return view_.shards().entries[index];
}

void SnapshotEditor::put_entry(std::uint64_t index, const ShardEntry& entry) {
  store(bytes_.get().data() + view_.header().shard_table.offset + index * sizeof(ShardEntry), entry);
}

MutableBytes SnapshotEditor::shard(std::uint64_t index) {
  const SnapshotHeader& header = view_.header();
  return bytes_.get().subspan(header.shards.offset + index * header.shard_bytes, header.shard_bytes);
}

SnapshotBytes SnapshotEditor::finish(UnixSeconds as_of) {
  if (!is_moment(as_of)) throw Error(ErrorKind::Usage, "as_of is out of range: 1970 to the year 33658");
  SnapshotHeader header = view_.header();
  header.key_count = header.key_count + new_keys_ - removed_keys_;
  header.as_of = std::max(header.as_of, as_of);
  header.built_at = unix_now();
  header.build_id = random_value<BuildId>();
  seal(bytes_.get(), kind_, header, signer_);
  if (counters_) seal_counters(counters_->get(), header.build_id);
  return std::move(bytes_);
}

}  // namespace keysieve
