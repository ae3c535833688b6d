// A model of an add to the row of filters and of what the loader does to it
// (core/worker/seen/seen_reader.cpp, core/publisher/seen/seen_writer.cpp), in which every interleaving is
// visited: never do two calls win the same key. Each step is one atomic access. The model must find the fault
// when a part of the protocol is left out.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/core/seen/visited_states.hpp"

namespace keysieve {
namespace {

using test::Found;
using test::kMostAdders;
using test::visit_all;

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

TEST(OneWinnerInARow, LetsOneCallWinInARowOfFilters) {
  for (const RowModel& model : {RowModel{.adders = 2, .changes = 4}, RowModel{.adders = 3, .changes = 2}}) {
    const Found found = model.visit();
    EXPECT_EQ(found.most_winners, 1U);
    EXPECT_GT(found.states, 10'000U);
  }
}

TEST(OneWinnerInARow, FindsTwoWinnersWithoutAnyPartOfTheProtocol) {
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
