/// A program that is run in a process of its own, whatever becomes of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convfilt {

/// What became of a process.
struct Ended {
  int status = 0;  ///< as waitpid() says it
  bool timed_out = false;

  /// The exit code; -1 where a signal ended it.
  int code() const;
};

struct ProcessLimits {
  double seconds = 5;            ///< after which it is killed, with all that it started
  std::size_t memory_bytes = 0;  ///< of address space; 0 = any
};

/// Runs a program, which is looked for in PATH, with its output and its complaints in a file. The
/// exit code is 127 where there is no such program. Throws IoError where no process can be made.
Ended run_process(const std::vector<std::string>& words, const std::filesystem::path& output,
                  const ProcessLimits& limits);

/// All bytes of a file; none where it cannot be read.
std::string contents_of(const std::filesystem::path& path);

/// A compiler's words with the user's name for the file, from the first error on.
std::string complaint(std::string words, const std::string& copy, const std::string& path);

/// The folder below which kernels/lesson lies, beside the installed program. Throws IoError where
/// it is missing.
std::filesystem::path lesson_sources();

/// A new folder for programs and their data, which goes with its owner.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace convfilt
