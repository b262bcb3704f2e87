/// An orderly end when a signal asks for one.
#pragma once

#include <atomic>

namespace convfilt {

/// While it lives, the first SIGHUP, SIGINT, SIGQUIT or SIGTERM only makes stop() true; a second
/// one ends the program at once. A signal that the program ignores stays ignored. One at a time may
/// live.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  const std::atomic<bool>& stop() const;

  /// Ends the program by the signal that came, so that whoever waits for it sees which; returns
  /// where none came.
  void die_if_asked() const;
};

}  // namespace convfilt
