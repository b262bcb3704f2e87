#include "src/picture/codec_guard.hpp"

#include <tiffio.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <streambuf>
#include <string_view>
#include <vector>

namespace convfilt {
namespace {

thread_local CodecGuard* current = nullptr;

class LimitedAllocator : public cv::MatAllocator {
 public:
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, std::size_t* step,
                         cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    if (current && dims == 2 && !current->allows(sizes[0], sizes[1], type)) {
      CV_Error(cv::Error::StsNoMem, "more pixels than allowed");
    }
    return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
  }
  bool allocate(cv::UMatData* data, cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(data, flags, usage);
  }
  void deallocate(cv::UMatData* data) const override {
    cv::Mat::getStdAllocator()->deallocate(data);
  }
};

/// The buffer of std::cerr. It writes to the thread's guard, or where it wrote before if there is
/// none.
class GuardedStream : public std::streambuf {
 public:
  explicit GuardedStream(std::streambuf* before) : before_(before) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    if (!current) return before_->sputc(traits_type::to_char_type(c));
    const char letter = traits_type::to_char_type(c);
    current->print(&letter, 1);
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (!current) return before_->sputn(text, count);
    current->print(text, static_cast<std::size_t>(count));
    return count;
  }
  int sync() override { return current ? 0 : before_->pubsync(); }

 private:
  std::streambuf* before_;
};

#ifdef __GLIBC__
ssize_t write_stderr(void*, const char* text, std::size_t count) {
  if (!current) return ::write(STDERR_FILENO, text, count);
  current->print(text, count);
  return static_cast<ssize_t>(count);
}
#endif

void on_tiff_error(const char* module, const char* format, va_list arguments) {
  if (!current) return;
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  current->report_tiff(module && *module ? std::string(module) + ": " + text : std::string(text));
}

void on_tiff_warning(const char* module, const char* format, va_list arguments) {
  // Warnings are about tags that do not matter to the pixels, but for JPEG inside TIFF, where
  // libjpeg's reports of damage arrive as warnings.
  if (module && std::string_view(module).find("JPEG") != std::string_view::npos) {
    on_tiff_error(module, format, arguments);
  }
}

void install() {
  // None of these is ever destroyed: pictures and streams may outlive every other static.
  cv::Mat::setDefaultAllocator(new LimitedAllocator);
  std::cerr.rdbuf(new GuardedStream(std::cerr.rdbuf()));
#ifdef __GLIBC__
  // glibc documents stderr as an ordinary variable. Replacing it, rather than the descriptor,
  // leaves alone all that writes to descriptor 2 itself.
  cookie_io_functions_t functions{};
  functions.write = write_stderr;
  if (FILE* guarded = fopencookie(nullptr, "w", functions)) {
    setvbuf(guarded, nullptr, _IONBF, 0);
    stderr = guarded;
  }
#endif
  // OpenCV sets its own handler, which is silent, when it first meets a TIFF: let that happen now.
  const unsigned char empty_tiff[] = {'I', 'I', 42, 0, 0, 0, 0, 0};
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  cv::imdecode(std::vector<unsigned char>(std::begin(empty_tiff), std::end(empty_tiff)),
               cv::IMREAD_UNCHANGED);
  TIFFSetErrorHandler(on_tiff_error);
  TIFFSetWarningHandler(on_tiff_warning);
}

}  // namespace

CodecGuard::CodecGuard(std::int64_t max_pixels) : outer_(current), max_pixels_(max_pixels) {
  static std::once_flag once;
  current = this;
  std::call_once(once, install);
  printed_.clear();
}

CodecGuard::~CodecGuard() {
  current = outer_;
}

void CodecGuard::report_tiff(const std::string& error) {
  if (tiff_error_.empty()) tiff_error_ = error;
}

bool CodecGuard::allows(int rows, int cols, int type) {
  if (size_.empty()) {
    size_ = {cols, rows};
    type_ = type;
  }
  if (std::int64_t{rows} * cols <= max_pixels_) return true;
  refused_ = true;
  return false;
}

std::string cause_in(const std::string& printed) {
  std::string first, error;
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    std::string line = printed.substr(begin, end - begin);
    begin = end + 1;
    const auto erase_through = [&line](std::string_view mark, std::size_t from) {
      const std::size_t at = line.find(mark, from);
      if (at != line.npos) line.erase(0, at + mark.size());
    };
    // "imdecode_(''): can't read data: OpenCV(4.6.0) file:line: error: (-2:Kind) text in function"
    if (const std::size_t at = line.find("error: ("); at != line.npos) erase_through(") ", at);
    // "[ERROR:0@0.152] global file (line) function text"
    if (line.starts_with('[') && line.find("] global ") != line.npos) {
      erase_through(") ", 0);
      erase_through(" ", 0);
    }
    // What follows is a C++ signature; the message itself then comes in lines of its own, "> text".
    if (const std::size_t in = line.find("in function '"); in != line.npos) line.erase(in);
    if (line.starts_with("> ")) line.erase(0, 2);
    while (!line.empty() && (line.back() == ' ' || line.back() == ':')) line.pop_back();
    if (line.empty()) continue;
    if (first.empty()) first = line;
    if (error.empty() && line.find("error") != line.npos) error = line;
  }
  std::string cause = error.empty() ? first : error;
  constexpr std::size_t kLongest = 160;
  if (cause.size() > kLongest) cause.resize(kLongest);
  return cause;
}

std::string damage_in(const std::string& complaint) {
  // libjpeg's "premature end of data segment" is about damage in the middle.
  constexpr std::string_view kCut[] = {"premature end of jpeg file",
                                       "incomplete",
                                       "not enough data",
                                       "read error",
                                       "truncated",
                                       "unexpected end",
                                       "end of file",
                                       "end of input",
                                       "too short",
                                       "past end of",
                                       "eof",
                                       "not enough bytes",
                                       "stream length"};
  std::string lower = complaint;
  for (char& c : lower) c = char(std::tolower(static_cast<unsigned char>(c)));
  const bool cut = std::any_of(std::begin(kCut), std::end(kCut), [&](std::string_view words) {
    return lower.find(words) != lower.npos;
  });
  return (cut ? "the file ends too early ("
              : "its data is damaged, or of a kind that OpenCV does not read (") +
         complaint + ")";
}

}  // namespace convfilt
