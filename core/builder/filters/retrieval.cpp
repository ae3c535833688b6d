#include "core/builder/filters/retrieval.hpp"

#include <cmath>
#include <vector>

#include "core/builder/filters/ribbon/system.hpp"

namespace keysieve {
namespace {

using ribbon::Equation;

constexpr int kSeeds = 256;
constexpr double kWindowBytes = 8.0;

struct Member {
  KeyHash hash;
  std::uint32_t bit;
};

// Ordered by their start. `ends` is scratch.
void make_equations(std::span<const Member> members, std::uint8_t seed, std::uint32_t bytes,
                    std::vector<std::uint32_t>& ends, std::span<Equation> equations) {
  ends.assign(bytes, 0);
  for (const Member& member : members) ++ends[RetrievalHash(member.hash, seed).first_byte(bytes) + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  for (const Member& member : members) {
    const RetrievalHash hash(member.hash, seed);
    const std::uint32_t first = hash.first_byte(bytes);
    equations[ends[first]++] = {hash.row(), 8 * first, member.bit};
  }
}

}  // namespace

std::uint32_t retrieval_bytes_for(double keys) noexcept {
  // The random walk of rows and slots outgrows a window of 64, the more so the longer it is. Measured with
  // 500 to 32,000 keys: these need 1 to 9 seeds.
  const double slots_per_key = 1.005 + 1e-6 * keys;
  const double bytes = slots_per_key * keys / 8.0 + kWindowBytes;
  return static_cast<std::uint32_t>(std::ceil(std::fmin(bytes, 1e9) / kRetrievalUnit)) * kRetrievalUnit;
}

std::optional<std::uint8_t> build_retrieval(MutableBytes level, std::span<const KeyHash> ones,
                                            std::span<const KeyHash> zeros) {
  std::vector<Member> members;
  members.reserve(ones.size() + zeros.size());
  for (const KeyHash& hash : ones) members.push_back({hash, 1});
  for (const KeyHash& hash : zeros) members.push_back({hash, 0});
  const auto bytes = static_cast<std::uint32_t>(level.size());
  if (members.size() > std::size_t{8} * bytes) return std::nullopt;
  ribbon::System system;
  std::vector<std::uint32_t> ends;
  std::vector<Equation> equations(members.size());
  for (int seed = 0; seed < kSeeds; ++seed) {
    make_equations(members, static_cast<std::uint8_t>(seed), bytes, ends, equations);
    if (!system.eliminate(equations, 8 * bytes, 0)) continue;
    system.solve(1, [&](std::uint32_t slot, auto solution) {
      level[slot / 8] = static_cast<std::byte>(solution[0] & 0xff);
    });
    return static_cast<std::uint8_t>(seed);
  }
  return std::nullopt;
}

}  // namespace keysieve
