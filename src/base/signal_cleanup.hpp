/// Removal of a temporary file when a signal ends the program.
#pragma once

#include <string>

namespace convfilt {

/// While it lives, SIGHUP, SIGINT, SIGPIPE, SIGQUIT and SIGTERM remove `path` before they end the
/// program as they would have; signals that the program handles or ignores are left alone.
class SignalCleanup {
 public:
  explicit SignalCleanup(const std::string& path);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  int slot_ = -1;
};

}  // namespace convfilt
