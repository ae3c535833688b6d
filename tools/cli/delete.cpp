// keysieve delete: a published set leaves a store, or a seen set this host.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verb.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/stored_sets.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// The owner of the folder, while it lives; only for root.
class AsOwner {
 public:
  explicit AsOwner(const std::string& folder) : before_(::geteuid()) {
    struct stat status {};
    if (before_ != 0 || ::stat(folder.c_str(), &status) != 0) return;
    if (::seteuid(status.st_uid) != 0) throw_write_error(folder + ": cannot become its owner", errno);
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner() {
    if (::seteuid(before_) != 0) std::terminate();  // never: root goes back to being root
  }

 private:
  uid_t before_;
};

bool is_marked(const SeenPage& page) noexcept {
  return Troubles(page.troubles.load(std::memory_order_relaxed)).has(Trouble::NotConfigured);
}

// A seen set in a directory of this host, to be deleted: no loader can take it meanwhile.
class SeenSetHere {
 public:
  // As root it becomes the owner of the set's folder for that and for remove(): segments of others are left
  // alone, see remove_segment(). Throws Locked while keysieved has the set, and as SeenWriter.
  SeenSetHere(const std::string& directory, const std::string& set_name)
      : folder_(seen_directory(directory) + "/" + set_name) {
    const AsOwner owner(folder_);
    try {
      writer_.emplace(directory, set_name, std::nullopt);
      const bool is_whole = writer_->adopt();
      is_left_ = !writer_->has_page() || (is_whole && is_marked(writer_->page()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Locked) throw;
      throw Error(ErrorKind::Locked, fmt::format("{}; keysieved would begin the set again, so remove its "
                                                 "[[seen]] and reload keysieved first",
                                                 error.what()));
    }
    for (const OpenFilter& one : writer_->filters()) bytes_ += one.plan.segment_bytes();
    text_ = fmt::format("{} of {} in {}", format_count_of(writer_->filters().size(), "filter"),
                        format_bytes(bytes_), folder_);
  }

  // "2 filters of 1.0 MiB in /run/keysieve/seen.d/clicks"
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Whether the loader has marked it as not configured any more. Else it may begin the set again.
  [[nodiscard]] bool is_left() const noexcept { return is_left_; }

  void remove() {
    const AsOwner owner(folder_);
    writer_->remove();
  }

 private:
  std::string folder_;
  std::optional<SeenWriter> writer_;
  std::string text_;
  std::uint64_t bytes_ = 0;
  bool is_left_ = false;
};

struct Found {
  std::optional<SeenSetHere> here;
  std::unique_ptr<Store> store;  // nullptr: not asked for, or it holds nothing of the set
};

class DeleteVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("SET", set_name_, "Name of the set")->required();
    auto* url = verb->add_option("URL", store_url_, store_help() + " [a seen set of this host]");
    verb->add_option("--store", seen_store_url_,
                     "Also delete what was saved of the seen set in this store: " + store_schemes())
        ->type_name("URL")
        ->excludes(url);
    add_directory(verb, directory_);
    verb->add_flag("-y,--yes", yes_, "Do not ask");
  }

  int run() { return store_url_.empty() ? delete_seen() : delete_stored(); }

 private:
  // Also names what has no generation: adds to a mistyped name, or what a killed delete has left.
  std::string what_is_deleted(Store& store) {
    const std::string set = fmt::format("{}: set \"{}\"", store.name(), set_name_);
    const auto pointer = read_pointer(store, set_name_);
    if (!pointer) return set + ", which has no generation";
    return fmt::format("{}, {} as of {}", set, format_count_of(pointer->current->key_count, "key"),
                       format_moment(pointer->current->as_of));
  }

  bool is_wanted(Store& store) {
    if (yes_) return true;
    const std::string what = what_is_deleted(store);
    return is_confirmed(
        what + "\nDelete it with all kept generations and its adds? This cannot be undone.",
        what + ", would be deleted with all kept generations and its adds, which cannot be undone");
  }

