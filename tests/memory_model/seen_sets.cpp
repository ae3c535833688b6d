// Seen sets: words, filters, and what the loader does to them while workers add keys (docs/seen_sets.md).
#include "tests/memory_model/modelled_atomic.hpp"
// then, with the model's atomics
#include "core/publisher/seen/seen_tags.hpp"
#include "core/worker/seen/seen_filter.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "tests/memory_model/protocols.hpp"

namespace keysieve::model {
namespace {

constexpr const char* kReader = "core/worker/seen/seen_reader.cpp";
constexpr const char* kWriter = "core/publisher/seen/seen_writer.cpp";
constexpr KeyHash kKey{kA};
constexpr KeyHash kOtherKey{kC};

// A word with so many tags of other keys.
void fill(Word& word, unsigned tags) {
  WordValue value;
  for (unsigned i = 0; i < tags; ++i) value = value.with(tag_of(KeyHash{kG * (i + 1)}));
  word.store_alone(value);
}

void require_one_new(int first, int second) {
  require(first + second <= 1, "one call at most finds a key new");
}

// Two workers add a key to a block of two words while another one adds another key. The third tag of a word
// is in both of its halves.
Program one_filter() {
  struct Shared {
    std::array<Word, 2> words;
    SeenFilter filter{words, 2};
    std::array<int, 2> is_new{};
  };
  const auto s = std::make_shared<Shared>();
  for (Word& word : s->words) fill(word, 2);
  const auto worker = [s](std::size_t number) {
    return [=] { s->is_new[number] = s->filter.add_if_new(kKey) ? 1 : 0; };
  };
  const auto other = [s] { static_cast<void>(s->filter.add_if_new(kOtherKey)); };
  return {{worker(0), worker(1), other}, [s] {
            require_one_new(s->is_new[0], s->is_new[1]);
            require(s->filter.may_contain(kKey) && s->filter.may_contain(kOtherKey),
                    "what was added is there");
          }};
}

// One worker tells another that it has added a key, while a third tag makes the other tags of the word
// shorter.
Program added_key() {
  struct Shared {
    std::array<Word, 1> words;
    SeenFilter filter{words, 1};
    Value has_added;
  };
  const auto s = std::make_shared<Shared>();
  fill(s->words[0], 1);
  const auto adder = [s] {
    if (s->filter.add_if_new(kKey)) s->has_added.tell();
  };
  const auto other = [s] { static_cast<void>(s->filter.add_if_new(kOtherKey)); };
  const auto looker = [s] {
    if (s->has_added.hears()) require(s->filter.may_contain(kKey), "what was added is there");
  };
  return {{adder, other, looker}, {}};
}

// A set of filters of one word each.
constexpr std::size_t kFilters = 3;
struct SeenSet {
  ModelledAtomic<std::uint64_t> state;
  std::array<Value, 8> entries;  // the number of a filter
  std::array<Word, kFilters> words;
  std::array<SeenFilter, kFilters> filters;

  SeenSet() {
    for (std::size_t i = 0; i < kFilters; ++i) filters[i] = SeenFilter(std::span(words).subspan(i, 1), 1);
    entries[0].put(1);
    state.store(SeenState{.first = 0, .size = 1}.word());
  }

  // As SeenWriter::show().
  void show(std::initializer_list<std::uint64_t> shown) {
    static const Quoted kState =
        quote("core/publisher/seen/seen_writer.hpp", "SeenState::of(page().state.load(");
    static const Quoted kLoad = quote(kWriter, "std::uint64_t expected = page().state.load(");
    static const Quoted kExchange = quote(kWriter, "page().state.compare_exchange_weak(");
    static const Quoted kEntry = quote(kWriter, "__atomic_store_n(");
    SeenState next = SeenState::of(state.load(kState));
    next.first = next.end();
    next.size = static_cast<std::uint16_t>(shown.size());
    std::size_t number = next.first;
    for (const std::uint64_t filter : shown) entries[number++].put(filter, kEntry);
    std::uint64_t expected = state.load(kLoad);
    while (!state.compare_exchange(expected, next.word(), kExchange)) {
    }
  }
};

// As SeenReader, with the set's first state attached.
class SeenWorker {
 public:
  explicit SeenWorker(SeenSet& set) : set_(set), expected_(SeenState{.first = 0, .size = 1}.word()) {}

