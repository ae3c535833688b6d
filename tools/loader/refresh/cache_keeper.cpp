#include "tools/loader/refresh/cache_keeper.hpp"

#include "core/worker/base/error.hpp"

namespace keysieve {

void CacheKeeper::save(std::uint64_t generation, Bytes snapshot, SteadyTime now) {
  is_saved_ = false;
  try {
    cache_.save(set_name_, generation, snapshot);
    backoff_.reset();
    saved();
  } catch (const Error& error) {
    failed(error, now);
  }
}

void CacheKeeper::save_again(const LivePublication& live, const Publisher& publisher, SteadyTime now) {
  if (is_saved_ || !backoff_.is_due(now)) return;
  if (has(live)) return saved();
  try {
    const auto [bytes, path] = read_live(live, publisher);
    SnapshotView::decode(bytes.get(), path, Check::Everything);  // an older one that is whole is better
    save(live.generation, bytes.get(), now);
  } catch (const std::exception& error) {  // or no memory for it: the set answers all the same
    failed(error, now);
  }
}

bool CacheKeeper::has(const LivePublication& live) const noexcept {
  try {
    return cache_.find(set_name_) == CachedBuild{live.generation, live.build_id};
  } catch (const std::exception&) {
    return false;
  }
}

void CacheKeeper::failed(const std::exception& error, SteadyTime now) {
  backoff_.failed(now);
  failure_ = error.what();
  log_.say_cache_trouble(failure_);
}

}  // namespace keysieve
