#include "core/shm/bypass.hpp"

#include "core/shm/control_file.hpp"

namespace keysieve {
namespace {

ControlFile writable_control(const std::string& directory, std::string_view set_name) {
  return ControlFile::open_writable(SetFolder::open(directory, set_name, std::nullopt));
}

}  // namespace

void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  const ControlFile control = writable_control(directory, set_name);
  control.writable_page().bypass_until.store(until, std::memory_order_relaxed);
  // Release: a reader that sees the bit (acquire, SetReader::pin) sees the time above.
  control.writable_page().current.fetch_or(kBypassBit, std::memory_order_release);
}

void clear_bypass(const std::string& directory, std::string_view set_name) {
  const ControlFile control = writable_control(directory, set_name);
  control.writable_page().current.fetch_and(~kBypassBit, std::memory_order_release);
}

}  // namespace keysieve
