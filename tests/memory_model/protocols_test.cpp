// The product's protocols hold in every execution that C++'s memory model allows, and each of their memory
// orders is needed: with a weaker one something does not hold. What is stronger than that is listed here,
// with why.
#include "tests/memory_model/protocols.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>

namespace keysieve::model {
namespace {

std::vector<Protocol> protocols() {
  std::vector<Protocol> all = published_sets();
  for (Protocol& one : seen_sets()) all.push_back(std::move(one));
  return all;
}

// What stands at a place, without the spaces around it.
std::string text_at(const PlaceName& place) {
  const std::size_t colon = place.find(':');
  std::ifstream file(KEYSIEVE_SOURCES "/" + place.substr(0, colon));
  std::string line;
  for (int number = std::stoi(place.substr(colon + 1)); number > 0; --number) std::getline(file, line);
  return line.substr(std::min(line.size(), line.find_first_not_of(' ')));
}

// A protocol as it is, with the places that it uses.
struct Tried {
  Protocol protocol;
  std::uint64_t states = 0;
  std::map<PlaceName, Used> places;
};
struct Places {
  std::vector<Tried> tried;        // those with few states first
  std::map<PlaceName, Used> used;  // in the strongest of the orders that protocols have there
};
const Places& places() {
  static const Places kPlaces = [] {
    Places places;
    for (const Protocol& protocol : protocols()) {
      const Explored explored = explore(protocol.make);
      EXPECT_EQ(explored.violation, "") << protocol.name;
      std::cout << protocol.name << ": " << explored.states << " states\n";
      places.tried.push_back({protocol, explored.states, explored.places});
      for (const auto& [place, use] : explored.places) {
        Used& strongest = places.used.try_emplace(place, use).first->second;
        strongest.order = std::max(strongest.order, use.order);
      }
    }
    std::sort(places.tried.begin(), places.tried.end(),
              [](const Tried& a, const Tried& b) { return a.states < b.states; });
    return places;
  }();
  return kPlaces;
}

TEST(Protocols, HoldInEveryExecution) {
  EXPECT_THAT(places().used, ::testing::Not(::testing::IsEmpty()));
}

// The name of a protocol that does not hold then; empty: all do.
std::string found_by(const Weakening& weakening) {
  for (const Tried& tried : places().tried) {
    if (!tried.places.contains(weakening.place)) continue;
    if (!explore(tried.protocol.make, weakening).violation.empty()) return tried.protocol.name;
  }
  return "";
}

struct Spare {
  const char* access;  // part of its line
  const char* orders;  // weaker ones with which everything holds, strongest first
};

// What is stronger than it must be. On x86-64 and arm64 none of these loads and stores costs more than a
// relaxed one but by a few cycles.
const std::vector<Spare> kSpare{
    // A call that finds the word unchanged relies on an earlier load, by refresh().
    {"return pace_.count_call() || current_->load(std::memory_order_acquire)", "relaxed"},
    // A bypass: fetch_or() alone must release. In clear_if_over() either fetch_and() acquires, or both the
    // store and the last load of `until` are sequentially consistent. Beyond the model,
    // SeenWriter::take_over()
    // needs one order of `state` and the path of the page.
    {"if (until.load() != end) word.fetch_or(bit)", "acquire relaxed"},
    {"until.store(end)", "release relaxed"},
    {"word.fetch_or(bit);", "acq_rel release"},
    {"const UnixSeconds end = until.load()", "acquire relaxed"},
    {"if ((word.load() & bit) == 0", "acquire relaxed"},
    {"word.fetch_and(~bit);", "acq_rel acquire release relaxed"},
    // A call that begins with an older state finds out when it ends.
    {"return pace_.count_call() || state_->load(std::memory_order_seq_cst)", "acquire relaxed"},
    // Acquiring the state orders it before the sequentially consistent loads of words.
    {"expected_ = state_->load(std::memory_order_seq_cst)", "acquire"},
    // Acquiring the entry has ordered it already. (No more than acquire in the model: see Ring.)
    {"if (state_->load(std::memory_order_seq_cst) != wanted.word()) return false;", "relaxed"},
    {"now = SeenState::of(state_->load(std::memory_order_seq_cst))", "relaxed"},
    // The loader alone writes `state`, but for the bit of a bypass, which the compare-and-set carries over.
    {"SeenState state() const noexcept { return SeenState::of(page().state.load()); }", "acquire relaxed"},
    {"std::uint64_t expected = page().state.load();", "acquire relaxed"},
};

const Spare* spare_at(const PlaceName& place) {
  const std::string text = text_at(place);
  const auto found = std::find_if(kSpare.begin(), kSpare.end(), [&](const Spare& spare) {
    return text.find(spare.access) != std::string::npos;
  });
  return found == kSpare.end() ? nullptr : &*found;
}

std::string spare_orders(const PlaceName& place) {
  const Spare* spare = spare_at(place);
  return spare == nullptr ? "" : spare->orders;
}

TEST(Protocols, HaveEachAccessThatIsListedAsSpare) {
  std::set<const Spare*> found;
  for (const auto& [place, used] : places().used) found.insert(spare_at(place));
  for (const Spare& spare : kSpare) EXPECT_TRUE(found.contains(&spare)) << spare.access;
}

TEST(Protocols, NeedEachMemoryOrderThatIsNotListedAsSpare) {
  std::size_t weakenings = 0;
  for (const auto& [place, used] : places().used) {
    std::string unnoticed;
    for (const Order order : weaker_orders(used)) {
      ++weakenings;
      const std::string protocol = found_by({place, order});
      std::cout << place << " with " << to_string(order) << ": "
                << (protocol.empty() ? "everything holds" : protocol) << std::endl;
      if (protocol.empty()) unnoticed += (unnoticed.empty() ? "" : " ") + to_string(order);
    }
    EXPECT_EQ(unnoticed, spare_orders(place)) << place << ": " << text_at(place);
  }
  std::cout << weakenings << " weakenings\n";
}

// Accesses beyond the model.
const std::vector<const char*> kNotInTheModel{
    // Information, for people and for the loader's own decisions.
    "const SeenState live = SeenState::of(state.load());",
    "over = std::max(over, std::max(window.ends, looked_at.load()) + window.kept_for);",
    // Nothing but the bit itself is read by it.
    "return (control_->page().current.fetch_or(kDamagedBit) & kDamagedBit) == 0;",
    "if (!adds_lost_to_ms()) control_->page().current.fetch_or(kAddsLostBit);",
    "if (adds_lost_to_ms()) control_->page().current.fetch_and(~kAddsLostBit);",
    // Beside the names of files, which the kernel orders.
    "if (control_->page().current.load() != 0) return false;",
    "if (control_->page().current.load() != 0) {",
    "from.state.store(SeenState{.first = state().end()}.word(), std::memory_order_seq_cst);",
};

// So that no access is made beside the model. Relaxed ones need nobody.
TEST(Protocols, HaveEachAccessThatIsNotRelaxed) {
  const std::regex access(
      R"((\.|->)(load|store|fetch_\w+|exchange|compare_exchange_\w+)\(|__atomic_\w+_n\(|atomic_thread_fence\()");
  const std::regex no_atomic(R"((word|words\[[^\]]*\]|words\(\)\[word\])\.load\(\))");  // a Word
  std::set<std::string> missing;
  std::set<std::string> unused(kNotInTheModel.begin(), kNotInTheModel.end());
  std::size_t accesses = 0;
  for (const char* folder :
       {"core/worker/shm", "core/worker/seen", "core/publisher/shm", "core/publisher/seen"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(KEYSIEVE_SOURCES "/") + folder)) {
      std::ifstream file(entry.path());
      std::string line;
      for (unsigned number = 1; std::getline(file, line); ++number) {
        line = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
        if (line.starts_with("//") || !std::regex_search(line, access) || std::regex_search(line, no_atomic))
          continue;
        if (line.find("memory_order_relaxed") != std::string::npos) continue;
        ++accesses;
        const PlaceName place =
            std::string(folder) + "/" + entry.path().filename().string() + ":" + std::to_string(number);
        if (places().used.contains(place)) continue;
        unused.erase(line);
        const bool is_known =
            std::find(kNotInTheModel.begin(), kNotInTheModel.end(), line) != kNotInTheModel.end();
        if (!is_known) missing.insert(place + " " + line);
      }
    }
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
  EXPECT_THAT(unused, ::testing::IsEmpty());
  EXPECT_GT(accesses, 25U);
}

}  // namespace
}  // namespace keysieve::model
