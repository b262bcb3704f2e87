/// Libraries that write to stderr by themselves.
#pragma once

#include <cstdio>
#include <mutex>
#include <type_traits>

namespace convfilt {

/// Points a standard stream elsewhere, in C libraries that allow it.
template <class Stream>
void point(Stream& stream, std::FILE* to) {
  if constexpr (std::is_assignable_v<Stream&, std::FILE*>) stream = to;
}

/// Debian 13's libjxl and x265 write to stderr what they then return, or what does not matter.
/// While one of these lives, they find a stream there that goes nowhere. The program's own messages
/// keep the stream that they began with.
class QuietErrors {
 public:
  QuietErrors() {
    static std::FILE* const nowhere = std::fopen("/dev/null", "we");
    const std::scoped_lock lock(mutex_);
    if (count_++ > 0) return;
    kept_ = stderr;
    if (nowhere) point(stderr, nowhere);
  }
  ~QuietErrors() {
    const std::scoped_lock lock(mutex_);
    if (--count_ == 0) point(stderr, kept_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int count_ = 0;
  static inline std::FILE* kept_ = nullptr;
};

}  // namespace convfilt
