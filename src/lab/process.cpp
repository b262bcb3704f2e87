#include "src/lab/process.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
#include <limits>
#include <set>

#include "src/base/descriptor.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

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
    // Processes that a child has started are left to this one when the child is killed.
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

#if defined(__x86_64__)
constexpr std::uint32_t kOwnCalls = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kOwnCalls = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kOwnCalls = 0;
#endif

/// From now on this process, and the program that it becomes, gets SIGSYS for each system call that
/// starts a process or a thread, or signals or changes another process. Limits of processes do not
/// bind root, and a signal may go to any process of the same user.
void stay_alone() {
  limit(RLIMIT_NPROC, 0, 0);  // where the system has no such filter
  if (kOwnCalls == 0) return;
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, std::uint32_t(offset));
  };
  // How many instructions are left out where the value is, or is not, that one.
  const auto compare = [](int how, std::uint32_t value, int where_true, int where_false) {
    return sock_filter BPF_JUMP(std::uint16_t(BPF_JMP | how | BPF_K), value,
                                std::uint8_t(where_true), std::uint8_t(where_false));
  };
  const sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  // Calls of the same processor's other kinds of programs have other numbers; x32 has a bit more.
  constexpr std::uint32_t kOtherNumbers = 0x40000000;
  std::vector<sock_filter> filter = {
      load(offsetof(seccomp_data, arch)), compare(BPF_JEQ, kOwnCalls, 1, 0),     refuse,
      load(offsetof(seccomp_data, nr)),   compare(BPF_JGE, kOtherNumbers, 0, 1), refuse};
  for (const int call : {
#ifdef SYS_fork
           SYS_fork, SYS_vfork,
#endif
           SYS_clone, SYS_clone3, SYS_setsid, SYS_setpgid, SYS_ptrace, SYS_process_vm_writev,
           SYS_pidfd_send_signal})
    filter.insert(filter.end(), {compare(BPF_JEQ, std::uint32_t(call), 0, 1), refuse});
  const auto self = std::uint32_t(::getpid());
  for (const auto& [call, process] : {std::pair<int, std::uint32_t>{SYS_kill, self},
                                      {SYS_tkill, self},
                                      {SYS_tgkill, self},
                                      {SYS_rt_sigqueueinfo, self},
                                      {SYS_rt_tgsigqueueinfo, self},
                                      {SYS_prlimit64, 0}})
    filter.insert(filter.end(),
                  {compare(BPF_JEQ, std::uint32_t(call), 0, 4), load(offsetof(seccomp_data, args)),
                   compare(BPF_JEQ, process, 1, 0), refuse, allow});
  filter.push_back(allow);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Seconds for which a process of one thread has run, or waited for a processor; infinite where the
/// system does not say.
double awake_seconds(pid_t process) {
  std::ifstream times("/proc/" + std::to_string(process) + "/schedstat");
  double ran = 0, waited = 0;  // ns
  return times >> ran >> waited ? (ran + waited) * 1e-9 : std::numeric_limits<double>::infinity();
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
    if (::getppid() != parent) ::_exit(kNotStarted);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) ::_exit(kNotStarted);
    ::dup2(pipe[0], 0);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::setenv("TMPDIR", folder.c_str(), 1);
    limit(RLIMIT_CORE, 0, 0);
    const double seconds =
        limits.processor_seconds > 0 ? limits.processor_seconds : limits.seconds + 1;
    limit(RLIMIT_CPU, rlim_t(std::ceil(seconds)), rlim_t(std::ceil(seconds)) + 2);
    if (limits.file_bytes > 0) limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
    if (limits.is_alone) stay_alone();
    // These come last: stay_alone() allocates, and this process may have more than that already.
    if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
    if (limits.data_bytes > 0) limit(RLIMIT_DATA, limits.data_bytes, limits.data_bytes);
    ::execvp(arguments[0], arguments.data());
    ::_exit(errno == ENOENT ? kNoProgram : kNotStarted);
  }
  ::setpgid(child, child);
  end_with_signal(child);
  ::close(pipe[0]);
  const auto start = std::chrono::steady_clock::now();
  constexpr double kLook = 0.1, kGrace = 2;  // seconds
  double next_look = kLook, end = std::numeric_limits<double>::infinity();
  Ended ended;
  rusage used{};
  pid_t ended_child = 0;
  while (true) {
    ended_child = ::wait4(child, &ended.status, WNOHANG | (limits.is_alone ? WUNTRACED : 0), &used);
    const bool has_stopped = ended_child > 0 && WIFSTOPPED(ended.status);
    if (ended_child != 0 && !has_stopped) break;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (has_stopped) {
      ended.has_stopped = true;
      end = spent;
    } else if (!ended.timed_out && spent > next_look) {
      next_look = spent + kLook;
      ended.was_asleep =
          limits.asleep_seconds > 0 && spent - awake_seconds(child) > limits.asleep_seconds;
      ended.timed_out = ended.was_asleep || spent > limits.seconds;
      // The program may say where it is.
      if (ended.timed_out) {
        ::kill(-child, SIGXCPU);
        end = spent + kGrace;
      }
    }
    if (spent >= end) ::kill(-child, SIGKILL);
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

std::string not_started(const std::string& program) {
  return program +
         " cannot be started; see whether you may run it, and whether the temporary folder has "
         "room";
}

std::string contents_of(const fs::path& path) {
  // A kernel can put a pipe, a link or any amount of bytes there.
  constexpr std::size_t kMost = 64 << 20;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return "";
  std::string contents;
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    contents.resize(std::min(std::size_t(info.st_size), kMost));
    std::size_t got = 0;
    for (ssize_t count; got < contents.size() && (count = ::read(file.get(), contents.data() + got,
                                                                 contents.size() - got)) > 0;)
      got += std::size_t(count);
    contents.resize(got);
  }
  return contents;
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
