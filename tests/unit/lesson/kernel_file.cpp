/// What a student's file says of its kernel: parameters by name, the mask's array, the launch.
#include "src/lesson/kernel_file.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "src/base/errors.hpp"
#include "tests/support/picture_files.hpp"

namespace convfilt {
namespace {

KernelFile read(const std::string& text, const LaunchWish& wish = {}) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "kernel.cu";
  std::ofstream(path) << text;
  return read_kernel_file(path, wish);
}

const std::string kLaunch = "// launch: block 16x16\n";
const std::string kArray = "__constant__ float F[5][5];\n";

std::vector<KernelArgument> arguments_of(const std::string& parameters) {
  return read(kLaunch + kArray + "__global__ void f(" + parameters + ") {}\n").arguments;
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("lesson: a kernel's parameters are known by name, else by their order") {
  using enum KernelArgument;
  using Arguments = std::vector<KernelArgument>;
  CHECK(arguments_of("float* in, float* out, int width, int height") ==
        Arguments{in, out, width, height});
  CHECK(arguments_of("float *a, float *b, int c, int d") == Arguments{in, out, width, height});
  CHECK(arguments_of("float* out, const float* in, int rows, int cols") ==
        Arguments{out, in, height, width});
  // The book's two kernels.
  CHECK(arguments_of("float *N, float *F, float *P, int r, int width, int height") ==
        Arguments{in, mask, out, radius, width, height});
  CHECK(arguments_of("float *N, float *P, int r, int width, int height") ==
        Arguments{in, out, radius, width, height});
  CHECK(arguments_of("float* in, float* out, int w, int h, float* p") ==
        Arguments{in, out, width, height, mask});
  CHECK(arguments_of("const float* __restrict__ a, float b[], float* mask, unsigned w, unsigned h,"
                     "int mask_width, int mask_height") ==
        Arguments{in, out, mask, width, height, mask_width, mask_height});
  CHECK(arguments_of("float* in, float* out, int width, int height, int n") ==
        Arguments{in, out, width, height, mask_width});
}

TEST_CASE("lesson: what a kernel lacks, or nobody knows, is told with the place") {
  const auto with = [](const std::string& parameters) {
    return refusal(kLaunch + kArray + "__global__ void f(" + parameters + ") {}\n");
  };
  CHECK(has(with("unsigned char* in, float* out, int w, int h"), ":3:19: samples"));
  CHECK(has(with("float* in, float* out, int n"), "not told the picture's height"));
  CHECK(has(with("float* in, int w, int h"), "a kernel takes float* in, float* out"));
  CHECK(has(with("float* in, float* out, int w, int h, int a, int b, int c"), "what 'c' is given"));
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  CHECK(has(refusal(kLaunch + kernel), "has no place for the mask"));
  CHECK(has(refusal(kLaunch + kArray + "__constant__ float G[9];\n" + kernel),
            ":3:20: a second __constant__ array"));
}

TEST_CASE("lesson: the mask's array is named, unless the mask is a parameter") {
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  CHECK(read(kLaunch + "__constant__ float F [ 2 * R + 1 ][5];\n" + kernel).constant_mask == "F");
  CHECK(read(kLaunch + "__constant__ float F[25];\n" + kernel).constant_mask == "F");
  CHECK(read(kLaunch + kArray +
             "__global__ void f(float* in, float* out, int w, int h, float* mask) {}\n")
            .constant_mask.empty());
}

TEST_CASE("lesson: blocks of two dimensions, and blocks in a row") {
  const std::string rest =
      kArray + "__global__ void f(float* in, float* out, int width, int height) {}\n";
  const LaunchSize square =
      read("// launch: block 20x20, a block for each 16x16 outputs\n" + rest).launch;
  CHECK(to_string(square.block) == "20x20");
  CHECK(to_string(square.grid(33, 16)) == "3x1");
  const LaunchSize row = read("// launch: block 128, 512 bytes of shared memory\n" + rest).launch;
  CHECK(to_string(row.block) == "128");
  CHECK(to_string(row.threads()) == "128x1");
  CHECK(to_string(row.grid(33, 16)) == "5x1");
  CHECK(row.shared_bytes == 512);
  const LaunchSize wished = read("// launch: block 8x8\n" + rest, {Extent{64, 0}, {}, {}}).launch;
  CHECK(to_string(wished.outputs) == "64");
  CHECK_THROWS_AS(read("// launch: block 1025\n" + rest), UsageError);
}

}  // namespace convfilt
