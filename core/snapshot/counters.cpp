#include "core/snapshot/counters.hpp"

#include <string>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"

namespace keysieve {
namespace {

std::uint64_t header_checksum_of(const CountersHeader& header) noexcept {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(CountersHeader, header_checksum)));
}

// Bit i is set where the i-th of eight counters is not 0.
std::uint8_t bits_of(std::uint32_t counters) noexcept {
  const std::uint32_t any = (counters | counters >> 1 | counters >> 2 | counters >> 3) & 0x11111111;
  std::uint32_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= any >> 3 * i & std::uint32_t{1} << i;
  return static_cast<std::uint8_t>(bits);
}

bool fit(Bytes counters, Bytes shards) noexcept {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto eight = load<std::uint32_t>(counters.data() + sizeof(std::uint32_t) * i);
    if (bits_of(eight) != std::to_integer<std::uint8_t>(shards[i])) return false;
  }
  return true;
}

}  // namespace

MutableBytes shard_counters(MutableBytes counters, std::uint32_t index, std::uint32_t shard_bytes) noexcept {
  const std::uint64_t bytes = counters_bytes_of(shard_bytes);
  return counters.subspan(sizeof(CountersHeader) + index * bytes, bytes);
}

SnapshotBytes count_keys(const SnapshotView& snapshot, std::span<const KeyHash> keys) {
  const ShardArray& shards = snapshot.shards();
  SnapshotBytes counters(counters_bytes_of(snapshot_layout(shards.shard_count, shards.params.shard_bytes)));
  std::vector<std::byte> scratch(shards.params.shard_bytes);  // the bits are set already
  for (const KeyHash& key : keys) {
    const std::uint32_t index = shard_of(key, shards.shard_count);
    snapshot.kind().counting->add(scratch, shard_counters(counters.get(), index, shards.params.shard_bytes),
                                  shards.params, key);
  }
  seal_counters(counters.get(), snapshot.header().build_id);
  return counters;
}

void seal_counters(MutableBytes counters, const BuildId& build_id) {
  CountersHeader header{};
  header.magic = kCountersMagic;
  header.format = kCountersFormat;
  header.build_id = build_id;
  header.bytes = counters.size();
  header.checksum = checksum(counters.subspan(sizeof(CountersHeader)));
  header.header_checksum = header_checksum_of(header);
  store(counters.data(), header);
}

void check_counters(Bytes counters, const SnapshotView& snapshot, std::string_view source) {
  const auto refuse = [source](const std::string& reason) {
    throw DataError(std::string(source) + ": " + reason);
  };
  const SnapshotHeader& of = snapshot.header();
  const std::uint64_t bytes = counters_bytes_of(snapshot_layout(of.shard_count, of.shard_bytes));
  if (!snapshot.kind().can_count())
    refuse("filter kind " + std::string(snapshot.kind().name) + " has no counters");
  if (counters.size() < sizeof(CountersHeader)) refuse("is too short for counters");
  const auto header = load<CountersHeader>(counters.data());
  if (header.magic != kCountersMagic) refuse("is no file of counters");
  if (header.format != kCountersFormat) {
    throw IncompatibleError(std::string(source) + ": has counters of format " +
                            std::to_string(header.format));
  }
  if (header.header_checksum != header_checksum_of(header)) refuse("its header is damaged (checksum)");
  if (header.reserved != decltype(header.reserved){} || header.reserved_too != 0) {
    refuse("its header has bytes that must be zero and are not");
  }
  if (header.build_id != of.build_id)
    refuse("holds the counters of another build: " + to_hex(header.build_id));
  if (counters.size() != bytes || header.bytes != bytes) {
    refuse("is " + std::to_string(counters.size()) + " bytes, not " + std::to_string(bytes));
  }
  const Bytes values = counters.subspan(sizeof(CountersHeader));
  if (header.checksum != checksum(values)) refuse("its counters are damaged (checksum)");
  if (!fit(values, snapshot.bytes().subspan(of.shards.offset, of.shards.bytes))) {
    refuse("its counters do not fit the bits of the snapshot");
  }
}

}  // namespace keysieve
