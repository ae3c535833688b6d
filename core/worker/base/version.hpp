// The only place that defines the version, as tags say it after a "v" and as PHP's version_compare() orders
// it; CMake and the extension read it from here. debian/changelog says the same with "~" for "-".
#pragma once

#define KEYSIEVE_VERSION "0.1.0-rc1"
