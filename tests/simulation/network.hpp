// The way from machines to the store: calls take time, are lost, lose their answers, or arrive long after
// their caller has given up. Machines are cut off for a while.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "tests/simulation/server.hpp"
#include "tests/simulation/story.hpp"

namespace keysieve::test {

// How much goes wrong on the way. It is drawn once for each simulation, because faults of all kinds at once
// hide what one kind alone would show.
struct Weather {
  // So many of a thousand calls.
  unsigned lost_calls = 0;
  unsigned lost_answers = 0;
  unsigned late_calls = 0;
  unsigned slow_calls = 0;
};

class Network {
 public:
  Network(SimulatedTime& time, Scheduler& scheduler, std::mt19937_64& random, Story& story,
          const std::string& store_name)
      : time_(time), scheduler_(scheduler), random_(random), story_(story), server_(store_name) {}

  // Connects the calling actor. That is a call, too.
  std::unique_ptr<Store> connect();

  void cut_off(const Machine& machine) { cut_.insert(&machine); }
  void reconnect(const Machine& machine) { cut_.erase(&machine); }
  [[nodiscard]] bool is_cut_off(const Machine& machine) const { return cut_.contains(&machine); }
  // Another server takes the store's place, and all connections break.
  void replace_server(ServerContents contents) {
    server_.contents = std::move(contents);
    ++server_number_;
  }

  [[nodiscard]] Server& server() noexcept { return server_; }
  [[nodiscard]] unsigned server_number() const noexcept { return server_number_; }

  Weather weather;
  Machine server_machine{"store"};
  // Whenever a call may have changed the store.
  std::function<void()> on_write = [] {};
  std::function<void(const Machine& reader, std::span<const LogEntry> entries)> on_read_log =
      [](const Machine&, std::span<const LogEntry>) {};

 private:
  friend class RemoteStore;

  enum class Access { Read, Write };

  // Has the server do it, after the way there and before the way back. `effect` may run after the caller
  // has gone, so it must own all it needs.
  template <typename Effect>
  auto call(unsigned server_number, const std::string& what, Access access, const Effect& effect);
  template <typename Effect>
  auto have_done(bool is_write, const Effect& effect);
  void check_way(unsigned server_number, const std::string& what);
  void travel();
  [[noreturn]] void give_up(const std::string& what, const char* why);
  bool chance(unsigned of_a_thousand) { return random_() % 1'000 < of_a_thousand; }

  static constexpr SimulatedMs kTimeout = 2 * kSecond;

  SimulatedTime& time_;
  Scheduler& scheduler_;
  std::mt19937_64& random_;
  Story& story_;
  Server server_;
  std::set<const Machine*> cut_;
  unsigned server_number_ = 0;
};

}  // namespace keysieve::test
