#include "core/worker/seen/seen_reader.hpp"

#include <algorithm>

#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

// Cache lines asked for ahead of a batch: a first-level cache has 512 and more.
constexpr std::size_t kLinesAhead = 256;

}  // namespace

SeenReader::SeenReader(ReaderSettings settings, std::string_view set_name)
    : settings_(std::move(settings)),
      set_name_(checked_set_name(set_name)),
      path_(seen_directory(settings_.directory) + "/" + set_name_ + "/" + kSeenPageName) {}

OnUnavailable SeenReader::on_unavailable() const noexcept {
  if (!file_) return OnUnavailable::Throw;
  return static_cast<OnUnavailable>(file_->page().on_unavailable.load(std::memory_order_relaxed));
}

bool SeenReader::may_contain(KeyHash hash) const noexcept {
  prefetch(hash);
  return is_in_any(hash);
}

bool SeenReader::is_in_any(KeyHash hash) const noexcept {
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const SeenFilter& filter) { return filter.may_contain(hash); });
}

SeenAnswer SeenReader::add_if_new(KeyHash hash) noexcept {
  prefetch(hash);
  return add(hash);
}

// Two processes may see different newest filters, while the loader adds one. The one with the older view
// adds the key there, and then looks at `state` again. If that has changed, it must win in each newer filter
// too. The other one has looked at all older filters after it had loaded `state`. So either it found the key
// there, or the first one finds the new state. This needs one order of all: the compare-and-set of the tag,
// the load of `state` after it, the loader's store, and the other one's load of the word. All are
// sequentially consistent (tests/memory_model).
SeenAnswer SeenReader::add(KeyHash hash) noexcept {
  const auto older = std::span(filters_).first(filters_.size() - 1);
  for (const SeenFilter& filter : older) {
    if (filter.may_contain(hash)) return SeenAnswer::Seen;
  }
  if (!filters_.back().add_if_new(hash)) return SeenAnswer::Seen;
  for (;;) {
    if (state_->load(std::memory_order_seq_cst) == expected_) [[likely]]
      return SeenAnswer::New;
    const std::uint32_t won_in = entries_.back().segment_key;
    const HashSeed seed = this->seed();
    refresh();
    // Another call may have won where this one cannot look, or with another hash.
    if (!is_ready() || this->seed() != seed) return SeenAnswer::Unknown;
    if (!wins_behind(won_in, hash)) return SeenAnswer::Seen;
  }
}

// Filters change their numbers, but not their segments. If the one in which the key was added is gone, any
// may be newer.
bool SeenReader::wins_behind(std::uint32_t segment_key, KeyHash hash) const noexcept {
  std::size_t newer = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].segment_key == segment_key) newer = i + 1;
  }
  return std::all_of(filters_.begin() + static_cast<std::ptrdiff_t>(newer), filters_.end(),
                     [&](const SeenFilter& filter) { return filter.add_if_new(hash); });
}

std::size_t SeenReader::add_many_if_new(std::span<const KeyHash> hashes, bool* is_new) noexcept {
  std::size_t done = 0;
  while (done < hashes.size()) {
    const std::size_t lines = filters_.size() * filters_.back().block_words() / kWordsPerLine;
    const auto rest = hashes.subspan(done);
    const auto some = rest.first(std::min(rest.size(), std::max<std::size_t>(1, kLinesAhead / lines)));
    for (const KeyHash hash : some) prefetch(hash);
    for (const KeyHash hash : some) {
      const SeenAnswer answer = add(hash);
      if (answer == SeenAnswer::Unknown) return done;
      is_new[done++] = answer == SeenAnswer::New;
    }
  }
  return done;
}

void SeenReader::refresh() noexcept {
  try {
    look();
  } catch (const std::exception&) {
    give_up_once();
  }
}

// Memory ran out. The next call looks again.
void SeenReader::give_up_once() noexcept {
  drop_filters();
  availability_ = Availability::Missing;
  reason_ = "out of memory";  // short enough to need none
  pace_.check_soon();
}

