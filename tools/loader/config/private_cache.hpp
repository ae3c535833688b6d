// The folder of the cache. Its snapshots are published without a store to confirm them, so only the loader's
// own user or root may write there.
#pragma once

#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// Creates the folder, for this process's user alone, if it is missing and its parent exists. Makes durable
// what an earlier loader has renamed there, or removed, before it was killed, and removes what it has left
// half-written, of all sets; if another loader writes at this moment, that fails, and is tried again. A
// failure shows when the cache is first used.
void prepare_cache(const std::string& folder) noexcept;

// Throws NotTrusted unless the folder or file belongs to root or to this process's user, and only its owner
// may write to it. A missing one passes.
void check_private_folder(const std::string& folder);
void check_private_file(const std::string& path);
void check_private(const FileDescriptor& opened, const std::string& path);

}  // namespace keysieve
