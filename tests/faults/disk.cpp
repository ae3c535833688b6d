#include "tests/faults/disk.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

namespace keysieve::test {
namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::size_t kAllSingles = 24;  // of so many changes each is lost, or kept, by itself

void overwrite(std::string& content, std::uint64_t offset, std::string_view bytes) {
  content.resize(std::max<std::size_t>(content.size(), offset + bytes.size()));
  content.replace(offset, bytes.size(), bytes);
}

std::string sector_of(const std::string& content, std::size_t offset) {
  std::string sector = offset < content.size() ? content.substr(offset, kSectorBytes) : "";
  sector.resize(kSectorBytes);
  return sector;
}

// Those of all versions, the newest last.
std::vector<std::string> sectors_at(const std::vector<std::string>& versions, std::size_t offset) {
  std::vector<std::string> sectors;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    std::string sector = sector_of(*version, offset);
    if (std::find(sectors.begin(), sectors.end(), sector) == sectors.end())
      sectors.push_back(std::move(sector));
  }
  std::reverse(sectors.begin(), sectors.end());
  return sectors;
}

// Those of all versions and what is between them, in whole sectors; the newest last.
std::vector<std::size_t> sizes_of(const std::vector<std::string>& versions) {
  std::set<std::size_t> sizes;
  for (const std::string& version : versions) sizes.insert(version.size());
  const std::size_t least = *sizes.begin();
  const std::size_t most = *sizes.rbegin();
  for (std::size_t size = (least / kSectorBytes + 1) * kSectorBytes; size < most; size += kSectorBytes)
    sizes.insert(size);
  sizes.erase(versions.back().size());
  std::vector<std::size_t> all(sizes.begin(), sizes.end());
  all.push_back(versions.back().size());
  return all;
}

// Asks only where there is a choice.
template <typename T>
const T& picked(const std::vector<T>& from, const Disk::Pick& pick) {
  return from.size() == 1 ? from.front() : from.at(pick(static_cast<unsigned>(from.size())));
}

std::string content_of(const std::vector<std::string>& versions, const Disk::Pick& pick) {
  if (versions.size() == 1) return versions.front();
  const std::vector<std::size_t> sizes = sizes_of(versions);
  const std::size_t size = picked(sizes, pick);
  const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
  std::string content;
  for (std::size_t offset = 0; offset < most; offset += kSectorBytes)
    content += picked(sectors_at(versions, offset), pick);
  content.resize(size);
  return content;
}

void change(Disk::Names& names, const Disk::Names& changes) {
  for (const auto& [name, node] : changes) {
    if (node) {
      names[name] = node;
    } else {
      names.erase(name);
    }
  }
}

}  // namespace

Disk::Node Disk::make(bool is_folder) {
  nodes_.push_back({.is_folder = is_folder, .names = {}, .changes = {}});
  return nodes_.size() - 1;
}

void Disk::write(Node file, std::uint64_t offset, std::string_view bytes) {
  auto& versions = nodes_.at(file).versions;
  versions.push_back(versions.back());
  overwrite(versions.back(), offset, bytes);
}

void Disk::write_durably(Node file, std::uint64_t offset, std::string_view bytes) {
  for (std::string& version : nodes_.at(file).versions) overwrite(version, offset, bytes);
}

void Disk::resize(Node file, std::uint64_t size) {
  auto& versions = nodes_.at(file).versions;
  versions.push_back(versions.back());
  versions.back().resize(size);
}

void Disk::change_names(Node folder, const Names& names) {
  nodes_.at(folder).changes.push_back(names);
}

void Disk::sync(Node node) {
  Data& data = nodes_.at(node);
  data.versions.erase(data.versions.begin(), data.versions.end() - 1);
  for (const Names& names : data.changes) change(data.names, names);
  data.changes.clear();
}

void Disk::sync_all() {
  for (Node node = 0; node < nodes_.size(); ++node) sync(node);
}

