/// The two ways to fail, and the exit codes.
#pragma once

#include <stdexcept>

namespace convfilt {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2 };

/// An input or output failed. One line: what, where, remedy. Exit code 1.
struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line or a mask asks for something impossible. Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace convfilt
