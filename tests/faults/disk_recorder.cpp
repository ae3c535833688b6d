#include "tests/faults/disk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace keysieve::test {

#if defined(__x86_64__)

namespace {

constexpr int kHere = AT_FDCWD;

// With an open file: they change nothing that is modelled. Its times and mode are not.
bool is_harmless(std::uint64_t number) {
  constexpr std::array<std::uint64_t, 9> kHarmless{SYS_pread64,   SYS_fstat,   SYS_newfstatat,
                                                   SYS_fcntl,     SYS_flock,   SYS_getdents64,
                                                   SYS_utimensat, SYS_fstatfs, SYS_ioctl};
  return std::find(kHarmless.begin(), kHarmless.end(), number) != kHarmless.end();
}

// Without one, or with more than one.
bool is_unknown(std::uint64_t number) {
  constexpr std::array<std::uint64_t, 11> kUnknown{
      SYS_creat,   SYS_truncate,        SYS_link,   SYS_symlink, SYS_symlinkat,     SYS_mknod,
      SYS_mknodat, SYS_copy_file_range, SYS_splice, SYS_sync,    SYS_io_uring_setup};
  return std::find(kUnknown.begin(), kUnknown.end(), number) != kUnknown.end();
}

int descriptor_in(std::uint64_t argument) {
  return static_cast<int>(static_cast<std::uint32_t>(argument));
}

std::string quoted_size(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

bool DiskRecorder::run(const std::function<int()>& work, std::optional<std::size_t> killed_after) {
  const std::size_t before = calls_.size();
  opened_.clear();
  TracedProcess process(work);
  while (process.next_call_on_files()) {
    acknowledged_before_ = acknowledged_();
    const auto call = process.make_call();
    if (!call) break;
    take(process, *call);
    if (killed_after && calls_.size() - before >= *killed_after) {
      process.kill();
      return false;
    }
  }
  if (const int status = process.finish(); status != 0)
    throw std::runtime_error("the work ended with " + std::to_string(status));
  return true;
}

void DiskRecorder::take(const TracedProcess& process, const Call& call) {
  if (call.result < 0 || is_harmless(call.number)) return;
  const auto& arguments = call.arguments;
  Opened* file = opened(arguments[0]);
  switch (call.number) {
    case SYS_openat:
      return open(name_of(arguments[0], process.text_at(arguments[1])), arguments[2],
                  static_cast<int>(call.result));
    case SYS_open:
      return open(name_of(static_cast<std::uint32_t>(kHere), process.text_at(arguments[0])), arguments[1],
                  static_cast<int>(call.result));
    case SYS_close:
      opened_.erase(descriptor_in(arguments[0]));
      return;
    case SYS_lseek:
      if (file != nullptr) file->position = static_cast<std::uint64_t>(call.result);
      return;
    case SYS_read:
      if (file != nullptr) file->position += static_cast<std::uint64_t>(call.result);
      return;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
      return take_write(process, call);
    case SYS_ftruncate:
      if (file == nullptr) return;
      return add("resize " + text_of(file->node) + " to " + quoted_size(arguments[1]),
                 [node = file->node, size = arguments[1]](Disk& disk) { disk.resize(node, size); });
    case SYS_fsync:
    case SYS_fdatasync:
      if (file == nullptr) return;
      return add(
          "sync " + text_of(file->node), [node = file->node](Disk& disk) { disk.sync(node); }, true);
    case SYS_syncfs:
      if (file == nullptr) return;
      return add(
          "sync all", [](Disk& disk) { disk.sync_all(); }, true);
    case SYS_mmap: {
      Opened* mapped = opened(arguments[4]);
      const bool may_write = (arguments[2] & PROT_WRITE) != 0 && (arguments[3] & MAP_SHARED) != 0;
      if (mapped == nullptr || !may_write) return;
      // Any bytes may be written through it, at any time.
      const std::size_t size = std::min(arguments[1], disk_.size_of(mapped->node));
      return write(*mapped, 0, std::string(size, '\xa5'));
    }
    default:
      return take_change_of_names(process, call);
  }
}

void DiskRecorder::take_change_of_names(const TracedProcess& process, const Call& call) {
  const auto& arguments = call.arguments;
  const auto named = [&](std::uint64_t folder, std::uint64_t path) {
    return name_of(folder, process.text_at(path));
  };
  constexpr auto kIsHere = static_cast<std::uint32_t>(kHere);
  switch (call.number) {
    case SYS_mkdir:
      if (const auto name = named(kIsHere, arguments[0])) enter(*name, make(true), "make folder ");
      return;
    case SYS_rmdir:
    case SYS_unlink:
      if (const auto name = named(kIsHere, arguments[0])) enter(*name, std::nullopt, "remove ");
      return;
    case SYS_unlinkat:
      if (const auto name = named(arguments[0], arguments[1])) enter(*name, std::nullopt, "remove ");
      return;
    case SYS_mkdirat:
      if (const auto name = named(arguments[0], arguments[1])) enter(*name, make(true), "make folder ");
      return;
    case SYS_renameat:
    case SYS_renameat2:
      return rename(named(arguments[0], arguments[1]), named(arguments[2], arguments[3]));
    case SYS_rename:
      return rename(named(kIsHere, arguments[0]), named(kIsHere, arguments[1]));
    case SYS_linkat: {
      const auto name = named(arguments[2], arguments[3]);
      if (!name) return;
      const std::string from = process.text_at(arguments[1]);
      return enter(*name, opened_.at(std::stoi(from.substr(from.rfind('/') + 1))).node, "link ");
    }
    default:
      if (opened(arguments[0]) != nullptr || is_unknown(call.number))
        throw std::runtime_error("call " + std::to_string(call.number) + " is none that a disk knows");
  }
}

void DiskRecorder::take_write(const TracedProcess& process, const Call& call) {
  const auto& arguments = call.arguments;
  Opened* file = opened(arguments[0]);
  if (file == nullptr) return;
  auto size = static_cast<std::size_t>(call.result);
  std::string bytes;
  if (call.number == SYS_write || call.number == SYS_pwrite64) {
    bytes = process.bytes_at(arguments[1], size);
  } else {
    for (std::size_t i = 0; i < arguments[2]; ++i) {
      struct Part {
        std::uint64_t address;
        std::uint64_t size;
      } part{};
      const std::string buffer = process.bytes_at(arguments[1] + i * sizeof part, sizeof part);
      std::memcpy(&part, buffer.data(), sizeof part);
      bytes += process.bytes_at(part.address, std::min<std::size_t>(part.size, size - bytes.size()));
    }
  }
  if (bytes.size() != size) throw std::runtime_error("cannot read what was written");
  if (call.number == SYS_pwrite64 || call.number == SYS_pwritev) return write(*file, arguments[3], bytes);
  write(*file, file->position, bytes);
  file->position += size;
}

void DiskRecorder::open(const std::optional<Name>& name, std::uint64_t flags, int descriptor) {
  if (!name) return;
  if ((flags & O_APPEND) != 0) throw std::runtime_error(name->path + " is opened to append");
  std::optional<Disk::Node> node = disk_.find(name->path);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    node = make(false);
    texts_[*node] = "a file without a name";
  } else if (!node) {
    node = make(false);
    enter(*name, node, "create ");
  } else if ((flags & O_TRUNC) != 0 && disk_.size_of(*node) != 0) {
    add("cut " + name->path, [at = *node](Disk& disk) { disk.resize(at, 0); });
  }
  opened_[descriptor] = {*node, 0, (flags & O_DSYNC) != 0};
}

void DiskRecorder::rename(const std::optional<Name>& from, const std::optional<Name>& to) {
  if (!from && !to) return;
  if (!from || !to || from->folder != to->folder) throw std::runtime_error("a rename to another folder");
  const Disk::Node node = disk_.find(from->path).value();
  texts_[node] = to->path;
  add("rename " + from->path + " to " + to->path,
      [folder = to->folder, names = Disk::Names{{from->last(), std::nullopt}, {to->last(), node}}](
          Disk& disk) { disk.change_names(folder, names); });
}

void DiskRecorder::enter(const Name& name, std::optional<Disk::Node> node, const std::string& what) {
  if (node) texts_[*node] = name.path;
  add(what + name.path, [folder = name.folder, names = Disk::Names{{name.last(), node}}](Disk& disk) {
    disk.change_names(folder, names);
  });
}

void DiskRecorder::write(Opened& opened, std::uint64_t offset, const std::string& bytes) {
  const std::string what =
      quoted_size(bytes.size()) + " at " + std::to_string(offset) + " of " + text_of(opened.node);
  if (opened.is_durable) {
    return add("write and sync " + what,
               [node = opened.node, offset, bytes](Disk& disk) { disk.write_durably(node, offset, bytes); });
  }
  add("write " + what, [node = opened.node, offset, bytes](Disk& disk) { disk.write(node, offset, bytes); });
}

// Disks number their nodes in the order in which they are made.
Disk::Node DiskRecorder::make(bool is_folder) {
  const Disk::Node node = disk_.count();
  add(is_folder ? "make a folder" : "make a file", [is_folder](Disk& disk) { disk.make(is_folder); });
  return node;
}

void DiskRecorder::add(const std::string& text, std::function<void(Disk& disk)> repeat, bool is_sync) {
  repeat(disk_);
  calls_.push_back({text, is_sync, acknowledged_before_, std::move(repeat)});
}

std::optional<DiskRecorder::Name> DiskRecorder::name_of(std::uint64_t folder, const std::string& path) const {
  if (path.empty()) return std::nullopt;
  if (path.front() != '/') {
    const auto in = opened_.find(descriptor_in(folder));
    if (in == opened_.end()) return std::nullopt;
    throw std::runtime_error(path + " is given relative to a folder");
  }
  if (path != root_ && !path.starts_with(root_ + "/")) return std::nullopt;
  std::string below = path.substr(std::min(path.size(), root_.size() + 1));
  while (below.ends_with('/')) below.pop_back();
  const std::size_t end = below.rfind('/');
  const std::string parent = end == std::string::npos ? "" : below.substr(0, end);
  return Name{disk_.find(parent).value(), below};
}

DiskRecorder::Opened* DiskRecorder::opened(std::uint64_t descriptor) {
  const auto found = opened_.find(descriptor_in(descriptor));
  return found == opened_.end() ? nullptr : &found->second;
}

std::string DiskRecorder::text_of(Disk::Node node) const {
  return texts_.at(node);
}

#else

bool DiskRecorder::run(const std::function<int()>& /*work*/, std::optional<std::size_t> /*killed_after*/) {
  throw std::runtime_error("cannot record");
}

#endif

}  // namespace keysieve::test
