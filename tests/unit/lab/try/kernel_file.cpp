/// What a student's file says of its kernel: parameters by name, the mask's array, the launch.
#include "src/lab/try/kernel_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "src/base/errors.hpp"
#include "src/base/splitmix.hpp"
#include "tests/support/files/picture.hpp"

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

/// What is no code, or code that looks like it, at the level of a file: the decoys in it are no
/// functions.
std::string distraction(SplitMix& random) {
  static const std::vector<std::string> parts = {"/",
                                                 "*",
                                                 "\"",
                                                 "'",
                                                 "\\\"",
                                                 "\\'",
                                                 "R\"(",
                                                 ")\"",
                                                 "//",
                                                 "/*",
                                                 "\\\n",
                                                 "{",
                                                 "(",
                                                 ";",
                                                 "#if 0",
                                                 "a ",
                                                 "__global__ void decoy(float* in) {}"};
  // Some parts that do not hold `end`, also with joined lines joined; a backslash may hide it.
  const auto inside = [&](const std::string& end, bool has_escapes = false) {
    while (true) {
      std::string text, joined;
      for (int n = random.below(6); n > 0; --n)
        text += parts[std::size_t(random.below(std::uint32_t(parts.size())))];
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\\\n") == 0)
          ++i;
        else
          joined += text[i];
      }
      bool is_ended = joined.ends_with("\\");
      for (std::size_t i = 0; i < joined.size(); ++i) {
        if (has_escapes && joined[i] == '\\')
          ++i;
        else
          is_ended = is_ended || (!end.empty() && joined.compare(i, end.size(), end) == 0);
      }
      if (!is_ended) return text;
    }
  };
  switch (random.below(6)) {
    case 0: return "/*" + inside("*/") + " */\n";
    case 1: return "//" + inside("") + "\n";
    case 2: return "const char* s = L\"" + inside("\"", true) + "\";\n";
    case 3: return "const int c = u'" + inside("'", true) + "';\n";
    case 4: return "const char* r = u8R\"x(" + inside("") + "\n)x\";\n";
    default: return "const int n = 1'000 + 0x'f + sizeof(int);\n";
  }
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
  CHECK(
      read(
          kLaunch + kArray +
          "extern \"C\" {\n__global__ void f(float* in, float* out, int width, int height) {}\n}\n")
          .arguments == Arguments{in, out, width, height});
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
  CHECK(arguments_of("float* A, float* B, float* K, int width, int height, int k") ==
        Arguments{in, out, mask, width, height, mask_width});
  // Sides by the names that courses have.
  CHECK(arguments_of("float* d_out, float* d_in, int Ny, int Nx") ==
        Arguments{out, in, height, width});
  CHECK(arguments_of("float* in, float* out, int imgH, int imgW") ==
        Arguments{in, out, height, width});
  CHECK(arguments_of("float* in, float* out, int nrow, int ncol") ==
        Arguments{in, out, height, width});
  CHECK(arguments_of("float* in, float* out, int pitch, int width, int height, int channels") ==
        Arguments{in, out, width, width, height, channels});
}

TEST_CASE("lesson: where names say nothing, the output is what the kernel writes to") {
  using enum KernelArgument;
  using Arguments = std::vector<KernelArgument>;
  const auto read_body = [](const std::string& parameters, const std::string& body) {
    return read(kLaunch + kArray + "__global__ void f(" + parameters + ") {" + body + "}\n");
  };
  const std::string course = "float *P, float *N, int height, int width";
  for (const std::string body :
       {"P[y * width + x] = N[0];", "*P = N[0];", "P[f(a[1])] += N[1] == 2;", "*(P + 1) = N[0];",
        "atomicAdd(&P[3], N[0]);"}) {
    CAPTURE(body);
    const KernelFile kernel = read_body(course, body);
    CHECK(kernel.arguments == Arguments{out, in, height, width});
    CHECK(kernel.guesses.empty());
  }
  // A comparison writes nothing, nor does a product.
  CHECK(read_body(course, "if (P[0] == 1) N[0] = 2 * P[1];").arguments ==
        Arguments{in, out, height, width});
  CHECK(read_body("float *A, float *B, float *C, int w, int h", "B[0] = A[0] * C[0];").arguments ==
        Arguments{in, out, mask, width, height});
  // What nobody knows is a guess, which judge() may exchange.
  const KernelFile guessed = read_body("float* a, float* b, int m, int n", "");
  CHECK(guessed.arguments == Arguments{in, out, width, height});
  CHECK(guessed.guesses == std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {2, 3}});
}

