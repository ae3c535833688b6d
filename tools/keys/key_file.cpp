#include "tools/keys/key_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

// Cuts a stream of bytes at its separators; what one read leaves unfinished waits in rest_.
class KeySplitter {
 public:
  KeySplitter(const std::string& source, const KeyFileFormat& format,
              const std::function<void(std::string_view key)>& on_key)
      : source_(source), format_(format), on_key_(on_key), separator_(format.nul_separated ? '\0' : '\n') {}

  void feed(std::string_view text) {
    for (auto end = text.find(separator_); end != std::string_view::npos; end = text.find(separator_)) {
      if (rest_.empty()) {
        take(text.substr(0, end));
      } else {
        rest_.append(text.substr(0, end));
        take(rest_);
        rest_.clear();
      }
      text.remove_prefix(end + 1);
    }
    rest_.append(text);
    check_length(rest_.size() - (rest_.ends_with('\r') ? 1 : 0), entries_ + 1);
  }

  // The last key needs no separator after it. Returns the number of keys.
  std::uint64_t finish() {
    if (!rest_.empty()) take(rest_);
    return keys_;
  }

 private:
  void take(std::string_view key) {
    ++entries_;
    if (!format_.nul_separated) {
      if (entries_ == 1) check_no_byte_order_mark(key);
      if (key.ends_with('\r')) key = without_cr(key);
      if (key.empty()) return;
    }
    check_length(key.size(), entries_);
    ++keys_;
    on_key_(key);
  }

  void check_length(std::size_t bytes, std::uint64_t entry) const {
    if (bytes <= format_.max_key_bytes) return;
    throw DataError(source_ + ": " + (format_.nul_separated ? "key " : "line ") + std::to_string(entry) +
                    " is longer than " + format_count(format_.max_key_bytes) +
                    " bytes, the limit of a key here");
  }

  void check_no_byte_order_mark(std::string_view line) const {
    if (!line.starts_with("\xEF\xBB\xBF")) return;
    throw DataError(source_ +
                    ": begins with a UTF-8 byte order mark, which would be part of the first key: remove it");
  }

  [[nodiscard]] std::string_view without_cr(std::string_view line) const {
    if (format_.allow_cr) return line.substr(0, line.size() - 1);
    throw DataError(source_ + ": line " + std::to_string(entries_) +
                    " ends in a CR, which would be part of the key and never match (--allow-cr strips it)");
  }

  const std::string& source_;
  const KeyFileFormat& format_;
  const std::function<void(std::string_view key)>& on_key_;
  char separator_;
  std::string rest_;
  std::uint64_t entries_ = 0;
  std::uint64_t keys_ = 0;
};

void feed_all(int descriptor, const std::string& source, KeySplitter& splitter) {
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_read_error(source, errno);
    if (count == 0) return;
    splitter.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

std::string key_source(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

std::uint64_t read_keys(const std::string& path, const KeyFileFormat& format,
                        const std::function<void(std::string_view key)>& on_key) {
  const std::string source = key_source(path);
  KeySplitter splitter(source, format, on_key);
  if (path == "-") {
    feed_all(STDIN_FILENO, source, splitter);
  } else {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) throw_read_error(path, errno);
    feed_all(file.get(), source, splitter);
  }
  return splitter.finish();
}

}  // namespace keysieve
