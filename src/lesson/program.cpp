#include "src/lesson/program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// The folder below which kernels/lesson lies, beside the installed program.
fs::path sources() {
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  const fs::path folder = (program.parent_path() / CONVFILT_LESSON_FROM_PROGRAM).lexically_normal();
  if (!fs::exists(folder / "kernels/lesson/runner.cpp", error))
    throw IoError("the sources of the emulator for kernels are not in " +
                  quoted_name(folder.string()) + "; install convfilt again");
  return folder;
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What became of a process.
struct Ended {
  int status = 0;
  bool timed_out = false;
};

/// Runs a program, with its output in a file, for that long at most.
Ended run_process(const std::vector<std::string>& words, const fs::path& output, double seconds,
                  bool is_limited) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw IoError(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 || nothing < 0) ::_exit(127);
    ::dup2(nothing, 0);
    ::dup2(file, 1);
    ::dup2(file, 2);
    if (is_limited) {
      const rlimit memory{rlim_t{2} << 30, rlim_t{2} << 30}, none{0, 0},
          time{rlim_t(seconds) + 1, rlim_t(seconds) + 1};
      ::setrlimit(RLIMIT_AS, &memory);
      ::setrlimit(RLIMIT_CORE, &none);
      ::setrlimit(RLIMIT_CPU, &time);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  const auto start = std::chrono::steady_clock::now();
  Ended ended;
  while (::waitpid(child, &ended.status, WNOHANG) == 0) {
    const auto spent = std::chrono::steady_clock::now() - start;
    if (!ended.timed_out && std::chrono::duration<double>(spent).count() > seconds) {
      ended.timed_out = true;
      ::kill(child, SIGKILL);
    }
    ::usleep(500);
  }
  return ended;
}

/// The compiler's words with the user's name for the file, up to its first complaint and some more.
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

}  // namespace

LessonProgram::LessonProgram(const KernelFile& kernel) : kernel_(kernel) {
  std::string name = (fs::temp_directory_path() / "convfilt-try-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw IoError("cannot make a folder in " + quoted_name(fs::temp_directory_path().string()) +
                  ": " + std::strerror(errno));
  folder_ = name;
  const fs::path folder = folder_, root = sources(), copy = folder / "kernel.cu";
  std::ofstream(copy, std::ios::binary) << kernel_.text;
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen && *chosen ? chosen : "c++";
  const std::vector<std::string> how = {
      compiler, "-std=c++20",         "-gdwarf-4",
      "-O1",    "-I" + root.string(), "-I" + fs::absolute(kernel_.path).parent_path().string()};
  const auto compile = [&](std::vector<std::string> more) {
    std::vector<std::string> words = how;
    words.insert(words.end(), more.begin(), more.end());
    const fs::path said = folder / "said";
    const Ended ended = run_process(words, said, 120, false);
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return;
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 127)
      throw IoError("there is no compiler " + in_quotes(compiler) +
                    " here; install g++, or name one in CXX");
    throw IoError(quoted_name(kernel_.path) +
                  " is not compiled:" + complaint(contents_of(said), copy.string(), kernel_.path));
  };
  try {
    // Every access of the kernel's own code becomes a call, which the machine answers.
    compile({"-c", "-fsanitize=thread", "-w", "-DKERNEL=" + kernel_.kernel,
             "-DKERNEL_FILE=\"" + copy.string() + "\"",
             (root / "kernels/lesson/runner.cpp").string(), "-o", (folder / "runner.o").string()});
    compile({(folder / "runner.o").string(), (root / "kernels/lesson/machine.cpp").string(), "-o",
             (folder / "program").string()});
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

LessonProgram::~LessonProgram() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

int LessonProgram::line_of(const std::string& code) const {
  if (code == "0") return 0;
  const fs::path folder = folder_, said = folder / "line";
  run_process({"addr2line", "-i", "-e", (folder / "program").string(), "0x" + code}, said, 20,
              false);
  // The innermost line of the file; what it calls of a library lies elsewhere.
  std::istringstream lines(contents_of(said));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("kernel.cu:");
    if (at != line.npos) return std::atoi(line.c_str() + at + std::strlen("kernel.cu:"));
  }
  return 0;
}

TrialRun LessonProgram::run(const Trial& trial, const Mask& mask) const {
  constexpr double kSeconds = 5;
  const fs::path folder = folder_;
  {
    std::ofstream data(folder / "data", std::ios::binary);
    const std::int32_t sides[] = {mask.width, mask.height};
    data.write(reinterpret_cast<const char*>(sides), sizeof sides);
    for (const double weight : mask.weights) {
      const float value = float(weight / mask.divisor);
      data.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
    data.write(reinterpret_cast<const char*>(trial.in.data()),
               std::streamsize(trial.in.size() * sizeof(float)));
  }
  const LaunchSize& launch = kernel_.launch;
  const auto blocks = [](std::int64_t samples, std::int64_t each) {
    return (samples + each - 1) / each;
  };
  std::vector<std::string> words = {(folder / "program").string()};
  for (const std::int64_t number :
       {std::int64_t{trial.width}, std::int64_t{trial.height}, launch.block.width,
        launch.block.height, blocks(trial.width, launch.outputs.width),
        blocks(trial.height, launch.outputs.height), std::int64_t{launch.shared_bytes}})
    words.push_back(std::to_string(number));
  words.push_back((folder / "data").string());
  words.push_back((folder / "out").string());
  const Ended ended = run_process(words, folder / "said", kSeconds, true);

  TrialRun result;
  std::istringstream lines(contents_of(folder / "said"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line);
    std::string kind;
    text >> kind;
    if (kind == "finding") {
      LessonFinding finding;
      std::string code, others_code;
      text >> finding.fault >> finding.memory >> finding.cell >> finding.times >> finding.threads;
      const auto place = [&](LessonFinding::Place& p, std::string& where) {
        text >> p.block_x >> p.block_y >> p.thread_x >> p.thread_y >> where;
      };
      place(finding.place, code);
      place(finding.other, others_code);
      if (!text) continue;
      finding.place.line = line_of(code);
      finding.other.line = line_of(others_code);
      result.findings.push_back(finding);
    } else if (kind == "counts") {
      LessonCounts& c = result.counts;
      text >> c.global_reads >> c.global_writes >> c.shared_reads >> c.shared_writes >>
          c.mask_reads >> c.barriers >> c.sectors >> c.fewest_sectors >> c.bank_conflicts;
    } else if (kind == "error") {
      result.end = TrialRun::End::refused;
      result.why = line.substr(std::strlen("error "));
    }
  }
  if (ended.timed_out || (WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGXCPU)) {
    result.end = TrialRun::End::too_long;
  } else if (WIFSIGNALED(ended.status)) {
    result.end = TrialRun::End::crashed;
    result.why = ::strsignal(WTERMSIG(ended.status));
  } else if (result.end == TrialRun::End::done) {
    result.out.resize(trial.in.size());
    const std::string bytes = contents_of(folder / "out");
    if (bytes.size() != result.out.size() * sizeof(float)) {
      result.end = TrialRun::End::crashed;
      result.why = "it ended without a result";
    } else {
      std::memcpy(result.out.data(), bytes.data(), bytes.size());
    }
  }
  return result;
}

}  // namespace convfilt
