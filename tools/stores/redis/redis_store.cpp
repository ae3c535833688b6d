// The store in Redis or Valkey: one string per record, one stream per log, many commands per round trip.
#include <algorithm>
#include <functional>
#include <set>

#include "core/builder/base/log_positions.hpp"
#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/redis/redis_url.hpp"
#include "tools/stores/store_error.hpp"
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

// A log's entry is a key, or a notice.
constexpr std::string_view kKeyField = "key";
constexpr std::string_view kNoticeField = "notice";
constexpr std::size_t kShownFieldBytes = 64;

// One command instead of WATCH and MULTI: a connection may be lost between those two. In the script a
// missing key is false, and so is an argument that was not given.
constexpr std::string_view kCompareAndSetScript =
    "if redis.call('GET', KEYS[1]) ~= (ARGV[2] or false) then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "return 1";

// For SCAN's MATCH.
std::string glob_of(const KeyPattern& pattern) {
  std::string glob;
  const auto add = [&glob](std::string_view text) {
    for (const char c : text) {
      if (std::string_view("*?[]\\").find(c) != std::string_view::npos) glob += '\\';
      glob += c;
    }
  };
  add(pattern.prefix);
  glob += '*';
  add(pattern.suffix);
  return glob;
}

class RedisStore final : public Store {
 public:
  RedisStore(RedisSettings settings, const StoreUrl& url)
      : Store(url.name, url.prefix), settings_(std::move(settings)), servers_(settings_.make(settings_)) {
    servers_->connect();
  }

