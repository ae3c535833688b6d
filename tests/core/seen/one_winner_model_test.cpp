// Models of an add to a seen set, in which every interleaving is visited: never do two calls win the same
// key. Each step is one atomic access. One model is of a block of words (core/worker/seen/seen_filter.hpp),
// the other of the row of filters and what the loader does to it (core/worker/seen/seen_reader.cpp,
// seen_writer.cpp). Each must find the fault when a part of the protocol is left out.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace keysieve {
namespace {

// All states that can be reached, until `next` returns false. It calls its argument with each state that can
// follow.
template <typename State, typename Next>
std::size_t visit_all(const State& first, Next next) {
  static_assert(std::has_unique_object_representations_v<State>);
  const auto bytes_of = [](const State& state) {
    return std::string(reinterpret_cast<const char*>(&state), sizeof state);
  };
  std::unordered_set<std::string> visited{bytes_of(first)};
  std::vector<State> open{first};
  while (!open.empty()) {
    const State state = open.back();
    open.pop_back();
    const bool goes_on = next(state, [&](const State& following) {
      if (visited.insert(bytes_of(following)).second) open.push_back(following);
    });
    if (!goes_on) break;
  }
  return visited.size();
}

struct Found {
  std::size_t states = 0;
  unsigned most_winners = 0;
  unsigned fewest_winners = 99;  // in the end, if the loader has not merged the tag
};

// How a call chooses the word for its tag, and what it does then.
enum class Rule : std::uint8_t {
  Fewest,           // the first of those that have the fewest tags, as the filter does
  LastOfFewest,     // would do too
  AnyOfFewest,      // would not: so not even equal ones may be exchanged
  Most,             //
  Any,              //
  SetsInAnyCase,    // without looking whether the word has changed
  DoesNotLookAgain  // puts the tag into the word that has changed
};

constexpr std::uint8_t kMostWords = 3;
constexpr std::uint8_t kMostAdders = 3;

struct BlockCall {
  std::uint8_t words_read = 0;
  std::uint8_t has_ended = 0;
  std::uint8_t has_won = 0;
  std::array<std::uint8_t, kMostWords> tags{};  // as it has read them
};
struct BlockState {
  std::array<std::uint8_t, kMostWords> tags{};
  std::array<std::uint8_t, kMostWords> has_key{};
  std::array<BlockCall, kMostAdders> calls{};
  std::uint8_t others = 0;  // tags of other keys that are still to come
  std::uint8_t merges = 0;  // likewise of this key's tag, by the loader
};

struct BlockModel {
  Rule rule = Rule::Fewest;
  std::uint8_t words = 2;
  std::uint8_t adders = 2;
  std::uint8_t others = 0;
  std::uint8_t merges = 0;
  std::uint8_t most_tags = 9;

  [[nodiscard]] Found visit() const {
    Found found;
    BlockState first;
    first.others = others;
    first.merges = merges;
    found.states = visit_all(first, [&](const BlockState& state, const auto& reach) {
      unsigned winners = 0;
      bool has_all_ended = true;
      for (std::uint8_t i = 0; i < adders; ++i) {
        winners += state.calls[i].has_won;
        has_all_ended = has_all_ended && state.calls[i].has_ended != 0;
        step(state, i, reach);
      }
      found.most_winners = std::max(found.most_winners, winners);
      if (has_all_ended && state.merges == merges)
        found.fewest_winners = std::min(found.fewest_winners, winners);
      // Whatever others do, a word gets one more tag.
      for (std::uint8_t word = 0; word < words; ++word) {
        if (state.tags[word] == most_tags) continue;
        BlockState after = state;
        ++after.tags[word];
        --after.others;
        if (state.others != 0) reach(after);
        after.others = state.others;
        after.has_key[word] = 1;
        --after.merges;
        if (state.merges != 0) reach(after);
      }
      return winners <= 1;
    });
    return found;
  }

