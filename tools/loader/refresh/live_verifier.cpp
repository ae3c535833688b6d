#include "tools/loader/refresh/live_verifier.hpp"

#include <fcntl.h>

#include <vector>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

// About 2 ms of reading and checksums, so that adds do not wait for it. With a look every 5 s a set of 1 GB
// takes five minutes.
constexpr std::uint64_t kStretchesAtATime = (16U << 20) / kChecksumStretchBytes;
constexpr std::chrono::seconds kPause{1};

}  // namespace

bool LiveVerifier::take_due(SteadyTime now) noexcept {
  if (now < due_) return false;
  due_ = now + kPause;
  return true;
}

std::optional<std::string> LiveVerifier::find_damage(const SetFolder& folder, const std::string& set_name,
                                                     PublicationId current) {
  if (current.publication == 0) return std::nullopt;
  if (reading_ != current) next_stretch_ = 0;
  reading_ = current;
  try {
    const std::string name = snapshot_file_name(current.publication);
    read_some(Attachment(folder, set_name, current), folder.open_file(name, O_RDONLY), folder.path_of(name));
  } catch (const Error& error) {
    // A missing or unreadable publication is reported by the reader that attaches it.
    if (error.kind() == ErrorKind::Data) return error.what();
  }
  return std::nullopt;
}

// Read, not mapped, because a file that was cut short must not kill this process.
void LiveVerifier::read_some(const Attachment& attachment, const FileDescriptor& file,
                             const std::string& path) {
  const SnapshotView& snapshot = attachment.snapshot();
  const SnapshotLayout layout = snapshot_layout(snapshot.header());
  std::vector<std::byte> buffer(kChecksumStretchBytes);
  for (std::uint64_t i = 0; i < kStretchesAtATime && next_stretch_ < layout.stretch_count();
       ++i, ++next_stretch_) {
    const Bytes stretch = checksum_stretch(snapshot.bytes(), layout, next_stretch_);
    const MutableBytes read = MutableBytes(buffer).first(stretch.size());
    read_all_at(file, static_cast<std::uint64_t>(stretch.data() - snapshot.bytes().data()), read, path);
    snapshot.check_stretch(next_stretch_, read, path);
  }
  if (next_stretch_ == layout.stretch_count()) next_stretch_ = 0;
}

}  // namespace keysieve