TEST_CASE("lesson: whether a kernel makes use of the mask's size") {
  const auto is_told = [](const std::string& parameters, const std::string& body) {
    return read(kLaunch + kArray + "__global__ void f(" + parameters + ") {" + body + "}\n")
        .is_told_size;
  };
  const std::string sized = "float* in, float* out, int w, int h, int maskSize";
  CHECK(is_told(sized, "int k = maskSize;"));
  CHECK_FALSE(is_told(sized, "int k = 5;"));
  CHECK(is_told(sized + ", float* mask", "int k = 5;"));
}

TEST_CASE("lesson: what a kernel lacks, or nobody knows, is told with the place") {
  const auto with = [](const std::string& parameters) {
    return refusal(kLaunch + kArray + "__global__ void f(" + parameters + ") {}\n");
  };
  CHECK(has(with("unsigned char* in, float* out, int w, int h"), ":3:19: samples"));
  CHECK(has(with("const double* in, double* out, int w, int h"), ":3:19: samples"));
  CHECK(with("float* in, float* out, int n").empty());  // of lines
  CHECK(has(refusal(kLaunch + kArray +
                    "__global__ void f(float* in, float* out, int n) { int y = blockIdx.y; }\n"),
            "not told the picture's height"));
  CHECK(has(with("float* in, int w, int h"), "a kernel takes float* in, float* out"));
  CHECK(has(with("float* in, float* out, int w, int h, int n"), "what 'n' is given; name it"));
  CHECK(has(with("float* in, float* out, int a, int b, int c"), "what 'c' is given; name it"));
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  CHECK(has(refusal(kLaunch + kernel), "has no place for the mask"));
  CHECK(has(refusal(kLaunch + kArray + "__constant__ float G[9];\n" + kernel),
            ":3:20: a second __constant__ array"));
}

TEST_CASE("lesson: what a file has beside the kernel") {
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  const std::string all = kLaunch + kArray + kernel;
  CHECK(read(kLaunch + "char c = '\"';\n" + kArray + kernel).kernel == "f");
  CHECK(read("#if 0\n__global__ void old() {}\n#else\nint a;\n#endif\n" + all).kernel == "f");
  CHECK(read("__global__ void f(float*, float*, int, int);\n" + all).kernel == "f");
  CHECK(read(kLaunch + kArray + "void __global__ f(float* in, float* out, int w, int h) {}\n")
            .kernel == "f");
  CHECK(read(kLaunch + kArray + "#define KERNEL __global__ void\n" +
             "KERNEL f(float* in, float* out, int w, int h) {}\n")
            .kernel == "f");
  CHECK(read(kLaunch + kArray +
             "__global__ __launch_bounds__(256, 2) void f(float* in, float* out, "
             "int w, int h) {}\n")
            .kernel == "f");
  CHECK(read(kLaunch + "namespace a {\nnamespace b {\n" + kArray + kernel + "}\n}\n").scope ==
        "a::b");
  const KernelFile homework =
      read("#include <wb.h>\n" + all +
           "__host__ __device__ int side(int n) { return n; }\n"
           "static int launch() {\n  f<<<1, 1>>>(0, 0, 1, 1);\n  return 1; }\n"
           "int main() { float* p; cudaMalloc(&p, 4); }\n");
  for (const char* word : {"wb.h", "<<<", "main", "cudaMalloc", "launch()"})
    CHECK_FALSE(has(homework.text, word));
  CHECK(has(homework.text, "side(int n)"));
  CHECK(read("#include <cooperative_groups.h>\n" + all).kernel == "f");
  CHECK_FALSE(read(kLaunch + kArray + "__global__ void f(float* in, float* out, int w, int h) {\n")
                  .is_closed);
}

