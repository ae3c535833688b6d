// Moves the set "tags" to and from a store of plain files, and looks into that store.
#pragma once

#include <algorithm>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {

class TransferTest : public ::testing::Test {
 protected:
  static constexpr UnixSeconds kDay = std::chrono::seconds(kAbandonedAfter).count();
  static inline const std::string kPointerKey = "keysieve:tags:current";

  PushResult push(const SnapshotBytes& snapshot, const Guards& guards = {}) {
    return keysieve::push(*store_, view_of(snapshot), guards);
  }
  // Pushes a snapshot that may shrink the set.
  PushResult push_any(const SnapshotBytes& snapshot) { return push(snapshot, {.max_shrink = std::nullopt}); }
  // Pushes to the store with the hooks of the case.
  PushResult push_hooked(const SnapshotBytes& snapshot) {
    return keysieve::push(hooked_, view_of(snapshot), {});
  }
  Pulled pull() { return keysieve::pull(*store_, "tags"); }
  void expect_current(const SnapshotBytes& snapshot) { EXPECT_TRUE(are_same(pull().snapshot, snapshot)); }

  void replace(const std::string& key, const std::string& value) { put(*store_, key, value); }
  void damage(const std::string& key) {
    std::string value = store_->get(key).value();
    value.back() ^= 1;
    replace(key, value);
  }
  // Changes the record as another process might.
  void change_pointer(const std::function<void(PointerRecord&)>& change) {
    PointerRecord changed = pointer();
    change(changed);
    replace(kPointerKey, encode(changed));
  }

  // The keys of all records.
  [[nodiscard]] std::vector<std::string> keys() const { return store_->keys_with_prefix("keysieve:"); }
  // The key of a chunk of the current generation.
  [[nodiscard]] std::string key_of_chunk(std::uint32_t number) const {
    return chunk_key("keysieve", "tags", current().push_id, number);
  }
  [[nodiscard]] bool has_chunks_of(const SnapshotBytes& snapshot) const {
    const auto all = keys();
    return std::any_of(all.begin(), all.end(), [&](const std::string& key) {
      if (!key.ends_with(":0")) return false;
      const std::string chunk = store_->get(key).value();
      const auto header = load<SnapshotHeader>(as_bytes(chunk).data() + kChunkHeaderBytes);
      return header.build_id == view_of(snapshot).header().build_id;
    });
  }

  [[nodiscard]] PointerRecord pointer() const { return read_stored_pointer(*store_, "tags").value(); }
  [[nodiscard]] SnapshotRecord current() const { return pointer().current.value(); }
  // The generations that a rollback could bring back.
  [[nodiscard]] std::vector<std::uint64_t> older_generations() const {
    std::vector<std::uint64_t> generations;
    for (const SnapshotRecord& older : pointer().previous) generations.push_back(older.generation);
    return generations;
  }

  TemporaryDirectory directory_{fast_folder()};
  std::string url_ = "dir:" + directory_ / "store";
  std::unique_ptr<Store> store_ = open_store(url_);
  HookedStore hooked_{*store_};
};

}  // namespace keysieve::test
