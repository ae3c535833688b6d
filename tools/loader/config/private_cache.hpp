// What lies in the cache is published without a store to confirm it: nobody else may have put it there.
#pragma once

#include <string>

#include "core/base/file_descriptor.hpp"

namespace keysieve {

// Makes the folder for this process's user alone if it is missing and its parent is there. Whether it can be
// used shows, and is told of, when it is.
void make_private_folder(const std::string& folder) noexcept;

// Throws NotTrusted unless folder or file belongs to root or to this process's user, who alone may write
// to it. What is not there holds nothing.
void check_private_folder(const std::string& folder);
void check_private_file(const std::string& path);
void check_private(const FileDescriptor& opened, const std::string& path);

}  // namespace keysieve
