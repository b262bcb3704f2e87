/// Signals that end the program remove temporary files first, or end a run in order.
#pragma once

#include <atomic>
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

/// While it lives, the first SIGHUP, SIGINT, SIGQUIT or SIGTERM only makes stop() true, and the
/// second ends the program at once. Ignored signals stay ignored. Only one may live at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  const std::atomic<bool>& stop() const;

  /// If a signal came, ends the program by it, so that the parent process sees which; else returns.
  void die_if_asked() const;
};

}  // namespace convfilt
