#include "tools/loader/seen/saved_filters.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"
#include "tools/transfer/chunk.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kShardsAtATime = 64;  // records in one request

struct StoredList {
  std::uint64_t seed;
  std::uint64_t count;
};
static_assert(sizeof(StoredList) == 16 && sizeof(SavedFilter) == 80 &&
              std::is_trivially_copyable_v<SavedFilter>);
static_assert(kChunkHeaderBytes + sizeof(StoredList) + kMaxSeenFilters * sizeof(SavedFilter) <=
              kMaxValueBytes);

bool is_possible(const SavedFilter& saved) noexcept {
  const SeenPlan& plan = saved.plan;
  return is_moment(plan.window.begins) && is_moment(plan.window.ends) && is_moment(plan.window.kept_for) &&
         plan.growth < kFiltersPerWindow && plan.capacity != 0 && plan.rate > 0 && plan.rate < 1 &&
         plan.size.is_possible() && saved.shards <= plan.size.shards();
}

}  // namespace

std::string encode(const SavedFilters& saved) {
  const StoredList head{saved.seed, saved.filters.size()};
  std::string payload(as_text(std::as_bytes(std::span(&head, 1))));
  payload.append(as_text(std::as_bytes(std::span(saved.filters))));
  return encode_chunk(0, as_bytes(payload));
}

SavedFilters decode_saved_filters(std::string_view value, const std::string& source) {
  const std::size_t payload_bytes = value.size() - std::min(value.size(), kChunkHeaderBytes);
  const Bytes payload = decode_chunk(value, 0, payload_bytes, source);
  const auto refuse = [&] { throw Error(ErrorKind::Data, source + ": is not a list of filters"); };
  if (payload.size() < sizeof(StoredList)) refuse();
  const auto head = load<StoredList>(payload.data());
  if (head.count > kMaxSeenFilters || payload.size() != sizeof head + head.count * sizeof(SavedFilter))
    refuse();
  SavedFilters saved{head.seed, std::vector<SavedFilter>(head.count)};
  const Bytes filters = payload.subspan(sizeof head);
  std::copy(filters.begin(), filters.end(), std::as_writable_bytes(std::span(saved.filters)).begin());
  if (!std::all_of(saved.filters.begin(), saved.filters.end(), is_possible)) refuse();
  return saved;
}

SavedSet::SavedSet(Store& store, const std::string& set_name, const std::string& host,
                   const std::function<bool()>& on_progress)
    : store_(store),
      on_progress_(on_progress),
      key_(fmt::format("{}:{}:{}:{}", store.prefix(), kSeenFolder, set_name, host)) {}

SavedFilters SavedSet::list() const {
  const auto value = store_.get(key_);
  return value ? decode_saved_filters(*value, store_.name() + ": " + key_) : SavedFilters{};
}

void SavedSet::put_list(const SavedFilters& saved) const {
  const Record record{key_, encode(saved)};
  store_.put_many({&record, 1});
}

// Calls work(number of the first shard, keys of the records), which says whether to go on.
template <typename Work>
void SavedSet::for_each_batch(const FilterId& id, std::uint64_t shards, const Work& work) const {
  for (std::uint64_t first = 0; first < shards; first += kShardsAtATime) {
    std::vector<std::string> keys;
    keys.reserve(kShardsAtATime);
    for (std::uint64_t shard = first; shard < std::min(shards, first + kShardsAtATime); ++shard)
      keys.push_back(fmt::format("{}:{}.{}:{}", key_, id.window_ends, id.growth, shard));
    if (!work(static_cast<std::uint32_t>(first), std::move(keys))) return;
  }
}

// Workers set bits meanwhile: what is written is a copy, and the checksum is the copy's.
std::uint64_t SavedSet::put_changed(const FilterId& id, SeenFilter filter,
                                    std::vector<std::uint64_t>& checksums) const {
  std::vector<std::byte> copy(kPageBytes);
  const std::uint64_t empty = checksum(copy);
  std::uint64_t written = 0;
  for_each_batch(id, checksums.size(), [&](std::uint32_t first, std::vector<std::string> keys) {
    std::vector<Record> records;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> changed;
    for (std::uint32_t shard = first; shard < first + keys.size(); ++shard) {
      std::memcpy(copy.data(), filter.bytes().data() + shard * kPageBytes, kPageBytes);
      const std::uint64_t sum = checksum(copy);
      if (sum == checksums[shard] || sum == empty) continue;
      records.push_back({std::move(keys[shard - first]), encode_chunk(shard, copy)});
      changed.emplace_back(shard, sum);
    }
    if (records.empty()) return true;
    if (!on_progress_()) return false;
    store_.put_many(records);
    for (const auto& [shard, sum] : changed) checksums[shard] = sum;
    written += records.size();
    return true;
  });
  return written;
}

void SavedSet::remove_shards(const SavedFilter& saved) const {
  for_each_batch(saved.id(), saved.plan.size.shards(),
                 [&](std::uint32_t /*first*/, const std::vector<std::string>& keys) {
                   if (!on_progress_()) return false;
                   store_.remove_many(keys);
                   return true;
                 });
}

std::uint64_t SavedSet::add_to(SeenFilter filter, const SavedFilter& saved) const {
  std::uint64_t found = 0;
  const auto add = [&](const std::string& value, std::uint32_t shard, const std::string& source) {
    try {
      const Bytes bytes = decode_chunk(value, shard, kPageBytes, source);
      add_bits(filter.words().subspan(shard * kWordsPerSeenShard, kWordsPerSeenShard), bytes);
      ++found;
    } catch (const Error& damage) {  // as one that is lost
      spdlog::error("{}", damage.what());
    }
  };
  for_each_batch(saved.id(), saved.plan.size.shards(),
                 [&](std::uint32_t first, const std::vector<std::string>& keys) {
                   if (!on_progress_()) return false;
                   const auto values = store_.get_many(keys);
                   for (std::size_t i = 0; i < values.size(); ++i) {
                     if (values[i]) add(*values[i], first + static_cast<std::uint32_t>(i), keys[i]);
                   }
                   return true;
                 });
  return found;
}

}  // namespace keysieve
