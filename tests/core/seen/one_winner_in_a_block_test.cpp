// A model of an add to a block of words (core/worker/seen/seen_filter.hpp), in which every interleaving is
// visited: never do two calls win the same key. Each step is one atomic access. The model must find the fault
// of any other rule.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <span>

#include "tests/core/seen/visited_states.hpp"

namespace keysieve {
namespace {

using test::Found;
using test::kMostAdders;
using test::visit_all;

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

TEST(OneWinnerInABlock, LetsOneCallWinInABlock) {
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

TEST(OneWinnerInABlock, LetsNobodyWinOnlyInAFullBlock) {
  const Found found = BlockModel{.adders = 2, .others = 6, .most_tags = 3}.visit();
  EXPECT_EQ(found.most_winners, 1U);
  EXPECT_EQ(found.fewest_winners, 0U);
}

TEST(OneWinnerInABlock, FindsTwoWinnersWithAnyOtherRule) {
  for (const Rule rule :
       {Rule::AnyOfFewest, Rule::Most, Rule::Any, Rule::SetsInAnyCase, Rule::DoesNotLookAgain}) {
    const Found found = BlockModel{.rule = rule, .words = 2, .adders = 2, .others = 2}.visit();
    EXPECT_EQ(found.most_winners, 2U) << static_cast<int>(rule);
  }
}

}  // namespace
}  // namespace keysieve
