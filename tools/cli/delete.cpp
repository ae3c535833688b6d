// keysieve delete: a published set leaves a store, or a seen set this host.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/stored_sets.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct DeleteOptions {
  std::string set_name;
  std::string store_url;  // empty: the set is a seen set
  std::string directory;
  std::optional<std::string> seen_store_url;
  bool yes = false;
};

// Also names what has no generation: adds to a mistyped name, or what a killed delete has left.
std::string what_is_deleted(const DeleteOptions& options, Store& store) {
  const std::string set = fmt::format("{}: set \"{}\"", store.name(), options.set_name);
  const auto pointer = read_pointer(store, options.set_name);
  if (!pointer) return set + ", which has no generation";
  return fmt::format("{}, {} as of {}", set, format_count_of(pointer->current->key_count, "key"),
                     format_moment(pointer->current->as_of));
}

bool is_wanted(const DeleteOptions& options, Store& store) {
  if (options.yes) return true;
  const std::string what = what_is_deleted(options, store);
  return is_confirmed(
      what + "\nDelete it with all kept generations and its adds? This cannot be undone.",
      what + ", would be deleted with all kept generations and its adds, which cannot be undone");
}

// Returns the exit status.
int delete_and_report(const DeleteOptions& options) {
  checked_set_name(options.set_name);
  const auto store = open_given_store(options.store_url, StoreUse::Write);
  if (!has_anything_of(*store, options.set_name)) {
    if (holds_seen_set(*store, options.set_name)) {
      throw Error(ErrorKind::MissingInput,
                  fmt::format("{0}: \"{1}\" is a seen set there: keysieve delete {1} --store {0}",
                              store->name(), options.set_name));
    }
    check_pushed(*store, options.set_name);
  }
  if (!is_wanted(options, *store)) return kExitDeclined;
  const DeletedSet deleted = delete_set(*store, options.set_name);
  if (deleted.is_still_bypassed) {
    print_warning(
        fmt::format("set \"{0}\" stays bypassed in {1}: hosts that still have it live would answer from it "
                    "again. Once none has: keysieve bypass {0} --off --store URL",
                    options.set_name, store->name()));
  }
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("store", store->name(), "store", store->name());
  report.add("deleted",
             fmt::format("{} in {}", format_count_of(deleted.generations, "generation"),
                         format_count_of(deleted.chunks, "chunk")),
             "removed_generations", deleted.generations);
  report.add_member("removed_chunks", deleted.chunks);
  report.add_member("still_bypassed", deleted.is_still_bypassed);
  report.print();
  return 0;
}

bool has_seen_set(const DeleteOptions& options) {
  return std::ranges::count(seen_sets_in(options.directory), options.set_name) != 0;
}

// The user whose segments and files these are, while it lives; only for root. Segments of others are left
// alone, see remove_segment().
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

