// The page of all benches: a text with places for what was measured.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/bench/report/part.hpp"

namespace keysieve {

// In Markdown; plots are links to `plot_folder`, relative to the page.
std::string tables_markdown(const Part& part);
std::string plots_markdown(const Part& part, const std::string& plot_folder);
std::string checks_markdown(const Part& part);
std::string settings_markdown(const Part& part);

// The text with every {{word}} replaced by `replacement(word)`. Throws Data for braces that do not
// close.
std::string fill_in(std::string_view text, const std::function<std::string(std::string_view)>& replacement);

}  // namespace keysieve
