#include "core/builder/snapshot/counters.hpp"

#include <algorithm>
#include <string>

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

std::uint64_t header_checksum_of(const CountersHeader& header) noexcept {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(CountersHeader, header_checksum)));
}

CountersHeader counters_header(const BuildId& build_id, std::uint64_t bytes, std::uint64_t checksum) {
  CountersHeader header{};
  header.magic = kCountersMagic;
  header.format = kCountersFormat;
  header.build_id = build_id;
  header.bytes = bytes;
  header.checksum = checksum;
  header.header_checksum = header_checksum_of(header);
  return header;
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

MutableBytes shard_counters(MutableBytes counters, std::uint64_t index, std::uint32_t shard_bytes) noexcept {
  const std::uint64_t bytes = counters_bytes_of(shard_bytes);
  return counters.subspan(sizeof(CountersHeader) + index * bytes, bytes);
}

CountersWriter::CountersWriter(const SnapshotView& snapshot, WriteAt write_at)
    : kind_(filter_kind_of(snapshot.kind())),
      params_(snapshot.shards().params),
      build_id_(snapshot.header().build_id),
      write_at_(std::move(write_at)),
      counters_(counters_bytes_of(params_.shard_bytes)),
      scratch_(params_.shard_bytes) {}

void CountersWriter::add_shard(std::span<const KeyHash> keys) {
  std::fill(counters_.begin(), counters_.end(), std::byte{0});
  for (const KeyHash& key : keys) kind_.counting->add(scratch_, counters_, params_, key);
  checksum_.add(counters_);
  write_at_(written_, counters_);
  written_ += counters_.size();
}

void CountersWriter::finish() {
  const CountersHeader header = counters_header(build_id_, written_, checksum_.value());
  write_at_(0, std::as_bytes(std::span(&header, 1)));
}

void seal_counters(MutableBytes counters, const BuildId& build_id) {
  const std::uint64_t checksum_of_all = checksum(counters.subspan(sizeof(CountersHeader)));
  store(counters.data(), counters_header(build_id, counters.size(), checksum_of_all));
}

void check_counters(Bytes counters, const SnapshotView& snapshot, std::string_view source) {
  const auto refuse = [source](const std::string& reason) {
    throw Error(ErrorKind::Data, std::string(source) + ": " + reason);
  };
  const SnapshotHeader& of = snapshot.header();
  const std::uint64_t bytes = counters_bytes_of(snapshot_layout(of));
  if (!filter_kind_of(snapshot.kind()).can_count())
    refuse("filter kind " + std::string(snapshot.kind().name) + " has no counters");
  if (counters.size() < sizeof(CountersHeader)) refuse("is too short for counters");
  const auto header = load<CountersHeader>(counters.data());
  if (header.magic != kCountersMagic) refuse("is not a counters file");
  if (header.format != kCountersFormat) {
    throw Error(ErrorKind::Incompatible,
                std::string(source) + ": has counters of format " + std::to_string(header.format));
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
