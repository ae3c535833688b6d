#include "tools/cli/seen_set_here.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// The owner of the folder, while it lives; only for root.
class AsOwner {
 public:
  explicit AsOwner(const std::string& folder) : before_(::geteuid()) {
    struct stat status {};
    if (before_ != 0 || ::stat(folder.c_str(), &status) != 0) return;
    if (::seteuid(status.st_uid) != 0) throw_write_error(folder + ": cannot become its owner", errno);
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner() {
    if (::seteuid(before_) != 0) std::terminate();  // never: root goes back to being root
  }

 private:
  uid_t before_;
};

bool is_marked(const SeenPage& page) noexcept {
  return Troubles(page.troubles.load(std::memory_order_relaxed)).has(Trouble::NotConfigured);
}

}  // namespace

SeenSetHere::SeenSetHere(const std::string& directory, const std::string& set_name)
    : folder_(seen_directory(directory) + "/" + set_name) {
  const AsOwner owner(folder_);
  try {
    writer_.emplace(directory, set_name, std::nullopt);
    const bool is_whole = writer_->adopt();
    is_left_ = !writer_->has_page() || (is_whole && is_marked(writer_->page()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Locked) throw;
    throw Error(ErrorKind::Locked, fmt::format("{}; keysieved would begin the set again, so remove its "
                                               "[[seen]] and reload keysieved first",
                                               error.what()));
  }
  for (const OpenFilter& one : writer_->filters()) bytes_ += one.plan.segment_bytes();
  text_ = fmt::format("{} of {} in {}", format_count_of(writer_->filters().size(), "filter"),
                      format_bytes(bytes_), folder_);
}

void SeenSetHere::remove() {
  const AsOwner owner(folder_);
  writer_->remove();
}

}  // namespace keysieve
