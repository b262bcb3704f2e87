/// What surrounds a call of OpenCV's decoders and encoders.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>

namespace convfilt {

/// While it lives, in this thread:
///  - pictures of more than `max_pixels` are refused before memory is taken, whatever the format;
///  - what codec libraries print on stderr is kept as text: stderr belongs to our own messages, and
///    libjpeg reports damage in no other way;
///  - libtiff's errors are kept too: OpenCV throws them away and goes on with black strips.
/// It works through OpenCV's default allocator, the C library's `stderr`, std::cerr and libtiff's
/// handler, all replaced once for the whole process by ones that ask the thread for its guard, so
/// that other threads, spdlog and sanitizers are not disturbed.
class CodecGuard {
 public:
  explicit CodecGuard(std::int64_t max_pixels = INT64_MAX);
  ~CodecGuard();
  CodecGuard(const CodecGuard&) = delete;
  CodecGuard& operator=(const CodecGuard&) = delete;

  /// Everything printed so far.
  const std::string& printed() const { return printed_; }

  /// libtiff's first error; empty when there was none.
  const std::string& tiff_error() const { return tiff_error_; }

  /// Whether the header asked for more than max_pixels.
  bool refused() const { return refused_; }

  /// The first picture asked for: its size in pixels and OpenCV type; 0 x 0 when none was.
  cv::Size size() const { return size_; }
  int type() const { return type_; }

  /// The replaced parts call these.
  void print(const char* text, std::size_t bytes) { printed_.append(text, bytes); }
  void report_tiff(const std::string& error);
  bool allows(int rows, int cols, int type);

 private:
  CodecGuard* outer_;
  std::int64_t max_pixels_;
  std::string printed_, tiff_error_;
  bool refused_ = false;
  cv::Size size_;
  int type_ = 0;
};

/// The cause in what was printed, in one short line; empty when nothing was.
std::string cause_in(const std::string& printed);

/// What a codec library's complaint about a file means, in plain words, with the complaint in
/// brackets.
std::string damage_in(const std::string& complaint);

}  // namespace convfilt
