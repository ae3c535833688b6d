// What is published of a set at this moment, as readers see it. The loader compares it with the store at
// every look, so that it notices a wiped directory or a publication by hand; people, metrics and the status
// page are shown it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/publisher/shm/new_layer.hpp"
#include "core/worker/shm/attachment.hpp"
#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/set_reader.hpp"

namespace keysieve {

struct LivePublication {
  PublicationId id{};
  std::uint64_t generation = 0;  // 0: published from a file
  BuildId build_id{};
  PublicKey public_key{};  // that its header names; zero: it is not signed
  std::uint16_t format = 0;
  std::string kind;
  std::string key_profile;  // empty: it has none
  std::uint64_t key_count = 0;
  std::optional<std::uint64_t> known_absent{};  // keys; nothing: its shards have no second level
  std::uint8_t value_bits = 0;                  // of each key's value; 0: it is no map
  std::vector<SampledValue> value_sample{};
  HashSeed seed{};
  std::uint64_t bytes = 0;
  double target_fpr = 0;
  double estimated_fpr = 0;  // of the snapshot alone
  LogPosition adds_from{};
  UnixSeconds as_of = 0;
  UnixSeconds built_at = 0;
  UnixSeconds published_at = 0;
  UnixSeconds valid_until = 0;     // 0: without end
  UnixSeconds last_confirmed = 0;  // 0: never
  UnixSeconds heartbeat = 0;       // 0: never
  bool is_damaged = false;         // and bypassed for that until something else is published
  LayerGeometry layer{};
  std::uint64_t added_keys = 0;  // in the layer
  // These two are nothing if they were not read.
  std::optional<LayerFill> layer_fill{};           // also if there is no layer
  std::optional<std::uint64_t> huge_page_bytes{};  // also if the kernel does not say
};

// A reader that trusts the directory's owner and takes a new publication at once.
SetReader status_reader(const std::string& directory, const std::string& set_name);

// How much of a publication is read for it.
enum class Reading {
  Headers,
  Layer,      // all of the live layer, for layer_fill
  HugePages,  // all of the snapshot too, to count its huge pages
  Checksums,  // and to compare it with its checksums
};

LivePublication live_publication(const Attachment& attached, const ControlPage& control, Reading reading);

// By its headers. Nothing when no reader could attach it: not published, damaged, or of another version.
std::optional<LivePublication> live_publication(const std::string& directory, const std::string& set_name);

}  // namespace keysieve
