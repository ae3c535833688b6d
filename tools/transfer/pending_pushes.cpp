#include "tools/transfer/pending_pushes.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"
#include "tools/transfer/hex.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::json;

constexpr int kMaxRaces = 32;
// Of about 100 bytes each: far from the largest value, and far more than ever push at once.
constexpr std::size_t kMaxPushes = 256;

std::string encode(const std::vector<PendingPush>& pushes) {
  Json list = Json::array();
  for (const PendingPush& push : pushes) {
    list.push_back({{"build_id", to_hex(push.build_id)},
                    {"chunk_count", push.chunk_count},
                    {"started_at", push.started_at}});
  }
  return list.dump();
}

std::vector<PendingPush> decode(const std::string& text) {
  std::vector<PendingPush> pushes;
  try {
    const Json list = Json::parse(text);
    for (const Json& entry : list) {
      const auto build_id = parse_build_id(entry.at("build_id").get<std::string>());
      const auto started_at = entry.at("started_at").get<UnixSeconds>();
      if (!build_id || !is_moment(started_at)) return {};
      pushes.push_back({*build_id, entry.at("chunk_count").get<std::uint32_t>(), started_at});
    }
  } catch (const Json::exception&) {
    return {};
  }
  return pushes;
}

}  // namespace

PendingPushes::PendingPushes(Store& store, const std::string& set_name)
    : store_(store), key_(store.prefix() + ":" + checked_set_name(set_name) + ":pending") {}

void PendingPushes::update(const Change& change) {
  for (int races = 0; races < kMaxRaces; ++races) {
    const auto text = store_.get(key_);
    std::vector<PendingPush> pushes = text ? decode(*text) : std::vector<PendingPush>{};
    change(pushes);
    if (store_.compare_and_set({key_, encode(pushes)}, text)) return;
  }
  throw LockedError(store_.name() + ": " + key_ + ": is changed by others all the time; try again later");
}

std::vector<PendingPush> take_abandoned(std::vector<PendingPush>& pushes, UnixSeconds now) {
  constexpr UnixSeconds kLimit = std::chrono::seconds(kAbandonedAfter).count();
  std::vector<PendingPush> abandoned;
  std::vector<PendingPush> others;
  for (std::size_t i = 0; i < pushes.size(); ++i) {
    const bool is_beyond = pushes.size() - i >= kMaxPushes;
    const bool is_abandoned = is_beyond || now - pushes[i].started_at >= kLimit;
    (is_abandoned ? abandoned : others).push_back(pushes[i]);
  }
  pushes = std::move(others);
  return abandoned;
}

}  // namespace keysieve
