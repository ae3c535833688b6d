#include "core/worker/shm/set_reader.hpp"

#include <unistd.h>

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

constexpr auto kAvailabilityNames =
    std::to_array<std::string_view>({"ready", "missing", "expired", "bypassed", "incompatible"});
static_assert(kAvailabilityNames.size() == static_cast<std::size_t>(Availability::Incompatible) + 1);

}  // namespace

std::string_view to_string(Availability availability) noexcept {
  return kAvailabilityNames[static_cast<std::size_t>(availability)];
}

std::string_view SetReader::reason() const noexcept {
  if (has_no_memory_) return "out of memory";
  if (availability_ == Availability::Bypassed) {
    if ((bypassed_by_ & kDamagedBit) != 0) return "its bytes have changed since they were published";
    if ((bypassed_by_ & kAddsLostBit) != 0) return "the store has lost keys that were added to it";
    if (bypassed_by_ == kBypassBit) return "bypassed by an operator of this host";
    if (bypassed_by_ == kStoreBypassBit) return "bypassed in the store";
    return "bypassed by an operator of this host, and in the store";
  }
  if (availability_ == Availability::Expired) return "its snapshot is past valid_for";
  const Trouble* trouble = worst_trouble();
  return trouble == nullptr ? std::string_view() : trouble->reason;
}

std::optional<ErrorKind> SetReader::trouble() const noexcept {
  if (availability_ == Availability::Bypassed) {
    return (bypassed_by_ & kDamagedBit) != 0 ? std::optional(ErrorKind::Data) : std::nullopt;
  }
  if (availability_ == Availability::Expired) return std::nullopt;
  const Trouble* trouble = worst_trouble();
  return trouble == nullptr ? std::nullopt : std::optional(trouble->kind);
}

const SetReader::Trouble* SetReader::worst_trouble() const noexcept {
  if (control_trouble_) return &*control_trouble_;
  return attach_trouble_ ? &*attach_trouble_ : nullptr;
}

SetReader::SetReader(ReaderSettings settings, std::string_view set_name)
    : settings_(std::move(settings)),
      set_name_(checked_set_name(set_name)),
      control_path_(settings_.directory + "/" + set_name_ + "/" + kControlName) {}

// The slow path: runs at the first call, at every check, whenever `current` has changed, and as long as there
// is something to detach.
bool SetReader::refresh() noexcept {
  if (!pace_.is_due() && !has_changed()) return false;
  has_no_memory_ = false;
  try {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (pace_.is_due()) {
      pace_.plan(now);
      follow_control(now);
    } else if (control_trouble_ && now >= retry_at_) {
      follow_control(now);
    }
    follow_current(current_->load(std::memory_order_acquire), now);
    detach_some();
  } catch (const std::exception&) {
    give_up_once();
  }
  return true;
}

// Memory ran out: what is mapped may not be what the path leads to now. The next call looks at everything
// again.
void SetReader::give_up_once() noexcept {
  has_no_memory_ = true;
  serving_ = nullptr;
  availability_ = Availability::Missing;
  expected_word_ = answered_word_ = kUnsettled;
  retry_at_ = {};
  check_soon();
}

// Opens the control page that the path leads to now. If there is none any more, the mapped publication goes
// on serving, unless it was too old even for the page before. If there is another one that cannot be opened,
// something newer may have been published there.
void SetReader::follow_control(SteadyTime now) {
  for (int tries = 1;; ++tries) {
    try {
      if (!control_ || control_->found_at(control_path_) == ControlFile::Found::Another) open_control();
      follow_layer();
      retry_at_ = {};
      control_trouble_.reset();
      return;
    } catch (const Error& failure) {
      // A file that was found may be gone again.
      if (control_ && failure.kind() == ErrorKind::MissingInput && tries < kAttachTries) continue;
      retry_at_ = now + kRetryDelay;
      control_trouble_.emplace(failure);
      return;
    }
  }
}

void SetReader::open_control() {
  const bool was_behind = is_behind(named_by(current_->load(std::memory_order_acquire)));
  const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
  retired_.reserve(retired_.size() + 1);  // before anything changes: memory may run out
  control_ = ControlFile::open_read_only(folder);
  current_ = &control_->page().current;
  attach_trouble_.reset();
  next_.reset();
  refused_ = {};
  // A copy of the folder has the same numbers but other files.
  const bool is_copy = attachment_ && control_->page().instance == attachment_->id().instance;
  if (was_behind || is_copy) retired_.push_back(std::move(attachment_));
}