TEST_CASE(
    "lesson: words in comments, strings and characters are no code, and what is between them is") {
  constexpr int kFiles = 400;
  SplitMix random(38);
  for (int i = 0; i < kFiles; ++i) {
    std::string text = kLaunch;
    for (const char* code :
         {kArray.c_str(), "__global__ void f(float* in, float* out, int w, int h) {}\n",
          "__device__ int last() { return 1; }\n"}) {
      text += distraction(random);
      text += distraction(random);
      text += code;
    }
    CAPTURE(text);
    KernelFile kernel;
    REQUIRE_NOTHROW(kernel = read(text));
    CHECK(kernel.kernel == "f");
    CHECK(kernel.constant_mask == "F");
    CHECK(kernel.device_lines.size() == 2);
  }
}

TEST_CASE("lesson: the host compiler gets its own words for shared memory") {
  const auto host = [](const std::string& line) {
    return read(kLaunch + kArray + line +
                "\n__global__ void f(float* in, float* out, int w, int h) {}\n#include <cuda.h>\n")
        .host_text;
  };
  CHECK(has(host("extern __shared__ float t[];"),
            "extern            float t[] __asm__(\"lesson_dynamic_shared\");"));
  CHECK(has(host("__shared__ alignas(16) float t[4];"), "__shared__ __align__(16) float t[4];"));
  CHECK(has(host("static __shared__ int n;"), "       __shared__ int n;"));
  CHECK_FALSE(has(host(""), "cuda.h"));
}

TEST_CASE("lesson: what nvcc refuses and the host's compiler takes is refused, with the place") {
  const auto with = [](const std::string& head, const std::string& body) {
    return refusal(kLaunch + kArray + head +
                   "\n__global__ void f(float* in, float* out, int w, int h) {" + body + "}\n");
  };
  const std::string helper = "float helper(float a) { return a; }";
  CHECK(has(with(helper, "out[0] = helper(1);"), ":4:66: nvcc allows no call of the __host__"));
  CHECK(has(with(helper + "__device__ float g() { return helper(1); }", ""), ":3:66: nvcc allows"));
  CHECK(has(with("static inline " + helper, "if (w) helper(1);"), "function 'helper'"));
  CHECK(has(with("", "__shared__ float t[4] = {0};"), ":4:79: nvcc allows no initializer"));
  CHECK(has(with("", "__shared__ int n{0};"), "nvcc allows no initializer"));
  CHECK(has(with("", "std::vector<float> v(4);"), ":4:62: std::vector is for the host"));
  CHECK(has(with("using namespace std;", "vector<float> v(4);"), "std::vector is for the host"));
  // These nvcc takes, or only warns of, or it takes them with an option.
  CHECK(with("__device__ " + helper, "helper(1);").empty());
  CHECK(with("__host__ __device__ " + helper, "helper(1);").empty());
  CHECK(with("constexpr " + helper, "helper(1);").empty());
  CHECK(with("DEVICE " + helper, "helper(1);").empty());
  CHECK(with("template <class T> " + helper, "helper(1);").empty());
  CHECK(with("__device__ float helper(float a);\n" + helper, "helper(1);").empty());
  CHECK(with(helper, "float helper(1); helper = 2;").empty());
  CHECK(with(helper, "auto helper = [](float a) { return a; }; helper(1);").empty());
  CHECK(with(helper, "in->helper(1); a::helper(1); // helper(1)").empty());
  CHECK(with(helper + "__host__ __device__ float g() { return helper(1); }", "").empty());
  CHECK(with(helper + "void check() { helper(1); std::vector<int> v; }", "").empty());
  CHECK(with("", "__shared__ float t[N == 4 ? 4 : 8], u[2]; float s[4] = {0};").empty());
  CHECK(with("struct vector {};", "vector a[4]; bool b = w < h;").empty());
}

