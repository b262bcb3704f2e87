/// AddressSanitizer's side of fibers, where that is built in.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define CONVFILT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define CONVFILT_ASAN 1
#endif
#endif

namespace convfilt::emulator {

#ifdef CONVFILT_ASAN
constexpr std::size_t kStackBytes = 256 * 1024;  // red zones make frames several times larger
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

/// What AddressSanitizer must hear when another stack is used.
inline void start_switch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                         [[maybe_unused]] std::size_t size) {
#ifdef CONVFILT_ASAN
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}
inline void finish_switch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                          [[maybe_unused]] std::size_t* size) {
#ifdef CONVFILT_ASAN
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}

}  // namespace convfilt::emulator