  int delete_stored() {
    const auto store = open_given_store(store_url_, StoreUse::Write);
    checked_set_name(set_name_);
    if (!has_anything_of(*store, set_name_)) {
      if (holds_seen_set(*store, set_name_)) {
        throw Error(ErrorKind::MissingInput,
                    fmt::format("{0}: \"{1}\" is a seen set there: keysieve delete {1} --store {0}",
                                store->name(), set_name_));
      }
      check_pushed(*store, set_name_);
    }
    if (!is_wanted(*store)) return kExitDeclined;
    const DeletedSet deleted = delete_set(*store, set_name_);
    if (deleted.is_still_bypassed) {
      print_warning(
          fmt::format("set \"{0}\" stays bypassed in {1}: hosts that still have it live would answer from it "
                      "again. Once none has: keysieve bypass {0} --off --store URL",
                      set_name_, store->name()));
    }
    Report report;
    report.add("set", set_name_);
    report.add("store", store->name());
    report.add("deleted",
               fmt::format("{} in {}", format_count_of(deleted.generations, "generation"),
                           format_count_of(deleted.chunks, "chunk")),
               "removed_generations", deleted.generations);
    report.add_member("removed_chunks", deleted.chunks);
    report.add_member("still_bypassed", deleted.is_still_bypassed);
    report.print();
    return 0;
  }

  bool has_seen_set() { return std::ranges::count(seen_sets_in(directory_), set_name_) != 0; }

  Found find() {
    Found found;
    std::string looked_at = "directory " + directory_;
    if (seen_store_url_) {
      found.store = open_given_store(*seen_store_url_, StoreUse::Append);
      looked_at += " and " + found.store->name();
      if (!holds_seen_set(*found.store, set_name_)) found.store.reset();
    }
    if (has_seen_set()) found.here.emplace(directory_, set_name_);
    if (found.here || found.store) return found;
    throw Error(ErrorKind::MissingInput, fmt::format("{}: no seen set \"{}\" is here", looked_at, set_name_));
  }

  bool is_wanted(const Found& found) {
    if (yes_) return true;
    std::string what = fmt::format("seen set \"{}\"", set_name_);
    if (found.here) what += ": " + found.here->text();
    if (found.store)
      what += fmt::format("{} what was saved in {}", found.here ? " and" : ":", found.store->name());
    return is_confirmed(what + "\nDelete it? All its keys are forgotten. This cannot be undone.",
                        what + ", would be deleted and its keys forgotten, which cannot be undone");
  }

  void report(const Found& found) {
    Report report;
    report.add("set", set_name_);
    report.add("deleted here", found.here ? found.here->text() : "nothing, it was not here", "removed_bytes",
               found.here ? Json(found.here->bytes()) : Json());
    if (seen_store_url_) {
      report.add("deleted in store",
                 found.store ? "what was saved in " + found.store->name() : "nothing, none was saved",
                 "store", found.store ? Json(found.store->name()) : Json());
    }
    report.print();
  }

  int delete_seen() {
    if (is_store_url(set_name_)) throw Error(ErrorKind::Usage, "SET is missing");
    checked_set_name(set_name_);
    if (!seen_store_url_ && !has_seen_set()) {
      throw Error(
          ErrorKind::Usage,
          fmt::format("URL is missing: directory {} has no seen set \"{}\", and other sets are deleted "
                      "from a store",
                      directory_, set_name_));
    }
    Found found = find();
    if (!is_wanted(found)) return kExitDeclined;
    if (found.here) {
      if (!found.here->is_left()) {
        print_warning(fmt::format("if keysieved has set \"{}\" configured, it begins it again, {}", set_name_,
                                  found.store ? "empty" : "from its store if it has one, else empty"));
      }
      found.here->remove();
    }
    if (found.store) delete_seen_set(*found.store, set_name_);
    report(found);
    return 0;
  }

  std::string set_name_;
  std::string store_url_;  // empty: the set is a seen set
  std::string directory_;
  std::optional<std::string> seen_store_url_;
  bool yes_ = false;
};

}  // namespace

extern const Verb kDelete{
    "delete", "Remove a set from a store, or a seen set from this host",
    "  keysieve delete sale lmdb:/var/lib/keysieve\n"
    "  keysieve delete sale --yes redis://cache:6379/2 --json\n"
    "With a URL: all generations, what was added, and what interrupted pushes have left, even if the\n"
    "store has lost the set's record. Hosts keep what they have live, and their loaders\n"
    "say that the store has lost it. So stop the job that pushes the set, and remove it from every\n"
    "keysieve.toml and host first (docs/operate.md).\n"
    "  keysieve delete clicks\n"
    "  keysieve delete clicks --store redis://cache:6379/2\n"
    "Without a URL: a seen set of this host, with its memory; --store also deletes what all hosts have\n"
    "saved of it. While keysieved has the set configured, it is refused: remove its [[seen]] and reload\n"
    "keysieved first, on every host. Run it as the user of keysieved, or as root.\n"
    "delete asks first on a terminal; exit status 1 if you decline. It can be repeated after an\n"
    "interruption.",
    prepare<DeleteVerb>};

}  // namespace keysieve
