#include "tools/keys/list_signature.hpp"

#include <array>

namespace keysieve {
namespace {

struct Signature {
  std::string_view bytes;
  std::string_view format;
  std::string_view remedy;
};

// RFC 1952, RFC 8878, and the .xz file format: the first bytes of each, the gzip method (8) included.
constexpr std::array<Signature, 3> kCompressed{{{"\x1F\x8B\x08", "gzip", "zcat"},
                                                {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
                                                {{"\xFD\x37\x7A\x58\x5A\x00", 6}, "xz", "xzcat"}}};

// Two bytes alone may begin a key that is not text. Such keys need -0; there the NUL of a first letter below
// U+0100 must follow.
bool is_utf16(std::string_view text, const KeyFileFormat& format) {
  const bool is_little_endian = text.starts_with("\xFF\xFE");
  if (!is_little_endian && !text.starts_with("\xFE\xFF")) return false;
  if (!format.nul_separated) return true;
  const std::size_t zero = is_little_endian ? 3 : 2;
  return text.size() > zero && text[zero] == '\0';
}

}  // namespace

std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format) {
  for (const Signature& signature : kCompressed) {
    if (!text.starts_with(signature.bytes)) continue;
    return "is compressed by " + std::string(signature.format) + ": decompress it first, with " +
           std::string(signature.remedy);
  }
  if (is_utf16(text, format)) return "begins with a UTF-16 byte order mark: convert it, with iconv -t UTF-8";
  if (!format.nul_separated && text.starts_with("\xEF\xBB\xBF")) {
    return "begins with a UTF-8 byte order mark, which would be part of the first key: remove it";
  }
  return std::nullopt;
}

}  // namespace keysieve
