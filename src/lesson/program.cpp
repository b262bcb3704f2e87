#include "src/lesson/program.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// The file's text for the host compiler, which has the words of CUDA from elsewhere, and no memory
/// that a block is given when it is launched.
std::string text_for_host(const std::string& text) {
  static const std::regex kHeader(
      R"(#\s*include\s*[<"](cuda\w*|device_launch_parameters|device_functions)\.h[>"])");
  static const std::regex kDynamic(R"(extern\s+__shared__\s+([\w\s]+?)\s*(\w+)\s*\[\s*\])");
  return std::regex_replace(std::regex_replace(text, kHeader, ""), kDynamic,
                            "$1* $2 = ($1*)convfilt::lesson::dynamic_shared()");
}

const char* name_of(KernelArgument argument) {
  switch (argument) {
    case KernelArgument::in: return "in";
    case KernelArgument::out: return "out";
    case KernelArgument::mask: return "mask";
    case KernelArgument::width: return "width";
    case KernelArgument::height: return "height";
    case KernelArgument::mask_width: return "mask_width";
    case KernelArgument::mask_height: return "mask_height";
    case KernelArgument::radius: return "radius";
  }
  return "";
}

}  // namespace

void write_student(const KernelFile& kernel, const std::string& text, const fs::path& folder) {
  std::ofstream(folder / "kernel.cu", std::ios::binary) << text;
  std::ofstream header(folder / "student.hpp", std::ios::binary);
  header << "#define main students_main\n#include \"kernel.cu\"\n#undef main\n"
         << "#define LESSON_KERNEL " << kernel.kernel << "\n";
  if (!kernel.constant_mask.empty())
    header << "#define LESSON_MASK " << kernel.constant_mask << "\n";
  header << "#define LESSON_ARGUMENTS ";
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    header << (i > 0 ? ", " : "") << name_of(kernel.arguments[i]);
  header << "\n";
  if (!header.flush())
    throw IoError("cannot write into " + quoted_name(folder.string()) + "; is the disk full?");
}

void write_trial(const Trial& trial, const fs::path& file) {
  std::ofstream data(file, std::ios::binary);
  const std::int32_t sides[] = {trial.mask.width, trial.mask.height};
  data.write(reinterpret_cast<const char*>(sides), sizeof sides);
  for (const double weight : trial.mask.weights) {
    const float value = float(weight / trial.mask.divisor);
    data.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  data.write(reinterpret_cast<const char*>(trial.in.data()),
             std::streamsize(trial.in.size() * sizeof(float)));
  if (!data.flush())
    throw IoError("cannot write " + quoted_name(file.string()) + "; is the disk full?");
}

LessonProgram::LessonProgram(const KernelFile& kernel) : kernel_(kernel) {
  const fs::path folder = folder_.path(), root = lesson_sources(), copy = folder / "kernel.cu";
  write_student(kernel, text_for_host(kernel.text), folder);
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen && *chosen ? chosen : "c++";
  const std::vector<std::string> how = {compiler,
                                        "-std=c++20",
                                        "-gdwarf-4",
                                        "-O1",
                                        "-I" + folder.string(),
                                        "-I" + root.string(),
                                        "-I" + fs::absolute(kernel_.path).parent_path().string()};
  const auto compile = [&](std::vector<std::string> more) {
    std::vector<std::string> words = how;
    words.insert(words.end(), more.begin(), more.end());
    const fs::path said = folder / "said";
    const Ended ended = run_process(words, said, {.seconds = 120});
    if (ended.code() == 0) return;
    if (ended.code() == 127)
      throw IoError("there is no compiler " + in_quotes(compiler) +
                    " here; install g++, or name one in CXX");
    throw IoError(quoted_name(kernel_.path) +
                  " is not compiled:" + complaint(contents_of(said), copy.string(), kernel_.path));
  };
  // Every access of the kernel's own code becomes a call, which the machine answers.
  compile({"-c", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-w",
           (root / "kernels/lesson/runner.cpp").string(), "-o", (folder / "runner.o").string()});
  compile({(folder / "runner.o").string(), (root / "kernels/lesson/machine.cpp").string(), "-o",
           (folder / "program").string()});
}

MaskRoom LessonProgram::mask_room() const {
  const fs::path said = folder_.path() / "said";
  run_process({(folder_.path() / "program").string(), "mask"}, said, {});
  MaskRoom room;
  std::istringstream words(contents_of(said));
  std::string word;
  if (words >> word && word == "room") words >> room.weights >> room.rows >> room.columns;
  return room;
}

int LessonProgram::line_of(const std::string& code) const {
  if (code == "0") return 0;
  const fs::path said = folder_.path() / "line";
  run_process({"addr2line", "-i", "-e", (folder_.path() / "program").string(), "0x" + code}, said,
              {.seconds = 20});
  // The innermost line of the file; what it calls of a library lies elsewhere.
  std::istringstream lines(contents_of(said));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("kernel.cu:");
    if (at != line.npos) return std::atoi(line.c_str() + at + std::strlen("kernel.cu:"));
  }
  return 0;
}

TrialRun LessonProgram::run(const Trial& trial) const {
  constexpr std::size_t kMemory = std::size_t{2} << 30;
  const fs::path folder = folder_.path();
  write_trial(trial, folder / "data");
  const LaunchSize& launch = kernel_.launch;
  const Extent threads = launch.threads(), grid = launch.grid(trial.width, trial.height);
  std::vector<std::string> words = {(folder / "program").string()};
  for (const std::int64_t number :
       {std::int64_t{trial.width}, std::int64_t{trial.height}, threads.width, threads.height,
        grid.width, grid.height, std::int64_t{launch.shared_bytes}})
    words.push_back(std::to_string(number));
  words.push_back((folder / "data").string());
  words.push_back((folder / "out").string());
  const Ended ended = run_process(words, folder / "said", {.seconds = 5, .memory_bytes = kMemory});

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
      Counts& c = result.counts;
      text >> c.global_reads >> c.global_writes >> c.shared_reads >> c.shared_writes >>
          c.mask_reads >> c.barriers >> c.warps.sectors >> c.warps.fewest_sectors >>
          c.warps.bursts >> c.warps.bank_conflicts >> c.warps.warps >> c.warps.divergent_warps;
    } else if (kind == "error") {
      result.end = TrialRun::End::refused;
      result.why = line.substr(std::strlen("error "));
    }
  }
  if (ended.timed_out) {
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
