// The lock that a loader holds on the page of its set as long as it lives: another loader cannot get it, even
// if the file `lock` was removed and made again. The kernel lets it go when the descriptor is closed.
#pragma once

#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// Requires a descriptor that is open for writing. False: another loader has it. A worker that can open the
// page can lock it for reading; that is no obstacle. Throws CannotCreate, Permission; `path` is for messages.
bool lock_page(const FileDescriptor& page, const std::string& path);

}  // namespace keysieve
