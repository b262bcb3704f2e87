#include "src/lab/try/program.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/try/runtime/call.hpp"
#include "src/picture/modules.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// The name that the runners give to what is passed in the place of a parameter.
std::string passed_for(KernelArgument argument) {
  using enum KernelArgument;
  if (argument == radius) return "lesson_numbers.lesson_mask_width / 2";
  const bool is_pointer = argument == in || argument == out || argument == mask;
  return std::string(is_pointer ? "lesson_" : "lesson_numbers.lesson_") + name_of(argument);
}

/// A word that a kernel cannot know before it runs.
std::string fresh_word() {
  std::random_device random;
  std::string word;
  for (int i = 0; i < 4; ++i) word += std::to_string(random()) + "-";
  return word;
}

constexpr double kSeconds = 60;  ///< of waiting, where others use the processors, too
constexpr std::size_t kMemory = std::size_t{3} << 30;  ///< much of which is but reserved

std::string why_of(int signal) {
  return signal == SIGSYS ? "it starts another process or thread, or signals one"
                          : ::strsignal(signal);
}

ProcessLimits limits_of_run() {
  return {.seconds = kSeconds,
          .processor_seconds = LessonProgram::kProcessorSeconds,
          .asleep_seconds = LessonProgram::kProcessorSeconds,
          .memory_bytes = kMemory,
          .data_bytes = std::size_t{1} << 30,
          .file_bytes = std::size_t{16} << 20,
          .is_alone = true};
}

}  // namespace

void write_student(const KernelFile& kernel, bool for_host, const fs::path& folder) {
  std::ofstream(folder / "kernel.cu", std::ios::binary)
      << (for_host ? kernel.host_text : kernel.text);
  std::ofstream header(folder / "student.hpp", std::ios::binary);
  header << "#define main students_main\n#include \"kernel.cu\"\n#undef main\n";
  if (!kernel.scope.empty()) header << "using namespace " << kernel.scope << ";\n";
  header << "#define LESSON_KERNEL " << kernel.kernel << (for_host ? "" : kernel.template_arguments)
         << "\n";
  if (!kernel.constant_mask.empty())
    header << "#define LESSON_MASK " << kernel.constant_mask << "\n";
  header << "#define LESSON_ARGUMENTS ";
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    header << (i > 0 ? ", " : "") << passed_for(kernel.arguments[i]);
  header << "\n";
  if (!header.flush())
    throw NoVerdictError("cannot write into " + quoted_name(folder.string()) +
                         "; is the disk full?");
}

