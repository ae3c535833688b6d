#include "core/worker/seen/seen_page.hpp"

#include <fcntl.h>

#include "core/worker/base/error.hpp"
#include "core/worker/shm/page_header.hpp"

namespace keysieve {

std::string_view to_string(OnUnavailable answer) noexcept {
  switch (answer) {
    case OnUnavailable::Throw:
      return "throw";
    case OnUnavailable::New:
      return "new";
    case OnUnavailable::Seen:
      return "seen";
  }
  return "unknown";
}

SeenFilter filter_of(const SeenEntry& entry, MutableBytes memory, const std::string& path) {
  const SeenSize& size = entry.plan.size;
  if (!size.is_possible() || memory.size() != entry.plan.segment_bytes()) {
    throw Error(ErrorKind::Data, path + ": is damaged: a filter of " + std::to_string(size.words) +
                                     " words in blocks of " + std::to_string(size.block_words) + ", in " +
                                     std::to_string(memory.size()) + " bytes");
  }
  return {std::span(reinterpret_cast<Word*>(memory.data()), size.words), size.block_words};
}

SeenPageFile::SeenPageFile(const SetFolder& folder)
    : SeenPageFile(folder, folder.open_file(kSeenPageName, O_RDONLY), MapAccess::ReadOnly) {}

SeenPageFile::SeenPageFile(const SetFolder& folder, const FileDescriptor& file, MapAccess access)
    : owner_(folder.owner()) {
  const std::string path = folder.path_of(kSeenPageName);
  const auto status = stat_of(file, path);
  if (status.st_size != static_cast<off_t>(kSeenPageBytes)) {
    throw Error(ErrorKind::Data, path + ": has " + std::to_string(status.st_size) + " bytes, not " +
                                     std::to_string(kSeenPageBytes));
  }
  region_ = map_region(file, access, kSeenPageBytes, path);
  identity_ = identity_of(status);
}

void SeenPageFile::check(const std::string& path) const {
  check_page_header(page(), kSeenMagic, kSeenAbiMajor, path, "page of a seen set");
  if (page().seed.is_zero()) throw Error(ErrorKind::Data, path + ": seed is zero");
}

bool SeenPageFile::is_at(const std::string& path) const noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && identity_of(status) == identity_ && region_.shows_its_path();
}

}  // namespace keysieve
