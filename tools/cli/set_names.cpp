#include "tools/cli/set_names.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "tools/program/nearest_name.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/stored_sets.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using Names = std::vector<std::string>;

// False too for a folder that cannot be looked at; what opens it then says why.
bool has_no_folder(const std::string& directory, const std::string& set_name) {
  std::error_code failure;
  return std::filesystem::status(directory + "/" + set_name, failure).type() ==
         std::filesystem::file_type::not_found;
}

// What `look` returns; nothing, or false, where it cannot look.
template <typename Look>
auto if_it_can(Look look) -> decltype(look()) {
  try {
    return look();
  } catch (const Error&) {
    return {};
  }
}

Names names_in_store(Store& store) {
  return if_it_can([&] {
    Names names;
    if (!store.abilities().list) return names;
    for (StoredSet& set : stored_sets(store)) names.push_back(std::move(set.name));
    return names;
  });
}

Names names_in_directory(const std::string& directory) {
  return if_it_can([&] { return sets_in(directory); });
}

bool is_saved_seen_set(Store& store, const std::string& set_name) {
  return if_it_can([&] { return holds_seen_set(store, set_name); });
}

bool is_seen_set(Store& store, const std::string& directory, const std::string& set_name) {
  return !has_no_folder(seen_directory(directory), set_name) || is_saved_seen_set(store, set_name);
}

std::string hint_for(const std::string& set_name, const Names& names, bool is_seen) {
  if (is_seen) return "; " + set_name + " is a seen set, which each host keeps and bypasses by itself";
  const auto nearest = nearest_name(set_name, names);
  return nearest ? "; did you mean " + *nearest + "?" : "";
}

// Nothing if the store or this host has the set, or cannot be asked.
std::optional<std::string> hint_if_unknown(Store& store, const std::string& directory,
                                           const std::string& set_name) {
  if (!is_known_missing(store, set_name) || !has_no_folder(directory, set_name)) return std::nullopt;
  Names names = names_in_store(store);
  for (std::string& name : names_in_directory(directory)) names.push_back(std::move(name));
  return hint_for(set_name, names, is_seen_set(store, directory, set_name));
}

[[noreturn]] void refuse_unknown(const Store& store, const std::string& directory,
                                 const std::string& set_name, const std::string& hint) {
  throw Error(ErrorKind::MissingInput,
              fmt::format("neither {} nor {} has a set \"{}\"{} (--allow-unknown-set if that is intended)",
                          store.name(), directory, set_name, hint));
}

}  // namespace

std::vector<SetType> sets_named(const std::string& directory, const std::string& set_name) {
  std::vector<SetType> types;
  if (!has_no_folder(directory, checked_set_name(set_name))) types.push_back(SetType::Published);
  if (!has_no_folder(seen_directory(directory), set_name)) types.push_back(SetType::Seen);
  if (!types.empty()) return types;
  Names names = sets_in(directory);  // throws where there is no directory either
  for (std::string& name : names_in_directory(seen_directory(directory))) names.push_back(std::move(name));
  throw Error(ErrorKind::MissingInput, fmt::format("directory {}: no set \"{}\" is published here{}",
                                                   directory, set_name, hint_for(set_name, names, false)));
}

PointerRecord check_pushed(Store& store, const std::string& set_name) {
  if (auto pointer = read_pointer(store, set_name)) return std::move(*pointer);
  throw Error(ErrorKind::MissingInput,
              fmt::format("{}: there is no set \"{}\"{}", store.name(), set_name,
                          hint_for(set_name, names_in_store(store), is_saved_seen_set(store, set_name))));
}

void add_allow_unknown_set(CLI::App* verb, bool& allow) {
  verb->add_flag("--allow-unknown-set", allow,
                 "Do it although neither the store nor this host has a set of that name");
}

void check_known(Store& store, const std::string& directory, const std::string& set_name) {
  if (const auto hint = hint_if_unknown(store, directory, set_name)) {
    refuse_unknown(store, directory, set_name, *hint);
  }
}

void check_not_mistyped(Store& store, const std::string& directory, const std::string& set_name) {
  const auto hint = hint_if_unknown(store, directory, set_name);
  if (hint && !hint->empty()) refuse_unknown(store, directory, set_name, *hint);
}

bool is_known_missing(Store& store, const std::string& set_name) {
  return if_it_can([&] { return !read_pointer(store, set_name); });
}

}  // namespace keysieve
