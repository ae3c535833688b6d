// What readers of a set see at this moment. The loader compares it with the store at every look, so that it
// notices a wiped directory or a publication by hand.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "core/worker/shm/attachment.hpp"

namespace keysieve {

// When a signed snapshot is from. Of two, the earlier one may be replayed.
struct SignedMoment {
  UnixSeconds as_of = 0;
  UnixSeconds built_at = 0;  // decides between builds of one list

  friend auto operator<=>(const SignedMoment&, const SignedMoment&) = default;
};

struct LivePublication {
  PublicationId id{};
  std::uint64_t generation = 0;  // 0: published from a file
  LayerGeometry layer{};
  BuildId build_id{};
  PublicKey public_key{};  // that its header names; zero: it is not signed
  std::uint64_t key_count = 0;
  std::optional<std::uint64_t> known_absent{};  // keys; nothing: its shards have no second level
  std::uint64_t bytes = 0;
  UnixSeconds as_of = 0;
  UnixSeconds built_at = 0;
  LogPosition adds_from{};
  double target_fpr = 0;
  double estimated_fpr = 0;  // of the snapshot alone
  bool is_damaged = false;   // and bypassed for that until something else is published
};

// Nothing when no reader could attach it: not published, damaged, or of another version.
std::optional<LivePublication> live_publication(const std::string& directory, const std::string& set_name);

}  // namespace keysieve
