// The reading side of shared memory: attaches the current publication of one set, and the next one in the
// call that finds it current. Answers from it alone; else maybe. Never writes, never locks, never waits. One
// SetReader belongs to one thread; a process may have many.
//
//   SetReader reader({.directory = "/run/keysieve"}, "tags");
//   if (const Attachment* attached = reader.follow()) {
//     answer = attached->may_contain(attached->snapshot().hasher()(key));
//   } else {
//     answer = maybe;   // reader.availability() says why
//   }
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/worker/base/error.hpp"
#include "core/worker/shm/attachment.hpp"
#include "core/worker/shm/check_pace.hpp"
#include "core/worker/shm/control_file.hpp"

namespace keysieve {

// Everything but Ready means: the answer is maybe.
enum class Availability : std::uint8_t {
  Ready,
  Missing,       // no such set here, nothing published yet, not trusted, or cannot be attached
  Expired,       // past the snapshot's valid_for
  Bypassed,      // switched off, by an operator of this host or in the store
  Incompatible,  // published by a version this reader does not understand
};

inline constexpr std::array kAvailabilities{Availability::Ready, Availability::Missing, Availability::Expired,
                                            Availability::Bypassed, Availability::Incompatible};

std::string_view to_string(Availability availability) noexcept;

struct ReaderSettings {
  std::string directory{kDefaultDirectory};
  std::optional<uid_t> trusted_owner{};  // trusted in addition to root and the effective uid
};

class SetReader {
 public:
  // Opens nothing yet. The name must be a set name.
  SetReader(ReaderSettings settings, std::string_view set_name);

  // The publication from which to answer now; nullptr unless Ready. Valid until the next call. One acquire
  // load when nothing has changed.
  const Attachment* follow() noexcept {
    if (begin_call()) [[unlikely]]
      refresh();
    return serving_;
  }

  // The parts of follow(), for the extension, which logs what refresh() finds. Each call starts with
  // begin_call(), and calls refresh() if that returns true; the result of serving() is valid until the next
  // refresh(). That returns false, and has not looked, if nothing has changed.
  [[nodiscard]] bool begin_call() noexcept {
    return pace_.count_call() || current_->load(std::memory_order_acquire) != expected_word_;
  }
  bool refresh() noexcept;
  [[nodiscard]] const Attachment* serving() const noexcept { return serving_; }

  // Makes the next call check the clock, and whether the control page was replaced. Unmaps the publication
  // that was replaced last, which is slow (9 ms for 80 MB that were read). Call it when a request ends.
  void check_soon() noexcept {
    replaced_.reset();
    pace_.check_soon();
  }

  // In place of begin_call(), in the first call of a request: what check_soon() asks for is due at once.
  void begin_request() noexcept {
    check_soon();
    static_cast<void>(pace_.count_call());
  }

  // Whether check_soon() would unmap one.
  [[nodiscard]] bool has_replaced() const noexcept { return replaced_ != nullptr; }

  // As of the last refresh().
  [[nodiscard]] Availability availability() const noexcept { return availability_; }
  // One line for the log when availability() is not Ready; also while nothing is published in a folder that
  // took the place of the one it answers from. Valid until the next refresh().
  [[nodiscard]] std::string_view reason() const noexcept;
  // The kind of error behind reason(), for code that must decide. Nothing if the set is Ready, expired, or
  // bypassed by an operator. Data: the bytes were read and are wrong.
  [[nodiscard]] std::optional<ErrorKind> trouble() const noexcept;
  [[nodiscard]] const std::string& set_name() const noexcept { return set_name_; }
  // nullptr until a control page was found.
  [[nodiscard]] const ControlPage* control() const noexcept { return control_ ? &control_->page() : nullptr; }
  // The mapped publication, even when expired, bypassed, or replaced by one that cannot be attached; nullptr
  // when there is none. Valid until the next refresh().
  [[nodiscard]] const Attachment* attachment() const noexcept { return attachment_.get(); }

 private:
  using SteadyTime = CheckPace::SteadyTime;
  static constexpr int kAttachTries = 3;
  static constexpr std::chrono::seconds kRetryDelay{1};
  // Never a word of a control page, so every call takes the slow path.
  static constexpr std::uint64_t kUnsettled = ~std::uint64_t{0};
  // Used while there is no control page.
  static constexpr std::atomic<std::uint64_t> kNothingPublished{0};

  // Why the set does not answer, or from a folder that is gone.
  struct Trouble {
    ErrorKind kind;
    std::string reason;

    explicit Trouble(const Error& failure) : kind(failure.kind()), reason(failure.what()) {}
    [[nodiscard]] Availability availability() const noexcept {
      return kind == ErrorKind::Incompatible ? Availability::Incompatible : Availability::Missing;
    }
  };

  // The trouble with the control page, or else with the publication; nullptr when there is none.
  [[nodiscard]] const Trouble* worst_trouble() const noexcept;
  void follow_control(SteadyTime now);
  void open_control();
  void follow_layer();
  [[nodiscard]] bool is_layer_replaced_by_something_else() const;
  void follow_current(SteadyTime now);
  bool attach(const PublicationId& wanted);
  [[nodiscard]] PublicationId named_by(std::uint64_t word) const noexcept {
    return {control_->page().instance, publication_of(word)};
  }
  // Whether the word names another publication than the mapped one.
  [[nodiscard]] bool is_behind(std::uint64_t word) const noexcept {
    return publication_of(word) != 0 && !(attachment_ && attachment_->id() == named_by(word));
  }
  void answer_while(std::uint64_t word) noexcept;
  void answer_once(std::uint64_t word) noexcept;
  void give_up_once() noexcept;
  [[nodiscard]] Availability availability_at(UnixSeconds now, std::uint64_t word) const noexcept;

  // The hot part: what each call reads.
  const std::atomic<std::uint64_t>* current_ = &kNothingPublished;
  std::uint64_t expected_word_ = kUnsettled;
  Attachment* serving_ = nullptr;  // attachment_ while Ready, else nullptr
  CheckPace pace_;
  Availability availability_ = Availability::Missing;

  ReaderSettings settings_;
  std::string set_name_;
  std::string control_path_;
  std::optional<MappedPage<const ControlPage>> control_;
  std::unique_ptr<Attachment> attachment_;
  std::unique_ptr<Attachment> replaced_;      // the one before, unmapped when the request ends
  PublicationId refused_;                     // failed validation: not tried again
  bool has_no_memory_ = false;                // the last refresh() had not enough
  std::uint64_t bypassed_by_ = 0;             // bits of the word that were in force
  std::uint64_t answered_word_ = kUnsettled;  // that the answers hold for, while the ends are these
  BypassEnds answered_ends_{};
  SteadyTime retry_at_{};
  std::optional<Trouble> control_trouble_;  // the control page cannot be opened, or there is none yet
  std::optional<Trouble> attach_trouble_;   // nothing is published, or it cannot be attached
};

}  // namespace keysieve
