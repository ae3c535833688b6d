// Pushes the sets of `tenants`, next to it: tenant_sets STORE TENANTS KEYS pushes shop-1, shop-2, … with that
// many keys each; with "together" behind it, one set `shops` that has the tenant in front of each key.
#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "core/builder/snapshot/builder.hpp"
#include "tools/transfer/transfer.hpp"
#include "tools/workshop/bench/program.hpp"

namespace keysieve {
namespace {

constexpr HashSeed kSeed{20141119};

SnapshotBuilder builder_of(const std::string& set_name) {
  BuildSettings settings;
  settings.set_name = set_name;
  settings.seed = kSeed;
  settings.as_of = unix_now();
  return SnapshotBuilder(settings);
}

void push_set(Store& store, SnapshotBuilder& builder) {
  const SnapshotBytes bytes = builder.finish();
  push(store, SnapshotView::decode(bytes.get(), store.name(), Check::Everything), Guards{});
}

void run(const std::string& url, int tenants, int keys, bool together) {
  const auto store = open_store(url);
  SnapshotBuilder all = builder_of("shops");
  for (int tenant = 1; tenant <= tenants; ++tenant) {
    SnapshotBuilder own = builder_of(fmt::format("shop-{}", tenant));
    for (int key = 0; key < keys; ++key) {
      if (together) {
        all.add(fmt::format("{}/article-{}", tenant, key));
      } else {
        own.add(fmt::format("article-{}", key));
      }
    }
    if (!together) push_set(*store, own);
  }
  if (together) push_set(*store, all);
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("tenant_sets STORE TENANTS KEYS [together]", argc, argv, [](char** arguments) {
    keysieve::run(arguments[1], std::atoi(arguments[2]), std::atoi(arguments[3]), arguments[4] != nullptr);
  });
}
