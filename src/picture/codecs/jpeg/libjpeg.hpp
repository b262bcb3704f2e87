/// libjpeg's objects and the way out of its functions.
#pragma once

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it before

#include <jpeglib.h>

#include <jerror.h>

#include <exception>
#include <new>
#include <utility>

#include "src/picture/codecs/parts.hpp"

namespace convfilt::jpeg {

/// How libjpeg's functions are left: with `jump`, and with what went wrong.
struct Exit {
  std::jmp_buf jump;
  int code = 0;                     ///< a message of jerror.h or one of the user's own
  char message[JMSG_LENGTH_MAX]{};  ///< libjpeg's words for it
  std::exception_ptr thrown;        ///< by a source or sink, which may not throw through libjpeg
};

[[noreturn]] inline void leave(Exit& exit, int code) {
  exit.code = code;
  std::longjmp(exit.jump, 1);
}

/// The common part of libjpeg's users: its object, and the way out of its functions.
template <class User, class Info>
class WithLibjpeg {
 public:
  WithLibjpeg(const WithLibjpeg&) = delete;
  WithLibjpeg& operator=(const WithLibjpeg&) = delete;

 protected:
  WithLibjpeg() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr c) {
      Exit& exit = of(c).exit_;
      c->err->format_message(c, exit.message);
      leave(exit, c->err->msg_code);
    };
    errors_.emit_message = [](j_common_ptr, int) {};
    errors_.output_message = [](j_common_ptr) {};
    // It is no User before that one's constructor begins.
    info_.client_data = this;
  }
  ~WithLibjpeg() { jpeg_destroy(reinterpret_cast<j_common_ptr>(&info_)); }

  template <class Common>
  static User& of(Common* info) {
    return *static_cast<User*>(static_cast<WithLibjpeg*>(info->client_data));
  }

  /// Runs libjpeg's functions; false when they were left early.
  template <class Work>
  bool attempted(const Work& work) {
    const bool done = attempt(exit_, work);
    if (exit_.thrown) std::rethrow_exception(std::exchange(exit_.thrown, nullptr));
    if (!done && (exit_.code == JERR_OUT_OF_MEMORY || exit_.code == JERR_NO_BACKING_STORE))
      throw std::bad_alloc();
    return done;
  }

  Exit exit_;
  Info info_{};
  jpeg_error_mgr errors_{};
};

}  // namespace convfilt::jpeg
