// The common parts of all work on one published set.
#pragma once

#include <functional>
#include <string>

#include "core/publisher/shm/publisher.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/report/set_report.hpp"

namespace keysieve {

struct SetWork {
  SetConfig config;
  PublisherSettings publishing;
  std::string cache;  // its folder
  Milliseconds poll_interval;
  bool is_once;
  // Called now and then while something long goes on. False: throw LookAgain.
  std::function<bool()> on_progress;
  SetRecorder recorder;
  Retries retries;
};

}  // namespace keysieve
