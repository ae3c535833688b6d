#include "tests/memory_model/explorer.hpp"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_set>

namespace keysieve::model {
namespace {

struct Thread {
  std::vector<std::uint64_t> results;
  std::optional<Access> next;  // none: it has ended
};

struct State {
  Memory memory;
  std::vector<Thread> threads;

  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t hash = memory.hash();
    for (const Thread& thread : threads) {
      const std::size_t size =
          thread.results.size();  // hashed too, so that it matters whose results they are
      hash = hash_bytes(thread.results.data(), size * sizeof thread.results[0],
                        hash_bytes(&size, sizeof size, hash));
    }
    return hash;
  }
};

// The exploration that is under way: there is one at a time.
struct Context {
  std::vector<std::uint64_t> values;  // of each location, while no thread runs
  const Thread* running = nullptr;
  std::size_t results_used = 0;
  Access stopped_at;
  std::jmp_buf stop;
  std::optional<Weakening> weakening;
  const char* violated = nullptr;
  std::map<PlaceName, Used> places;
};
Context context;

PlaceName name_of(const Place& place) {
  std::string_view file = place.file;
  if (const std::size_t core = file.rfind("core/worker/"); core != std::string_view::npos)
    file.remove_prefix(core);
  if (const std::size_t core = file.rfind("core/publisher/"); core != std::string_view::npos)
    file.remove_prefix(core);
  return std::string(file) + ":" + std::to_string(place.line);
}

std::uint64_t value_after(const Access& access, std::uint64_t before) {
  switch (access.kind) {
    case Kind::Or:
      return before | access.operands[0];
    case Kind::And:
      return before & access.operands[0];
    case Kind::CompareAndSet:
      return before == access.operands[0] ? access.operands[1] : before;
    default:
      return access.operands[0];
  }
}

std::uint64_t perform_alone(const Access& access) {
  std::uint64_t& value = context.values[access.location];
  const std::uint64_t before = value;
  if (access.kind != Kind::Load) value = value_after(access, before);
  return before;
}

void note(Access& access) {
  if (access.place.line == 0) return;
  const PlaceName name = name_of(access.place);
  context.places[name] = {access.kind, access.order};
  if (context.weakening && context.weakening->place == name) access.order = context.weakening->order;
}

// Whether the thread has ended, and not stopped at an access.
bool call(const std::function<void()>& thread) {
  if (setjmp(context.stop) != 0) return false;
  thread();
  return true;
}

void run_on(const std::function<void()>& function, Thread& thread) {
  context.running = &thread;
  context.results_used = 0;
  const bool has_ended = call(function);
  context.running = nullptr;
  thread.next.reset();
  if (has_ended) return;
  thread.next = context.stopped_at;
  note(*thread.next);
}

class Explorer {
 public:
  explicit Explorer(const Program& program) : program_(program) {}

  Explored explore() {
    State first{Memory(context.values), std::vector<Thread>(program_.threads.size())};
    for (std::size_t i = 0; i < program_.threads.size(); ++i) run_on(program_.threads[i], first.threads[i]);
    visit(first);
    return {.states = seen_.size(), .places = context.places, .violation = violation_};
  }

 private:
  static constexpr std::uint64_t kNothing = 0;  // what a store returns
  static constexpr std::size_t kMostStates = 50'000'000;

  void visit(const State& state) {
    if (!seen_.insert(state.hash()).second) return;  // it was gone on from
    if (seen_.size() > kMostStates) give_up("too many states");
    bool has_ended = true;
    for (std::size_t i = 0; i < state.threads.size() && context.violated == nullptr; ++i) {
      if (!state.threads[i].next) continue;
      has_ended = false;
      step(state, i);
    }
    if (has_ended) end(state);
    if (context.violated != nullptr && violation_.empty()) tell();
  }

  // Everything that the next access of a thread can do.
  void step(const State& state, std::size_t thread) {
    const Access& access = *state.threads[thread].next;
    const Memory& memory = state.memory;
    const std::size_t at = access.location;
    const std::size_t first = memory.first_readable(thread, at, access.order);
    switch (access.kind) {
      case Kind::Load:
        return read(state, thread, first, access.order, [](std::uint64_t) { return true; });
      case Kind::Store:
        for (std::size_t i = memory.size(at); i > first; --i) {
          if (!memory.may_insert(at, i)) continue;
          go_on(state, thread, [&](Memory& next) {
            return next.write(thread, at, i, access.operands[0], access.order), kNothing;
          });
        }
        return;
      case Kind::CompareAndSetTwo:
        return compare_and_set_two(state, thread);
      case Kind::CompareAndSet:
        read(state, thread, memory.first_readable(thread, at, access.failure), access.failure,
             [&](std::uint64_t value) { return value != access.operands[0]; });
        [[fallthrough]];
      default:
        for (std::size_t i = memory.size(at); i > first; --i) {
          const std::uint64_t before = memory.value(at, i - 1);
          if (!memory.may_insert(at, i)) continue;
          if (access.kind == Kind::CompareAndSet && before != access.operands[0]) continue;
          go_on(state, thread, [&](Memory& next) {
            return next.update(thread, at, i - 1, value_after(access, before), access.order);
          });
        }
    }
  }

