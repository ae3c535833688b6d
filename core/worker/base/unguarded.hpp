#pragma once

// For functions that answer batches of keys. Distributions guard the stack of every function with an array;
// in these, whose arrays are never written beyond a fixed number, that costs six instructions a call.
#define KEYSIEVE_UNGUARDED __attribute__((no_stack_protector))
