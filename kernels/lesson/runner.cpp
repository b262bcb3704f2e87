/// The program that a student's kernel becomes: it runs the kernel on one picture and says what it
/// did. It is compiled together with student.hpp, which includes the kernel's file and defines
/// LESSON_KERNEL, the function; LESSON_ARGUMENTS, what it is passed; and LESSON_MASK, the
/// __constant__ array for the mask, if there is one.
///
///   runner WIDTH HEIGHT BLOCK_X BLOCK_Y GRID_X GRID_Y SHARED_BYTES DATA RESULT
///   runner mask
///
/// DATA holds the mask's width and height as two numbers of 32 bits, its weights and the samples as
/// floats. RESULT gets the outputs; standard output a line for each finding, and one for the
/// counts. `mask` says how many weights the array has, in how many rows and columns.
#if defined(__GNUC__) && !defined(__clang__)
// A float4 stays one access, and code stands in the order of its lines, where lanes wait for each
// other.
#pragma GCC optimize("no-tree-sra", "no-reorder-blocks")
#endif
#include "kernels/lesson/cuda_words.hpp"

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/lesson/machine.hpp"
#include "kernels/lesson/mask_array.hpp"

extern "C" {
extern const char __executable_start;
}

#include <student.hpp>

namespace {

using namespace convfilt::lesson;

std::vector<float> read_floats(std::FILE* file, std::size_t count) {
  std::vector<float> floats(count);
  if (std::fread(floats.data(), sizeof(float), count, file) != count)
    throw std::runtime_error("the data are cut");
  return floats;
}

#ifdef LESSON_MASK
void print_room() {
  using Array = decltype(LESSON_MASK);
  constexpr bool has_rows = std::rank_v<Array> == 2;
  std::printf("\nroom %d %d %d\n", int(sizeof(Array) / sizeof(float)),
              has_rows ? int(std::extent_v<Array, 0>) : 0,
              has_rows ? int(std::extent_v<Array, 1>) : 0);
}
#else
void print_room() {}
#endif

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
  if (argc == 2) {
    print_room();
    return 0;
  }
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
    const std::vector<float> weights =
        read_floats(data, std::size_t(sides[0]) * std::size_t(sides[1]));
    memory.in = read_floats(data, std::size_t(memory.width) * std::size_t(memory.height));
    std::fclose(data);
#ifdef LESSON_MASK
    const std::vector<float> array = array_of<decltype(LESSON_MASK)>(weights, sides[0], sides[1]);
    std::memcpy((void*)&LESSON_MASK, array.data(), sizeof(LESSON_MASK));
#endif
    const int width = memory.width, height = memory.height, mask_width = sides[0],
              mask_height = sides[1], radius = sides[0] / 2;
    memory.mask = weights;
    float* mask = memory.mask.data();
    const Result result =
        run(launch, memory, [&](float* in, float* out) { LESSON_KERNEL(LESSON_ARGUMENTS); });
    for (const Finding& finding : result.findings) {
      std::printf("\nfinding %s %s %lld %lld %d", name_of(finding.fault),
                  finding.memory.empty() ? "-" : finding.memory.c_str(), (long long)finding.cell,
                  (long long)finding.times, finding.threads);
      print(finding.place);
      print(finding.other);
      std::printf("\n");
    }
    const BlockCounts& c = result.counts;
    std::printf("\ncounts");
    for (const std::int64_t number :
         {c.global_reads, c.global_writes, c.shared_reads, c.shared_writes, c.mask_reads,
          c.barriers, c.sectors, c.fewest_sectors, c.bursts, c.bank_conflicts, c.warps,
          c.divergent_warps})
      std::printf(" %lld", (long long)number);
    std::printf("\n");
    std::FILE* out = std::fopen(argv[9], "wb");
    if (!out ||
        std::fwrite(memory.out.data(), sizeof(float), memory.out.size(), out) !=
            memory.out.size() ||
        std::fclose(out) != 0)
      throw std::runtime_error("the result cannot be written");
  } catch (const std::exception& error) {
    std::printf("\nerror %s\n", error.what());
    return 1;
  }
  return 0;
}
