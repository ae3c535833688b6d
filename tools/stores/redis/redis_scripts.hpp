// The Lua scripts of a Redis store, each of which the server runs in one step. A missing key is false in
// them, and a missing argument too.
#pragma once

#include <string_view>

namespace keysieve {

// A channel tells the watches what has changed. If this user may not publish, they hear of it by a poll.
inline constexpr std::string_view kChannelSuffix = ":changes";
#define KEYSIEVE_TELL "redis.pcall('PUBLISH', KEYS[1]:match('^[^:]*') .. ':changes', KEYS[1]) "

// One command instead of WATCH and MULTI: a connection may be lost between those two.
inline constexpr std::string_view kCompareAndSetScript =
    "if redis.call('GET', KEYS[1]) ~= (ARGV[2] or false) then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) " KEYSIEVE_TELL "return 1";

// Scripts for logs, because an entry carries what the one before it says. An error keeps its code by pcall()
// alone. php/src/Adds/RedisAdds.php has the first one as well.
#define KEYSIEVE_LOG_FUNCTIONS                                                           \
  "local function last(from) "                                                           \
  "  local up_to, count = '+', 1 "                                                       \
  "  while true do "                                                                     \
  "    local found = redis.pcall('XREVRANGE', KEYS[1], up_to, from, 'COUNT', count) "    \
  "    if found.err or #found == 0 then return found end "                               \
  "    for _, entry in ipairs(found) do "                                                \
  "      local fields = entry[2] "                                                       \
  "      if fields[#fields - 3] == 'log' and fields[#fields - 1] == 'count' then "       \
  "        return {log = fields[#fields - 2], count = tonumber(fields[#fields])} "       \
  "      end "                                                                           \
  "    end "                                                                             \
  "    up_to, count = '(' .. found[#found][1], 100 "                                     \
  "  end "                                                                               \
  "end "                                                                                 \
  "local function begun() "                                                              \
  "  local known = last('-') "                                                           \
  "  if known.err or known.log then return known end "                                   \
  "  local now = redis.call('TIME') "                                                    \
  "  local ms = now[1] .. string.format('%03d-0', math.floor(now[2] / 1000)) "           \
  "  return {log = ms, count = 0} "                                                      \
  "end "                                                                                 \
  "local function append(known, field, value) "                                          \
  "  return redis.pcall('XADD', KEYS[1], '*', field, value, "                            \
  "                     'log', known.log, 'count', string.format('%.0f', known.count)) " \
  "end "
inline constexpr std::string_view kAppendScript = KEYSIEVE_LOG_FUNCTIONS
    "local known = begun() "
    "if known.err then return known end "
    "local id "
    "for _, key in ipairs(ARGV) do "
    "  known.count = known.count + 1 "
    "  id = append(known, 'key', key) "
    "  if id.err then return id end "
    "end " KEYSIEVE_TELL "return id";
inline constexpr std::string_view kMarkScript = KEYSIEVE_LOG_FUNCTIONS
    "local known = begun() "
    "if known.err then return known end "
    "return append(known, 'mark', '')";
// What is known of the log stays: by a mark, if no entry does.
inline constexpr std::string_view kTrimScript = KEYSIEVE_LOG_FUNCTIONS
    "local first = ARGV[1] "
    "local known = last(first) "
    "if not known.err and not known.log then "
    "  known = last('-') "
    "  if known.log then "
    "    local none_stays = #redis.call('XREVRANGE', KEYS[1], '+', first, 'COUNT', 1) == 0 "
    "    local id = append(known, 'mark', '') "
    "    if id.err then return id end "
    "    if none_stays then first = id end "
    "  end "
    "end "
    "if known.err then return known end "
    "return redis.pcall('XTRIM', KEYS[1], 'MINID', '=', first)";
#undef KEYSIEVE_LOG_FUNCTIONS
#undef KEYSIEVE_TELL

}  // namespace keysieve