  void add(KeyHash key) { is_new_ = add_if_new(key); }
  [[nodiscard]] bool is_new() const { return is_new_; }
  // Whether it has answered by the filter that the other one has added the key to, too.
  [[nodiscard]] bool has_looked_at(const SeenWorker& other) const {
    const auto end = attached_.begin() + static_cast<std::ptrdiff_t>(size_);
    return std::find(attached_.begin(), end, other.attached_[other.size_ - 1]) != end;
  }

 private:
  bool add_if_new(KeyHash key) {
    static const Quoted kBegin =
        quote("core/worker/seen/seen_reader.hpp", "pace_.count_call() || state_->load(");
    static const Quoted kAgain = quote(kReader, "for (;;) {\n    if (state_->load(");
    if (set_.state.load(kBegin) != expected_) attach();
    for (std::size_t i = 0; i + 1 < size_; ++i)
      if (filter(i).may_contain(key)) return false;
    if (!filter(size_ - 1).add_if_new(key)) return false;
    for (;;) {
      if (set_.state.load(kAgain) == expected_) return true;
      const std::uint64_t won_in = attached_[size_ - 1];
      attach();
      if (!wins_behind(won_in, key)) return false;
    }
  }

  [[nodiscard]] const SeenFilter& filter(std::size_t index) const { return set_.filters[attached_[index]]; }

  void attach() {
    static const Quoted kState = quote(kReader, "expected_ = state_->load(");
    static const Quoted kEntry = quote("core/worker/seen/seen_page.hpp", "__atomic_load_n(");
    expected_ = set_.state.load(kState);
    const SeenState state = SeenState::of(expected_);
    size_ = state.size;
    for (std::size_t i = 0; i < size_; ++i) {
      attached_[i] = set_.entries[state.first + i].get(kEntry);
      require(attached_[i] != 0, "what the state counts is there");
    }
  }
  // As SeenReader::wins_behind().
  [[nodiscard]] bool wins_behind(std::uint64_t won_in, KeyHash key) const {
    std::size_t newer = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (attached_[i] == won_in) newer = i + 1;
    for (std::size_t i = newer; i < size_; ++i)
      if (!filter(i).add_if_new(key)) return false;
    return true;
  }

  SeenSet& set_;
  std::uint64_t expected_;
  std::array<std::uint64_t, kFilters> attached_{1};
  std::size_t size_ = 1;
  bool is_new_ = false;
};

// Two workers add a key while the loader does something. A window that was retired counts no more, unless its
// tags were taken over.
enum class Retired { Forgotten, TakenOver };
Program beside_two_workers(void (*loader)(SeenSet&), Retired retired = Retired::Forgotten) {
  struct Shared {
    SeenSet set;
    std::array<std::optional<SeenWorker>, 2> workers;
  };
  const auto s = std::make_shared<Shared>();
  const auto worker = [s](std::size_t number) {
    return [=] { s->workers[number].emplace(s->set).add(kKey); };
  };
  return {{worker(0), worker(1), [=] { loader(s->set); }}, [s, retired] {
            const SeenWorker& one = *s->workers[0];
            const SeenWorker& other = *s->workers[1];
            const bool both = one.is_new() && other.is_new();
            require(!both || (retired == Retired::Forgotten && !one.has_looked_at(other) &&
                              !other.has_looked_at(one)),
                    "one call at most finds a key new");
          }};
}

Program growth() {
  return beside_two_workers([](SeenSet& set) { set.show({1, 2}); });
}

Program retirement() {
  return beside_two_workers([](SeenSet& set) {
    set.show({1, 2});
    set.show({2});
  });
}

// As SeenWriter::replace_lost().
Program lost_memory() {
  return beside_two_workers(
      [](SeenSet& set) {
        std::array<std::uint8_t, 1> sent{};
        set.show({1, 2});
        copy_tags(set.filters[1], set.filters[2], sent);
        set.show({2});
      },
      Retired::TakenOver);
}

// The ring of entries, in small: with one filter at a time, kMaxSeenFilters is 1. Every change writes the
// entry once more, and opens the next filter's in a slot behind. `state` is no more than acquire and release
// here: that a worker notices must not depend on one order of all its loads and stores.
constexpr std::uint32_t kRing = 4;
constexpr std::uint32_t kAhead = 3;
struct Ring {
  ModelledAtomic<std::uint64_t> state;
  std::array<Value, kRing> plans;
  std::array<Value, kRing> keys;

