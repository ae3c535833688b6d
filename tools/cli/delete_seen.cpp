#include "tools/cli/delete_seen.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {
namespace {

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
  explicit SeenSetHere(const DeleteSeenOptions& options)
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

Found find(const DeleteSeenOptions& options) {
  Found found;
  std::string looked_at = "directory " + options.directory;
  if (options.store_url) {
    found.store = open_given_store(*options.store_url, StoreUse::Append);
    looked_at += " and " + found.store->name();
    if (!holds_seen_set(*found.store, options.set_name)) found.store.reset();
  }
  if (has_seen_set(options.directory, options.set_name)) found.here.emplace(options);
  if (found.here || found.store) return found;
  throw Error(ErrorKind::MissingInput,
              fmt::format("{}: no seen set \"{}\" is here", looked_at, options.set_name));
}

bool is_wanted(const DeleteSeenOptions& options, const Found& found) {
  if (options.yes) return true;
  std::string what = fmt::format("seen set \"{}\"", options.set_name);
  if (found.here) what += ": " + found.here->text();
  if (found.store)
    what += fmt::format("{} what was saved in {}", found.here ? " and" : ":", found.store->name());
  return is_confirmed(what + "\nDelete it? All its keys are forgotten. This cannot be undone.",
                      what + ", would be deleted and its keys forgotten, which cannot be undone");
}

void report(const DeleteSeenOptions& options, const Found& found) {
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("deleted here", found.here ? found.here->text() : "nothing, it was not here", "removed_bytes",
             found.here ? Json(found.here->bytes()) : Json());
  if (options.store_url) {
    report.add("deleted in store",
               found.store ? "what was saved in " + found.store->name() : "nothing, none was saved", "store",
               found.store ? Json(found.store->name()) : Json());
  }
  report.print(options.json);
}

}  // namespace

bool has_seen_set(const std::string& directory, const std::string& set_name) {
  return std::ranges::count(seen_sets_in(directory), set_name) != 0;
}

int delete_seen_and_report(const DeleteSeenOptions& options) {
  checked_set_name(options.set_name);
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

}  // namespace keysieve
