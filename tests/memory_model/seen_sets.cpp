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
            require(s->filter.may_contain(kKey) && s->filter.may_contain(kOtherKey), "what was added is there");
          }};
}

// One worker tells another that it has added a key.
Program added_key() {
  struct Shared {
    std::array<Word, 1> words;
    SeenFilter filter{words, 1};
    Value has_added;
  };
  const auto s = std::make_shared<Shared>();
  fill(s->words[0], 2);
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
  std::array<int, 2> is_new{};

  SeenSet() {
    for (std::size_t i = 0; i < kFilters; ++i) filters[i] = SeenFilter(std::span(words).subspan(i, 1), 1);
    fill(words[1], 1);
    entries[0].put(1);
    state.store(SeenState{.first = 0, .size = 1}.word());
  }

  // As SeenWriter::show().
  void show(std::initializer_list<std::uint64_t> shown) {
    static const Quoted kState = quote("core/publisher/seen/seen_writer.hpp", "SeenState::of(page().state.load(");
    static const Quoted kLoad = quote(kWriter, "std::uint64_t expected = page().state.load(");
    static const Quoted kExchange = quote(kWriter, "page().state.compare_exchange_weak(");
    SeenState next = SeenState::of(state.load(kState));
    next.first = next.end();
    next.size = static_cast<std::uint16_t>(shown.size());
    std::size_t number = next.first;
    for (const std::uint64_t filter : shown) entries[number++].put(filter);
    std::uint64_t expected = state.load(kLoad);
    while (!state.compare_exchange(expected, next.word(), kExchange)) {
    }
  }
};

// As SeenReader, with the set's first state attached.
class SeenWorker {
 public:
  explicit SeenWorker(SeenSet& set) : set_(set), expected_(SeenState{.first = 0, .size = 1}.word()) {}

  bool add_if_new(KeyHash key) {
    static const Quoted kBegin = quote("core/worker/seen/seen_reader.hpp", "pace_.count_call() || state_->load(");
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

 private:
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
};

// Two workers add a key while the loader does something.
Program beside_two_workers(void (*loader)(SeenSet&)) {
  const auto set = std::make_shared<SeenSet>();
  const auto worker = [set](std::size_t number) {
    return [=] { set->is_new[number] = SeenWorker(*set).add_if_new(kKey) ? 1 : 0; };
  };
  return {{worker(0), worker(1), [=] { loader(*set); }},
          [set] { require_one_new(set->is_new[0], set->is_new[1]); }};
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
  return beside_two_workers([](SeenSet& set) {
    std::array<std::uint8_t, 1> sent{};
    set.show({1, 2});
    copy_tags(set.filters[1], set.filters[2], sent);
    set.show({2});
  });
}

}  // namespace

void add_seen_sets(std::vector<Protocol>& all) {
  all.push_back({"one filter", one_filter});
  all.push_back({"added key", added_key});
  all.push_back({"growth", growth});
  all.push_back({"retirement", retirement});
  all.push_back({"lost memory", lost_memory});
}

}  // namespace keysieve::model
