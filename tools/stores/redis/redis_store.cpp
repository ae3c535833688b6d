// The store in Redis or Valkey: one string per record, one stream per log, many commands per round trip.
#include <algorithm>
#include <numeric>
#include <set>

#include "core/builder/base/log_positions.hpp"
#include "tools/stores/redis/redis_scripts.hpp"
#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store_file.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

// Bytes of one round trip, which both sides buffer.
constexpr std::size_t kPipelineBytes = std::size_t{4} << 20;
constexpr std::size_t kPipelineCommands = 1024;
constexpr std::size_t kMaxReplyBytes = kMaxValueBytes + kReplyFrameBytes;
// Names that SCAN looks at per round trip; the server serves no other client meanwhile.
constexpr std::string_view kScanCount = "1000";
// Generous: the server may return a few more, and some names may be too long for records.
constexpr std::size_t kMaxScanReplyBytes = std::size_t{1} << 20;

// A log's entry is a key, or a mark, which only says what follows.
constexpr std::string_view kKeyField = "key";
constexpr std::string_view kMarkField = "mark";
// Behind that: when the log was begun, and how many keys were appended to it so far.
constexpr std::string_view kBegunField = "log";
constexpr std::string_view kCountField = "count";
constexpr std::size_t kShownFieldBytes = 64;

// Keys per script: the server serves no other client meanwhile.
constexpr std::size_t kScriptKeys = 1000;
constexpr std::size_t kScriptBytes = std::size_t{1} << 20;

// An entry of a log.
struct StreamEntry {
  LogPosition position{};
  std::optional<std::string> key{};
  std::string unknown_field{};  // of an entry that is neither key nor mark
  LogPosition begun{};          // what it says of the log; all zero: nothing
  std::uint64_t count = 0;
};

// The longest message of a store. Any client may send a longer one.
constexpr std::size_t kMaxMessageBytes = kMaxRecordKeyBytes + 4 * kReplyFrameBytes;

// Subscribes to the channel of a store, to which each change sends the name of what it has changed. Any
// server of a cluster will do. The kernel notices after half a minute that its host is gone; one that hangs
// is noticed by the next question that a poll asks it.
class RedisWatch final : public StoreWatch {
 public:
  RedisWatch(RedisAddress address, std::string channel)
      : channel_(std::move(channel)), connection_(std::move(address)) {
    connection_.exchange({"SUBSCRIBE", channel_});
  }

  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }

  std::vector<std::string> take() override {
    std::set<std::string> names;
    while (const RedisReply reply = connection_.receive_if_there(channel_, kMaxMessageBytes)) {
      check_reply(*reply, connection_.address().name, channel_);
      const auto parts = elements_of(*reply);  // ["message", channel, name], or ["subscribe", channel, 1]
      if (parts.size() == 3 && text_of(*parts[0]) == "message") names.emplace(text_of(*parts[2]));
    }
    return {names.begin(), names.end()};
  }

 private:
  std::string channel_;
  RedisConnection connection_;
};

