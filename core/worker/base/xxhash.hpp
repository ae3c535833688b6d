// xxHash, without its library. Up to version 0.8.1 it reads words by way of a union, and a compiler may do so
// before the members are written that the words are made of: gcc 12 does, for aarch64. memcpy() is as fast.
#pragma once

#define XXH_INLINE_ALL
#define XXH_FORCE_MEMORY_ACCESS 0
#include <xxhash.h>
