/// Removes temporary files when a signal ends the program.
#pragma once

#include <string>

namespace convfilt {

/// While it lives, SIGHUP, SIGINT, SIGPIPE, SIGQUIT and SIGTERM remove `path`, a file or a folder
/// of files, and then end the program as before. Signals that the program handles or ignores do not
/// change.
class SignalCleanup {
 public:
  explicit SignalCleanup(const std::string& path);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  int slot_ = -1;
};

/// If such a signal comes while a SignalCleanup lives, it also kills this group of processes. 0 =
/// none. One group at a time.
void end_with_signal(int group);

}  // namespace convfilt
