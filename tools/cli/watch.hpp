// --watch: shows something again and again until it is interrupted.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "core/base/error.hpp"

namespace CLI {
class App;
}

namespace keysieve {

// Nothing unless it is asked for; two seconds when it is asked for without a time.
void add_watch(CLI::App* verb, std::optional<std::chrono::milliseconds>& interval);

// Once, or with an interval until SIGINT or SIGTERM. On a terminal each time over the last, else one below
// the other. When it is watched, errors but those of usage are shown, and it goes on.
void show_or_watch(const std::optional<std::chrono::milliseconds>& interval,
                   const std::function<void()>& show, const std::function<void(const Error&)>& show_error);

}  // namespace keysieve
