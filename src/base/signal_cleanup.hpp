/// Removal of temporary files when a signal ends the program.
#pragma once

#include <string>

namespace convfilt {

/// While it lives, SIGHUP, SIGINT, SIGPIPE, SIGQUIT and SIGTERM remove `path`, a file or a folder
/// of files, before they end the program as they would have; signals that the program handles or
/// ignores are left alone.
class SignalCleanup {
 public:
  explicit SignalCleanup(const std::string& path);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  int slot_ = -1;
};

/// Where such a signal comes while a SignalCleanup lives, that group of processes is killed, too.
/// 0 = none. One group at a time.
void end_with_signal(int group);

}  // namespace convfilt