TEST_CASE("lesson: files that are no kernel's, or too large, are refused at once") {
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  CHECK(has(refusal(kLaunch + kArray + kernel + std::string(2 << 20, ' ')), "more than 1 MiB"));
  CHECK(has(refusal(std::string("a\0b", 3)), "is no text"));
  CHECK(has(refusal("\xff\xfe"), "UTF-16"));
  // Long lines, names and blanks.
  const std::string blanks(500000, ' '), name(500000, 'a');
  CHECK(read("// launch: " + std::string(500000, 'x') + "\n" + kLaunch + kArray + kernel).kernel ==
        "f");
  CHECK(read(kLaunch + kArray + "__global__" + blanks +
             "void f(float* in, float* out, int w, int h) {}\n")
            .kernel == "f");
  CHECK(
      has(refusal(kLaunch + kArray + "__global__ void f(float* in, float* out, int w, int h, int " +
                  name + ") {}\n"),
          "is given"));
  CHECK(has(refusal(kLaunch + kArray + "__global__ void f" + std::string(500000, '(')), "has a"));
}

TEST_CASE("lesson: the mask's array is named, unless the mask is a parameter") {
  const std::string kernel = "__global__ void f(float* in, float* out, int w, int h) {}\n";
  CHECK(read(kLaunch + "__constant__ float F [ 2 * R + 1 ][5];\n" + kernel).constant_mask == "F");
  for (const char* array :
       {"__constant__ float F[25];", "float __constant__ F[25];", "__constant__ float F[25] = {0};",
        "typedef float real; __constant__ real F[25];", "static __constant__ float F[25];",
        "__constant__ int W = 5; __constant__ int a[3]; __constant__ float F[25];"})
    CHECK(read(kLaunch + array + "\n" + kernel).constant_mask == "F");
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
  const LaunchSize wished =
      read("// launch: block 8x8\n" + rest, {BlockSides{{64, 0}}, {}, {}}).launch;
  CHECK(to_string(wished.outputs) == "64");
  CHECK_FALSE(row.clears_out);
  CHECK(read("// launch: block 8x8, out cleared\n" + rest).launch.clears_out);
  CHECK(read("// launch: block 8x8\n" + rest, {{}, {}, {}, true}).launch.clears_out);
  CHECK(has(refusal("// launch: block 8, 49153 bytes of shared memory\n" + rest),
            ":1:4: a block has 0 to 49152 bytes"));
  const std::string small = "// launch: block 8x8\n" + rest;
  for (const int bytes : {-1, 49153}) CHECK_THROWS_AS(read(small, {{}, {}, bytes}), UsageError);
  CHECK(read(small, {{}, {}, 49152}).launch.shared_bytes == 49152);
  CHECK(has(refusal("// launch: block 1025\n" + rest), ":1:4: a block has 1 to 1024 threads"));
  CHECK_THROWS_AS(read(rest, {BlockSides{{1025, 0}}, {}, {}}), UsageError);
  CHECK(has(refusal("// launch: block 8x8x4\n" + rest), ":1:4: a block of three dimensions"));
  CHECK(to_string(read("// launch: block 8 x 8 x 1\n" + rest).launch.block) == "8x8");
}

