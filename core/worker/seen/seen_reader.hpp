// The workers' side of a seen set: says whether a key is new, and adds it. One SeenReader belongs to one
// thread; a process may have many. Takes no lock; what a call costs grows with the number of filters: one
// block of each (seen_filter.hpp), usually one cache line.
//
// Guarantee: any number of processes may call add_if_new() for a key. On this host one call at most returns
// true, until the window in which it did has expired.
//
//   SeenReader reader({.directory = "/run/keysieve"}, "clicks");
//   if (reader.follow()) answer = reader.add_if_new(reader.hasher()(key));
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "core/worker/seen/seen_filter.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "core/worker/seen/segment.hpp"
#include "core/worker/shm/check_pace.hpp"
#include "core/worker/shm/set_reader.hpp"

namespace keysieve {

enum class SeenAnswer : std::uint8_t {
  Seen,     // wrong at the set's rate
  New,      // the key was in no live window, and no other call gets this answer for it
  Unknown,  // the set has become unavailable in the middle of the call: answer as on_unavailable() says
};

class SeenReader {
 public:
  // Opens nothing yet. The name must be a set name.
  SeenReader(ReaderSettings settings, std::string_view set_name);

  // Whether the set can answer now: Ready. At most an atomic load while nothing has changed.
  bool follow() noexcept {
    if (begin_call()) [[unlikely]]
      refresh();
    return is_ready();
  }
  // The parts of follow(), for the extension, as in SetReader.
  [[nodiscard]] bool begin_call() noexcept {
    return pace_.count_call() || state_->load(std::memory_order_seq_cst) != expected_;
  }
  void refresh() noexcept;
  [[nodiscard]] bool is_ready() const noexcept { return availability_ == Availability::Ready; }
  // Makes the next call look at the files. Call it at the start of a request.
  void check_soon() noexcept { pace_.check_soon(); }
  // As SetReader::begin_request().
  void begin_request() noexcept {
    check_soon();
    static_cast<void>(pace_.count_call());
  }

  // These need a set that is ready, and hashes made with its seed.
  [[nodiscard]] const HashSeed& seed() const noexcept { return hasher_->seed(); }
  [[nodiscard]] const KeyHasher& hasher() const noexcept { return *hasher_; }
  // False: no call has added it within the live windows.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept;
  // Adds the key.
  [[nodiscard]] SeenAnswer add_if_new(KeyHash hash) noexcept;
  // Adds many keys; is_new[i] belongs to hashes[i]. A key that occurs twice is new once. Returns how many
  // keys it has answered: not all if the set becomes unavailable meanwhile.
  [[nodiscard]] std::size_t add_many_if_new(std::span<const KeyHash> hashes, bool* is_new) noexcept;

  // As of the last refresh(): Ready, Missing, Bypassed or Incompatible.
  [[nodiscard]] Availability availability() const noexcept { return availability_; }
  // Why it is not Ready.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  // What to answer meanwhile. Throw as long as no page was found.
  [[nodiscard]] OnUnavailable on_unavailable() const noexcept;
  [[nodiscard]] const std::string& set_name() const noexcept { return set_name_; }
  // nullptr until one was found.
  [[nodiscard]] const SeenPage* page() const noexcept { return file_ ? &file_->page() : nullptr; }
  // Those attached, oldest first.
  [[nodiscard]] SeenState attached() const noexcept { return attached_; }
  [[nodiscard]] const std::vector<SeenFilter>& filters() const noexcept { return filters_; }
  [[nodiscard]] const std::vector<SeenEntry>& entries() const noexcept { return entries_; }

 private:
  // Each fails if the loader changes the page meanwhile, and a busy machine may stop a try for long.
  static constexpr int kTries = 64;
  // Used while there is no page.
  static constexpr std::atomic<std::uint64_t> kNoState{0};

  [[gnu::always_inline]] void prefetch(KeyHash hash) const noexcept {
    for (const SeenFilter& filter : filters_) filter.prefetch(hash);
  }
  [[nodiscard]] bool is_in_any(KeyHash hash) const noexcept;
  void look();
  void give_up_once() noexcept;
  void open_page();
  [[nodiscard]] bool is_page_in_place() const;
  void attach_all();
  [[nodiscard]] bool attach(SeenState wanted);
  [[nodiscard]] const Segment& segment_of(const SeenEntry& entry);
  void drop_filters() noexcept;
  [[nodiscard]] bool is_bypassed(SeenState state) const noexcept;
  // As add_if_new(); the filters' words are on their way.
  [[nodiscard]] SeenAnswer add(KeyHash hash) noexcept;
  [[nodiscard]] bool wins_behind(std::uint32_t segment_key, KeyHash hash) const noexcept;

  // What each call reads.
  const std::atomic<std::uint64_t>* state_ = &kNoState;
  std::uint64_t expected_ = kNoState;  // what `state` was at the last refresh()
  std::vector<SeenFilter> filters_;
  CheckPace pace_;
  Availability availability_ = Availability::Missing;
  std::optional<KeyHasher> hasher_;

  ReaderSettings settings_;
  std::string set_name_;
  std::string path_;
  std::optional<MappedPage<const SeenPage>> file_;
  uid_t owner_ = 0;  // who must have created the segments
  SeenState attached_;
  std::vector<SeenEntry> entries_;  // of filters_
  std::vector<Segment> segments_;   // of filters_, and what was attached for a next try
  std::string reason_;
};

}  // namespace keysieve
