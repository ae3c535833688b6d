// Faults at system calls: a process of its own does a piece of work again and again, and meets one fault at
// each of its calls on files and sockets in turn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include "core/worker/base/error.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {

struct CallFault {
  const char* name;
  int error_number;  // 0: asked for half as many bytes
};
inline constexpr std::array kCallFaults{CallFault{"ENOSPC", ENOSPC}, CallFault{"EIO", EIO},
                                        CallFault{"EINTR", EINTR}, CallFault{"EMFILE", EMFILE},
                                        CallFault{"half of the bytes", 0}};

// Calls `meet` for each fault at each call of the work, from 1 on, until it returns false because there are
// fewer calls. In short runs a call meets one fault, the next call another. Stops at the first failure.
// Returns how many calls there are.
inline int for_each_call_fault(const std::function<bool(const CallFault& fault, int at)>& meet) {
  int calls = 0;
  for (std::size_t i = 0; i < kCallFaults.size(); ++i) {
    for (int at = 1; !::testing::Test::HasFailure(); ++at) {
      if (soak_rounds(0, 1) == 0 && static_cast<std::size_t>(at) % kCallFaults.size() != i) continue;
      SCOPED_TRACE(std::string(kCallFaults[i].name) + " at call " + std::to_string(at));
      if (!meet(kCallFaults[i], at)) break;
      calls = std::max(calls, at);
    }
  }
  return calls;
}

// How the work ended for its caller.
struct FaultyEnd {
  bool has_met_fault;  // else there are fewer calls
  bool is_done;
  std::string message;              // of the error when it is not done
  std::uint64_t call;               // its number in the kernel
  std::optional<ErrorKind> kind{};  // of the error, if it is one of ours
};

class CallFaults {
 public:
  // Does the work, whose call number `at` on files, from 1, meets the fault. Only a call that moves bytes
  // can move half of them.
  FaultyEnd meet(const CallFault& fault, int at, const std::function<void()>& work) {
    TracedProcess process([&] {
      try {
        work();
        return kDone;
      } catch (const std::exception& error) {
        const std::string_view text = error.what();
        report_->message[text.copy(report_->message.data(), report_->message.size() - 1)] = '\0';
        const auto* ours = dynamic_cast<const Error*>(&error);
        report_->kind = ours != nullptr ? std::optional(ours->kind()) : std::nullopt;
        return kFailed;
      }
    });
    FaultyEnd end{false, false, "", 0};
    std::optional<std::uint64_t> call;
    for (int number = 0; number < at && (call = process.next_call_on_files());) {
      if (fault.error_number != 0 || process.moves_bytes()) ++number;
    }
    if (call) {
      end.call = *call;
      end.has_met_fault = true;
      if (fault.error_number != 0) {
        process.fail_call(fault.error_number);
      } else {
        process.halve_call();
      }
    }
    const int status = process.finish();
    end.is_done = status == kDone;
    if (status == kFailed) {
      end.message = report_->message.data();
      end.kind = report_->kind;
    }
    if (status != kDone && status != kFailed) end.message = "ended with " + std::to_string(status);
    return end;
  }

 private:
  static constexpr int kDone = 0;
  static constexpr int kFailed = 1;
  struct Report {
    std::array<char, 1024> message{};
    std::optional<ErrorKind> kind;
  };
  SharedPage<Report> report_;
};

}  // namespace keysieve::test