TEST_CASE("lesson: a launch in a function for the host says the block and its outputs") {
  const std::string kernel =
      kArray + "__global__ void f(float* in, float* out, int width, int height) {}\n";
  const auto launch = [&](const std::string& before, const std::string& sizes) {
    const LaunchSize said = read(kernel + before + " f<<<" + sizes + ">>>(a, b, w, h); }\n").launch;
    return to_string(said.block) + " " + to_string(said.outputs) + " " +
           std::to_string(said.shared_bytes);
  };
  CHECK(launch("int main() { int w = 640, h = 480; dim3 block(16, 8);"
               "dim3 grid((w + block.x - 1) / block.x, (h + 7) / 8);",
               "grid, block, 4 * sizeof(float)") == "16x8 16x8 16");
  CHECK(launch("#define TILE 12\n#define SIDE (TILE + 2 * 2)\nvoid run(int w, int h) {",
               "dim3((w - 1) / TILE + 1, ceil(h / (float)TILE)), dim3(SIDE, SIDE, 1)") ==
        "16x16 12x12 0");
  CHECK(launch("void run(int w, int h) { const int n = w * h, threads = 256;",
               "(n + threads - 1) / threads, threads") == "256 256 0");
  CHECK(launch("void run(int w, int h) { auto b = dim3(8, 8);", "cdiv2(w, h), b") == "8x8 8x8 0");
  CHECK(launch("void run(int w, int h) { dim3 grid; grid.x = (w + 11) / 12; grid.y = (h + 11) / 12;"
               "dim3 block; block.x = 16; block.y = block.x;",
               "grid, block") == "16x16 12x12 0");
  // A grid that cannot be computed says nothing of a block's outputs: they are its threads.
  for (const char* before :
       {"int gx = 32, gy = 1; gx = gx * gx; gx = gx + gx;",
        "int gx = 1, gy = 1; gx = gy * gx; gy = gx * gy;", "int gx = pow(w, 2), gy = fmod(w, 2);"})
    CHECK(launch(std::string("void run(int w, int h) {") + before, "dim3(gx, gy), dim3(16, 8)") ==
          "16x8 16x8 0");
  for (const char* before : {"int gx = w / 16 + (w % 16 != 0), gy = h / 4 + (h % 4 != 0);",
                             "int gx = w % 16 ? w / 16 + 1 : w / 16, gy = (h + 3) >> 2;",
                             "auto up = [](int a, int b) { return (a + b - 1) / b; }; int gx = "
                             "up(w, 16), gy = up(h, 4);"})
    CHECK(launch(std::string("void run(int w, int h) {") + before, "dim3(gx, gy), dim3(16, 4)") ==
          "16x4 16x4 0");
  const KernelFile open =
      read(kernel + "void run(int w, int h) { f<<<grid(), side(w)>>>(a, b, w, h); }\n");
  CHECK(to_string(open.launch.block) == "16x16");
  CHECK(open.assumed == "the block of run() cannot be computed, since 'w' is not known here");
  const KernelFile exchanged =
      read(kernel +
           "void run(int w, int h) { dim3 b(16, 16), g((w + 15) / 16, (h + 15) / 16);"
           "f<<<b, g>>>(a, o, w, h); }\n");
  CHECK(exchanged.host->is_exchanged);
  CHECK(to_string(exchanged.launch.block) == "16x16");
  const KernelFile rows = read(kernel +
                               "void run(int w, int h) {"
                               "f<<<dim3((h + 15) / 16, (w + 7) / 8), dim3(16, 8)>>>"
                               "(a, o, w, h); }\n");
  CHECK(rows.launch.has_rows_first);
  CHECK(to_string(rows.launch.outputs) == "8x16");
  CHECK(to_string(rows.launch.grid(17, 100)) == "7x3");
  CHECK(to_string(read(kLaunch + kernel + "void run() { f<<<1, dim3(8, 8)>>>(a, b, w, h); }\n")
                      .launch.block) == "16x16");
}

TEST_CASE("lesson: a launch is computed by the declared types, and by what is known alone") {
  const auto read_launch = [&](const std::string& before, const std::string& launch) {
    return read(kArray + "__global__ void f(float* in, float* out, int width, int height) {}\n" +
                before + launch + " }\n");
  };
  const std::string call = "f<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)";
  // One name for both sides.
  const KernelFile square = read_launch("void run(int n) {",
                                        "f<<<dim3((n + 15) / 16, (n + 7) / 8), dim3(16, 8)>>>"
                                        "(a, b, n, n);");
  CHECK(to_string(square.launch.outputs) == "16x8");
  // int r = 5 / 2.0 is 2, and a float stays one.
  CHECK(to_string(read_launch("void run(int w, int h) { int r = 5 / 2.0; float t = 12;",
                              "f<<<dim3(ceil(w / t), ceil(h / t)), dim3(12 + 2 * r, 16)>>>"
                              "(a, b, w, h);")
                      .launch.block) == "16x16");
  const KernelFile bytes = read_launch("void run(int w, int h, int n) {",
                                       call + ", sizeof(float[4][5])>>>(a, b, w, h);");
  CHECK(bytes.launch.shared_bytes == 80);
  CHECK(bytes.assumed_shared.empty());
  const KernelFile most =
      read_launch("void run(int w, int h, int n) {", call + ", n * sizeof *a>>>(a, b, w, h);");
  CHECK(most.launch.shared_bytes == kMostShared);
  CHECK(has(most.assumed_shared, "'n * sizeof *a' is not known here"));
  // Rows alone, processors of a device, macros with two values.
  CHECK_FALSE(
      read_launch("void run(int w, int h) {", "f<<<h, 256>>>(a, b, w, h);").guessed.empty());
  CHECK_FALSE(read_launch("void run(int w, int h, int sms) {", "f<<<32 * sms, 256>>>(a, b, w, h);")
                  .guessed.empty());
  CHECK_FALSE(
      read_launch("#if X\n#define T 8\n#else\n#define T 16\n#endif\nvoid run(int w, int h) {",
                  "f<<<dim3(w / T, h / T), dim3(T, T)>>>(a, b, w, h);")
          .assumed.empty());
  CHECK(to_string(read_launch("void run(int w, int h) { f<<<1, 1>>>(a, b, 1, 1);",
                              call + ">>>(a, b, w, h);")
                      .launch.block) == "16x16");
  // A macro has the value that the preprocessor lets through, and joined lines are one.
  for (const char* macro : {"#if 0\n#define T 8\n#else\n#define T 12\n#endif\n",
                            "#define \\\n T 12\n", "/* #define T 8\n*/ #define T 12\n"})
    CHECK(to_string(read_launch(std::string(macro) + "void run(int w, int h) {",
                                "f<<<dim3((w + T - 1) / T, (h + T - 1) / T), dim3(T, T)>>>"
                                "(a, b, w, h);")
                        .launch.block) == "12x12");
  CHECK_THROWS_AS(read_launch("void run(int w, int h) {", "f<<<>>>(a, b, w, h);"), KernelRefused);
}