void write_trial(const KernelFile& kernel, const Trial& trial, const fs::path& file) {
  std::ofstream data(file, std::ios::binary);
  const LessonNumbers head{trial.width,       trial.height,         trial.depth,
                           trial.channels,    trial.mask.width,     trial.mask_height(),
                           trial.mask_depth,  trial.out_width(),    trial.out_height(),
                           trial.out_depth(), !kernel.is_told_size, kernel.launch.clears_out};
  data.write(reinterpret_cast<const char*>(&head), sizeof head);
  for (const double weight : trial.mask.weights) {
    const float value = float(weight / trial.mask.divisor);
    data.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  data.write(reinterpret_cast<const char*>(trial.in.data()),
             std::streamsize(trial.in.size() * sizeof(float)));
  if (!data.flush())
    throw NoVerdictError("cannot write " + quoted_name(file.string()) + "; is the disk full?");
}

std::string complaint(std::string words, const std::string& copy, const std::string& path) {
  words = replaced(std::move(words), copy, path);
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
  if (!fs::exists(folder / "src/lab/try/runtime/runner.cpp", error))
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

LessonProgram::LessonProgram(const KernelFile& kernel) : kernel_(kernel) {
  const fs::path folder = folder_.path(), root = lesson_sources(), copy = folder / "kernel.cu",
                 library = lesson_library();
  write_student(kernel, true, folder);
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen && *chosen ? chosen : "c++";
  std::vector<std::string> how = {compiler, "-std=c++20", "-gdwarf-4", "-O1"};
  for (const fs::path& searched : {folder, root, fs::absolute(kernel_.path).parent_path()})
    how.push_back("-I" + searched.string());
  // A build folder has the words of CUDA as GCC keeps what it has read.
  const fs::path read_before = library.parent_path() / "lesson_words.hpp";
  std::error_code error;
  const bool is_read = compiler == "c++" && fs::exists(read_before, error);
  const auto compile = [&](std::vector<std::string> more, bool links) {
    std::vector<std::string> words = how;
    words.insert(words.end(), more.begin(), more.end());
    if (is_read && !links) words.insert(words.end(), {"-include", read_before.string()});
    const fs::path said = folder / "said";
    const ProcessLimits limits{.seconds = 120, .memory_bytes = kMemory};
    Ended ended = run_process(words, said, limits);
    if (ended.code() == 0) return;
    // Errors alone are told.
    if (is_read && !links) words.resize(words.size() - 2);
    words.push_back("-w");
    if (!links && !ended.timed_out) ended = run_process(words, said, limits);
    if (ended.code() == kNoProgram)
      throw NoVerdictError("there is no compiler " + in_quotes(compiler) +
                           " here; install g++, or name one in CXX");
    if (ended.code() == kNotStarted)
      throw NoVerdictError(not_started("the compiler " + in_quotes(compiler)));
    const std::string all_said = contents_of(said);
    const bool is_assemblers = all_said.find("Assembler messages:") != all_said.npos ||
                               all_said.find("<inline asm>") != all_said.npos;
    if (kernel_.assembler_line > 0 && is_assemblers) {
      kernel_.refuse(
          "inline assembler of a GPU, which the host does not know; write it in CUDA C++",
          kernel_.assembler_line, true);
    }
    const std::string words_said = complaint(all_said, copy.string(), kernel_.path);
    // An error in the library is no fault of the student's, whose file calls its functions.
    const bool is_students =
        all_said.find(copy.string()) != all_said.npos && all_said.find("__tsan_") == all_said.npos;
    if (links && !ended.timed_out && !is_students)
      throw NoVerdictError("kernels are not linked with " + quoted_name(library.string()) + ":" +
                           words_said);
    const std::string why = ended.timed_out      ? "it takes too long to compile"
                            : !kernel_.is_closed ? "a brace is missing at the end of the kernel"
                                                 : "it is not compiled:" + words_said;
    const std::size_t at = words_said.find(kernel_.path + ":");
    const int line =
        at == words_said.npos ? 0 : std::atoi(words_said.c_str() + at + kernel_.path.size() + 1);
    throw KernelRefused(kernel_.is_closed && !ended.timed_out
                            ? quoted_name(kernel_.path) + " is not compiled:" + words_said
                            : quoted_name(kernel_.path) + ": " + why,
                        line, why, true);
  };
  // Every access of the kernel's own code becomes a call, which the machine answers. A local
  // variable that nobody sets holds no 0 by luck.
  compile(
      {"-c", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-ftrivial-auto-var-init=pattern",
       "-Wvla", (root / "src/lab/try/runtime/runner.cpp").string(), "-o",
       (folder / "runner.o").string()},
      false);
  refuse_variable_arrays(contents_of(folder / "said"), copy.string());
  const std::string guard = (root / "src/lab/try/runtime/guard.s").string();
  compile({guard, (folder / "runner.o").string(), guard, library.string(), "-o",
           (folder / "program").string()},
          true);
}

void LessonProgram::refuse_variable_arrays(const std::string& said, const std::string& copy) const {
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(copy + ":") || line.find("variable length array") == line.npos) continue;
    const int number = std::atoi(line.c_str() + copy.size() + 1);
    for (const auto& [first, last] : kernel_.device_lines) {
      if (number < first || number > last) continue;
      kernel_.refuse("the length of an array is no constant, which nvcc refuses in a kernel",
                     number, true);
    }
  }
}

MaskRoom LessonProgram::mask_room() const {
  const fs::path report = folder_.path() / "report";
  const Ended ended = run_process({(folder_.path() / "program").string(), "mask", report.string()},
                                  folder_.path() / "said", limits_of_run());
  MaskRoom room;
  std::istringstream words(contents_of(report));
  std::string word;
  words >> word;
  if (word == "error") {
    std::string why;
    std::getline(words >> std::ws, why);
    kernel_.refuse(why);
  }
  if (ended.code() != 0 || word != "room")
    kernel_.refuse(
        "its process ends before the kernel runs: what is set at the start of the file fails");
  int shared = 0;
  words >> room.weights >> room.planes >> room.rows >> room.columns >> shared;
  if (shared + kernel_.launch.shared_bytes > kMostShared) {
    kernel_.refuse("a block wants " + std::to_string(shared + kernel_.launch.shared_bytes) +
                       " bytes of shared memory, and has " + std::to_string(kMostShared) +
                       ": nvcc refuses larger arrays, so make the tile smaller",
                   kernel_.shared_line);
  }
  return room;
}

int LessonProgram::line_of(const std::string& code) const {
  if (code == "0") return 0;
  const auto [found, is_new] = lines_.try_emplace(code, 0);
  if (!is_new) return found->second;
  const fs::path said = folder_.path() / "line";
  run_process({"addr2line", "-i", "-e", (folder_.path() / "program").string(), "0x" + code}, said,
              {.seconds = 20});
  // The innermost line of the file; what it calls of a library lies elsewhere.
  const std::string lines = contents_of(said), file = "kernel.cu:";
  if (const std::size_t at = lines.find(file); at != lines.npos)
    found->second = std::atoi(lines.c_str() + at + file.size());
  return found->second;
}

