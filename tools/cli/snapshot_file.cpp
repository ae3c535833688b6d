#include "tools/cli/snapshot_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>

#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

SnapshotBytes copy_of_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw_read_error(path, errno);
  const auto status = stat_of(file, path);
  if (S_ISDIR(status.st_mode)) throw_read_error(path, EISDIR);
  SnapshotBytes bytes(static_cast<std::size_t>(status.st_size));
  read_all_at(file, 0, bytes.get(), path);
  return bytes;
}

}  // namespace

SnapshotFile SnapshotFile::copied(const std::string& path, Check check) {
  return {copy_of_file(path), path, check};
}

void check_signer(const SnapshotView& snapshot, const PublicKeys& keys, const std::string& source) {
  const SnapshotHeader& header = snapshot.header();
  check_signature(snapshot, keys.empty() && header.is_signed() ? PublicKeys{header.public_key} : keys,
                  source);
}

std::string summary_of(const SnapshotRecord& record) {
  return fmt::format("generation {}: as of {}, {}, {}", record.generation, format_moment(record.as_of),
                     format_count_of(record.key_count, "key"), record.kind);
}

void add_known_absent(Report& report, const SnapshotHeader& header) {
  report.add_if(header.retrieval_bytes != 0, "known absent", format_count_of(header.known_absent, "key"),
                "known_absent_count", header.known_absent, 0);
}

void add_snapshot_summary(Report& report, const SnapshotView& snapshot, std::optional<double> fill_ratio) {
  const SnapshotHeader& header = snapshot.header();
  const std::string set_name(snapshot.set_name());
  report.add("set", set_name);
  report.add("build id", to_hex(header.build_id), "build_id", to_hex(header.build_id));
  report.add("kind", fmt::format("{}, k = {}", snapshot.kind().name, header.hash_count), "kind",
             snapshot.kind().name);
  report.add_member("hash_count", header.hash_count);
  report.add("keys", format_count(header.key_count) + " distinct", "key_count", header.key_count);
  add_known_absent(report, header);
  report.add_if(snapshot.is_map(), "values", format_count_of(header.value_bits, "bit"), "value_bits",
                header.value_bits, 0);
  report.add(
      "shards",
      fmt::format("{} of {}", format_count(header.shard_count), format_bytes(params_of(header).stride())),
      "shard_count", header.shard_count);
  report.add_member("shard_bytes", header.shard_bytes);
  report.add_member("retrieval_bytes", header.retrieval_bytes);
  report.add("size",
             fmt::format("{}, {} bits/key", format_bytes(header.file_bytes),
                         format_bits_per_key(snapshot.bits_per_key())),
             "bytes", header.file_bytes);
  report.add_member("bits_per_key", snapshot.bits_per_key());
  const double fill = fill_ratio.value_or(0);
  report.add_if(fill_ratio.has_value(), "fill ratio", format_share(fill), "fill_ratio", fill);
  const std::string signer = to_hex(header.public_key);
  report.add_if(header.is_signed(), "signed by", signer, "public_key", signer);
  report.add("target FPR", format_share(header.target_fpr), "target_fpr", header.target_fpr);
  report.add("estimated FPR", format_share(header.estimated_fpr), "estimated_fpr", header.estimated_fpr);
}

}  // namespace keysieve
