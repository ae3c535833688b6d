// The status page: one HTML document that needs nothing else, no script either.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// `nonce` allows its style, see content_security_policy(); another for each answer.
std::string status_page(const LoaderView& view, const std::string& nonce);

// Allows that style and the icon, and nothing else: what would slip into the page could load or run nothing.
std::string content_security_policy(const std::string& nonce);

}  // namespace keysieve
