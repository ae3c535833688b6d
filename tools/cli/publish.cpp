// keysieve publish: a snapshot file becomes current in shared memory, without a store and a loader.
#include <fmt/core.h>

#include "core/publisher/shm/publisher.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/program/accounts.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kNoGeneration = 0;  // published from a file

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

class PublishVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("FILE", path_, "Snapshot file")->required();
    add_directory(verb, settings_.directory);
    add_text(verb, "--group GROUP", group_,
             "Group of the PHP workers, which may read: name or number [that of new files in the directory]");
    add_parsed(
        verb, "--max-total-size SIZE", settings_.max_total_bytes, parse_bytes,
        "Refuse if all publications, with those that idle workers pin, would exceed this size [no limit]");
    verb->add_flag("--allow-hidden-adds", allow_hidden_adds_,
                   "Publish although keys that keysieved has added would be absent until its next look");
    add_public_keys(verb, public_keys_);
  }

  int run() {
    // Publishes the bytes whose signature was checked, even if the file changes meanwhile.
    const SnapshotFile file = public_keys_.empty() ? SnapshotFile(path_, Check::Everything)
                                                   : SnapshotFile::copied(path_, Check::Everything);
    check_signature(file.view(), public_keys_, path_);
    if (!group_.empty()) settings_.group = group_named(group_);
    const std::string set_name(file.view().set_name());
    Publisher publisher(settings_, set_name);
    check_does_not_go_back(file.view());
    if (!allow_hidden_adds_) check_nothing_is_hidden(publisher, set_name);
    const std::uint64_t publication = publisher.publish(file.view().bytes(), kNoGeneration);
    publisher.forget_lost_adds();  // unless keysieved, which knows, says it again
    Report report;
    report.add("set", set_name);
    report.add("publication", std::to_string(publication), "publication", publication);
    report.add("directory", settings_.directory);
    const SnapshotHeader& header = file.view().header();
    report.add("keys", format_count(header.key_count), "key_count", header.key_count);
    add_known_absent(report, header);
    report.add("size", format_bytes(header.file_bytes), "bytes", header.file_bytes);
    report.print();
    return 0;
  }

 private:
  // As in keysieved, a signed set does not go back, wherever the file comes from.
  void check_does_not_go_back(const SnapshotView& snapshot) {
    const std::string set_name(snapshot.set_name());
    const auto live = live_publication(settings_.directory, set_name);
    if (!live || !contains(public_keys_, live->public_key)) return;
    check_not_older(moment_of(snapshot.header()), path_ + " is signed", {live->as_of, live->built_at},
                    "what is live",
                    "someone could have brought it back; build the set again, or remove " +
                        settings_.directory + "/" + set_name + " to publish it all the same");
  }

  std::string path_;
  std::string group_;
  PublicKeys public_keys_;
  PublisherSettings settings_;
  bool allow_hidden_adds_ = false;
};

}  // namespace

extern const Verb kPublish{"publish", "Make a snapshot file current in shared memory",
                           "  keysieve publish tags.ks\n"
                           "  keysieve publish --directory /run/keysieve --group www-data tags.ks",
                           prepare<PublishVerb>};

}  // namespace keysieve
