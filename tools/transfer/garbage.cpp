#include "tools/transfer/garbage.hpp"

#include <algorithm>
#include <span>

#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/store_contents.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

void remove_chunks(Store& store, const std::string& set_name, const Garbage& push) {
  for (std::uint32_t first = 0; first < push.chunk_count;) {
    const auto keys = chunk_key_batch(store, set_name, push.push_id, push.chunk_count, first);
    store.remove_many(keys);
    first += static_cast<std::uint32_t>(keys.size());
  }
}

class Collector {
 public:
  Collector(Store& store, const CollectSettings& settings, const CollectProgress& progress)
      : store_(store), settings_(settings), progress_(progress) {}

  Collection run() {
    // Reads the names first and the records later. A push is announced before it puts chunks, so a push
    // whose chunks were seen and that no record lists now can never become current.
    const StoreContents contents = contents_of(store_);
    for (const auto& [set_name, pushes] : contents.sets) {
      for (const auto& [push_id, numbers] : pushes) total_ += numbers.size();
    }
    Collection collection{{}, contents.foreign_records};
    for (const auto& [set_name, pushes] : contents.sets) collection.sets.push_back(collect(set_name, pushes));
    return collection;
  }

 private:
  CollectedSet collect(const std::string& set_name, const ListedChunks& pushes) {
    CollectedSet set;
    set.set_name = set_name;
    try {
      const PointerRecord pointer = release(set_name);
      set.kept_generations = kept_generations(pointer).size();
      set.pending_pushes = pointer.pending.size();
      set.adds_trimmed_to = pointer.adds_trimmed_to;
      for (const auto& [push_id, numbers] : pushes) {
        if (!find_kept(pointer, push_id) && !is_pending(pointer, push_id)) {
          if (!settings_.dry_run) remove(set_name, push_id, numbers);
          ++set.removed_pushes;
          set.removed_chunks += numbers.size();
        }
        show_progress(numbers.size());
      }
      if (settings_.dry_run) return set;
      remove_garbage(store_, set_name, pointer);  // also chunks that the listing has missed
      trim_adds(store_, set_name, pointer);
    } catch (const Error& error) {
      if (error.is_outage()) throw;
      set.failure = error;
    }
    return set;
  }

  // Makes abandoned pushes garbage and releases the adds that no generation needs.
  PointerRecord release(const std::string& set_name) {
    const PointerChange change = [this](PointerRecord& pointer) {
      const bool any_abandoned = discard_abandoned(pointer, settings_.now, settings_.abandoned_after);
      const bool any_adds = release_adds(pointer);
      return any_abandoned || any_adds;
    };
    if (!settings_.dry_run) return change_pointer(store_, set_name, change);
    PointerRecord pointer = read_stored_pointer(store_, set_name).value_or(PointerRecord{});
    change(pointer);
    return pointer;
  }

  void remove(const std::string& set_name, const PushId& push_id, std::span<const std::uint32_t> numbers) {
    while (!numbers.empty()) {
      const auto batch = numbers.first(std::min<std::size_t>(kBatchChunks, numbers.size()));
      std::vector<std::string> keys;
      for (const std::uint32_t number : batch) {
        keys.push_back(chunk_key(store_.prefix(), set_name, push_id, number));
      }
      store_.remove_many(keys);
      numbers = numbers.subspan(batch.size());
    }
  }

  void show_progress(std::uint64_t chunks) {
    done_ += chunks;
    if (progress_) progress_(done_, total_);
  }

  Store& store_;
  const CollectSettings& settings_;
  const CollectProgress& progress_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer) {
  if (pointer.garbage.empty()) return;
  for (const Garbage& push : pointer.garbage) remove_chunks(store, set_name, push);
  change_pointer(store, set_name, [&pointer](PointerRecord& now) {
    return std::erase_if(now.garbage,
                         [&](const Garbage& push) { return is_garbage(pointer, push.push_id); }) != 0;
  });
}

void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer) {
  if (!store.abilities().log) return;
  // Also if nothing is to be trimmed: it removes what a killed writer has left at the end of a file.
  store.trim(adds_log(store, set_name), pointer.adds_trimmed_to);
}

Collection collect_garbage(Store& store, const CollectSettings& settings, const CollectProgress& progress) {
  return Collector(store, settings, progress).run();
}

}  // namespace keysieve
