// Ages and figures as the status page shows them.
#pragma once

#include <string>
#include <string_view>

#include "core/worker/base/clock.hpp"

namespace keysieve {

// "<time …>2d 3h ago</time>", the moment itself as its title; a dash where it never was.
std::string html_ago(UnixSeconds moment, UnixSeconds now);
std::string html_moment(UnixSeconds moment, std::string_view shown);

std::string format_seconds(double seconds);  // "12 ms", "1.4 s"
std::string format_change(double share);     // "+3.2 %"

}  // namespace keysieve
