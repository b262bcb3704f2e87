#include "src/lab/try/gpu_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "src/base/source_text.hpp"
#include "src/lab/compare/quartiles.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

std::vector<double> numbers_in(std::istream& line) {
  std::vector<double> numbers;
  for (double number; line >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

std::string find_nvcc() {
  if (const char* named = std::getenv("NVCC"); named && *named) return named;
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (fs::path(folder) / "nvcc").string();
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

GpuProgram::GpuProgram(const KernelFile& kernel, const CudaDevice& device, const std::string& nvcc)
    : kernel_(kernel), device_(device) {
  const fs::path folder = folder_.path(), root = lesson_sources(), copy = folder / "kernel.cu",
                 said = folder / "said";
  write_student(kernel, false, folder);
  const Ended ended = run_process(
      {nvcc, "-std=c++20", "-O3", "-w",
       "-arch=sm_" + std::to_string(device.major) + std::to_string(device.minor), "-I",
       folder.string(), "-I", root.string(), "-I", fs::absolute(kernel.path).parent_path().string(),
       (root / "src/lab/try/runtime/device.cu").string(), "-o", (folder / "program").string()},
      said, {.seconds = 180});
  if (ended.code() == 0) return;
  const std::string words = contents_of(said);
  if (ended.code() == kNoProgram)
    throw CompilerError("there is no " + quoted_name(nvcc) +
                        "; let NVCC name the CUDA toolkit's nvcc");
  if (ended.code() == kNotStarted) throw CompilerError(not_started(quoted_name(nvcc)));
  if (words.find(copy.string()) != words.npos) {
    const std::string why =
        "is not compiled by nvcc:" + complaint(words, copy.string(), kernel.path);
    throw KernelRefused(quoted_name(kernel.path) + " " + why, 0, "it " + why, true);
  }
  const std::string line = words.substr(0, words.find('\n'));
  throw CompilerError(ended.timed_out ? "nvcc takes longer than 180 s"
                                      : "nvcc fails: " + printable_name(line));
}

std::vector<TrialRun> GpuProgram::run(std::span<const Trial> trials, double seconds,
                                      int repeats) const {
  const fs::path folder = folder_.path();
  const auto file = [&](const char* name, std::size_t i) {
    return (folder / (name + std::to_string(i))).string();
  };
  std::ofstream jobs(folder / "jobs");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    const BlockSides grid =
        kernel_.launch.grid(trial.out_width(), trial.out_height(), trial.out_depth());
    write_trial(kernel_, trial, file("data", i));
    jobs << grid.width << ' ' << grid.height << ' ' << grid.depth << ' ' << repeats << ' '
         << file("data", i) << ' ' << file("out", i) << '\n';
  }
  jobs.close();

  std::vector<TrialRun> runs;
  while (runs.size() < trials.size()) {
    const std::size_t first = runs.size();
    const BlockSides threads = kernel_.launch.threads();
    const Ended ended =
        run_process({(folder / "program").string(), std::to_string(threads.width),
                     std::to_string(threads.height), std::to_string(threads.depth),
                     std::to_string(kernel_.launch.shared_bytes), (folder / "jobs").string(),
                     std::to_string(first), std::to_string(device_.ordinal)},
                    folder / "said", {.seconds = seconds});
    std::istringstream lines(contents_of(folder / "said"));
    TrialRun run;
    bool is_under_way = false;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      if (kind == "begin") {
        run = {};
        is_under_way = true;
      } else if (kind == "outside_write") {
        LessonFinding finding;
        finding.fault = kind;
        finding.memory = "out";
        words >> finding.cell;
        run.findings.push_back(finding);
      } else if (kind == "error") {
        run.why = line.substr(std::strlen("error "));
      } else if (kind == "device") {
        throw DeviceError("CUDA: " + line.substr(std::strlen("device ")));
      } else if (kind == "ms") {
        run.ms = numbers_in(words);
      } else if (kind == "copy") {
        run.copy_ms = quartiles_of(numbers_in(words)).median;
      } else if (kind == "end") {
        const std::size_t i = runs.size();
        const std::string bytes = contents_of(file("out", i));
        run.out.resize(trials[i].outputs());
        if (bytes.size() == run.out.size() * sizeof(float)) {
          std::memcpy(run.out.data(), bytes.data(), bytes.size());
        } else {
          run.end = TrialRun::End::crashed;
          run.why = "it ended without a result";
        }
        runs.push_back(std::move(run));
        run = {};
        is_under_way = false;
        if (runs.size() == trials.size()) return runs;
      }
    }
    run.end = ended.timed_out ? TrialRun::End::too_long : TrialRun::End::crashed;
    if (run.why.empty())
      run.why = is_under_way ? "its process ends without a word" : "its process does not begin";
    runs.push_back(std::move(run));
    if (ended.timed_out) break;
  }
  return runs;
}

}  // namespace convfilt