  Ring() {
    state.store(SeenState{.first = 0, .size = 1}.word());
    plans[0].put(1);
    keys[0].put(1);
  }
  static Quoted without_one_order(Quoted quoted, Order order) {
    if (quoted.order == Order::seq_cst) quoted.order = order;
    return quoted;
  }
  void write(std::uint32_t number, std::uint64_t plan, std::uint64_t key) {
    static const Quoted kStore = quote(kWriter, "__atomic_store_n(");
    plans[number % kRing].put(plan, kStore);
    keys[number % kRing].put(key, kStore);
  }
  void store_key(std::uint32_t number, std::uint64_t key) {
    static const Quoted kStore = quote("core/publisher/seen/new_segment.hpp", "__atomic_store_n(");
    keys[number % kRing].put(key, kStore);
  }
  // As SeenWriter::open(), show() and sweep(), where the set was at `first`.
  void append(std::uint32_t first) {
    static const Quoted kExchange =
        without_one_order(quote(kWriter, "page().state.compare_exchange_weak("), Order::acq_rel);
    const SeenState next{.first = first + 1, .size = 1};
    write(next.end(), first + 3, 0);
    store_key(next.end(), first + 3);
    write(next.first, next.first + 1, next.first + 1);
    std::uint64_t expected = SeenState{.first = first, .size = 1}.word();
    state.compare_exchange(expected, next.word(), kExchange);
    for (const std::uint32_t gone : {first + 2, first + kRing}) store_key(gone, 0);
  }
};

// A worker copies an entry while the loader goes round the ring.
Program ring() {
  const auto s = std::make_shared<Ring>();
  const auto loader = [s] {
    for (std::uint32_t first = 0; first < 3; ++first) s->append(first);
  };
  // As SeenReader::attach_all() and attach().
  const auto worker = [s] {
    static const Quoted kState =
        Ring::without_one_order(quote(kReader, "expected_ = state_->load("), Order::acquire);
    static const Quoted kGone = Ring::without_one_order(
        quote(kReader, "catch (const Error&) {\n    if (state_->load("), Order::acquire);
    static const Quoted kMoved =
        Ring::without_one_order(quote(kReader, "SeenState::of(state_->load("), Order::acquire);
    static const Quoted kEntry = quote("core/worker/seen/seen_page.hpp", "__atomic_load_n(");
    const SeenState wanted = SeenState::of(s->state.load(kState));
    const std::uint64_t plan = s->plans[wanted.first % kRing].get(kEntry);
    const std::uint64_t key = s->keys[wanted.first % kRing].get(kEntry);
    if (key == 0) {
      require(s->state.load(kGone) != wanted.word(),
              "a worker that finds no filter finds that the state has changed");
      return;
    }
    const SeenState now = SeenState::of(s->state.load(kMoved));
    if (now.first - wanted.first > kRing - kAhead) return;
    require(plan == wanted.first + 1 && key == wanted.first + 1, "a worker takes no mixed entry");
  };
  return {{loader, worker}, {}};
}

}  // namespace

std::vector<Protocol> seen_sets() {
  return {{"a key added twice", one_filter}, {"a key that was added", added_key},
          {"a filter appended", growth},     {"the ring of entries", ring},
          {"a window retired", retirement},  {"lost memory", lost_memory}};
}

}  // namespace keysieve::model
