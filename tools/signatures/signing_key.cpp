#include "tools/signatures/signing_key.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

constexpr mode_t kKeyMode = 0600;
constexpr mode_t kModeOfOthers = 0077;

// Wiped on every way out.
template <std::size_t Size>
struct Secret {
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { ::sodium_memzero(bytes.data(), bytes.size()); }
  std::array<std::uint8_t, Size> bytes{};
};

// Prefix, digits, and a line end that may be missing.
constexpr std::size_t kDigits = 64;
constexpr std::size_t kLineBytes = kSecretKeyPrefix.size() + kDigits + 1;

void check_private_key_file(const FileDescriptor& file, const std::string& path) {
  const struct stat status = stat_of(file, path);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorKind::Data, path + ": is not an ordinary file");
  if ((status.st_mode & kModeOfOthers) == 0) return;
  throw Error(
      ErrorKind::NotTrusted,
      fmt::format("{}: mode {:04o} lets other users at the secret key; chmod 600 it, and make another "
                  "key if one of them may have read it",
                  path, status.st_mode & 07777U));
}

void fail_to_create(const std::string& path, int error_number) {
  if (error_number != EEXIST) throw_write_error(path, error_number);
  throw Error(ErrorKind::CannotCreate, path + ": is there already; no key is overwritten");
}

}  // namespace

void start_sodium() {
  if (::sodium_init() < 0) throw Error(ErrorKind::MissingInput, "libsodium cannot be started");
}

Digest digest_of(Bytes bytes) noexcept {
  Digest digest;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  ::crypto_generichash(digest.data(), digest.size(), data, bytes.size(), nullptr, 0);
  return digest;
}

SigningKey::SigningKey(const Seed& seed) {
  start_sodium();
  ::crypto_sign_seed_keypair(public_key_.data(), secret_.data(), seed.data());
}

SigningKey::SigningKey(SigningKey&& other) noexcept : secret_(other.secret_), public_key_(other.public_key_) {
  ::sodium_memzero(other.secret_.data(), other.secret_.size());
}

SigningKey::~SigningKey() {
  ::sodium_memzero(secret_.data(), secret_.size());
}

SigningKey SigningKey::load(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) throw_read_error(path, errno);
  check_private_key_file(file, path);
  Secret<kLineBytes + 1> line;  // one more shows that it is too long
  const ssize_t size = ::read(file.get(), line.bytes.data(), line.bytes.size());
  if (size < 0) throw_read_error(path, errno);
  std::string_view text(reinterpret_cast<const char*>(line.bytes.data()), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool has_prefix = text.starts_with(kSecretKeyPrefix);
  if (has_prefix) text.remove_prefix(kSecretKeyPrefix.size());
  Secret<sizeof(Seed)> seed;
  std::size_t bytes = 0;
  const bool is_key = has_prefix && text.size() == kDigits &&
                      ::sodium_hex2bin(seed.bytes.data(), seed.bytes.size(), text.data(), text.size(),
                                       nullptr, &bytes, nullptr) == 0 &&
                      bytes == seed.bytes.size();
  if (is_key) return SigningKey(seed.bytes);
  throw Error(ErrorKind::Data, fmt::format("{}: is not a secret key, which is one line: {} and {} "
                                           "hexadecimal digits; keysieve keygen makes one",
                                           path, kSecretKeyPrefix, kDigits));
}

SigningKey SigningKey::create(const std::string& path) {
  start_sodium();
  DurableFile file(path, {.mode = kKeyMode, .fail = fail_to_create, .replaces = Replaces::Nothing});
  Secret<sizeof(Seed)> seed;
  ::randombytes_buf(seed.bytes.data(), seed.bytes.size());
  Secret<kLineBytes> line;  // hex ends with a NUL, in the place of the line end
  std::copy(kSecretKeyPrefix.begin(), kSecretKeyPrefix.end(), line.bytes.begin());
  ::sodium_bin2hex(reinterpret_cast<char*>(line.bytes.data()) + kSecretKeyPrefix.size(), kDigits + 1,
                   seed.bytes.data(), seed.bytes.size());
  line.bytes.back() = '\n';
  file.append(std::as_bytes(std::span(line.bytes)));
  file.commit();
  return SigningKey(seed.bytes);
}

Signature SigningKey::sign(Bytes bytes) const {
  Signature signature;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  ::crypto_sign_detached(signature.data(), nullptr, data, bytes.size(), secret_.data());
  return signature;
}

}  // namespace keysieve
