#include "tests/simulation/network.hpp"

#include "core/worker/base/error.hpp"

namespace keysieve::test {

void Network::travel() {
  scheduler_.sleep(chance(weather.slow_calls) ? static_cast<SimulatedMs>(random_() % kMinute)
                                              : static_cast<SimulatedMs>(random_() % 20));
}

void Network::give_up(const std::string& what, const char* why) {
  story_.tell(fmt::format("{}: {}", what, why));
  scheduler_.sleep(kTimeout);
  throw Error(ErrorKind::Unavailable, server_.name() + ": " + what + ": " + why);
}

void Network::check_way(unsigned server_number, const std::string& what) {
  if (is_cut_off(*scheduler_.running()->machine)) give_up(what, "cut off");
  if (server_number != server_number_) give_up(what, "the connection is gone");
}

template <typename Effect>
auto Network::have_done(bool is_write, const Effect& effect) {
  const OnMachine there(time_, server_machine);
  auto answer = effect(server_);
  if (is_write) on_write();
  return answer;
}

template <typename Effect>
auto Network::call(unsigned server_number, const std::string& what, Access access, const Effect& effect) {
  const bool is_write = access == Access::Write;
  travel();
  check_way(server_number, what);
  if (chance(weather.lost_calls)) give_up(what, "the call is lost");
  if (is_write && chance(weather.late_calls)) {
    const auto delay = static_cast<SimulatedMs>(random_() % (10 * kMinute));
    scheduler_.start(scheduler_.running()->name + "'s late call", server_machine,
                     [this, server_number, what, effect, delay] {
                       scheduler_.sleep(delay);
                       if (server_number != server_number_) return;
                       have_done(true, effect);
                       story_.tell(what);
                     });
    give_up(what, "no answer in time");
  }
  auto answer = have_done(is_write, effect);
  story_.tell(what);
  travel();
  check_way(server_number, what);
  if (chance(weather.lost_answers)) give_up(what, "the answer is lost");
  return answer;
}

// One connection.
class RemoteStore : public Store {
 public:
  explicit RemoteStore(Network& network)
      : Store(network.server().name(), network.server().prefix()),
        network_(network),
        server_number_(network.server_number()) {
    network_.call(server_number_, "connect", Network::Access::Read, [](Server&) { return true; });
  }

  std::optional<std::string> get(const std::string& key) override {
    return call("get", Network::Access::Read, [key](Server& server) { return server.get(key); });
  }
  // Consistent per key, not across keys.
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<std::optional<std::string>> values;
    for (const std::string& key : keys) values.push_back(get(key));
    return values;
  }
  // Any part may be there after an exception.
  void put_many(std::span<const Record> records) override {
    for (const Record& record : records) {
      call("put", Network::Access::Write, [record](Server& server) {
        server.put_many({&record, 1});
        return true;
      });
    }
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    return call("compare and set", Network::Access::Write,
                [record, expected](Server& server) { return server.compare_and_set(record, expected); });
  }
  void remove_many(std::span<const std::string> keys) override {
    for (const std::string& key : keys) {
      call("remove", Network::Access::Write, [key](Server& server) {
        server.remove_many({&key, 1});
        return true;
      });
    }
  }
  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    return call("list", Network::Access::Read,
                [prefix](Server& server) { return server.keys_with_prefix(prefix); });
  }
  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    check_logged(log, keys);
    LogPosition last{};
    for (const std::string& key : keys) {
      last = call("append " + (key.size() < kMostShown ? key : fmt::format("{} bytes", key.size())),
                  Network::Access::Write, [log, key](Server& server) {
                    return server.append(log, {&key, 1});
                  });
    }
    return keys.empty() ? end_of(log) : last;
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    auto [entries, facts] =
        call("read log", Network::Access::Read, [log, after, max_entries](Server& server) {
          return std::pair(server.read_after(log, after, max_entries), server.facts_of(log));
        });
    known_facts(log) = facts;
    network_.on_read_log(*network_.scheduler_.running()->machine, entries);
    return std::move(entries);
  }
  void trim(const std::string& log, const LogPosition& up_to) override {
    call("trim to " + to_text(up_to), Network::Access::Write, [log, up_to](Server& server) {
      server.trim(log, up_to);
      return true;
    });
  }
  void mark(const std::string& log) override {
    call("mark", Network::Access::Write, [log](Server& server) {
      server.mark(log);
      return true;
    });
  }

 private:
  template <typename Effect>
  std::invoke_result_t<Effect, Server&> call(const std::string& what, Network::Access access,
                                             const Effect& effect) {
    return network_.call(server_number_, what, access, effect);
  }

  static constexpr std::size_t kMostShown = 16;

  Network& network_;
  unsigned server_number_;
};

std::unique_ptr<Store> Network::connect() {
  return std::make_unique<RemoteStore>(*this);
}

}  // namespace keysieve::test
