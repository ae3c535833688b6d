// Records what processes do to the files below a folder, call by call, so that a disk can be taken to any
// point of it. Only where TracedProcess works.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/disk.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {

// A call that has changed or synced something.
struct DiskCall {
  std::string text;  // for messages
  bool is_sync;
  unsigned acknowledged;  // before it, in all
  std::function<void(Disk& disk)> repeat;
};

class DiskRecorder {
 public:
  // The folder is empty. `acknowledged` counts what the processes have acknowledged.
  DiskRecorder(std::string root, std::function<unsigned()> acknowledged)
      : root_(std::move(root)), acknowledged_(std::move(acknowledged)) {}

  // Runs the work in a process of its own, which is killed after so many calls, if it makes as many; returns
  // false if it was. Throws for a call that a Disk does not know, and if the work fails.
  bool run(const std::function<int()>& work, std::optional<std::size_t> killed_after = {});

  [[nodiscard]] const std::vector<DiskCall>& calls() const noexcept { return calls_; }

 private:
  using Call = TracedProcess::Call;
  struct Opened {
    Disk::Node node;
    std::uint64_t position;
    bool is_durable;  // O_DSYNC
  };
  struct Name {
    Disk::Node folder;
    std::string path;  // below the root
    [[nodiscard]] std::string last() const { return path.substr(path.rfind('/') + 1); }
  };

  void take(const TracedProcess& process, const Call& call);
  void take_change_of_names(const TracedProcess& process, const Call& call);
  void take_write(const TracedProcess& process, const Call& call);
  void open(const std::optional<Name>& name, std::uint64_t flags, int descriptor);
  void rename(const std::optional<Name>& from, const std::optional<Name>& to);
  void enter(const Name& name, std::optional<Disk::Node> node, const std::string& what);
  void write(Opened& opened, std::uint64_t offset, const std::string& bytes);
  Disk::Node make(bool is_folder);
  void add(const std::string& text, std::function<void(Disk& disk)> repeat, bool is_sync = false);

  [[nodiscard]] std::optional<Name> name_of(std::uint64_t folder, const std::string& path) const;
  Opened* opened(std::uint64_t descriptor);
  [[nodiscard]] std::string text_of(Disk::Node node) const;

  std::string root_;
  std::function<unsigned()> acknowledged_;
  std::vector<DiskCall> calls_;
  Disk disk_;
  std::map<int, Opened> opened_;  // by descriptor
  std::map<Disk::Node, std::string> texts_{{Disk::kRoot, "the folder of all"}};
  unsigned acknowledged_before_ = 0;
};

}  // namespace keysieve::test
