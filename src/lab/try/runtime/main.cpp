/// The program that a student's kernel becomes: it runs the kernel on one picture and reports what
/// it did.
///
///   program BLOCK_X BLOCK_Y BLOCK_Z GRID_X GRID_Y GRID_Z SHARED_BYTES DATA RESULT REPORT
///   program mask REPORT
///
/// DATA holds a LessonNumbers, the weights and the samples as floats. RESULT gets the outputs, a
/// byte for each that says whether it was written, 2 if by the first block, and a block's Counts;
/// REPORT at first the word that came on standard input, which tells it from what a kernel writes
/// there, then a line for each finding. `mask` reports how many weights the array has, in how
/// many planes, rows and columns, and the bytes of static shared memory.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/lab/try/runtime/call.hpp"
#include "src/lab/try/runtime/machine.hpp"
#include "src/lab/try/runtime/mask_array.hpp"

extern "C" {
extern const char __executable_start;
}

namespace {

using namespace convfilt::lesson;

std::FILE* report = nullptr;
std::string word;  ///< that begins the report

unsigned long code_of(std::uintptr_t address) {
  // The call lies before the address that it returns to.
  return address == 0
             ? 0
             : (unsigned long)(address - 1 - reinterpret_cast<std::uintptr_t>(&__executable_start));
}

void print(const ThreadPosition& place) {
  std::fprintf(report, " %u %u %u %u %u %u %lx", place.block.x, place.block.y, place.block.z,
               place.thread.x, place.thread.y, place.thread.z, code_of(place.code));
}

void print(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::fprintf(report, "finding %s %s %lld %lld %lld %lld %d %d", name_of(finding.fault),
                 finding.memory.empty() ? "-" : finding.memory.c_str(), (long long)finding.cell,
                 (long long)finding.least, (long long)finding.most, (long long)finding.times,
                 finding.threads, finding.is_inside);
    print(finding.place);
    print(finding.other);
    std::fprintf(report, "\n");
  }
}

void print_stop(const Stop& stop, const Result& so_far) {
  std::fflush(stdout);
  std::fprintf(report, "%s\n", word.c_str());
  print(so_far.findings);
  std::fprintf(report, "stop %d %s %lld", stop.signal, *stop.memory ? stop.memory : "-",
               (long long)stop.cell);
  print(stop.place);
  std::fprintf(report, " %lx\n", code_of(stop.last_code));
  std::fflush(report);
  std::_Exit(1);
}

LessonArray checked_array() {
  const LessonArray array = lesson_array();
  if (array.lesson_begin && array.lesson_element_bytes != int(sizeof(float)))
    throw std::runtime_error("weights of the mask are floats, and the array's are not");
  return array;
}

void run_kernel(char** argv) {
  const auto number = [&](int i) { return unsigned(std::atol(argv[i])); };
  char first[100] = "";
  if (std::fscanf(stdin, "%99s", first) == 1) word = first;
  Memory memory;
  const Launch launch{
      {number(4), number(5), number(6)}, {number(1), number(2), number(3)}, number(7)};
  TrialData data = read_trial(argv[8]);
  const LessonNumbers& numbers = data.numbers;
  memory.clears_out = numbers.lesson_clears_out != 0;
  memory.outputs = lesson_samples(numbers, true);
  memory.mask = std::move(data.weights);
  memory.in = std::move(data.picture);
  if (const LessonArray array = checked_array(); array.lesson_begin) {
    const std::vector<float> weights =
        array_of(memory.mask, numbers, array.lesson_bytes / int(sizeof(float)),
                 array.lesson_columns, array.lesson_planes > 0 ? array.lesson_rows : 0);
    std::memcpy(array.lesson_begin, weights.data(), weights.size() * sizeof(float));
  }
  watch_signals(print_stop);
  const Result result = run(launch, memory, [&](float* in, float* out, float* mask) {
    lesson_call(numbers, in, out, mask);
  });
  std::fprintf(report, "%s\n", word.c_str());
  print(result.findings);
  std::FILE* out = std::fopen(argv[9], "wb");
  if (!out ||
      std::fwrite(memory.out.data(), sizeof(float), memory.out.size(), out) != memory.out.size() ||
      std::fwrite(memory.is_set.data(), 1, memory.is_set.size(), out) != memory.is_set.size() ||
      std::fwrite(&result.counts, sizeof result.counts, 1, out) != 1 || std::fclose(out) != 0)
    throw std::runtime_error("the result cannot be written");
  std::fprintf(report, "done\n");
}

}  // namespace

// The C library's own block signals, so that SIGSYS would end the program without a place.
extern "C" pid_t fork() noexcept {
  std::raise(SIGSYS);
  return -1;
}
extern "C" int system(const char*) {
  return fork();
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 11) return 2;
  report = std::fopen(argv[argc - 1], "we");
  if (!report) return 2;
  int code = 0;
  try {
    if (argc == 3) {
      const LessonArray array = checked_array();
      std::fprintf(report, "room %d %d %d %d %zu\n", array.lesson_bytes / int(sizeof(float)),
                   array.lesson_planes, array.lesson_rows, array.lesson_columns, static_shared());
    } else {
      run_kernel(argv);
    }
  } catch (const std::exception& error) {
    std::fprintf(report, "%s\nerror %s\n", word.c_str(), error.what());
    code = 1;
  }
  std::fclose(report);
  // A kernel's own atexit() and destructors have nothing more to say.
  std::fflush(stdout);
  std::_Exit(code);
}
