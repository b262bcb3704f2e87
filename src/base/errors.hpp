/// Errors and exit codes.
#pragma once

#include <stdexcept>

namespace convfilt {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kNoVerdict = 3 };

/// An input or output failed. One line: what, where, remedy. Exit code 1.
struct IoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `try` cannot judge a kernel: the file, a compiler or a device is missing. Exit code 3.
struct NoVerdictError : IoError {
  using IoError::IoError;
};

/// The command line or a mask asks for something impossible. Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace convfilt
