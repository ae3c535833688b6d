// A view in which everything has a value, so that every metric is there.
#pragma once

#include "tools/loader/http/loader_view.hpp"

namespace keysieve::test {

inline LoaderView full_view() {
  auto report = std::make_shared<SetReport>();
  report->name = "tags";
  report->store = "main";
  report->max_fpr = 0.02;
  report->diagnosis.trouble = Trouble::Refused;
  report->store_generation = 8;
  report->key_change = -0.1;
  report->pulls.add(0.25);
  report->publishes.add(0.125);
  LivePublication published;
  published.id.publication = 9;
  published.generation = 7;
  published.key_count = 80000;
  published.known_absent = 2000000;
  published.value_bits = 3;
  published.bytes = 122880;
  published.estimated_fpr = 0.01;
  published.as_of = 1'700'000'000;
  published.published_at = 1'700'000'600;
  published.valid_until = 1'700'086'400;
  published.last_confirmed = 1'700'003'590;
  published.layer = {.shard_count = 1};
  published.added_keys = 20;
  published.layer_fill = LayerFill{.fill_ratio = 0.5, .estimated_fpr = 0.001};
  LoadedSet set;
  set.name = "tags";
  set.availability = Availability::Ready;
  set.published = published;
  set.loader = report;
  set.store_lag_seconds = 30;

  LoaderView view;
  view.host = "web1";
  view.now = 1'700'003'600;
  view.heartbeat.age = std::chrono::seconds(1);
  view.loader = std::make_shared<const LoaderReport>(
      LoaderReport{.directory = "/run/keysieve",
                   .is_ready = true,
                   .stores = {{.name = "main", .shown = "lmdb:/var/lib/keysieve", .failure = "gone"}}});
  view.directory = DirectoryStatus{.directory = "/run/keysieve",
                                   .memory = {.visible_bytes = 245760, .pinned_bytes = 4096},
                                   .huge_pages = {}};
  view.sets = {set};

  LoadedSeenSet seen;
  seen.name = seen.loader.name = "clicks";
  seen.availability = Availability::Ready;
  seen.live = SeenFacts{.windows = 2,
                        .filters = 3,
                        .keys = 900,
                        .capacity = 3000,
                        .estimated_fpr = 0.0001,
                        .target_fpr = 0.0002,
                        .bytes = 12288,
                        .oldest_begins = 1'700'002'400,
                        .newest_begins = 1'700'003'000,
                        .newest_ends = 1'700'003'590};
  seen.loader.store = "main";
  seen.loader.saved_at = 1'700'003'595;
  seen.loader.keys_saved = 70;
  seen.loader.keys_merged = 30;
  view.seen = {seen};
  return view;
}

// full_view() with a history, and with a set that is not published.
inline LoaderView long_view() {
  LoaderView view = full_view();
  auto report = std::make_shared<SetReport>(*view.sets.front().loader);
  for (const double duration : {0.0005, 0.05, 0.1, 500.0}) report->pulls.add(duration);
  report->diagnosis.reason = "generation 8 refused: \"tags\" shrank\xff";
  report->cache_trouble = "no space";
  report->adds_kept = 20;
  report->refused.front() = 3;
  report->damages = 2;
  report->history = {{.at = 1'700'003'500,
                      .event = "refused",
                      .generation = 8,
                      .key_count = 10,
                      .bytes = 4096,
                      .reason = "it shrank"},
                     {.at = 1'700'000'600,
                      .event = "published",
                      .generation = 7,
                      .publication = 9,
                      .key_count = 80000,
                      .known_absent = 2000000,
                      .bytes = 122880,
                      .pull_seconds = 0.25,
                      .publish_seconds = 0.125}};
  view.sets.front().loader = report;
  view.sets.front().bypasses = Bypasses{.by_operator = 1'700'009'999};
  view.sets.front().troubles = {"refused", "not_cached"};

  LoadedSet never;
  auto pending = std::make_shared<SetReport>();
  pending->name = never.name = "never";
  pending->store = "main";
  never.trouble = ErrorKind::MissingInput;
  never.reason = "no such set";
  never.troubles = {"missing_input"};
  never.loader = pending;
  view.sets.push_back(never);

  LoadedSeenSet lost;
  lost.name = lost.loader.name = "lost";
  lost.reason = "there is no page";
  lost.loader.is_full = true;
  lost.loader.saves_lost = 2;
  view.seen.push_back(lost);
  return view;
}

}  // namespace keysieve::test