  std::optional<std::string> get(const std::string& key) override {
    return std::move(get_many(std::span(&key, 1)).front());
  }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    const auto replies = exchange_all(
        keys, Effect::Reads,
        [](const std::string& key) {
          return KeyedCommand{key, {"GET", key}, kMaxReplyBytes};
        },
        [](const std::string&) { return kMaxValueBytes; });
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) values.push_back(value_of(*replies[i], keys[i]));
    return values;
  }

  void put_many(std::span<const Record> records) override {
    exchange_all(
        records, Effect::Writes,
        [](const Record& record) {
          return KeyedCommand{record.key, {"SET", record.key, record.value}};
        },
        [](const Record& record) { return record.value.size(); });
  }

  bool put_if_absent(const Record& record) override {
    return write({record.key, {"SET", record.key, record.value, "NX"}})->type != REDIS_REPLY_NIL;
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    RedisCommand words{"EVAL", kCompareAndSetScript, "1", record.key, record.value};
    if (expected) words.push_back(*expected);
    return write({record.key, std::move(words)})->integer == 1;
  }

  void remove_many(std::span<const std::string> keys) override {
    exchange_all(
        keys, Effect::Writes,
        [](const std::string& key) {
          return KeyedCommand{key, {"DEL", key}};
        },
        [](const std::string& key) { return key.size(); });
  }

  std::vector<std::string> keys_like(const KeyPattern& pattern, const ListLimits& limits) override {
    const std::string glob = glob_of(pattern);
    std::set<std::string> keys;  // SCAN may name one more than once
    servers_->visit_masters([&](RedisConnection& server) {
      std::string cursor = "0";
      do {
        const RedisCommand scan{"SCAN", cursor, "MATCH", glob, "COUNT", kScanCount, "TYPE", "string"};
        server.send(std::span(&scan, 1));
        const RedisReply reply = server.receive(glob, kMaxScanReplyBytes);
        check_reply(*reply, server.address().name);
        const auto parts = elements_of(*reply);
        if (parts.size() != 2) refuse_reply("SCAN");
        cursor = text_of(*parts[0]);
        for (const redisReply* key : elements_of(*parts[1])) keys.emplace(text_of(*key));
        check_count(keys.size(), pattern, limits);
        limits.on_progress();
      } while (cursor != "0");
    });
    return {keys.begin(), keys.end()};
  }

  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    check_logged(log, keys);
    const auto replies = exchange_all(
        keys, Effect::Writes,
        [&log](const std::string& key) {
          return KeyedCommand{log, {"XADD", log, "*", kKeyField, key}};
        },
        [](const std::string& key) { return key.size(); });
    return replies.empty() ? end_of(log) : position_of(*replies.back(), log);
  }

  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    check_log(log);
    std::vector<LogEntry> entries;
    for (bool has_more = true; has_more && entries.size() < max_entries;) {
      const std::size_t count = std::min(max_entries - entries.size(), kLogReplyEntries);
      has_more = take_entries(log, entries.empty() ? after : entries.back().position, count, entries);
    }
    return entries;
  }

  LogPosition end_of(const std::string& log) override {
    check_log(log);
    const RedisReply reply = read({log, {"XINFO", "STREAM", log}, kMaxLogReplyBytes});  // with two entries
    if (is_missing_key(*reply)) return {};
    const auto facts = elements_of(*reply);
    for (std::size_t i = 0; i + 1 < facts.size(); i += 2) {
      if (text_of(*facts[i]) == "last-generated-id") return position_of(*facts[i + 1], log);
    }
    refuse_reply(log);
  }

  void trim(const std::string& log, const LogPosition& up_to) override {
    check_log(log);
    const std::string first_kept = to_text(std::max(up_to, next_log_position(up_to, 0)));
    write({log, {"XTRIM", log, "MINID", "=", first_kept}});
  }

  void notify(const std::string& log) override {
    check_log(log);
    write({log, {"XADD", log, "*", kNoticeField, ""}});
  }

  std::unique_ptr<StoreWatch> watch() override { return make_redis_watch(settings_.make(settings_)); }

 private:
  RedisReply read(const KeyedCommand& command) { return exchange(command, Effect::Reads); }
  RedisReply write(const KeyedCommand& command) { return exchange(command, Effect::Writes); }
  RedisReply exchange(const KeyedCommand& command, Effect effect) {
    return std::move(servers_->exchange(std::span(&command, 1), effect).front());
  }

  // Returns whether there may be more.
  bool take_entries(const std::string& log, const LogPosition& after, std::size_t max_entries,
                    std::vector<LogEntry>& entries) {
    const LogPosition from = next_log_position(after, 0);
    if (from < after) return false;
    const std::string from_text = to_text(from);
    const std::string count = std::to_string(max_entries);
    const RedisReply reply = read({log, {"XRANGE", log, from_text, "+", "COUNT", count}, kMaxLogReplyBytes});
    const auto taken = elements_of(*reply);
    if (taken.size() > max_entries) refuse_reply(log);
    LogPosition last = after;
    for (const redisReply* entry : taken) {
      LogEntry& next = entries.emplace_back(entry_of(*entry, log));
      if (next.position <= last) refuse_reply(log);  // its reader would go round in circles
      last = next.position;
    }
    return taken.size() == max_entries;
  }

  // Sends pipelines; bytes_of returns the bytes that an item adds to one, on its way there or back.
  template <typename T, typename ToCommand, typename BytesOf>
  std::vector<RedisReply> exchange_all(std::span<T> all, Effect effect, ToCommand to_command,
                                       BytesOf bytes_of) {
    std::vector<RedisReply> replies;
    replies.reserve(all.size());
    std::vector<KeyedCommand> pipeline;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      pipeline.push_back(to_command(all[i]));
      bytes += bytes_of(all[i]);
      const bool is_last = i + 1 == all.size();
      if (!is_last && bytes < kPipelineBytes && pipeline.size() < kPipelineCommands) continue;
      std::ranges::move(servers_->exchange(pipeline, effect), std::back_inserter(replies));
      pipeline.clear();
      bytes = 0;
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
  [[nodiscard]] LogEntry entry_of(const redisReply& reply, const std::string& log) const {
    const auto parts = elements_of(reply);
    if (parts.size() != 2) refuse_reply(log);
    LogEntry entry{position_of(*parts[0], log), std::nullopt};
    const auto fields = elements_of(*parts[1]);
    bool is_notice = false;
    for (std::size_t i = 0; i + 1 < fields.size() && !entry.key; i += 2) {
      const std::string_view field = text_of(*fields[i]);
      if (field == kKeyField) entry.key = text_of(*fields[i + 1]);
      is_notice = is_notice || field == kNoticeField;
    }
    if (!entry.key && !is_notice && !fields.empty()) {
      entry.unknown_field = text_of(*fields.front()).substr(0, kShownFieldBytes);
    }
    return entry;
  }

  [[noreturn]] void refuse_reply(const std::string& subject) const {
    throw Error(ErrorKind::Data, name() + ": " + subject + ": the server's reply is not understood");
  }

  RedisSettings settings_;
  std::unique_ptr<RedisServers> servers_;
};

}  // namespace

StoreOpener redis_store_opener(StoreUrl url) {
  return [redis_url = RedisUrl(std::move(url))](IfMissing /*if_missing*/, Patience patience) {
    RedisSettings settings = redis_url.settings();
    if (patience == Patience::None) settings.failover = {};
    return std::make_unique<RedisStore>(std::move(settings), redis_url.url());
  };
}

}  // namespace keysieve