// The publication is attached again if keys are added where it does not see them.
void SetReader::follow_layer() {
  const bool is_here = attachment_ && attachment_->id().instance == control_->page().instance;
  if (!is_here || attachment_->shows_its_path() || is_layer_replaced_by_something_else()) return;
  retired_.reserve(retired_.size() + 1);
  retired_.push_back(std::move(attachment_));
}

// Nobody adds to what is no live page of the publication, so what is mapped goes on serving. If the page
// cannot be opened for another reason, keys may be added there.
bool SetReader::is_layer_replaced_by_something_else() const {
  const PublicationId& id = attachment_->id();
  try {
    const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
    static_cast<void>(LiveFile::open_read_only(folder, live_file_name(id.publication), id));
    return false;
  } catch (const Error& failure) {
    return failure.kind() == ErrorKind::Data;
  }
}

void SetReader::follow_current(std::uint64_t word, SteadyTime now, int tries) {
  const PublicationId wanted = named_by(word);
  is_behind_ = is_behind(wanted);
  if (wanted.publication == 0) {
    if (!control_) return answer_once(word);  // a long-running worker finds a set that comes later
    attach_trouble_.emplace(Error(ErrorKind::MissingInput, "nothing is published yet"));
    return answer_while(word);  // a new control page: the mapped publication goes on serving
  }
  if (attachment_ && attachment_->id() == wanted) {
    next_.reset();
    mismatch_since_.reset();
    return answer_while(word);
  }
  if (wanted == refused_) return attachment_ && !is_behind_ ? answer_once(word) : answer_while(word);
  if (!may_attach_now(now)) return answer_once(word);
  if (next_ && next_->id() == wanted) return warm(word, now);
  attach(word, now, tries);
}

PublicationId SetReader::named_by(std::uint64_t word) const noexcept {
  return {control_ ? control_->page().instance : 0, publication_of(word)};
}

// Keys are added to the layers of the current publication and of the one before it, to that one first. Older
// publications miss them. Acquire: pairs with the release in Publisher::keep_previous; the value loaded from
// `current` before is at most as new.
bool SetReader::is_behind(const PublicationId& current) const noexcept {
  if (!attachment_ || current.publication == 0 || attachment_->id() == current) return false;
  const std::uint64_t previous = control_->page().previous.load(std::memory_order_acquire);
  return attachment_->id() != PublicationId{current.instance, previous};
}

// Yes if nothing can serve meanwhile, or if the publication is older than any jitter. Otherwise only after
// half the jitter, so that the workers of a host do not all touch a new publication's pages at once. The
// other half is for warming it.
bool SetReader::may_attach_now(SteadyTime now) {
  if (!mismatch_since_) mismatch_since_ = now;
  if (now < retry_at_) return false;
  if (!attachment_ || is_behind_ || is_older_than_any_jitter()) return true;
  return now - *mismatch_since_ >= jitter() / 2;
}

// Checks again how old the publication is: a newer one may have come since.
bool SetReader::must_switch(SteadyTime now) const noexcept {
  return !attachment_ || is_behind_ || is_older_than_any_jitter() || now - *mismatch_since_ >= jitter();
}

bool SetReader::is_older_than_any_jitter() const noexcept {
  const std::int64_t moved_at_ms = control_->page().moved_at_ms.load(std::memory_order_relaxed);
  return unix_now_ms() - moved_at_ms >= settings_.max_jitter.count();
}

void SetReader::attach(std::uint64_t word, SteadyTime now, int tries) {
  for (;; ++tries) {
    const PublicationId id = named_by(word);
    try {
      const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
      next_ = std::make_unique<Attachment>(folder, set_name_, id);
      if (!must_switch(now)) return answer_once(word);
      take(std::move(next_));
      return answer_while(word);
    } catch (const Error& failure) {
      next_.reset();
      // The path may lead to another folder, with other files of the same numbers.
      const FileIdentity followed = control_->identity();
      follow_control(now);
      const std::uint64_t now_current = current_->load(std::memory_order_acquire);
      if (control_->identity() != followed && tries < kAttachTries)
        return follow_current(now_current, now, tries + 1);
      const bool replaced = publication_of(now_current) != id.publication;
      if (replaced && tries < kAttachTries) {
        word = now_current;
        continue;
      }
      attach_trouble_.emplace(failure);
      const bool is_for_good = failure.kind() == ErrorKind::Incompatible || failure.kind() == ErrorKind::Data;
      if (is_for_good) {
        refused_ = id;
      } else if (!replaced) {
        retry_at_ = std::chrono::steady_clock::now() + kRetryDelay;
      }
      return answer_once(word);
    }
  }
}

