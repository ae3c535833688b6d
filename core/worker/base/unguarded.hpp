#pragma once

// For functions that answer batches of keys. Distributions guard the stack of every function with an array;
// in these, which write no more than a fixed number of elements, that costs six instructions a call.
#define KEYSIEVE_UNGUARDED __attribute__((no_stack_protector))
