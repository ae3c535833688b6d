#include "tools/transfer/stored_pointer.hpp"

#include <utility>

#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// A lost race means that another process's change went through; so many in a row are no accident.
constexpr int kMaxRaces = 32;

struct StoredText {
  std::optional<std::string> text;  // what a compare-and-set expects
  PointerRecord pointer;
};

StoredText read_text(Store& store, const std::string& set_name) {
  const std::string key = pointer_key(store, set_name);
  StoredText stored{store.get(key), {}};
  if (stored.text) stored.pointer = decode_pointer_record(*stored.text, store.name() + ": " + key);
  return stored;
}

// Returns nothing if another push's snapshot is current, or the store cannot be read.
std::optional<std::uint64_t> current_generation_of(Store& store, const std::string& set_name,
                                                   const PushId& push_id) {
  try {
    const auto current = read_text(store, set_name).pointer.current;
    return current && current->push_id == push_id ? std::optional(current->generation) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string pointer_key(const Store& store, const std::string& set_name) {
  return pointer_key(store.prefix(), set_name);
}

std::optional<PointerRecord> read_stored_pointer(Store& store, const std::string& set_name) {
  StoredText stored = read_text(store, set_name);
  return stored.text ? std::optional(std::move(stored.pointer)) : std::nullopt;
}

PointerRecord change_pointer(Store& store, const std::string& set_name, const PointerChange& change) {
  const std::string key = pointer_key(store, set_name);
  bool has_tried = false;
  bool has_lost_answer = false;
  for (int races = 0; races < kMaxRaces; ++races) {
    auto [text, pointer] = read_text(store, set_name);
    const bool is_done = !change(pointer);
    // This call may have made the change, and only the answer was lost. Putting the same text again makes
    // the store confirm that it is durable, or replicated, as required.
    const bool is_certain = is_done && (!has_tried || !text);
    if (is_certain) return pointer;
    has_tried = true;
    try {
      if (store.compare_and_set({key, is_done ? *text : encode(pointer)}, text)) return pointer;
    } catch (const Error& error) {
      if (has_lost_answer || !error.is_outage()) throw;
      has_lost_answer = true;
    }
  }
  throw Error(ErrorKind::Locked,
              store.name() + ": " + key + ": other clients keep changing it; try again later");
}

PointerRecord move_current(Store& store, const std::string& set_name, const PushId& push_id,
                           const PointerChange& change) {
  try {
    return change_pointer(store, set_name, change);
  } catch (const Error& error) {
    if (!error.is_outage()) throw;
    const auto generation = current_generation_of(store, set_name, push_id);
    if (!generation) throw;
    throw Error(ErrorKind::Unconfirmed, "set \"" + set_name + "\": generation " +
                                            std::to_string(*generation) +
                                            " is current, but not confirmed: " + error.what());
  }
}

void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer) {
  if (!store.abilities().log) return;
  // Also if nothing is to be trimmed: it removes what a killed writer has left at the end of a file.
  store.trim(adds_log(store, set_name), pointer.adds_trimmed_to);
}

std::optional<PointerRecord> read_pointer(Store& store, const std::string& set_name) {
  auto pointer = read_stored_pointer(store, set_name);
  return pointer && pointer->current ? std::move(pointer) : std::nullopt;
}

}  // namespace keysieve
