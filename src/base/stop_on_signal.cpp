#include "src/base/stop_on_signal.hpp"

#include <csignal>

namespace convfilt {
namespace {

constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

std::atomic<bool> asked{false};
std::atomic<int> asked_by{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void ask(int signal) {
  asked_by = signal;
  asked = true;
  // The next one is not handled any more, whichever of them it is.
  for (const int other : kStopSignals) std::signal(other, SIG_DFL);
}

}  // namespace

StopOnSignal::StopOnSignal() {
  asked = false;
  asked_by = 0;
  for (const int signal : kStopSignals) {
    struct sigaction before {
    }, ours{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    ours.sa_handler = ask;
    ours.sa_flags = SA_RESTART;
    sigaction(signal, &ours, nullptr);
  }
}

StopOnSignal::~StopOnSignal() {
  for (const int signal : kStopSignals) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == ask) std::signal(signal, SIG_DFL);
  }
}

const std::atomic<bool>& StopOnSignal::stop() const {
  return asked;
}

void StopOnSignal::die_if_asked() const {
  const int signal = asked_by;
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace convfilt
