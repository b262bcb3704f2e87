/// A program that is run in a process of its own, whatever becomes of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/base/signals.hpp"

namespace convfilt {

/// The end of a process.
struct Ended {
  int status = 0;  ///< as waitpid() says it
  bool timed_out = false;
  bool was_asleep = false;   ///< it timed out since it slept or waited
  bool has_stopped = false;  ///< by SIGSTOP or the like

  /// The exit code; -1 where a signal ended it.
  int code() const;
};

/// Exit codes of a process, as shells have them: there is no such program; or it is there, and
/// cannot be started.
constexpr int kNoProgram = 127, kNotStarted = 126;

struct ProcessLimits {
  double seconds = 5;            ///< after which it gets SIGXCPU, and then is killed
  double processor_seconds = 0;  ///< likewise, of a processor's time; 0 = `seconds`
  double asleep_seconds = 0;  ///< likewise, of neither running nor waiting for a processor; 0 = any
  std::size_t memory_bytes = 0;  ///< of address space; 0 = any
  std::size_t data_bytes = 0;  ///< of memory that it can write to and shares with no other; 0 = any
  std::size_t file_bytes = 0;  ///< that it may write into a file; 0 = any
  /// It gets SIGSYS where it starts another process or thread, or signals or changes one, and is
  /// killed where it stops itself.
  bool is_alone = false;
};

/// Runs a program, which is looked for in PATH, with its output and its complaints in a file, and
/// its temporary files beside that. Kills all that it leaves behind, and all of it where a signal
/// ends this program. `input`, which must be short, is its standard input. The exit code is
/// kNoProgram or kNotStarted where the program does not run. Throws NoVerdictError where no process
/// can be made.
Ended run_process(const std::vector<std::string>& words, const std::filesystem::path& output,
                  const ProcessLimits& limits, const std::string& input = "");

/// A message for kNotStarted: "gnuplot cannot be started; see whether ...".
std::string not_started(const std::string& program);

/// The bytes of a file, up to 64 MiB; none where it cannot be read.
std::string contents_of(const std::filesystem::path& path);

/// A new folder for programs and their data, which goes with its owner, or with a signal that ends
/// this program. It has no folders in it.
class ScratchFolder {
 public:
  /// Throws NoVerdictError where none can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<SignalCleanup> cleanup_;
};

}  // namespace convfilt