TrialRun LessonProgram::run(const Trial& trial, const std::optional<BlockSides>& blocks) const {
  const fs::path folder = folder_.path();
  write_trial(kernel_, trial, folder / "data");
  const LaunchSize& launch = kernel_.launch;
  const BlockSides threads = launch.threads(),
                   grid = blocks.value_or(
                       launch.grid(trial.out_width(), trial.out_height(), trial.out_depth()));
  std::vector<std::string> words = {(folder / "program").string()};
  for (const std::int64_t number : {threads.width, threads.height, threads.depth, grid.width,
                                    grid.height, grid.depth, std::int64_t{launch.shared_bytes}})
    words.push_back(std::to_string(number));
  for (const char* name : {"data", "out", "report"}) words.push_back((folder / name).string());
  const std::string word = fresh_word();
  std::error_code ignored;
  fs::remove(folder / "report", ignored);
  const Ended ended = run_process(words, folder / "said", limits_of_run(), word);

  TrialRun result;
  std::string signal;
  bool is_whole = false, has_stopped = false;
  std::istringstream lines(contents_of(folder / "report"));
  std::string first;
  std::getline(lines, first);
  // Text that the kernel itself writes there does not begin with this word.
  const bool is_ours = first == word;
  for (std::string line; is_ours && std::getline(lines, line);) {
    std::istringstream text(line);
    std::string kind;
    text >> kind;
    const auto place = [&](LessonFinding::ThreadPosition& p, std::string& where) {
      text >> p.block_x >> p.block_y >> p.block_z >> p.thread_x >> p.thread_y >> p.thread_z >>
          where;
    };
    if (kind == "finding") {
      LessonFinding finding;
      std::string code, others_code;
      text >> finding.fault >> finding.memory >> finding.cell >> finding.least >> finding.most >>
          finding.times >> finding.threads >> finding.is_inside;
      place(finding.place, code);
      place(finding.other, others_code);
      if (!text) continue;
      finding.both_write = finding.fault == "write_race";
      if (finding.both_write) finding.fault = "race";
      finding.place.line = line_of(code);
      finding.other.line = line_of(others_code);
      result.findings.push_back(finding);
    } else if (kind == "error") {
      result.end = TrialRun::End::refused;
      result.why = line.substr(std::strlen("error "));
    } else if (kind == "stop") {
      LessonFinding::ThreadPosition at;
      std::string code, last_code;
      int number = 0;
      text >> number >> result.memory >> result.cell;
      place(at, code);
      text >> last_code;
      if (!text) continue;
      at.line = line_of(code);
      if (at.line == 0) at.line = line_of(last_code);
      result.place = at;
      has_stopped = true;
      result.end = number == SIGXCPU ? TrialRun::End::too_long : TrialRun::End::crashed;
      result.why = number == 0 ? "it calls exit()" : number == SIGXCPU ? "" : why_of(number);
    } else if (kind == "done") {
      is_whole = true;
    }
  }
  // assert() writes there, for example.
  result.printed = replaced(contents_of(folder / "said").substr(0, 1000),
                            (folder / "kernel.cu").string(), kernel_.path);
  if (ended.has_stopped) {
    result.end = TrialRun::End::crashed;
    result.why = "it stops itself, by SIGSTOP or the like";
  } else if (ended.timed_out) {
    result.end = TrialRun::End::too_long;
    result.why = ended.was_asleep ? "it sleeps, or waits for something" : "";
  } else if (WIFSIGNALED(ended.status)) {
    result.end = TrialRun::End::crashed;
    result.why = why_of(WTERMSIG(ended.status));
  } else if (result.end == TrialRun::End::done) {
    const std::size_t samples = trial.outputs();
    const std::string bytes = contents_of(folder / "out");
    if (!is_whole || bytes.size() != samples * (sizeof(float) + 1) + sizeof(Counts)) {
      result.end = TrialRun::End::crashed;
      result.why = "it ended without a result";
    } else {
      result.out.resize(samples);
      std::memcpy(result.out.data(), bytes.data(), samples * sizeof(float));
      const char* const flags = bytes.data() + samples * sizeof(float);
      result.is_set.assign(flags, flags + samples);
      std::memcpy(&result.counts, flags + samples, sizeof result.counts);
    }
  }
  if (!has_stopped && result.end != TrialRun::End::done) result.place.reset();
  return result;
}

}  // namespace convfilt
