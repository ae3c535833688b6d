// Thrown where the loader is told to stop in the middle of something long. Not an Error: nothing is wrong,
// and only who refreshes a set takes it.
#pragma once

namespace keysieve {

struct Stopped {};

}  // namespace keysieve
