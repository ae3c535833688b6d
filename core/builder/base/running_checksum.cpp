#include "core/builder/base/running_checksum.hpp"

#include "core/worker/base/xxhash.hpp"

namespace keysieve {

struct RunningChecksum::State {
  XXH3_state_t xxhash;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxhash);
}

RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(Bytes bytes) noexcept {
  XXH3_64bits_update(&state_->xxhash, bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const noexcept {
  return XXH3_64bits_digest(&state_->xxhash);
}

}  // namespace keysieve
