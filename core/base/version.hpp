// The one place that says which version this is; CMake and the extension read it from here.
#pragma once

#define KEYSIEVE_VERSION "0.1.0"
