#include "tools/loader/refresh/live_set.hpp"

#include <fcntl.h>

#include <vector>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

// About 2 ms of reading and checksums, so that adds do not wait for it. With a look every 5 s a set of 1 GB
// takes five minutes.
constexpr std::uint64_t kBytesAtATime = 16U << 20;

}  // namespace

std::pair<SnapshotBytes, std::string> read_live(const LivePublication& live, const Publisher& publisher) {
  const std::string name = snapshot_file_name(live.id.publication);
  check_memory_for(live.bytes, "a copy of the publication");
  SnapshotBytes bytes(live.bytes);
  const std::string path = publisher.folder().path_of(name);
  read_all_at(publisher.folder().open_file(name, O_RDONLY), 0, bytes.get(), path);
  return {std::move(bytes), path};
}

void LiveSet::begin_look(std::optional<Publisher>& publisher, SteadyTime now) {
  publisher.emplace(set_.publishing, set_.config.name);
  const UnixSeconds moment = unix_now();
  publisher->beat(moment, set_.is_once ? 0 : next_look_by(moment, set_.poll_interval));
  publisher->clear_expired_bypass(moment);
  find_out();
  is_verifying_ = now >= verify_at_;
  if (is_verifying_) {
    verify_at_ = now + set_.poll_interval / 2;
    verify(*publisher);
  }
  if (!live_) return;
  set_.recorder.found(*live_);
  if (!set_.config.public_keys.empty() && checked_ != live_->id) check_live(*publisher);
}

// Nothing else checks that the bytes in shared memory are still those that were published. Also if it cannot
// be attached any more: processes that have it mapped still answer from it.
void LiveSet::verify(Publisher& publisher) {
  const PublicationId current = publisher.current();
  if (current.publication == 0) return;
  try {
    read_some(publisher, current);
  } catch (const Error& error) {
    // A missing or unreadable publication is reported by the reader that attaches it.
    if (error.kind() != ErrorKind::Data || !publisher.mark_damaged()) return;
    set_.recorder.damaged(current,
                          std::string(error.what()) + "; lookups answer maybe until it is published again");
    find_out();
  }
}

// The header, the tables and the next shards. Read, not mapped, because a file that was cut short must not
// kill this process.
void LiveSet::read_some(const Publisher& publisher, PublicationId current) {
  const SetFolder& folder = publisher.folder();
  const std::string name = snapshot_file_name(current.publication);
  const std::string path = folder.path_of(name);
  const Attachment attachment(folder, set_.config.name, current);
  const FileDescriptor file = folder.open_file(name, O_RDONLY);
  const SnapshotView& snapshot = attachment.snapshot();
  if (next_shard_ >= snapshot.shards().shard_count) next_shard_ = 0;  // that was of another publication
  std::vector<std::byte> read;
  for (std::uint64_t bytes = 0; bytes < kBytesAtATime; bytes += read.size()) {
    const Bytes shards = snapshot.some_shards(next_shard_);
    read.resize(shards.size());
    read_all_at(file, static_cast<std::uint64_t>(shards.data() - snapshot.bytes().data()), read, path);
    snapshot.check_shards(next_shard_, read, path);
    next_shard_ += read.size() / snapshot.shards().stride;
    if (next_shard_ < snapshot.shards().shard_count) continue;
    next_shard_ = 0;
    return;
  }
}

// It may have been published under another configuration, or by hand.
void LiveSet::check_live(const Publisher& publisher) {
  trusted_ = {};
  try {
    const auto [bytes, path] = read_live(*live_, publisher);
    check_signature(SnapshotView::decode(bytes.get(), path, Check::Tables), set_.config.public_keys, path);
    trusted_ = live_->id;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotSigned && error.kind() != ErrorKind::Data) return;  // may be read later
  } catch (const std::bad_alloc&) {
    return;
  }
  checked_ = live_->id;
}

void LiveSet::publish(Publisher& publisher, const Candidate& candidate) {
  const Bytes snapshot = candidate.snapshot.get();
  const SnapshotHeader header = SnapshotView::decode(snapshot, candidate.source, Check::Tables).header();
  const NewLayer layer = layers_.layer_over(header);
  if (adds_.may_have_lost(adds_needed_by(header.adds_from, header.as_of)))
    publisher.mark_adds_lost(milliseconds_of(adds_.lost_to()) + 1);
  const SteadyTime begun = std::chrono::steady_clock::now();
  publisher.publish(snapshot, candidate.record.generation, layer);
  const double seconds = seconds_since(begun);
  find_out();
  if (!live_) return;
  checked_ = trusted_ = live_->id;
  set_.recorder.published(*live_, candidate.is_cached, seconds, candidate.pull_seconds);
}

}  // namespace keysieve
