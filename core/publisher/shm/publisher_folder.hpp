// What a publisher does to the folder of a set: makes it, and creates, names and removes files in it. Not
// compiled into the PHP extension, which only reads. File names have no slash. Any thread. The caller takes
// the set's lock before it creates, renames or removes files, so that no other process does so meanwhile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/shm/set_folder.hpp"

namespace keysieve {

// The publication a file name belongs to, with or without a temporary suffix; nothing for other names.
std::optional<std::uint64_t> publication_of_file(std::string_view file_name);

// The uid whose files the command line trusts: normally the directory's owner, who could replace all of it
// anyway. If group or others may write to the directory as well (as to a volume of Kubernetes, which belongs
// to root), the owner of the set's folder; nothing while there is none. Throws MissingInput, Permission.
std::optional<uid_t> trusted_owner_of(const std::string& directory, const std::string& set_name);

// Called with the bytes of shared memory that are about to be taken; throws if they should not be.
using CheckMemory = std::function<void(std::uint64_t bytes)>;

// For a lock that failed although no other process holds it. Throws CannotCreate, Permission.
[[noreturn]] void throw_lock_error(const std::string& path, int error_number);

// Opens the folder of any owner, but not one that is writable by group or others. Creates it (mode 2750,
// group `group`) if it is missing; then the directory must belong to root or the effective uid, since
// its owner could not publish in a folder of ours. Throws CannotCreate, Permission, NotTrusted,
// MissingInput.
SetFolder open_or_create_folder(const std::string& directory, std::string_view set_name,
                                std::optional<gid_t> group);

// Takes the set's lock on the file `lock`; it ends when the descriptor is closed. Throws Locked if another
// process has it (`at_work` says in the message who), or if the file was removed or replaced meanwhile;
// CannotCreate, Permission.
void take_lock(const SetFolder& folder, const FileDescriptor& lock, const std::string& at_work);
// Throws Locked if another process may have the lock as well, because the file was removed or replaced.
void check_lock(const SetFolder& folder, const FileDescriptor& lock);

// Creates a file that must not exist, with exactly this mode and the folder's group; open for reading and
// writing. Throws CannotCreate (it exists, or there is no room), Permission; both name the file.
[[nodiscard]] FileDescriptor create_file(const SetFolder& folder, const std::string& file_name, mode_t mode);
// Gives a finished file its final name, which must be free. Throws CannotCreate, Permission that names
// `to`; then both are as they were.
void rename_file(const SetFolder& folder, const std::string& from, const std::string& to);
// Like rename_file(), but replaces a file of that name: a process that opens it gets the old one or the new
// one, and a process that has opened the old one keeps it.
void replace_file(const SetFolder& folder, const std::string& from, const std::string& to);
// Does nothing if the file is not there. Throws CannotCreate, Permission. Processes that have opened or
// mapped it keep it.
void remove_file(const SetFolder& folder, const std::string& file_name);
// In no order, and as of some moment while it reads. Throws MissingInput, Permission.
[[nodiscard]] std::vector<std::string> file_names(const SetFolder& folder);

}  // namespace keysieve
