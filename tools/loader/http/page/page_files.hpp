// The files of the status page, which are part of the program: page.html with its style and its script. The
// script shows /status.json. CMake makes page_files.cpp from them.
#pragma once

#include <span>
#include <string_view>

namespace keysieve {

struct PageFile {
  std::string_view path;
  const char* content_type;
  std::string_view text;
};

// The page itself comes first.
std::span<const PageFile> page_files() noexcept;

// Allows these files, requests to keysieved and the icon, and nothing else: text that got into the page as
// markup could not load or run anything, and the script cannot turn text into markup.
inline constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

}  // namespace keysieve
