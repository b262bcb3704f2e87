#include "src/lesson/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/modules.hpp"

namespace convfilt {

namespace fs = std::filesystem;

int Ended::code() const {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

namespace {

/// The processes that this one has started and not waited for, or that were left to it.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) found.insert(child);
  }
  return found;
}

/// While it lives, processes whose parent ends are left to this one; then it ends them. What was
/// there before stays.
class Orphans {
 public:
  Orphans() : before_(children()) { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;
  ~Orphans() {
    // What a process has started is left to this one when that is killed.
    for (bool any = true; any;) {
      any = false;
      for (const pid_t child : children()) {
        if (before_.contains(child)) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        any = true;
      }
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

 private:
  std::set<pid_t> before_;
};

void limit(int resource, rlim_t soft, rlim_t hard) {
  const rlimit value{soft, hard};
  ::setrlimit(resource, &value);
}

}  // namespace

Ended run_process(const std::vector<std::string>& words, const fs::path& output,
                  const ProcessLimits& limits, const std::string& input) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string folder = output.parent_path().string();
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    throw NoVerdictError(std::string("cannot start a process: ") + std::strerror(errno));
  // A pipe holds so little without a reader.
  const bool is_written = ::write(pipe[1], input.data(), input.size()) == ssize_t(input.size());
  ::close(pipe[1]);
  const Orphans orphans;
  const pid_t parent = ::getpid();
  const pid_t child = is_written ? ::fork() : -1;
  if (child < 0) {
    ::close(pipe[0]);
    throw NoVerdictError(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) {
    // A group of its own, so that what it starts ends with it.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) ::_exit(127);
    ::dup2(pipe[0], 0);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::setenv("TMPDIR", folder.c_str(), 1);
    limit(RLIMIT_CORE, 0, 0);
    const double seconds =
        limits.processor_seconds > 0 ? limits.processor_seconds : limits.seconds + 1;
    limit(RLIMIT_CPU, rlim_t(std::ceil(seconds)), rlim_t(std::ceil(seconds)) + 2);
    if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
    if (limits.file_bytes > 0) limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
    if (limits.is_alone) limit(RLIMIT_NPROC, 0, 0);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  end_with_signal(child);
  ::close(pipe[0]);
  const auto start = std::chrono::steady_clock::now();
  Ended ended;
  rusage used{};
  pid_t ended_child = 0;
  while ((ended_child = ::wait4(child, &ended.status, WNOHANG, &used)) == 0) {
    const auto spent = std::chrono::steady_clock::now() - start;
    if (!ended.timed_out && std::chrono::duration<double>(spent).count() > limits.seconds) {
      ended.timed_out = true;
      ::kill(-child, SIGKILL);
    }
    ::usleep(500);
  }
  ::kill(-child, SIGKILL);
  end_with_signal(0);
  // Whoever started this program may have had it ignore the ends of its children.
  if (ended_child < 0)
    throw NoVerdictError(std::string("what became of ") + arguments[0] +
                         " cannot be known; start convfilt with SIGCHLD at its default");
  const double processor = double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           double(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  if (WIFSIGNALED(ended.status) &&
      (WTERMSIG(ended.status) == SIGXCPU ||
       (limits.processor_seconds > 0 && processor >= limits.processor_seconds)))
    ended.timed_out = true;
  return ended;
}

std::string contents_of(const fs::path& path) {
  // A kernel can put a pipe, a link or any amount of bytes there.
  constexpr std::size_t kMost = 64 << 20;
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "";
  std::string contents;
  struct stat info {};
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode)) {
    contents.resize(std::min(std::size_t(info.st_size), kMost));
    std::size_t got = 0;
    for (ssize_t count; got < contents.size() &&
                        (count = ::read(file, contents.data() + got, contents.size() - got)) > 0;)
      got += std::size_t(count);
    contents.resize(got);
  }
  ::close(file);
  return contents;
}

std::string with_name(std::string words, const std::string& copy, const std::string& path) {
  for (std::size_t at = 0; (at = words.find(copy, at)) != words.npos; at += path.size())
    words.replace(at, copy.size(), path);
  return words;
}

std::string complaint(std::string words, const std::string& copy, const std::string& path) {
  words = with_name(std::move(words), copy, path);
  std::istringstream lines(words);
  std::string text;
  int count = 0;
  for (std::string line; count < 12 && std::getline(lines, line);)
    if (count > 0 || line.find("error:") != line.npos || line.find("Error:") != line.npos ||
        line.find("undefined reference") != line.npos ||
        line.find("multiple definition") != line.npos) {
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
    throw NoVerdictError("the sources of the emulator for kernels are not in " +
                         quoted_name(folder.string()) + "; install convfilt again");
  return folder;
}

fs::path lesson_library() {
  // A program that was packed for another machine has it beside its modules.
  const fs::path installed = installed_modules_folder();
  for (const fs::path& folder : {installed, fs::path(modules_folder())}) {
    std::error_code error;
    fs::path library = folder / "libconvfilt_lesson.a";
    if (fs::exists(library, error)) return library;
  }
  throw NoVerdictError("the emulator for kernels, libconvfilt_lesson.a, is not in " +
                       quoted_name(installed.string()) + "; install convfilt again");
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (parent / "convfilt-try-XXXXXX").string();
  if (error || !::mkdtemp(name.data())) {
    const char* named = std::getenv("TMPDIR");
    throw NoVerdictError(
        "cannot make a folder in " + quoted_name(named && *named ? named : parent.string()) + ": " +
        (error ? error.message() : std::strerror(errno)) + "; let TMPDIR name another");
  }
  path_ = name;
  cleanup_.emplace(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace convfilt
