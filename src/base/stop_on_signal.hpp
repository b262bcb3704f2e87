/// Ends a run in order when a signal asks for it.
#pragma once

#include <atomic>

namespace convfilt {

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