void SeenReader::look() {
  try {
    const bool is_check_due = pace_.is_due();
    if (is_check_due) pace_.plan(std::chrono::steady_clock::now());
    if (!file_ || (is_check_due && !is_page_in_place())) open_page();
    attach_all();
  } catch (const Error& failure) {
    availability_ =
        failure.kind() == ErrorKind::Incompatible ? Availability::Incompatible : Availability::Missing;
    reason_ = failure.what();
  }
}

void SeenReader::open_page() {
  drop_filters();
  file_.reset();
  state_ = &kNoState;
  expected_ = kNoState;
  const SetFolder folder =
      SetFolder::open(seen_directory(settings_.directory), set_name_, settings_.trusted_owner);
  file_ = open_seen_page<const SeenPage>(folder);
  owner_ = folder.owner();
  state_ = &file_->page().state;
  hasher_.emplace(file_->page().seed);
}

// False too if that cannot be found out.
bool SeenReader::is_page_in_place() const {
  try {
    return file_->found_at(path_) == MappedRegion::Found::This;
  } catch (const Error&) {
    return false;
  }
}

// The loader may add and retire filters meanwhile. What cannot be attached is tried again when `state`
// changes, and at each check.
void SeenReader::attach_all() {
  for (int tries = 0; tries < kTries; ++tries) {
    expected_ = state_->load(std::memory_order_seq_cst);
    const SeenState state = SeenState::of(expected_);
    // A page that has lost all filters may have been replaced, now or while its filters were attached.
    if (state.is_empty() && !is_page_in_place()) {
      open_page();
      continue;
    }
    if (state.is_empty() || !state.is_possible()) {
      drop_filters();
      if (!state.is_possible())
        throw Error(ErrorKind::Data, path_ + ": is damaged: " + std::to_string(state.size) + " filters");
      throw Error(ErrorKind::MissingInput, path_ + ": has no filter yet: the log of keysieved says why");
    }
    if (!attach(state)) continue;
    availability_ = is_bypassed(state) ? Availability::Bypassed : Availability::Ready;
    reason_ = availability_ == Availability::Bypassed ? "bypassed by an operator" : "";
    return;
  }
  drop_filters();
  throw Error(ErrorKind::MissingInput, path_ + ": changes faster than it can be read");
}

// The loader takes the bit away when the time is over; this is for a loader that is stopped.
bool SeenReader::is_bypassed(SeenState state) const noexcept {
  if (!state.is_bypassed) return false;
  const UnixSeconds until = file_->page().bypass_until.load(std::memory_order_relaxed);
  return until == 0 || unix_now() < until;
}

// False: it has changed meanwhile.
bool SeenReader::attach(SeenState wanted) {
  if (wanted == attached_) return true;
  std::vector<SeenEntry> entries;
  std::vector<SeenFilter> filters;
  try {
    for (std::uint32_t number = wanted.first; number != wanted.end(); ++number) {
      const SeenEntry& entry = entries.emplace_back(file_->page().entry(number));
      filters.push_back(filter_of(entry, segment_of(entry).bytes(), path_));
    }
  } catch (const Error&) {
    if (state_->load(std::memory_order_seq_cst) != wanted.word()) return false;
    drop_filters();
    throw;
  }
  const SeenState now = SeenState::of(state_->load(std::memory_order_seq_cst));
  // If the ring has moved on so far, the entries may have been mixed.
  if (now.first - wanted.first > kSeenEntries - kSeenEntriesAhead) return false;
  filters_ = std::move(filters);
  entries_ = std::move(entries);
  std::erase_if(segments_, [this](const Segment& one) {
    return std::none_of(entries_.begin(), entries_.end(),
                        [&](const SeenEntry& entry) { return entry.segment_key == one.key(); });
  });
  attached_ = wanted;
  return true;
}

// What is attached stays so for the next try.
const Segment& SeenReader::segment_of(const SeenEntry& entry) {
  const auto own = std::find_if(segments_.begin(), segments_.end(),
                                [&](const Segment& one) { return one.key() == entry.segment_key; });
  if (own != segments_.end()) return *own;
  return segments_.emplace_back(
      Segment::attach(entry.segment_key, entry.plan.segment_bytes(), owner_, path_));
}

void SeenReader::drop_filters() noexcept {
  filters_.clear();
  entries_.clear();
  segments_.clear();
  attached_ = {};
}

}  // namespace keysieve
