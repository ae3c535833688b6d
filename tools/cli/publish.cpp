// keysieve publish: a snapshot file becomes current in shared memory, without a store and a loader.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kNoGeneration = 0;  // published from a file

struct PublishOptions {
  std::string path;
  std::string group;
  PublicKeys public_keys;
  PublisherSettings settings;
  bool allow_hidden_adds = false;
};

// Keys that keysieved has added to what is live are not in a snapshot from a file, nor need those be that the
// store has lost.
void check_nothing_is_hidden(const Publisher& publisher, const std::string& set_name) {
  if (publisher.adds_lost_to_ms()) {
    throw Error(ErrorKind::Data,
                fmt::format("set \"{}\" answers maybe, because the store has lost added keys, which would be "
                            "absent; push a later build instead, or lift this by --allow-hidden-adds",
                            set_name));
  }
  const auto layer = publisher.open_layer();
  if (!layer || layer->live_keys() == 0) return;
  throw Error(ErrorKind::Data,
              fmt::format("set \"{}\" has {}, which would be absent until keysieved looks again; "
                          "push the file instead, or lift this by --allow-hidden-adds",
                          set_name, format_count_of(layer->live_keys(), "added key")));
}

// As keysieved: what is signed does not go back, whoever has brought the file.
void check_does_not_go_back(const PublishOptions& options, const SnapshotView& snapshot) {
  const std::string set_name(snapshot.set_name());
  const auto live = live_publication(options.settings.directory, set_name);
  if (!live || !contains(options.public_keys, live->public_key)) return;
  check_not_older(moment_of(snapshot.header()), options.path + " is signed", {live->as_of, live->built_at},
                  "what is live",
                  "someone could have brought it back; build the set again, or remove " +
                      options.settings.directory + "/" + set_name + " to publish it all the same");
}

void publish(PublishOptions options) {
  // What is signed must be what is published, also if the file changes meanwhile.
  const SnapshotFile file = options.public_keys.empty()
                                ? SnapshotFile(options.path, Check::Everything)
                                : SnapshotFile::copied(options.path, Check::Everything);
  check_signature(file.view(), options.public_keys, options.path);
  if (!options.group.empty()) options.settings.group = group_named(options.group);
  const std::string set_name(file.view().set_name());
  Publisher publisher(options.settings, set_name);
  check_does_not_go_back(options, file.view());
  if (!options.allow_hidden_adds) check_nothing_is_hidden(publisher, set_name);
  const std::uint64_t publication = publisher.publish(file.view().bytes(), kNoGeneration);
  publisher.forget_lost_adds();  // unless keysieved, which knows, says it again
  Report report;
  report.add("set", set_name, "set", set_name);
  report.add("publication", std::to_string(publication), "publication", publication);
  report.add("directory", options.settings.directory, "directory", options.settings.directory);
  const SnapshotHeader& header = file.view().header();
  report.add("keys", format_count(header.key_count), "key_count", header.key_count);
  add_known_absent(report, header);
  report.add("size", format_bytes(header.file_bytes), "bytes", header.file_bytes);
  report.print();
}

}  // namespace

void add_publish(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<PublishOptions>();
  CLI::App* verb = add_verb(program, "publish", "Make a snapshot file current in shared memory",
                            "  keysieve publish tags.ks\n"
                            "  keysieve publish --directory /run/keysieve --group www-data tags.ks");
  verb->add_option("FILE", options->path, "Snapshot file")->required();
  add_directory(verb, options->settings.directory);
  verb->add_option(
          "--group", options->group,
          "Group of the PHP workers, which may read: name or number [that of new files in the directory]")
      ->type_name("GROUP");
  add_parsed(
      verb, "--max-total-size", options->settings.max_total_bytes, parse_bytes,
      "Refuse if all publications, with those that idle workers pin, would exceed this size [no limit]")
      ->type_name("SIZE");
  verb->add_flag("--allow-hidden-adds", options->allow_hidden_adds,
                 "Publish although keys that keysieved has added would be absent until its next look");
  add_public_keys(verb, options->public_keys);
  verb->callback([options] { publish(*options); });
}

}  // namespace keysieve