// Warms a slice at each call, until everything is warm or the jitter is over: warming never delays a new
// publication further.
void SetReader::warm(std::uint64_t word, SteadyTime now) {
  const bool is_warm = do_for_a_slice([this](std::size_t bytes) { return next_->warm_some(bytes); });
  if (!is_warm && !must_switch(now)) return answer_once(word);
  take(std::move(next_));
  answer_while(word);
}

// A publication that is still being detached is detached at once, so that a worker with few calls does not
// collect publications.
void SetReader::take(std::unique_ptr<Attachment> attachment) {
  retired_.clear();
  if (attachment_) retired_.push_back(std::move(attachment_));
  attachment_ = std::move(attachment);
  mismatch_since_.reset();
  refused_ = {};
  is_behind_ = false;
  attach_trouble_.reset();
}

// A bypass that is over leaves its bit in the word until the loader clears it. A new one may leave the word
// unchanged, but not the end. Relaxed: begin_call() has acquired.
bool SetReader::has_changed() const noexcept {
  return current_->load(std::memory_order_relaxed) != answered_word_ ||
         ends_of(control_->page()) != answered_ends_;
}

// What calls answer as long as `current` is this word, and the ends of bypasses are what they are.
void SetReader::answer_while(std::uint64_t word) noexcept {
  const UnixSeconds now = unix_now();
  if (control_) answered_ends_ = ends_of(control_->page());
  bypassed_by_ = control_ ? bypasses_in_force(control_->page(), word, now) : 0;
  availability_ = availability_at(now);
  serving_ = availability_ == Availability::Ready ? attachment_.get() : nullptr;
  // Later calls have to detach retired publications.
  answered_word_ = retired_.empty() && !control_trouble_ ? word : kUnsettled;
  const bool is_over = is_bypassed(word) && availability_ != Availability::Bypassed;
  expected_word_ = is_over ? kUnsettled : answered_word_;
}

// Answers as answer_while() for this call alone; the next one looks again.
void SetReader::answer_once(std::uint64_t word) noexcept {
  answer_while(word);
  expected_word_ = answered_word_ = kUnsettled;
}

Availability SetReader::availability_at(UnixSeconds now) const noexcept {
  if (control_trouble_) return control_trouble_->availability();
  if (!attachment_ || is_behind_)
    return attach_trouble_ ? attach_trouble_->availability() : Availability::Missing;
  if (bypassed_by_ != 0) return Availability::Bypassed;
  const UnixSeconds valid_until = attachment_->snapshot().valid_until();
  if (valid_until != 0 && now >= valid_until) return Availability::Expired;
  return Availability::Ready;
}

void SetReader::detach_some() noexcept {
  std::erase_if(retired_, [](const auto& retired) {
    return do_for_a_slice([&](std::size_t bytes) { return retired->let_go_of_some(bytes); });
  });
}

// Does larger and larger pieces until there are no more (returns true) or the time is over: with huge pages a
// piece costs little, whatever its size.
template <typename DoPiece>
bool SetReader::do_for_a_slice(DoPiece do_piece) noexcept {
  const SteadyTime until = std::chrono::steady_clock::now() + kSliceTime;
  for (std::size_t bytes = kFirstPieceBytes; !do_piece(bytes); bytes *= 2) {
    if (std::chrono::steady_clock::now() >= until) return false;
  }
  return true;
}

// Different for every process, the same for one reader of it.
std::chrono::milliseconds SetReader::jitter() const noexcept {
  const std::array<std::int64_t, 2> identity{::getpid(), created_at_.time_since_epoch().count()};
  const std::uint64_t hash = checksum(std::as_bytes(std::span(identity)));
  return std::chrono::milliseconds(hash % static_cast<std::uint64_t>(settings_.max_jitter.count() + 1));
}

}  // namespace keysieve
