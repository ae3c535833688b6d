#include "tools/transfer/guards.hpp"

#include <fmt/core.h>

#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kShownKeyBytes = 80;

// The default limit of the estimated FPR: a rate that users would notice and that is far from the target
// means that something is wrong. A small set of a kind with blocks can miss a low target by chance.
// Measured over 4,200 seeds at 200 to 3,000 keys: up to 1.4 times 0.1 %, and up to 14 times 0.0001 %.
constexpr double kDefaultFprSlack = 3.0;
constexpr double kUnfeltFpr = 0.001;

constexpr double kRounding = 1e-9;  // a set that shrank by just the limit passes

// "--max-shrink", or "max_shrink of its [[set]]".
std::string setting(const Guards& guards, std::string name) {
  if (guards.source != GuardSource::Configuration) return "--" + name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + " of its [[set]]";
}

void check_key_count(const Guards& guards, std::uint64_t keys, std::optional<std::uint64_t> previous_keys,
                     const std::string& set) {
  if (keys < guards.min_keys) {
    throw Error(ErrorKind::MinKeys, set + "has " + format_count_of(keys, "key") + ", fewer than " +
                                        format_count(guards.min_keys) + "; " + setting(guards, "min-keys") +
                                        " sets that limit");
  }
  if (!guards.max_shrink || !previous_keys) return;
  const double shrink = share_lost(*previous_keys, keys);
  if (shrink > *guards.max_shrink + kRounding) {
    throw Error(ErrorKind::MaxShrink,
                set + "shrank from " + format_count(*previous_keys) + " to " + format_count_of(keys, "key") +
                    ", by " + format_share(shrink) + ", more than " + format_share(*guards.max_shrink) +
                    "; " + setting(guards, "max-shrink") + " sets that limit" +
                    (guards.source == GuardSource::Configuration ? "" : ", --allow-shrink lifts it"));
  }
}

// These come with the snapshot: a reader whose lookups or bytes are wrong shows it here.
void check_known_absent_sample(const SnapshotView& snapshot, const std::string& set) {
  const auto sample = snapshot.known_absent_sample();
  const auto wrong = std::ranges::count_if(sample, [&](KeyHash hash) { return snapshot.may_contain(hash); });
  if (wrong == 0) return;
  throw Error(ErrorKind::KnownAbsentSample, set + "answers maybe for " +
                                                format_count(static_cast<std::uint64_t>(wrong)) + " of the " +
                                                format_count_of(sample.size(), "known-absent key") +
                                                " in its sample; build it again with --known-absent");
}

std::string text_of(const SnapshotMoment& moment) {
  return "as of " + format_moment(moment.as_of) +
         (moment.built_at > 0 ? ", built at " + format_moment(moment.built_at) : "");
}

}  // namespace

double share_lost(std::uint64_t keys_before, std::uint64_t keys) noexcept {
  if (keys >= keys_before) return 0.0;
  return 1.0 - static_cast<double>(keys) / static_cast<double>(keys_before);
}

double default_max_fpr(double target_fpr) noexcept {
  return std::clamp(kDefaultFprSlack * target_fpr, kUnfeltFpr, 1.0);
}

std::optional<double> share_changed(const Baseline& before, const SnapshotView& map) {
  constexpr int kFewest = 8;
  if (!map.is_map() || before.seed != map.seed()) return std::nullopt;
  int compared = 0;
  int changed = 0;
  for (const SampledValue& sampled : before.values) {
    const MapAnswer now = map.find(sampled.hash);
    if (now == kAbsent) continue;
    ++compared;
    changed += now == sampled.value ? 0 : 1;
  }
  if (compared < kFewest) return std::nullopt;
  return static_cast<double>(changed) / compared;
}

void check_guards(const Guards& guards, const SnapshotView& snapshot, const std::optional<Baseline>& before) {
  const std::string set = "set \"" + std::string(snapshot.set_name()) + "\" ";
  const SnapshotHeader& header = snapshot.header();
  check_key_count(guards, header.key_count, before ? std::optional(before->key_count) : std::nullopt, set);
  const std::optional<double> changed = before ? share_changed(*before, snapshot) : std::nullopt;
  if (changed && *changed > guards.max_changed + kRounding) {
    throw Error(ErrorKind::MaxChanged, set + "has another value for " + format_share(*changed) +
                                           " of a sample of its keys, more than " +
                                           format_share(guards.max_changed) + "; " +
                                           setting(guards, "max-changed") + " sets that limit");
  }
  if (guards.max_fpr && !(header.estimated_fpr <= *guards.max_fpr)) {
    throw Error(ErrorKind::MaxFpr, set + "has an estimated FPR of " + format_share(header.estimated_fpr) +
                                       ", above " + format_share(*guards.max_fpr) + "; " +
                                       setting(guards, "max-fpr") + " sets that limit");
  }
  for (const std::string& key : guards.required_keys) {
    if (!snapshot.may_contain(snapshot.hasher()(key))) {
      throw Error(ErrorKind::RequiredKeys,
                  set + "answers absent for the required key " + quoted(key, kShownKeyBytes) + "; " +
                      setting(guards, "required-keys") + " names the keys that must be there");
    }
  }
  check_known_absent_sample(snapshot, set);
}

void check_not_older(const SnapshotMoment& moment, const std::string& source, const SnapshotMoment& newest,
                     const std::string& there, const std::string& advice) {
  if (moment >= newest) return;
  throw Error(ErrorKind::Older, fmt::format("{} {}, older than {}, {}: {}", source, text_of(moment), there,
                                            text_of(newest), advice));
}

}  // namespace keysieve
