#include "src/base/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace convfilt {
namespace {

constexpr std::size_t kUsualColumns = 80;

std::size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

/// Whether the terminal can overwrite a line, as far as it tells.
bool can_go_back() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

ProgressLine::ProgressLine(bool wanted)
    : wanted_(wanted && ::isatty(STDERR_FILENO) == 1 && can_go_back()) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::show(const std::string& text) {
  if (!wanted_) return;
  std::fprintf(stream_, "\r\033[K%s", text.substr(0, columns() - 1).c_str());
  std::fflush(stream_);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace convfilt
