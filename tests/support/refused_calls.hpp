// System calls that this process's kernel refuses from now on, as the file systems of FUSE, 9p and gVisor do.
// For a forked process: there is no way back.
#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keysieve::test {

struct RefusedCall {
  long call;
  unsigned argument;    // from 0; its low 32 bits are compared
  std::uint32_t value;  // with which the call is refused
  std::uint32_t error_number;
};

// False if the kernel cannot.
inline bool refuse_calls(const std::vector<RefusedCall>& refused) {
  constexpr auto kLoad = static_cast<std::uint16_t>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto kIfEqual = static_cast<std::uint16_t>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto kReturn = static_cast<std::uint16_t>(BPF_RET | BPF_K);
  std::vector<sock_filter> program;
  for (const RefusedCall& one : refused) {
    const auto argument = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * one.argument);
    program.insert(program.end(), {sock_filter{kLoad, 0, 0, offsetof(seccomp_data, nr)},
                                   sock_filter{kIfEqual, 0, 3, static_cast<std::uint32_t>(one.call)},
                                   sock_filter{kLoad, 0, 0, argument}, sock_filter{kIfEqual, 0, 1, one.value},
                                   sock_filter{kReturn, 0, 0, SECCOMP_RET_ERRNO | one.error_number}});
  }
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace keysieve::test
