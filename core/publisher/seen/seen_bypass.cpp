#include "core/publisher/seen/seen_bypass.hpp"

#include "core/publisher/seen/writable_seen_page.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/worker/shm/control_file.hpp"

namespace keysieve {
namespace {

// Calls `change` with the page; calls it again if another one has taken its place meanwhile.
template <typename Change>
void change_page(const std::string& directory, std::string_view set_name, Change change) {
  const std::string all = seen_directory(directory);
  for (;;) {
    const SetFolder folder = SetFolder::open(all, set_name, owner_to_trust(all, std::string(set_name)));
    const WritableSeenPageFile file(folder);
    const std::string path = folder.path_of(kSeenPageName);
    file.check(path);
    change(file.writable_page());
    if (file.is_at(path)) return;
  }
}

}  // namespace

// Sequentially consistent, for SeenWriter::clear_expired_bypass() and take_over(). A reader that sees the bit
// (SeenReader::attach_all) sees the end as well.
void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  change_page(directory, set_name, [until](SeenPage& page) {
    page.bypass_until.store(until);
    page.state.fetch_or(SeenState::kBypassBit);
  });
}

void clear_seen_bypass(const std::string& directory, std::string_view set_name) {
  change_page(directory, set_name, [](SeenPage& page) {
    page.bypass_until.store(kBypassOver);
    page.state.fetch_and(~SeenState::kBypassBit);
  });
}

}  // namespace keysieve
