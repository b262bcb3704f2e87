/// The program that a student's kernel becomes: it runs the kernel on one picture and says what it
/// did. It is compiled together with the kernel's file, KERNEL_FILE, whose kernel is KERNEL.
///
///   runner WIDTH HEIGHT BLOCK_X BLOCK_Y GRID_X GRID_Y SHARED_BYTES DATA RESULT
///
/// DATA holds the mask's width and height as two numbers of 32 bits, its weights and the samples as
/// floats. RESULT gets the outputs; standard output a line for each finding, and one for the
/// counts.
#include "kernels/lesson/cuda_words.hpp"

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/lesson/machine.hpp"

extern "C" {
[[gnu::weak]] extern char __start_lesson_constant[];
[[gnu::weak]] extern char __stop_lesson_constant[];
extern const char __executable_start;
}

#define main students_main
#include KERNEL_FILE
#undef main

namespace {

using namespace convfilt::lesson;

std::vector<float> read_floats(std::FILE* file, std::size_t count) {
  std::vector<float> floats(count);
  if (std::fread(floats.data(), sizeof(float), count, file) != count)
    throw std::runtime_error("the data are cut");
  return floats;
}

/// Calls the kernel with the arguments that it takes.
template <class Kernel>
void call(Kernel kernel, float* in, float* out, int width, int height, float* mask, int mask_width,
          int mask_height) {
  if constexpr (std::is_invocable_v<Kernel, float*, float*, int, int>)
    kernel(in, out, width, height);
  else if constexpr (std::is_invocable_v<Kernel, float*, float*, int, int, float*>)
    kernel(in, out, width, height, mask);
  else if constexpr (std::is_invocable_v<Kernel, float*, float*, int, int, float*, int>)
    kernel(in, out, width, height, mask, mask_width);
  else if constexpr (std::is_invocable_v<Kernel, float*, float*, int, int, float*, int, int>)
    kernel(in, out, width, height, mask, mask_width, mask_height);
  else if constexpr (std::is_invocable_v<Kernel, float*, float*, float*, int, int>)
    kernel(in, mask, out, width, height);
  else
    static_assert(!sizeof(Kernel),
                  "the kernel's arguments are none of those that convfilt try knows");
}

unsigned long code_of(std::uintptr_t address) {
  // The call lies before the address that it returns to.
  return address == 0
             ? 0
             : (unsigned long)(address - 1 - reinterpret_cast<std::uintptr_t>(&__executable_start));
}

void print(const Place& place) {
  std::printf(" %u %u %u %u %lx", place.block.x, place.block.y, place.thread.x, place.thread.y,
              code_of(place.code));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  const auto number = [&](int i) { return unsigned(std::atol(argv[i])); };
  try {
    Memory memory;
    memory.width = int(number(1));
    memory.height = int(number(2));
    const Launch launch{{number(5), number(6)}, {number(3), number(4)}, number(7)};
    std::FILE* data = std::fopen(argv[8], "rb");
    std::int32_t sides[2];
    if (!data || std::fread(sides, sizeof sides, 1, data) != 1)
      throw std::runtime_error("there are no data");
    std::vector<float> mask = read_floats(data, std::size_t(sides[0]) * std::size_t(sides[1]));
    memory.in = read_floats(data, std::size_t(memory.width) * std::size_t(memory.height));
    std::fclose(data);
    const std::size_t room = std::size_t(__stop_lesson_constant - __start_lesson_constant);
    if (room > 0 && room < mask.size() * sizeof(float))
      throw std::runtime_error("the mask has " + std::to_string(mask.size()) +
                               " weights, and __constant__ memory room for " +
                               std::to_string(room / sizeof(float)));
    if (room > 0) std::memcpy(__start_lesson_constant, mask.data(), mask.size() * sizeof(float));
    const Result result = run(launch, memory, [&](float* in, float* out) {
      call(KERNEL, in, out, memory.width, memory.height, mask.data(), sides[0], sides[1]);
    });
    for (const Finding& finding : result.findings) {
      std::printf("finding %s %s %lld %lld %d", name_of(finding.fault),
                  finding.memory.empty() ? "-" : finding.memory.c_str(), (long long)finding.cell,
                  (long long)finding.times, finding.threads);
      print(finding.place);
      print(finding.other);
      std::printf("\n");
    }
    const BlockCounts& c = result.counts;
    std::printf("counts %lld %lld %lld %lld %lld %lld %lld %lld %lld\n", (long long)c.global_reads,
                (long long)c.global_writes, (long long)c.shared_reads, (long long)c.shared_writes,
                (long long)c.mask_reads, (long long)c.barriers, (long long)c.sectors,
                (long long)c.fewest_sectors, (long long)c.bank_conflicts);
    std::FILE* out = std::fopen(argv[9], "wb");
    if (!out ||
        std::fwrite(memory.out.data(), sizeof(float), memory.out.size(), out) !=
            memory.out.size() ||
        std::fclose(out) != 0)
      throw std::runtime_error("the result cannot be written");
  } catch (const std::exception& error) {
    std::printf("error %s\n", error.what());
    return 1;
  }
  return 0;
}