Disk::Names Disk::names_in(const Data& folder, const Pick& pick) const {
  constexpr unsigned kLostOrKept = 2;
  Names names = folder.names;
  for (const Names& changed : folder.changes) {
    if (pick(kLostOrKept) != 0) change(names, changed);
  }
  return names;
}

std::optional<Disk::Node> Disk::find(std::string_view path) const {
  Node node = kRoot;
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    const Names names = names_in(nodes_.at(node), [](unsigned count) { return count - 1; });
    const auto found = names.find(name);
    if (found == names.end()) return std::nullopt;
    node = *found->second;
  }
  return node;
}

// The nodes that may have a name after a power loss.
std::vector<bool> Disk::find_named() const {
  std::vector<bool> is_named(nodes_.size());
  const auto add = [&](const Names& names) {
    for (const auto& [name, node] : names) {
      if (node) is_named[*node] = true;
    }
  };
  for (const Data& data : nodes_) {
    add(data.names);
    for (const Names& names : data.changes) add(names);
  }
  return is_named;
}

DiskState Disk::state(const Pick& pick) const {
  const std::vector<bool> is_named = find_named();
  std::vector<Names> names(nodes_.size());
  std::vector<std::string> contents(nodes_.size());
  for (Node node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].is_folder) names[node] = names_in(nodes_[node], pick);
    if (is_named[node] && !nodes_[node].is_folder) contents[node] = content_of(nodes_[node].versions, pick);
  }
  DiskState state;
  const std::function<void(Node, const std::string&)> add = [&](Node folder, const std::string& path) {
    for (const auto& [name, node] : names[folder]) {
      const bool is_folder = nodes_[*node].is_folder;
      state[path + name] = is_folder ? std::nullopt : std::optional(contents[*node]);
      if (is_folder) add(*node, path + name + "/");
    }
  };
  add(kRoot, "");
  return state;
}

void for_each_state(const Disk& disk, std::uint64_t most, std::mt19937_64& random,
                    const std::function<bool(const DiskState& state)>& visit) {
  std::vector<unsigned> counts;
  std::uint64_t all = 1;
  const DiskState seen = disk.state([&](unsigned count) {
    counts.push_back(count);
    all = std::min(all, most) * count;
    return count - 1;
  });
  if (!visit(seen)) return;
  // `choose` returns the choice at a place.
  const auto visit_chosen = [&](const std::function<unsigned(std::size_t place)>& choose) {
    std::size_t place = 0;
    return visit(disk.state([&](unsigned) { return choose(place++); }));
  };
  if (all <= most) {
    for (std::uint64_t number = 0; number + 1 < all; ++number) {
      std::uint64_t rest = number;
      const auto next_digit = [&](std::size_t place) {
        const auto digit = static_cast<unsigned>(rest % counts[place]);
        rest /= counts[place];
        return digit;
      };
      if (!visit_chosen(next_digit)) return;
    }
    return;
  }
  if (!visit_chosen([](std::size_t) { return 0U; })) return;
  for (std::size_t single = 0; counts.size() <= kAllSingles && single < counts.size(); ++single) {
    const auto only_it = [&](std::size_t place) { return place == single ? counts[place] - 1 : 0; };
    const auto all_others = [&](std::size_t place) { return place == single ? 0 : counts[place] - 1; };
    if (!visit_chosen(only_it) || !visit_chosen(all_others)) return;
  }
  constexpr std::array kShares{0.05, 0.5, 0.95};  // of the changes that are lost
  for (std::size_t number = 0; number < most; ++number) {
    std::bernoulli_distribution is_lost(kShares[number % kShares.size()]);
    const auto any = [&](std::size_t place) {
      return is_lost(random) ? static_cast<unsigned>(random() % counts[place]) : counts[place] - 1;
    };
    if (!visit_chosen(any)) return;
  }
}

void write_state(const DiskState& state, const std::string& folder) {
  for (const auto& [path, content] : state) {
    if (content) {
      std::ofstream(folder + "/" + path, std::ios::binary) << *content;
    } else {
      std::filesystem::create_directory(folder + "/" + path);
    }
  }
}

}  // namespace keysieve::test
