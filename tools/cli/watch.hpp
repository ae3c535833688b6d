// --watch: shows something again and again until it is interrupted.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace keysieve {

// Nothing unless it is asked for; two seconds when it is asked for without a time.
void add_watch(CLI::App* verb, std::optional<std::chrono::milliseconds>& interval);

// Once, or with an interval until SIGINT or SIGTERM. On a terminal each time over the last, else one below
// the other.
void show_or_watch(const std::optional<std::chrono::milliseconds>& interval,
                   const std::function<void()>& show);

}  // namespace keysieve
