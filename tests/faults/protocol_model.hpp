// A model of the protocol of publishing, adding and reading (docs/concurrency.md): a state, and what can
// come next. Each step is one system call or one atomic access. Readers write nothing, so one stands for
// all. Every key is added alike, so one stands for all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace keysieve::test {

inline constexpr std::uint8_t kPublishers = 3;
inline constexpr std::uint8_t kNumbers = 5;    // publications 1 to 4
inline constexpr std::uint8_t kInstances = 4;  // of control pages 1 to 3

// Parts that a test can leave out of the protocol, to see that the model notices.
struct Protocol {
  bool holds_control = true;
  bool names_before_current = true;
  bool keeps_current = true;
  bool checks_instance = true;
  bool asks_previous_at_most = true;  // else a reader answers from whatever it has
  bool adds_to_previous = true;
  bool fills_before_publishing = true;  // first adds the keys of the new layer to the live ones
};

// A file. `writer` is its publisher, from 1; 0: no file. `whole` once everything is written.
struct ModelFile {
  std::uint8_t writer = 0;
  std::uint8_t whole = 0;
  std::uint8_t instance = 0;
};
struct ModelNames {
  ModelFile snapshot, live, snapshot_tmp, live_tmp;
};

enum class Step : std::uint8_t {
  Begin,
  Lock,
  CheckLock,
  OpenControl,
  Hold,
  ReadLog,
  FillPrevious,
  FillCurrent,
  List,
  Remove,
  CreateLive,
  WriteLive,
  CreateSnapshot,
  WriteSnapshot,
  CheckLockAgain,
  NameLive,
  NameSnapshot,
  KeepPrevious,
  MakeCurrent,
  ReadLogAgain,
  FillPreviousAgain,
  FillCurrentAgain,
  CleanUp,
  Ended
};

struct ModelPublisher {
  Step step = Step::Begin;
  std::uint8_t folder = 0;
  std::uint8_t lock = 0;
  std::uint8_t instance = 0;
  std::uint8_t previous = 0;
  std::uint8_t number = 0;
  std::uint8_t created = 0;
  std::uint8_t named = 0;   // how many of its files have their last name
  std::uint8_t doomed = 0;  // bits of publications that it removes
  std::uint8_t knows = 0;   // the added key
  std::uint8_t filled = 0;  // the publication whose layer it has added it to
};

// A call looks at the path, loads `current`, then `previous`, and answers, or attaches first.
enum class Look : std::uint8_t { Idle, HasControl, HasCurrent, Attaching, HasSnapshot };

struct ModelReader {
  Look look = Look::Idle;
  std::uint8_t instance = 0;
  std::uint8_t wanted = 0;
  ModelFile snapshot;  // opened, not yet taken
  std::uint8_t serving_instance = 0;
  std::uint8_t serving = 0;
  std::uint8_t must_know = 0;  // the key was seen before the call began
};

struct ModelState {
  std::array<ModelNames, kNumbers> names{};
  std::array<std::uint8_t, kInstances> current{};
  std::array<std::uint8_t, kInstances> previous{};
  std::array<std::uint8_t, kInstances> with_key{};  // bits of publications whose layer has it
  std::array<std::uint8_t, kInstances> holder{};
  // The publisher that made each publication of each control page current.
  std::array<std::array<std::uint8_t, kNumbers>, kInstances> made_by{};
  std::array<ModelPublisher, kPublishers> publishers{};
  ModelReader reader;
  std::uint8_t folder = 1;
  std::uint8_t lock = 0;
  std::uint8_t locks = 0;  // made so far
  std::uint8_t control = 0;
  std::uint8_t controls = 0;
  std::uint8_t kills = 0;  // kills that are left, like the other events from outside
  std::uint8_t lock_removals = 0;
  std::uint8_t control_removals = 0;
  std::uint8_t wipes = 0;
  std::uint8_t logged = 0;    // the key is in the log,
  std::uint8_t received = 0;  // in the host's mirror of it,
  std::uint8_t seen = 0;      // and was maybe for a process that had just begun
  std::uint8_t is_wrong = 0;  // a reader has taken what it must not
  std::uint8_t is_lost = 0;   // a reader has called the key absent although it was seen before
};
static_assert(std::is_trivially_copyable_v<ModelState>);

// Whether a worker that starts now finds what is current, whole.
bool is_served(const ModelState& state);
// Every state that can follow.
std::vector<ModelState> successors(const ModelState& state, const Protocol& protocol);

}  // namespace keysieve::test