TEST_CASE("lesson: static variables of a kernel are refused, constants and shared memory are not") {
  const auto kernel = [&](const std::string& variable) {
    return kLaunch + kArray + "__global__ void f(float* in, float* out, int width, int height) {" +
           variable + "}\n";
  };
  for (const char* variable : {"static float a[3];", "float static a = 0;", "static int n = 1;"})
    CHECK(has(refusal(kernel(variable)), "a static variable in a kernel is one for all threads"));
  for (const char* variable : {"static __shared__ float a[3];", "__shared__ static float a[3];",
                               "static const float a[2] = {1, 2};", "static constexpr int n = 1;"})
    CHECK(read(kernel(variable)).kernel == "f");
}

TEST_CASE("lesson: lines, volumes and templates") {
  const std::string mask = "__constant__ float F[3];\n__constant__ int G[2];\n";
  CHECK(read("// launch: block 64\n" + mask +
             "__global__ void f(float* in, float* out, int width) {}\n")
            .dimensions == 1);
  const KernelFile volume =
      read("// launch: block 8x8x4, a block for each 6x6x2 outputs\n" + mask +
           "__global__ void f(float* in, float* out, int z_size, int y_size, int x_size) {}\n");
  CHECK(volume.dimensions == 3);
  CHECK(arguments_of("float* in, float* out, int w, int h, int d").back() == KernelArgument::depth);
  CHECK(to_string(volume.launch.block) == "8x8x4");
  CHECK(to_string(volume.launch.grid(7, 6, 5)) == "2x1x3");
  CHECK(has(refusal("// launch: block 8x8x4\n" + mask +
                    "__global__ void f(float* in, float* out, int w, int h) {}\n"),
            "the kernel is not told a depth"));

  const std::string kernel = "__global__ void f(T* in, T* out, int w, int h) {}\n";
  const std::string defaults = "template <typename T = float, int R = 2>\n" + kernel;
  CHECK(read(kLaunch + kArray + defaults).template_arguments == "<float, 2>");
  const KernelFile launched =
      read(kLaunch + kArray + "constexpr int S = 3;\n" + defaults +
           "int main() { f<float, S + 1><<<dim3(1, 1), dim3(8, 8)>>>(0, 0, 1, 1); }\n");
  CHECK(launched.template_arguments == "<float, 4>");
  CHECK(has(launched.host_text, "using T = float; constexpr int R = 4;"));
  CHECK_FALSE(has(launched.host_text, "template"));
  CHECK(std::ranges::count(launched.host_text, '\n') == std::ranges::count(launched.text, '\n'));
  CHECK(has(refusal(kLaunch + kArray + "template <class T, int R>\n" + kernel),
            ":3:24: the template's parameter 'R' has no value; give it a default"));
}

}  // namespace convfilt
