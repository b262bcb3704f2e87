/// convfilt: the only place that catches, and the only exit.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/grammar/commands.hpp"
#include "kernels/backend/devices.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"

namespace {

/// Occupies the numbers of closed standard streams, since a file of ours could get one, and
/// messages would land in it. The stand-in is opened the wrong way round, so that using the stream
/// still fails.
void reserve_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int fail(convfilt::ExitCode code, const std::string& message) {
  convfilt::log_error(message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace convfilt;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::vector<Default> defaults;
  try {
    reserve_standard_streams();
    // A message to a file at its size limit is lost, but the signal must not replace the exit code.
    std::signal(SIGXFSZ, SIG_IGN);
    set_loudness(Loudness::normal);
    parse(argc, argv, defaults)->run();
    return kDone;
  } catch (const UsageError& error) {
    return fail(kUsage, with_origin(error.what(), defaults, words));
  } catch (const NoVerdictError& error) {
    return fail(kNoVerdict, with_origin(error.what(), defaults, words, false));
  } catch (const IoError& error) {
    // Its message quotes files and their contents, not values of options.
    return fail(kFailed, with_origin(error.what(), defaults, words, false));
  } catch (const DeviceError& error) {
    return fail(kFailed, with_origin(error.what(), defaults, words));
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "out of memory: filter a smaller picture, or free some memory");
  } catch (const std::exception& error) {
    return fail(kFailed, std::string("unexpected: ") + error.what());
  }
}
