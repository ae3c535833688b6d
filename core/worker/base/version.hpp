// The only place that defines the version; CMake and the extension read it from here.
#pragma once

#define KEYSIEVE_VERSION "0.1.0"
