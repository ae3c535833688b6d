// What a kind would cost for a number of keys and an FPR, and which kind to choose. Used by `keysieve plan`.
#pragma once

#include <string>
#include <vector>

#include "core/filters/sizing.hpp"

namespace keysieve {

struct PlannedKind {
  Geometry geometry;
  double theoretical_fpr;
  std::uint64_t bytes;  // of the file
  double bits_per_key;  // of the file
  std::uint32_t cache_lines;

  [[nodiscard]] const FilterKind& kind() const noexcept { return *geometry.kind; }
};

// One that somebody would choose; the others are for comparison.
bool is_usual(const FilterKind& kind);

// Every usual kind, or every kind. Throws Usage for a value out of range.
std::vector<PlannedKind> plan_kinds(const SizingRequest& request, bool all);

enum class Need {
  Adds,     // keys are added to the set
  Deletes,  // and removed from it
  Static,   // neither: it is built anew
};

struct Recommendation {
  const PlannedKind* choice;
  std::string reason;  // part of a sentence: "the fastest that ..."
};

// Of the usual kinds, all of which must be among those planned. What is built anew, and what keys are removed
// from, gets the smallest that serves; else the fastest that does not need far more memory than the smallest.
Recommendation recommend(const std::vector<PlannedKind>& planned, Need need);

// "1 cache line".
std::string format_cache_lines(std::uint32_t lines);

}  // namespace keysieve
