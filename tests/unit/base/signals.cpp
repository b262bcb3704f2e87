#include "src/base/signals.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

using namespace convfilt;

namespace {

/// How a child process ends that does `work`, as waitpid() tells it.
template <class Work>
int end_of(Work work) {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) std::signal(signal, SIG_DFL);
    _exit(work());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("the first signal asks to stop, and the next ends the program, whichever it is") {
  for (const int second : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    const int status = end_of([&] {
      const StopOnSignal stop_on_signal;
      if (stop_on_signal.stop()) return 1;
      std::raise(SIGINT);
      if (!stop_on_signal.stop()) return 2;
      std::raise(second);
      return 3;
    });
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == second);
  }
}

TEST_CASE("a program that was asked to stop dies of the signal in the end") {
  const int status = end_of([] {
    const StopOnSignal stop_on_signal;
    std::raise(SIGTERM);
    stop_on_signal.die_if_asked();
    return 3;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a signal that is ignored, as by nohup, asks for nothing") {
  const int status = end_of([] {
    std::signal(SIGHUP, SIG_IGN);
    const StopOnSignal stop_on_signal;
    std::raise(SIGHUP);
    stop_on_signal.die_if_asked();
    return stop_on_signal.stop() ? 1 : 3;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}