  template <typename May>
  void read(const State& state, std::size_t thread, std::size_t first, Order order, May may) {
    const std::size_t at = state.threads[thread].next->location;
    for (std::size_t i = state.memory.size(at); i > first; --i) {
      if (!may(state.memory.value(at, i - 1))) continue;
      go_on(state, thread, [&](Memory& next) { return next.read(thread, at, i - 1, order); });
    }
  }

  // If it fails, it orders nothing: on arm64 it is two loads then.
  void compare_and_set_two(const State& state, std::size_t thread) {
    const Access& access = *state.threads[thread].next;
    const bool is_equal = state.memory.latest(access.location) == access.operands[0] &&
                          state.memory.latest(access.second) == access.operands[1];
    go_on(state, thread, [&](Memory& next) -> std::uint64_t {
      if (is_equal) {
        next.update_two(thread, {access.location, access.second}, {access.operands[2], access.operands[3]},
                        access.order);
      } else {
        for (const std::size_t at : {access.location, access.second})
          next.read(thread, at, next.size(at) - 1, Order::relaxed);
      }
      return is_equal ? 1 : 0;
    });
  }

  template <typename Do>
  void go_on(const State& state, std::size_t thread, Do act) {
    if (context.violated != nullptr) return;
    State next = state;
    const std::uint64_t result = act(next.memory);
    path_.push_back({thread, &*state.threads[thread].next, result});
    next.threads[thread].results.push_back(result);
    run_on(program_.threads[thread], next.threads[thread]);
    visit(next);
    path_.pop_back();
  }

  // Once more from the beginning, since the functions may have left in variables what `at_end` looks at.
  void end(const State& state) {
    if (context.violated != nullptr || !program_.at_end) return;
    for (std::size_t i = 0; i < program_.threads.size(); ++i) {
      Thread thread = state.threads[i];
      run_on(program_.threads[i], thread);
    }
    for (std::size_t i = 0; i < context.values.size(); ++i) context.values[i] = state.memory.latest(i);
    program_.at_end();
  }

  void tell() {
    violation_ = context.violated;
    for (const Taken& taken : path_) {
      violation_ +=
          "\n  thread " + std::to_string(taken.thread) + ": " +
          (taken.access->place.line == 0 ? "location " : name_of(taken.access->place) + ", location ") +
          std::to_string(taken.access->location) + ", " + to_string(taken.access->order) + ": " +
          (taken.access->kind == Kind::Store ? "stores " + std::to_string(taken.access->operands[0])
                                             : std::to_string(taken.result));
    }
  }

  struct Taken {
    std::size_t thread;
    const Access* access;
    std::uint64_t result;
  };

  const Program& program_;
  std::unordered_set<std::uint64_t> seen_;  // hashes of states
  std::vector<Taken> path_;
  std::string violation_;
};

}  // namespace

void give_up(const std::string& reason) noexcept {
  std::fprintf(stderr, "memory model: %s\n", reason.c_str());
  std::abort();
}

std::uint64_t perform(const Access& access) {
  if (context.running == nullptr) return perform_alone(access);
  if (context.results_used < context.running->results.size())
    return context.running->results[context.results_used++];
  context.stopped_at = access;
  std::longjmp(context.stop, 1);
}

std::size_t new_location(std::uint64_t initial) {
  if (context.values.size() == kLocations) give_up("too many locations");
  context.values.push_back(initial);
  return context.values.size() - 1;
}

void require(bool holds, const char* what) {
  if (!holds && context.violated == nullptr) context.violated = what;
}

Explored explore(const MakeProgram& make, const std::optional<Weakening>& weakening) {
  context.values.clear();
  context.places.clear();
  context.violated = nullptr;
  context.weakening = weakening;
  const Program program = make();
  return Explorer(program).explore();
}

std::vector<Order> weaker_orders(const Used& used) {
  const bool is_update = used.kind != Kind::Load && used.kind != Kind::Store;
  std::vector<Order> all;
  if (used.order == Order::seq_cst && is_update) all.push_back(Order::acq_rel);
  if (used.order == Order::relaxed) return all;
  if (used.kind != Kind::Store && used.order != Order::acquire && used.order != Order::release)
    all.push_back(Order::acquire);
  if (used.kind != Kind::Load && used.order != Order::release && used.order != Order::acquire)
    all.push_back(Order::release);
  all.push_back(Order::relaxed);
  return all;
}

std::string to_string(Order order) {
  switch (order) {
    case Order::relaxed:
      return "relaxed";
    case Order::consume:
      return "consume";
    case Order::acquire:
      return "acquire";
    case Order::release:
      return "release";
    case Order::acq_rel:
      return "acq_rel";
    case Order::seq_cst:
      return "seq_cst";
  }
  return "";
}

}  // namespace keysieve::model
