// What a disk may hold after a power loss, by the strict reading of POSIX:
//
// - What was not synced may be lost, in any combination: the size of a file, each 512 bytes of it, each
//   change of a folder's names.
// - fsync(2) of a file keeps its bytes and size, but not its name. fsync(2) of a folder keeps its names, but
//   not what is in the files that have them.
// - A rename happens or does not. Bytes that were lost are as before, or zero where there was nothing.
//
// ext4 and XFS keep more than that, in their usual modes.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/traced_process.hpp"

namespace keysieve::test {

// The files by their paths below the root, with their bytes; folders without, each before what is in it.
using DiskState = std::map<std::string, std::optional<std::string>>;

class Disk {
 public:
  using Node = std::size_t;  // a file or a folder, with or without a name
  using Names = std::map<std::string, std::optional<Node>>;
  static constexpr Node kRoot = 0;

  Disk() { make(true); }

  Node make(bool is_folder);
  void write(Node file, std::uint64_t offset, std::string_view bytes);
  // As through a descriptor that is O_DSYNC: these bytes are kept, others are not.
  void write_durably(Node file, std::uint64_t offset, std::string_view bytes);
  void resize(Node file, std::uint64_t size);
  // The names that one call changes, all of them or none; without a node it is removed.
  void change_names(Node folder, const Names& names);
  void sync(Node node);
  void sync_all();

  [[nodiscard]] std::size_t count() const noexcept { return nodes_.size(); }
  // By its path below the root, as processes see it.
  [[nodiscard]] std::optional<Node> find(std::string_view path) const;
  [[nodiscard]] bool is_folder(Node node) const { return nodes_.at(node).is_folder; }
  [[nodiscard]] std::uint64_t size_of(Node file) const { return nodes_.at(file).versions.back().size(); }

  // Chooses one of so many, from 0; the last is what processes see.
  using Pick = std::function<unsigned(unsigned count)>;
  [[nodiscard]] DiskState state(const Pick& pick) const;

 private:
  struct Data {
    bool is_folder;
    std::vector<std::string> versions{""};  // of a file: what is kept, then after each change since
    Names names;                            // of a folder: those that are kept
    std::vector<Names> changes;             // since
  };
  [[nodiscard]] std::vector<bool> find_named() const;
  [[nodiscard]] Names names_in(const Data& folder, const Pick& pick) const;

  std::vector<Data> nodes_;
};

// Calls `visit` for each state that a power loss may leave; where there are more than `most`, for as many of
// them and those that differ least. Stops when it returns false.
void for_each_state(const Disk& disk, std::uint64_t most, std::mt19937_64& random,
                    const std::function<bool(const DiskState& state)>& visit);

// Makes it in an empty folder.
void write_state(const DiskState& state, const std::string& folder);

// Records what processes do to the files below a folder, call by call, so that a disk can be taken to any
// point of it. Only where TracedProcess works.

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
