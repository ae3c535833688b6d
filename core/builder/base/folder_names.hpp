// The names in a folder. std::filesystem's iterators end the program when memory runs out: in libstdc++ 12,
// what moves them on is noexcept and allocates.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// In no order, without "." and "..". `error` says why they cannot be listed, or not all of them.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error);
// Lists a folder that is open; its position stays.
std::vector<std::string> names_in(const FileDescriptor& folder, std::error_code& error);

}  // namespace keysieve
