#include "src/base/signals.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <iterator>
#include <mutex>

namespace convfilt {
namespace {

constexpr int kSignals[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

// The handler may touch nothing but lock-free atomics and plain memory.
struct Slot {
  std::atomic<bool> live{false};
  char path[PATH_MAX];
};
Slot slots[16];  // one for each file that is being written; a seventeenth goes without

std::mutex mutex;  // guards what follows, and the taking of slots
int guards = 0;
bool installed[std::size(kSignals)];

std::atomic<int> group_to_end{0};

/// A folder and its files. A handler must not call functions that allocate memory to read folders.
void remove_folder(const char* path) {
  struct Entry {  // as getdents64() writes it
    unsigned long long number;
    long long offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  alignas(8) static char entries[1 << 14];
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
    for (long at = 0; at < bytes;) {
      const Entry* entry = reinterpret_cast<const Entry*>(entries + at);
      unlinkat(folder, entry->name, 0);
      at += entry->length;
    }
  close(folder);
  rmdir(path);
}

void remove_and_die(int signal) {
  if (const int group = group_to_end.load(); group > 0) kill(-group, SIGKILL);
  for (Slot& slot : slots) {
    if (!slot.live.load()) continue;
    if (unlink(slot.path) != 0 && (errno == EISDIR || errno == EPERM)) remove_folder(slot.path);
  }
  raise(signal);  // its default action was restored on entry (SA_RESETHAND) and follows on return
}

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

SignalCleanup::SignalCleanup(const std::string& path) {
  const std::lock_guard lock(mutex);
  if (path.size() >= PATH_MAX) return;
  for (int i = 0; i < static_cast<int>(std::size(slots)) && slot_ < 0; ++i) {
    if (!slots[i].live.load()) slot_ = i;
  }
  if (slot_ < 0) return;
  std::strcpy(slots[slot_].path, path.c_str());
  slots[slot_].live.store(true);
  if (guards++ > 0) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction before {
    }, ours{};
    sigaction(kSignals[i], nullptr, &before);
    installed[i] = !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
    ours.sa_handler = remove_and_die;
    ours.sa_flags = SA_RESETHAND;
    if (installed[i]) sigaction(kSignals[i], &ours, nullptr);
  }
}

void end_with_signal(int group) {
  group_to_end.store(group);
}

SignalCleanup::~SignalCleanup() {
  const std::lock_guard lock(mutex);
  if (slot_ < 0) return;
  slots[slot_].live.store(false);
  if (--guards > 0) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (installed[i]) std::signal(kSignals[i], SIG_DFL);
  }
}

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
