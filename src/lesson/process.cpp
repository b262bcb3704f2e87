#include "src/lesson/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {

namespace fs = std::filesystem;

int Ended::code() const {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Ended run_process(const std::vector<std::string>& words, const fs::path& output,
                  const ProcessLimits& limits) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw IoError(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    // A group of its own, so that what it starts ends with it.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 || nothing < 0) ::_exit(127);
    ::dup2(nothing, 0);
    ::dup2(file, 1);
    ::dup2(file, 2);
    const auto most = [](rlim_t value) { return rlimit{value, value}; };
    const rlimit none = most(0), time = most(rlim_t(std::ceil(limits.seconds)) + 1);
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_CPU, &time);
    if (limits.memory_bytes > 0) {
      const rlimit memory = most(limits.memory_bytes);
      ::setrlimit(RLIMIT_AS, &memory);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  const auto start = std::chrono::steady_clock::now();
  Ended ended;
  while (::waitpid(child, &ended.status, WNOHANG) == 0) {
    const auto spent = std::chrono::steady_clock::now() - start;
    if (!ended.timed_out && std::chrono::duration<double>(spent).count() > limits.seconds) {
      ended.timed_out = true;
      ::kill(-child, SIGKILL);
    }
    ::usleep(500);
  }
  if (WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGXCPU) ended.timed_out = true;
  return ended;
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string complaint(std::string words, const std::string& copy, const std::string& path) {
  for (std::size_t at; (at = words.find(copy)) != words.npos;) words.replace(at, copy.size(), path);
  std::istringstream lines(words);
  std::string text;
  int count = 0;
  for (std::string line; count < 12 && std::getline(lines, line);)
    if (count > 0 || line.find("error") != line.npos) {
      text += "\n" + printable_name(line);
      ++count;
    }
  return text;
}

fs::path lesson_sources() {
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  const fs::path folder = (program.parent_path() / CONVFILT_LESSON_FROM_PROGRAM).lexically_normal();
  if (!fs::exists(folder / "kernels/lesson/runner.cpp", error))
    throw IoError("the sources of the emulator for kernels are not in " +
                  quoted_name(folder.string()) + "; install convfilt again");
  return folder;
}

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "convfilt-try-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw IoError("cannot make a folder in " + quoted_name(fs::temp_directory_path().string()) +
                  ": " + std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace convfilt