 private:
  template <typename Reach>
  void step(const BlockState& state, std::uint8_t index, const Reach& reach) const {
    const BlockCall& call = state.calls[index];
    if (call.has_ended != 0) return;
    BlockState after = state;
    if (call.words_read < words) {
      BlockCall& reading = after.calls[index];
      reading.tags[reading.words_read] = state.tags[reading.words_read];
      ++reading.words_read;
      if (state.has_key[call.words_read] != 0) end(reading);
      return reach(after);
    }
    for (std::uint8_t word = 0; word < words; ++word) {
      if (!may_choose(call.tags, word)) continue;
      after = state;
      if (call.tags[word] == most_tags) {
        end(after.calls[index]);
      } else if (state.tags[word] == call.tags[word] || rule == Rule::SetsInAnyCase) {
        ++after.tags[word];
        after.has_key[word] = 1;
        end(after.calls[index]);
        after.calls[index].has_won = 1;
      } else if (rule == Rule::DoesNotLookAgain) {
        after.calls[index].tags[word] = state.tags[word];
      } else {
        after.calls[index] = {};
      }
      reach(after);
    }
  }
  static void end(BlockCall& call) {
    call = {};
    call.has_ended = 1;
  }
  [[nodiscard]] bool may_choose(const std::array<std::uint8_t, kMostWords>& tags, std::uint8_t word) const {
    const auto all = std::span(tags).first(words);
    const auto fewest = std::min_element(all.begin(), all.end());
    switch (rule) {
      case Rule::LastOfFewest:
        return tags[word] == *fewest && std::find(all.begin() + word + 1, all.end(), *fewest) == all.end();
      case Rule::AnyOfFewest:
        return tags[word] == *fewest;
      case Rule::Most:
        return word == std::max_element(all.begin(), all.end()) - all.begin();
      case Rule::Any:
        return true;
      default:
        return word == fewest - all.begin();
    }
  }
};

TEST(OneWinnerModel, LetsOneCallWinInABlock) {
  for (const Rule rule : {Rule::Fewest, Rule::LastOfFewest}) {
    for (const BlockModel& model :
         {BlockModel{.rule = rule, .words = 2, .adders = 3, .others = 3},
          BlockModel{.rule = rule, .words = 3, .adders = 2, .others = 4},
          BlockModel{.rule = rule, .words = 3, .adders = 3, .others = 1},
          BlockModel{.rule = rule, .words = 2, .adders = 2, .others = 3, .merges = 2},
          BlockModel{.rule = rule, .words = 3, .adders = 2, .others = 2, .merges = 1}}) {
      const Found found = model.visit();
      EXPECT_EQ(found.most_winners, 1U);
      EXPECT_EQ(found.fewest_winners, 1U);
      EXPECT_GT(found.states, 1'000U);
    }
  }
}

TEST(OneWinnerModel, LetsNobodyWinOnlyInAFullBlock) {
  const Found found = BlockModel{.adders = 2, .others = 6, .most_tags = 3}.visit();
  EXPECT_EQ(found.most_winners, 1U);
  EXPECT_EQ(found.fewest_winners, 0U);
}

TEST(OneWinnerModel, FindsTwoWinnersWithAnyOtherRule) {
  for (const Rule rule :
       {Rule::AnyOfFewest, Rule::Most, Rule::Any, Rule::SetsInAnyCase, Rule::DoesNotLookAgain}) {
    const Found found = BlockModel{.rule = rule, .words = 2, .adders = 2, .others = 2}.visit();
    EXPECT_EQ(found.most_winners, 2U) << static_cast<int>(rule);
  }
}

// Parts of the protocol that a test leaves out.
struct RowProtocol {
  bool looks_again = true;           // at `state`, after an add
  bool wins_in_all_if_gone = true;   // else in the newest, when its own filter is not there any more
  bool wins_in_all_newer = true;     // else in the newest
  bool shows_before_copying = true;  // heal()
  bool empties_old_page = true;      // take_over()
};

// Of filters that were made one after the other. Each is a set of at most this key: an add to it has one
// winner.
constexpr std::uint8_t kMostFilters = 6;
using Row = std::array<std::uint8_t, kMostFilters>;  // numbers from 1, oldest first; 0: no more

std::uint8_t size_of(const Row& row) {
  return static_cast<std::uint8_t>(std::find(row.begin(), row.end(), 0) - row.begin());
}
std::uint8_t place_in(const Row& row, std::uint8_t filter) {
  return static_cast<std::uint8_t>(std::find(row.begin(), row.end(), filter) - row.begin());
}

struct Page {
  Row row{};
  std::uint8_t version = 0;
};

enum class Call : std::uint8_t { Begins, Looks, LooksAgain, WinsBehind, Ended };
struct RowCall {
  Call at = Call::Begins;
  std::uint8_t page = 0;
  std::uint8_t version = 0;
  std::uint8_t place = 0;  // of the filter that is next
  Row row{};
};

enum class Work : std::uint8_t { None, HasShownBoth, HasCopied, HasRenamed, HasShownNewPage };
struct RowState {
  std::array<Page, 2> pages{};
  std::array<std::uint8_t, kMostFilters + 1> has_key{};
  std::array<std::uint8_t, kMostFilters + 1> is_removed{};
  std::array<RowCall, kMostAdders> calls{};
  std::uint8_t made = 0;     // filters
  std::uint8_t page = 0;     // to which the path leads
  std::uint8_t loader = 0;   // the page on which it works
  std::uint8_t changes = 0;  // that the loader may still make
  std::uint8_t winners = 0;  // since what they won in was retired
  Work work = Work::None;
  std::uint8_t lost = 0;  // filter that is being healed
};

struct RowModel {
  RowProtocol protocol{};
  std::uint8_t adders = 2;
  std::uint8_t changes = 3;

  [[nodiscard]] Found visit() const {
    Found found;
    RowState first;
    first.pages[0].row[0] = first.made = 1;
    first.changes = changes;
    found.states = visit_all(first, [&](const RowState& state, const auto& reach) {
      found.most_winners = std::max<unsigned>(found.most_winners, state.winners);
      for (std::uint8_t i = 0; i < adders; ++i) add(state, i, reach);
      load(state, reach);
      return state.winners <= 1;
    });
    return found;
  }

 private:
  // One step of a call.
  template <typename Reach>
  void add(const RowState& state, std::uint8_t index, const Reach& reach) const {
    RowState after = state;
    RowCall& call = after.calls[index];
    switch (call.at) {
      case Call::Begins:
        call.page = state.page;
        follow(after, call, {});
        break;
      case Call::Looks: {
        const std::uint8_t filter = call.row[call.place];
        const bool is_newest = call.place + 1 == size_of(call.row);
        if (state.has_key[filter] != 0) {
          end(call);
        } else if (!is_newest) {
          ++call.place;
        } else {
          after.has_key[filter] = 1;
          call.at = Call::LooksAgain;
          if (!protocol.looks_again) win(after, call);
        }
        break;
      }
      case Call::LooksAgain: {
        if (state.pages[call.page].version == call.version) {
          win(after, call);
          break;
        }
        const Row before = call.row;
        const std::uint8_t own = before[size_of(before) - 1U];
        if (size_of(state.pages[call.page].row) == 0) call.page = state.page;
        if (!follow(after, call, before)) break;
        const bool is_gone = place_in(call.row, own) == kMostFilters;
        call.place = is_gone ? 0 : place_in(call.row, own) + 1;
        const auto newest = static_cast<std::uint8_t>(size_of(call.row) - 1);
        if (is_gone ? !protocol.wins_in_all_if_gone : !protocol.wins_in_all_newer)
          call.place = std::max(call.place, newest);
        call.at = call.place > newest ? Call::LooksAgain : Call::WinsBehind;
        break;
      }
      case Call::WinsBehind:
        if (std::exchange(after.has_key[call.row[call.place]], 1) != 0) {
          end(call);
        } else if (++call.place == size_of(call.row)) {
          call.at = Call::LooksAgain;
        }
        break;
      case Call::Ended:
        return;
    }
    reach(after);
  }
  // What refresh() does. False, and the call ends, if a filter cannot be attached.
  static bool follow(const RowState& state, RowCall& call, const Row& attached) {
    const Page& page = state.pages[call.page];
    call = {.at = Call::Looks, .page = call.page, .version = page.version, .row = page.row};
    bool is_ready = size_of(page.row) != 0;
    for (std::uint8_t i = 0; i < size_of(page.row); ++i)
      is_ready =
          is_ready && (state.is_removed[page.row[i]] == 0 || place_in(attached, page.row[i]) != kMostFilters);
    if (!is_ready) end(call);
    return is_ready;
  }
  static void end(RowCall& call) { call = {.at = Call::Ended}; }
  static void win(RowState& state, RowCall& call) {
    ++state.winners;
    end(call);
  }

  static void show(Page& page, const std::vector<std::uint8_t>& filters) {
    page.row = {};
    std::copy(filters.begin(), filters.end(), page.row.begin());
    ++page.version;
  }

  // What the loader can do next.
  template <typename Reach>
  void load(const RowState& state, const Reach& reach) const {
    RowState after = state;
    Page& page = after.pages[state.loader];
    const std::uint8_t size = size_of(page.row);
    std::vector<std::uint8_t> filters(page.row.begin(), page.row.begin() + size);
    const auto place = std::find(filters.begin(), filters.end(), state.lost);
    switch (state.work) {
      case Work::HasShownBoth:  // copies the tags
        after.has_key[state.made] |= state.has_key[state.lost];
        after.work = Work::HasCopied;
        return reach(after);
      case Work::HasCopied:
        if (protocol.shows_before_copying) {
          filters.erase(place);
        } else {
          *place = state.made;
        }
        show(page, filters);
        after.work = Work::None;
        after.lost = 0;
        return reach(after);
      case Work::HasRenamed:
        show(after.pages[1], filters);
        after.work = Work::HasShownNewPage;
        return reach(after);
      case Work::HasShownNewPage:
        if (protocol.empties_old_page) show(page, {});
        after.loader = 1;
        after.work = Work::None;
        return reach(after);
      case Work::None:
        break;
    }
    if (state.changes == 0) return;
    --after.changes;
    const RowState before = after;
    const std::vector<std::uint8_t> all = filters;
    if (state.made < kMostFilters) {
      filters.push_back(++after.made);
      show(page, filters);
      reach(after);
      for (const std::uint8_t lost : all) {
        after = before;
        after.lost = lost;
        after.is_removed[lost] = 1;
        ++after.made;
        after.work = Work::HasShownBoth;
        filters = all;
        filters.insert(std::find(filters.begin(), filters.end(), lost) + 1, after.made);
        if (protocol.shows_before_copying) show(page, filters);
        reach(after);
      }
    }
    if (size > 1) {
      after = before;
      if (state.has_key[all[0]] != 0) after.winners = 0;
      show(page, {all.begin() + 1, all.end()});
      reach(after);
    }
    if (state.loader == 0) {
      after = before;
      after.page = 1;
      after.work = Work::HasRenamed;
      reach(after);
    }
  }
};

TEST(OneWinnerModel, LetsOneCallWinInARowOfFilters) {
  for (const RowModel& model : {RowModel{.adders = 2, .changes = 4}, RowModel{.adders = 3, .changes = 2}}) {
    const Found found = model.visit();
    EXPECT_EQ(found.most_winners, 1U);
    EXPECT_GT(found.states, 10'000U);
  }
}

TEST(OneWinnerModel, FindsTwoWinnersWithoutAnyPartOfTheProtocol) {
  for (const RowProtocol& protocol :
       {RowProtocol{.looks_again = false}, RowProtocol{.wins_in_all_if_gone = false},
        RowProtocol{.wins_in_all_newer = false}, RowProtocol{.shows_before_copying = false},
        RowProtocol{.empties_old_page = false}}) {
    const RowModel model{.protocol = protocol, .adders = 3, .changes = 3};
    EXPECT_GE(model.visit().most_winners, 2U)
        << protocol.looks_again << protocol.wins_in_all_if_gone << protocol.wins_in_all_newer
        << protocol.shows_before_copying << protocol.empties_old_page;
  }
}

}  // namespace
}  // namespace keysieve
