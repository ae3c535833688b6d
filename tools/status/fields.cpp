#include "tools/status/fields.hpp"

namespace keysieve {
namespace {

// A member of what is published, or of a seen set's windows; null while there is none.
template <auto member>
Json live(const SetFacts& set) {
  return set.published ? to_value((*set.published).*member) : Json();
}
template <auto member>
Json windows(const SeenSetFacts& set) {
  return set.live ? to_value((*set.live).*member) : Json();
}

// As above, where 0 means that there is none.
template <auto member>
Json live_if_any(const SetFacts& set) {
  return set.published ? to_value_if_any((*set.published).*member) : Json();
}

template <auto member>
Json layer(const SetFacts& set) {
  return set.published && set.published->layer_fill ? Json((*set.published->layer_fill).*member) : Json();
}

template <auto bypass>
Json is_on(const SetFacts& set) {
  return set.bypasses ? Json(((*set.bypasses).*bypass).has_value()) : Json();
}
template <auto bypass>
Json until(const SetFacts& set) {
  return set.bypasses ? to_value_if_any(((*set.bypasses).*bypass).value_or(0)) : Json();
}

bool has_layer(const SetFacts& set) {
  return set.published && set.published->layer.shard_count != 0;
}

template <typename Set>
Json state(const Set& set) {
  return to_string(set.availability);
}
template <typename Set>
Json states(const Set& set) {
  return one_of(kAvailabilities, [&](Availability one) { return set.availability == one; });
}

const Field<DirectoryStatus> kDirectoryTable[]{
    {"directory", Unit::Plain, fact<&DirectoryStatus::directory>},
    {"visible_bytes", Unit::Size, [](auto& status) { return Json(status.memory.visible_bytes); },
     "keysieve_directory_visible_bytes", "Shared memory of all publications that have a name."},
    {"pinned_bytes", Unit::Size, [](auto& status) { return to_value(status.memory.pinned_bytes); },
     "keysieve_directory_pinned_bytes",
     "Shared memory of replaced publications that idle workers still map; on a tmpfs of its own."},
    {"huge_pages", Unit::Plain, fact<&DirectoryStatus::huge_pages>},
};

const Field<SetFacts> kSetTable[]{
    {"set", Unit::Plain, fact<&SetFacts::name>, "", "", "set"},
    {"availability", Unit::State, state<SetFacts>, "", "", "state"},
    {"", Unit::Plain, states<SetFacts>, "keysieve_set_availability",
     "What lookups find: 1 for the state that the set is in.", "", !kWide, "state"},
    {"code", Unit::Plain, [](auto& set) { return set.reason.empty() ? Json() : Json(code_of(set)); }},
    {"reason", Unit::Plain, fact_if_any<&SetFacts::reason>},
    {"troubles", Unit::Codes, fact<&SetFacts::troubles>, "", "", "trouble"},
    {"bypass", Unit::Plain, is_on<&Bypasses::by_operator>},
    {"bypass_until", Unit::Moment, until<&Bypasses::by_operator>},
    {"store_bypass", Unit::Plain, is_on<&Bypasses::in_store>},
    {"store_bypass_until", Unit::Moment, until<&Bypasses::in_store>},
    {"publication", Unit::Plain,
     [](auto& set) { return set.published ? Json(set.published->id.publication) : Json(); },
     "keysieve_set_publication", "Publication that is live; rises with each publish.", "publication", kWide},
    {"generation", Unit::Generation, live<&LivePublication::generation>, "keysieve_set_generation",
     "Generation that is live; 0: published from a file.", "generation"},
    {"kind", Unit::Plain, live<&LivePublication::kind>},
    {"build_id", Unit::Plain,
     [](auto& set) { return set.published ? Json(to_hex(set.published->build_id)) : Json(); }},
    {"key_profile", Unit::Plain, live<&LivePublication::key_profile>},
    {"key_count", Unit::Count, live<&LivePublication::key_count>, "keysieve_set_keys",
     "Keys of the snapshot that is live.", "keys"},
    {"known_absent_count", Unit::Count, live<&LivePublication::known_absent>,
     "keysieve_set_known_absent_keys",
     "Keys that the live snapshot was built to answer absent for certain; only if it was.", "known absent",
     kWide},
    {"value_bits", Unit::Bits, live_if_any<&LivePublication::value_bits>, "keysieve_set_value_width",
     "Bits of each key's value in the live map; only if it is one.", "values", kWide},
    {"added_keys", Unit::Count,
     [](auto& set) { return has_layer(set) ? Json(set.published->added_keys) : Json(); },
     "keysieve_set_added_keys", "Keys added since the snapshot was built, in the live layer.", "added"},
    {"layer_bytes", Unit::Size,
     [](auto& set) { return has_layer(set) ? Json(set.published->layer.bytes()) : Json(); },
     "keysieve_set_layer_bytes", "Size of the live layer."},
    {"layer_fill_ratio", Unit::Share, layer<&LayerFill::fill_ratio>, "keysieve_set_layer_fill_ratio",
     "Share of the live layer's bits that are set.", "live layer full", kWide},
    {"layer_estimated_fpr", Unit::Share, layer<&LayerFill::estimated_fpr>,
     "keysieve_set_layer_estimated_fpr_ratio", "Estimated false-positive rate that the live layer adds."},
    {"bytes", Unit::Size, live<&LivePublication::bytes>, "keysieve_set_bytes",
     "Size of the snapshot that is live.", "size", kWide},
    {"huge_page_bytes", Unit::Size, live<&LivePublication::huge_page_bytes>, "", "", "in huge pages", kWide},
    {"estimated_fpr", Unit::Share, live<&LivePublication::estimated_fpr>, "keysieve_set_estimated_fpr_ratio",
     "Estimated false-positive rate of the snapshot alone.", "estimated FPR", kWide},
    {"as_of", Unit::Age, live<&LivePublication::as_of>, "keysieve_set_as_of_age_seconds",
     "Since its keys began to be read from their source.", "keys as of"},
    {"published_at", Unit::Age, live<&LivePublication::published_at>, "keysieve_set_published_age_seconds",
     "Since it was published on this host."},
    {"valid_until", Unit::Until, live_if_any<&LivePublication::valid_until>,
     "keysieve_set_expires_in_seconds",
     "Until lookups answer maybe because it is too old, negative afterwards; only with a limit."},
    {"", Unit::Plain,
     [](auto& set) {
       const bool has_limit = set.published && set.published->valid_until != 0;
       return has_limit ? Json(set.published->valid_until - set.published->as_of) : Json();
     },
     "keysieve_set_valid_for_seconds",
     "How long the snapshot is valid after its keys began to be read; only with a limit."},
    {"last_confirmed_at", Unit::Age, live_if_any<&LivePublication::last_confirmed>,
     "keysieve_set_confirmed_age_seconds",
     "Since the loader last saw that the store has nothing newer than what is live.", "store checked"},
    {"heartbeat_at", Unit::Age, live_if_any<&LivePublication::heartbeat>, "", "", "loader seen"},
};

const Field<SeenSetFacts> kSeenSetTable[]{
    {"set", Unit::Plain, fact<&SeenSetFacts::name>, "", "", "seen set"},
    {"availability", Unit::State, state<SeenSetFacts>, "", "", "state"},
    {"", Unit::Plain, states<SeenSetFacts>, "keysieve_seen_availability",
     "What workers of this host find: 1 for the state that the seen set is in.", "", !kWide, "state"},
    {"reason", Unit::Plain, fact_if_any<&SeenSetFacts::reason>},
    {"troubles", Unit::Codes, fact<&SeenSetFacts::troubles>, "", "", "trouble"},
    {"bypass", Unit::Plain, [](auto& set) { return Json(set.availability == Availability::Bypassed); }},
    {"bypass_until", Unit::Moment, fact_if_any<&SeenSetFacts::bypass_until>},
    {"estimated_window_keys", Unit::Estimate, windows<&SeenFacts::keys>,
     "keysieve_seen_estimated_window_keys", "Keys of the newest window, from its tags.", "keys of window"},
    {"window_capacity", Unit::Count, windows<&SeenFacts::capacity>, "keysieve_seen_window_capacity_keys",
     "Keys that the newest window is made for, grown or not.", "made for"},
    {"oldest_begins_at", Unit::Age, windows<&SeenFacts::oldest_begins>,
     "keysieve_seen_oldest_window_age_seconds", "Since the oldest live window began."},
    {"window_begins_at", Unit::Age, windows<&SeenFacts::newest_begins>},
    {"window_ends_at", Unit::Age, windows<&SeenFacts::newest_ends>, "keysieve_seen_window_overdue_seconds",
     "Since the newest window should have ended; negative before.", "window ends", kWide},
    {"windows", Unit::Count, windows<&SeenFacts::windows>, "keysieve_seen_windows",
     "Live windows; more than configured while windows last longer.", "windows"},
    {"filters", Unit::Count, windows<&SeenFacts::filters>, "keysieve_seen_filters",
     "Filters that each lookup asks.", "filters", kWide},
    {"estimated_fpr", Unit::Share, windows<&SeenFacts::estimated_fpr>, "keysieve_seen_estimated_fpr_ratio",
     "Share of new keys that come back as seen, from the tags.", "estimated FPR"},
    {"target_fpr", Unit::Share, windows<&SeenFacts::target_fpr>, "", "", "planned FPR", kWide},
    {"bytes", Unit::Size, windows<&SeenFacts::bytes>, "keysieve_seen_bytes", "Memory of all filters.",
     "size"},
    {"looked_at", Unit::Age, fact_if_any<&SeenSetFacts::looked_at>, "", "", "loader seen"},
    {"on_unavailable", Unit::Plain,
     [](auto& set) { return set.on_unavailable ? Json(to_string(*set.on_unavailable)) : Json(); }, "", "",
     "on_unavailable", kWide},
};

}  // namespace

const std::span<const Field<DirectoryStatus>> kDirectoryFields = kDirectoryTable;
const std::span<const Field<SetFacts>> kSetFields = kSetTable;
const std::span<const Field<SeenSetFacts>> kSeenSetFields = kSeenSetTable;

}  // namespace keysieve