class RedisStore final : public Store {
 public:
  RedisStore(const RedisSettings& settings, const StoreUrl& url)
      : Store(url.name, url.prefix), servers_(settings) {
    servers_.connect();
  }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<KeyedCommand> commands;
    for (const std::string& key : keys) commands.push_back({key, {"GET", key}, kMaxReplyBytes});
    const auto replies = exchange_all(commands, Effect::Reads);
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) values.push_back(value_of(*replies[i], keys[i]));
    return values;
  }

  void put_many(std::span<const Record> records) override {
    std::vector<KeyedCommand> commands;
    for (const Record& record : records) {
      commands.push_back({record.key, {"SET", record.key, record.value}});
    }
    exchange_all(commands, Effect::Writes);
    for (const Record& record : records) tell(record.key);
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    RedisCommand words{"EVAL", kCompareAndSetScript, "1", record.key, record.value};
    if (expected) words.push_back(*expected);
    return write({record.key, std::move(words)})->integer == 1;
  }

  void remove_many(std::span<const std::string> keys) override {
    std::vector<KeyedCommand> commands;
    for (const std::string& key : keys) commands.push_back({key, {"DEL", key}});
    exchange_all(commands, Effect::Writes);
    for (const std::string& key : keys) tell(key);
  }

  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    const std::string glob = prefix + "*";
    std::set<std::string> keys;  // SCAN may name one more than once
    servers_.visit_masters([&](RedisConnection& server) {
      std::string cursor = "0";
      do {
        const RedisReply reply = server.exchange(
            {"SCAN", cursor, "MATCH", glob, "COUNT", kScanCount, "TYPE", "string"}, kMaxScanReplyBytes);
        const auto parts = elements_of(*reply);
        if (parts.size() != 2) refuse_reply("SCAN");
        cursor = text_of(*parts[0]);
        for (const redisReply* key : elements_of(*parts[1])) keys.emplace(text_of(*key));
      } while (cursor != "0");
    });
    return {keys.begin(), keys.end()};
  }

  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    check_logged(log, keys);
    if (keys.empty()) return end_of(log);
    std::vector<KeyedCommand> commands;
    while (!keys.empty()) {
      const auto part = first_part_of(keys);
      RedisCommand words{"EVAL", kAppendScript, "1", log};
      words.insert(words.end(), part.begin(), part.end());
      commands.push_back({log, std::move(words)});
      keys = keys.subspan(part.size());
    }
    const auto replies = exchange_all(commands, Effect::Writes);
    return position_of(*replies.back(), log);
  }

  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    const LogFacts facts = known_facts(log) = find_facts(log, known_facts(log));
    std::vector<LogEntry> entries;
    LogPosition read_to = after;
    for (bool has_more = after < facts.end; has_more && entries.size() < max_entries;) {
      const std::size_t count = std::min(max_entries - entries.size(), kLogReplyEntries);
      has_more = take_entries(log, read_to, facts.end, count, entries);
    }
    return entries;
  }

  void trim(const std::string& log, const LogPosition& up_to) override {
    const std::string first_kept = to_text(std::max(up_to, next_log_position(up_to, 0)));
    write({log, {"EVAL", kTrimScript, "1", log, first_kept}});
  }

  void mark(const std::string& log) override { write({log, {"EVAL", kMarkScript, "1", log}}); }

  std::vector<std::string> risks(bool to_adds) override {
    std::set<std::string> risks;  // of all servers
    servers_.visit_masters([&](RedisConnection& server) {
      const std::string policy = setting(server, "maxmemory-policy");
      if (policy.starts_with("allkeys")) {  // no other one drops records without a time to live
        risks.insert(
            "maxmemory-policy is " + policy +
            ": when memory runs short, the server may drop added keys and snapshots; set noeviction");
      }
      if (!to_adds) return;
      const std::string log = setting(server, "appendonly");
      const std::string sync = setting(server, "appendfsync");
      if (log == "no") {
        risks.insert("appendonly is no: a restart loses keys that were added since the last save");
      } else if (!log.empty() && sync != "always") {
        risks.insert("appendfsync is " + sync + ": a power failure may lose the keys that were added last" +
                     (sync == "everysec" ? ", of about a second" : "") + "; only always prevents it");
      }
    });
    return {risks.begin(), risks.end()};
  }

  std::unique_ptr<StoreWatch> watch() override {
    return std::make_unique<RedisWatch>(servers_.address_of(channel()), channel());
  }

 private:
  [[nodiscard]] std::string channel() const { return prefix() + std::string(kChannelSuffix); }

  // Tells the watches what has changed. Not of a chunk: nobody looks for it before a pointer names it.
  void tell(const std::string& record) {
    if (std::ranges::count(record, ':') > 2) return;
    const std::string to = channel();
    try {
      read({to, {"PUBLISH", to, record}});
    } catch (const Error&) {  // they hear of it by a poll
    }
  }

  RedisReply read(const KeyedCommand& command) { return exchange(command, Effect::Reads); }
  RedisReply write(const KeyedCommand& command) { return exchange(command, Effect::Writes); }
  RedisReply exchange(const KeyedCommand& command, Effect effect) {
    return std::move(servers_.exchange(std::span(&command, 1), effect).front());
  }

  // Empty if the server does not say: some services refuse the command, and users may.
  static std::string setting(RedisConnection& server, std::string_view name) {
    const RedisCommand get{"CONFIG", "GET", name};
    server.send(std::span(&get, 1));
    const RedisReply reply = server.receive(std::string(name), kMaxReplyBytes);
    const auto parts = elements_of(*reply);
    return parts.size() == 2 ? std::string(text_of(*parts[1])) : "";
  }

  // What one script appends: at least one key.
  static std::span<const std::string> first_part_of(std::span<const std::string> keys) {
    std::size_t count = 1;
    std::size_t bytes = keys.front().size();
    while (count < std::min(keys.size(), kScriptKeys) && bytes + keys[count].size() <= kScriptBytes)
      bytes += keys[count++].size();
    return keys.first(count);
  }

  std::vector<StreamEntry> range(std::string_view command, const std::string& log, const LogPosition& from,
                                 const LogPosition& to, std::size_t count) {
    const std::array words{to_text(from), to_text(to), std::to_string(count)};
    const RedisReply reply =
        read({log, {command, log, words[0], words[1], "COUNT", words[2]}, kMaxLogReplyBytes});
    const auto found = elements_of(*reply);
    if (found.size() > count) refuse_reply(log);
    std::vector<StreamEntry> entries;
    for (const redisReply* one : found) entries.push_back(entry_of(*one, log));
    return entries;
  }

  // As the last entry says that says anything. Goes back no further than to what it has found before, if
  // that is still there.
  LogFacts find_facts(const std::string& log, const LogFacts& known) {
    LogFacts facts;
    std::size_t count = 1;
    for (LogPosition up_to = log_position(~std::uint64_t{0}, ~std::uint64_t{0});;) {
      const std::vector<StreamEntry> found = range("XREVRANGE", log, up_to, {}, count);
      for (const StreamEntry& entry : found) {
        if (entry.position > up_to) refuse_reply(log);  // this would not end
        if (facts.end == LogPosition{}) facts.end = entry.position;
        if (entry.begun != LogPosition{})
          return {.begun = entry.begun, .end = facts.end, .count = entry.count};
        if (entry.position == known.end)
          return {.begun = known.begun, .end = facts.end, .count = known.count};
        up_to = position_before(entry.position);
      }
      if (found.size() < count || up_to == LogPosition{}) return facts;
      count = kLogReplyEntries;  // many of other clients, which say nothing
    }
  }

  // Moves `read_to` on, to `end` at most. Returns whether there may be more.
  bool take_entries(const std::string& log, LogPosition& read_to, const LogPosition& end,
                    std::size_t max_entries, std::vector<LogEntry>& entries) {
    const LogPosition from = next_log_position(read_to, 0);
    if (from < read_to) return false;
    std::vector<StreamEntry> taken = range("XRANGE", log, from, end, max_entries);
    for (StreamEntry& entry : taken) {
      if (entry.position <= read_to) refuse_reply(log);  // its reader would go round in circles
      read_to = entry.position;
      const std::uint64_t ordinal = entry.begun == LogPosition{} ? 0 : entry.count;
      if (entry.key) entries.push_back({entry.position, std::move(*entry.key), ordinal});
      if (!entry.unknown_field.empty()) known_facts(log).unknown_field = std::move(entry.unknown_field);
    }
    return taken.size() == max_entries;
  }

  // What a command adds to a pipeline, on its way there or back.
  static std::size_t bytes_of(const KeyedCommand& command) {
    if (command.max_reply_bytes != kAnyReplyBytes) return command.max_reply_bytes;
    return std::accumulate(command.words.begin(), command.words.end(), std::size_t{0},
                           [](std::size_t bytes, std::string_view word) { return bytes + word.size(); });
  }

  // Sends pipelines.
  std::vector<RedisReply> exchange_all(std::span<const KeyedCommand> commands, Effect effect) {
    std::vector<RedisReply> replies;
    replies.reserve(commands.size());
    while (!commands.empty()) {
      std::size_t count = 0;
      for (std::size_t bytes = 0;
           count < std::min(commands.size(), kPipelineCommands) && bytes < kPipelineBytes;)
        bytes += bytes_of(commands[count++]);
      std::ranges::move(servers_.exchange(commands.first(count), effect), std::back_inserter(replies));
      commands = commands.subspan(count);
    }
    return replies;
  }

  [[nodiscard]] std::optional<std::string> value_of(const redisReply& reply, const std::string& key) const {
    if (reply.type == REDIS_REPLY_NIL) return std::nullopt;
    if (reply.type != REDIS_REPLY_STRING) refuse_reply(key);
    if (reply.len > kMaxValueBytes) throw_too_large(name(), key);
    return std::string(text_of(reply));
  }

  [[nodiscard]] LogPosition position_of(const redisReply& reply, const std::string& log) const {
    const auto position = parse_log_position(text_of(reply));
    if (!position) refuse_reply(log);
    return *position;
  }

  // [position, [field, value, ...]]
  [[nodiscard]] StreamEntry entry_of(const redisReply& reply, const std::string& log) const {
    const auto parts = elements_of(reply);
    if (parts.size() != 2) refuse_reply(log);
    StreamEntry entry{.position = position_of(*parts[0], log)};
    const auto fields = elements_of(*parts[1]);
    bool is_mark = false;
    for (std::size_t i = 0; i + 1 < fields.size() && !entry.key; i += 2) {
      const std::string_view field = text_of(*fields[i]);
      if (field == kKeyField) entry.key = text_of(*fields[i + 1]);
      is_mark = is_mark || field == kMarkField;
    }
    if (!entry.key && !is_mark && !fields.empty())
      entry.unknown_field = text_of(*fields.front()).substr(0, kShownFieldBytes);
    const std::size_t end = fields.size();
    if (end >= 4 && text_of(*fields[end - 4]) == kBegunField && text_of(*fields[end - 2]) == kCountField) {
      entry.begun = position_of(*fields[end - 3], log);
      const auto count = whole_number(text_of(*fields[end - 1]));
      if (!count) refuse_reply(log);
      entry.count = *count;
    }
    return entry;
  }

  [[noreturn]] void refuse_reply(const std::string& subject) const {
    throw Error(ErrorKind::Data, name() + ": " + subject + ": the server's reply is not understood");
  }

  RedisServers servers_;
};

}  // namespace

StoreOpener redis_store_opener(StoreUrl& url) {
  const auto read_settings = redis_settings_of(url);
  return [=](IfMissing /*if_missing*/, Patience patience) {
    RedisSettings settings = read_settings();
    if (patience == Patience::None) settings.failover = {};
    return std::make_unique<RedisStore>(settings, url);
  };
}

}  // namespace keysieve