// The set in this host's directory, which no loader can take meanwhile.
class SeenSetHere {
 public:
  explicit SeenSetHere(const DeleteOptions& options)
      : folder_(seen_directory(options.directory) + "/" + options.set_name) {
    const AsOwner owner(folder_);
    try {
      writer_.emplace(options.directory, options.set_name, std::nullopt);
      const bool is_whole = writer_->adopt();
      is_left_ = !writer_->has_page() || (is_whole && is_marked(writer_->page()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Locked) throw;
      throw Error(ErrorKind::Locked, fmt::format("{}; keysieved would begin the set again, so remove its "
                                                 "[[seen]] and reload keysieved first",
                                                 error.what()));
    }
    for (const OpenFilter& one : writer_->filters()) bytes_ += one.plan.segment_bytes();
    filters_ = writer_->filters().size();
  }

  [[nodiscard]] std::string text() const {
    return fmt::format("{} of {} in {}", format_count_of(filters_, "filter"), format_bytes(bytes_), folder_);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Whether the loader has marked it as not configured any more. Else it may begin the set again.
  [[nodiscard]] bool is_left() const noexcept { return is_left_; }

  void remove() {
    const AsOwner owner(folder_);
    writer_->remove();
  }

 private:
  static bool is_marked(const SeenPage& page) noexcept {
    return Troubles(page.troubles.load(std::memory_order_relaxed)).has(Trouble::NotConfigured);
  }

  std::string folder_;
  std::optional<SeenWriter> writer_;
  std::uint64_t bytes_ = 0;
  std::size_t filters_ = 0;
  bool is_left_ = false;
};

struct Found {
  std::optional<SeenSetHere> here;
  std::unique_ptr<Store> store;  // nullptr: not asked for, or it holds nothing of the set
};

Found find(const DeleteOptions& options) {
  Found found;
  std::string looked_at = "directory " + options.directory;
  if (options.seen_store_url) {
    found.store = open_given_store(*options.seen_store_url, StoreUse::Append);
    looked_at += " and " + found.store->name();
    if (!holds_seen_set(*found.store, options.set_name)) found.store.reset();
  }
  if (has_seen_set(options)) found.here.emplace(options);
  if (found.here || found.store) return found;
  throw Error(ErrorKind::MissingInput,
              fmt::format("{}: no seen set \"{}\" is here", looked_at, options.set_name));
}

bool is_wanted(const DeleteOptions& options, const Found& found) {
  if (options.yes) return true;
  std::string what = fmt::format("seen set \"{}\"", options.set_name);
  if (found.here) what += ": " + found.here->text();
  if (found.store)
    what += fmt::format("{} what was saved in {}", found.here ? " and" : ":", found.store->name());
  return is_confirmed(what + "\nDelete it? All its keys are forgotten. This cannot be undone.",
                      what + ", would be deleted and its keys forgotten, which cannot be undone");
}

void report(const DeleteOptions& options, const Found& found) {
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("deleted here", found.here ? found.here->text() : "nothing, it was not here", "removed_bytes",
             found.here ? Json(found.here->bytes()) : Json());
  if (options.seen_store_url) {
    report.add("deleted in store",
               found.store ? "what was saved in " + found.store->name() : "nothing, none was saved", "store",
               found.store ? Json(found.store->name()) : Json());
  }
  report.print();
}

// Returns the exit status.
int delete_seen(const DeleteOptions& options) {
  if (is_store_url(options.set_name)) throw Error(ErrorKind::Usage, "SET is missing");
  checked_set_name(options.set_name);
  if (!options.seen_store_url && !has_seen_set(options)) {
    throw Error(ErrorKind::Usage,
                fmt::format("URL is missing: directory {} has no seen set \"{}\", and other sets are deleted "
                            "from a store",
                            options.directory, options.set_name));
  }
  Found found = find(options);
  if (!is_wanted(options, found)) return kExitDeclined;
  if (found.here) {
    if (!found.here->is_left()) {
      print_warning(fmt::format("if keysieved has set \"{}\" configured, it begins it again, {}",
                                options.set_name,
                                found.store ? "empty" : "from its store if it has one, else empty"));
    }
    found.here->remove();
  }
  if (found.store) delete_seen_set(*found.store, options.set_name);
  report(options, found);
  return 0;
}

}  // namespace

void add_delete(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App* verb = add_verb(
      program, "delete", "Remove a set from a store, or a seen set from this host",
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
      "interruption.");
  verb->add_option("SET", options->set_name, "Name of the set")->required();
  auto* url = verb->add_option("URL", options->store_url, store_help() + " [a seen set of this host]");
  verb->add_option("--store", options->seen_store_url,
                   "Also delete what was saved of the seen set in this store: " + store_schemes())
      ->type_name("URL")
      ->excludes(url);
  add_directory(verb, options->directory);
  verb->add_flag("-y,--yes", options->yes, "Do not ask");
  verb->callback([options, &result] {
    if (options->store_url.empty()) {
      result.exit_status = delete_seen(*options);
      return;
    }
    put_url_last(options->set_name, options->store_url);
    result.exit_status = delete_and_report(*options);
  });
}

}  // namespace keysieve
