/// libjpeg's objects and the way out of its functions.
#pragma once

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it before

#include <jpeglib.h>

#include <jerror.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "src/picture/codecs/jpeg/segments.hpp"
#include "src/picture/codecs/parts.hpp"

namespace convfilt::jpeg {

inline constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

inline constexpr int kThrown = -1;  ///< Exit::code where a source or sink threw

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

/// libjpeg's encoder, which writes into a sink.
class Compressor : public WithLibjpeg<Compressor, jpeg_compress_struct> {
 protected:
  Compressor(ByteSink& sink, const Header& header)
      : sink_(sink), header_(header), buffer_(new unsigned char[kBufferBytes]) {
    header_.metadata = {};
    run([&] { jpeg_create_compress(&info_); });
    info_.dest = &manager_;
    manager_.init_destination = [](j_compress_ptr c) { of(c).begin_buffer(); };
    manager_.empty_output_buffer = [](j_compress_ptr c) -> boolean {
      of(c).flush(kBufferBytes);
      of(c).begin_buffer();
      return TRUE;
    };
    manager_.term_destination = [](j_compress_ptr c) {
      of(c).flush(kBufferBytes - of(c).manager_.free_in_buffer);
    };
  }

  /// Throws IoError where libjpeg's functions fail.
  template <class Work>
  void run(const Work& work) {
    if (!attempted(work)) fail_to_encode(header_, exit_.message);
  }

  /// It calls libjpeg, so it is called through run().
  void write_rows(PictureView<const std::byte> rows) {
    constexpr int kMostLines = 16;
    for (int y = 0; y < rows.height;) {
      JSAMPROW lines[kMostLines];
      const int count = std::min(kMostLines, rows.height - y);
      for (int i = 0; i < count; ++i) {
        // libjpeg only reads them.
        lines[i] = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(rows.row(y + i)));
      }
      jpeg_write_scanlines(&info_, lines, JDIMENSION(count));
      y += count;
    }
  }

 private:
  void begin_buffer() {
    manager_.next_output_byte = buffer_.get();
    manager_.free_in_buffer = kBufferBytes;
  }

  void flush(std::size_t count) {
    try {
      sink_.append({buffer_.get(), count});
    } catch (...) {
      exit_.thrown = std::current_exception();
    }
    if (exit_.thrown) leave(exit_, kThrown);
  }

  ByteSink& sink_;
  Header header_;
  std::unique_ptr<unsigned char[]> buffer_;
  jpeg_destination_mgr manager_{};
};

/// Call it behind jpeg_start_compress(), or what stands for that.
inline void write_segments(const Segments& segments, j_compress_ptr info) {
  for (const Segment& segment : segments.list)
    jpeg_write_marker(info, segment.marker, segment.payload.data(),
                      static_cast<unsigned>(segment.payload.size()));
}

inline void set_density(const std::optional<Metadata::Resolution>& resolution,
                        j_compress_ptr info) {
  const Density density = density_of(resolution);
  info->density_unit = density.unit;
  info->X_density = density.x;
  info->Y_density = density.y;
}

}  // namespace convfilt::jpeg
