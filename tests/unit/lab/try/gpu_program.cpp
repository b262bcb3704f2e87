/// A student's kernel on a GPU: what nvcc and the program that it makes say is taken as it is
/// meant. A script stands for nvcc, and another for its program, so that no GPU is needed.
#include "src/lab/try/gpu_program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/backend/devices.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/lab/try/judge.hpp"
#include "src/lab/try/text.hpp"
#include "tests/support/files/picture.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// An nvcc that keeps its arguments in a file, and makes a program of these lines of a shell. They
/// are run for each picture, with its NUMBER, WIDTH, HEIGHT, REPEATS, DATA and RESULT.
class FakeNvcc {
 public:
  explicit FakeNvcc(const std::string& lines) {
    std::ofstream(folder_ / "program") << "#!/bin/bash\n"
                                          "number=0\n"
                                          "while read -r gx gy gz repeats data result; do\n"
                                          "  read -r width height < <(od -An -td4 -N8 $data)\n"
                                          "  if [ $number -ge $6 ]; then\n"
                                          "    echo begin $number\n"
                                       << lines
                                       << "\n    echo end $number\n"
                                          "  fi\n"
                                          "  number=$((number + 1))\n"
                                          "done <$5\n";
    write("printf '%s\\n' \"$@\" >" + (folder_ / "arguments") +
          "\nwhile [ \"$1\" != -o ]; do shift; done; cp " + (folder_ / "program") +
          " \"$2\"; chmod +x \"$2\"");
  }

  /// nvcc does this instead.
  void write(const std::string& lines) const {
    std::ofstream(path()) << "#!/bin/bash\n" << lines << "\n";
    fs::permissions(path(), fs::perms::owner_all);
  }

  std::string path() const { return folder_ / "nvcc"; }
  std::string arguments() const { return contents_of(folder_ / "arguments"); }

 private:
  testing::TemporaryFolder folder_;
};

/// What the kernel below makes of a picture under a mask of one weight, which is 1.
const char* kCopies = "tail -c $((4 * width * height)) $data >$result";

KernelFile copying_kernel() {
  KernelFile kernel;
  kernel.path = "mine.cu";
  kernel.text =
      "__global__ void copy(float* in, float* out, int width, int height, float* mask) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n"
      "  if (x < width && y < height) out[y * width + x] = mask[0] * in[y * width + x];\n"
      "}\n";
  kernel.host_text = kernel.text;
  kernel.kernel = "copy";
  kernel.parameters = {"in", "out", "width", "height", "mask"};
  using enum KernelArgument;
  kernel.arguments = {in, out, width, height, mask};
  return kernel;
}

CudaDevice device() {
  CudaDevice device;
  device.ordinal = 3;
  device.name = "a GPU";
  device.major = 8;
  device.minor = 6;
  return device;
}

std::vector<Trial> trials(std::size_t count) {
  const Mask one = make_mask("one", 1, 1, {1});
  std::vector<Trial> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({int(i) + 2, 3, {}, one});
    for (int k = 0; k < all[i].width * 3; ++k) all[i].in.push_back(float(k) / 8);
  }
  return all;
}

}  // namespace

TEST_CASE("lesson on a GPU: results, findings and times arrive") {
  const FakeNvcc nvcc(std::string(kCopies) +
                      "\n[ $number != 1 ] || echo outside_write -7"
                      "\n[ $repeats = 0 ] || printf 'ms 3 1 2\\ncopy 4 6 5\\n'");
  const GpuProgram program(copying_kernel(), device(), nvcc.path());
  CHECK(nvcc.arguments().find("\n-arch=sm_86\n") != std::string::npos);
  const auto all = trials(3);
  const std::vector<TrialRun> runs = program.run(all);
  REQUIRE(runs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(runs[i].end == TrialRun::End::done);
    CHECK(runs[i].out == all[i].in);
    CHECK(runs[i].findings.size() == (i == 1 ? 1 : 0));
    CHECK(runs[i].ms.empty());
  }
  CHECK(runs[1].findings[0].fault == "outside_write");
  CHECK(runs[1].findings[0].cell == -7);
  const TrialRun timed = program.run({&all[0], 1}, 60, 3).front();
  CHECK(timed.ms == std::vector<double>{3, 1, 2});
  CHECK(timed.copy_ms == 5);
}

TEST_CASE("lesson on a GPU: what crashes is told, and the other pictures are tried") {
  const FakeNvcc nvcc(
      "[ $number != 1 ] || { echo error an illegal address; exit 1; }\n"
      "[ $number != 2 ] || kill -9 $$\n" +
      std::string(kCopies));
  const auto all = trials(4);
  const std::vector<TrialRun> runs = GpuProgram(copying_kernel(), device(), nvcc.path()).run(all);
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].end == TrialRun::End::done);
  CHECK(runs[1].end == TrialRun::End::crashed);
  CHECK(runs[1].why == "an illegal address");
  CHECK(runs[2].end == TrialRun::End::crashed);
  CHECK(runs[2].why == "its process ends without a word");
  CHECK(runs[3].end == TrialRun::End::done);
  CHECK(runs[3].out == all[3].in);
}

TEST_CASE("lesson on a GPU: what does not end is stopped, and the rest is left out") {
  const FakeNvcc nvcc("[ $number != 1 ] || sleep 60\n" + std::string(kCopies));
  const std::vector<TrialRun> runs =
      GpuProgram(copying_kernel(), device(), nvcc.path()).run(trials(3), 5.0);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].end == TrialRun::End::done);
  CHECK(runs[1].end == TrialRun::End::too_long);
}

TEST_CASE("lesson on a GPU: a device that fails is no fault of the kernel") {
  const FakeNvcc nvcc("echo device out of memory; exit 1");
  CHECK_THROWS_WITH_AS(GpuProgram(copying_kernel(), device(), nvcc.path()).run(trials(1)),
                       "CUDA: out of memory", DeviceError);
}

TEST_CASE("lesson on a GPU: nvcc itself compiles the runner") {
  if (find_nvcc().empty()) return;
  KernelFile kernel = copying_kernel();
  kernel.text =
      "__constant__ float F[2][3];\n"
      "__global__ void copy(const float* in, float* out, int width, int height, unsigned r) {\n"
      "  extern __shared__ float tile[];\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n"
      "  int here = threadIdx.y * blockDim.x + threadIdx.x;\n"
      "  if (x < width && y < height) tile[here] = in[y * width + x];\n"
      "  __syncthreads();\n"
      "  if (x < width && y < height) out[y * width + x] = F[0][0] * tile[here] + r;\n"
      "}\n";
  kernel.constant_mask = "F";
  kernel.launch.shared_bytes = 1024;
  using enum KernelArgument;
  kernel.arguments = {in, out, width, height, radius};
  CudaDevice nearby = device();
  if (const auto& found = cuda_devices().devices; !found.empty()) {
    nearby = found.front();
  } else {
    nearby.ordinal = 0;
    nearby.major = 9;
    nearby.minor = 0;
  }
  const GpuProgram program(kernel, nearby, find_nvcc());
  if (cuda_devices().devices.empty()) {
    CHECK_THROWS_AS(program.run(trials(1)), DeviceError);
    return;
  }
  const auto all = trials(3);
  const std::vector<TrialRun> runs = program.run(all);
  REQUIRE(runs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(runs[i].out == all[i].in);
  const TrialRun timed = program.run({&all[0], 1}, 60, 5).front();
  CHECK(timed.ms.size() == 5);
  CHECK(timed.copy_ms > 0);
}

TEST_CASE("lesson on a GPU: which nvcc") {
  const FakeNvcc nvcc(kCopies);
  const auto kept = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string path = kept("PATH"), named = kept("NVCC");
  unsetenv("NVCC");
  setenv("PATH", ("/nowhere:" + fs::path(nvcc.path()).parent_path().string() + ":" + path).c_str(),
         1);
  CHECK(find_nvcc() == nvcc.path());
  setenv("NVCC", "/my/nvcc", 1);
  CHECK(find_nvcc() == "/my/nvcc");
  setenv("PATH", path.c_str(), 1);
  setenv("NVCC", named.c_str(), 1);  // an empty one counts for nothing
}

TEST_CASE("lesson on a GPU: nvcc's words") {
  const FakeNvcc nvcc(kCopies);
  const auto compile = [&] { GpuProgram(copying_kernel(), device(), nvcc.path()); };
  nvcc.write(
      "while [[ $1 != */convfilt-try-* ]]; do shift; done\n"
      "echo \"$1/kernel.cu(2): error: expected a ;\"; exit 2");
  CHECK_THROWS_WITH_AS(
      compile(), "'mine.cu' is not compiled by nvcc:\nmine.cu(2): error: expected a ;", IoError);
  nvcc.write("echo \"nvcc fatal   : Unsupported gpu architecture 'sm_86'\"; exit 1");
  CHECK_THROWS_WITH_AS(compile(), "nvcc fails: nvcc fatal   : Unsupported gpu architecture 'sm_86'",
                       CompilerError);
  CHECK_THROWS_WITH_AS(GpuProgram(copying_kernel(), device(), "/nowhere/nvcc"),
                       "there is no '/nowhere/nvcc'; let NVCC name the CUDA toolkit's nvcc",
                       CompilerError);
  fs::permissions(nvcc.path(), fs::perms::owner_read);
  CHECK_THROWS_WITH_AS(compile(),
                       (quoted_name(nvcc.path()) +
                        " cannot be started; see whether you may run it, and whether the temporary "
                        "folder has room")
                           .c_str(),
                       CompilerError);
}

TEST_CASE("lesson: a compiler that cannot be started is not called missing") {
  const FakeNvcc compiler("");
  fs::permissions(compiler.path(), fs::perms::owner_read);
  const char* value = std::getenv("CXX");
  const std::string named = value ? value : "";
  setenv("CXX", compiler.path().c_str(), 1);
  CHECK_THROWS_WITH_AS(LessonProgram{copying_kernel()},
                       ("the compiler " + in_quotes(compiler.path()) +
                        " cannot be started; see whether you may run it, and whether the temporary "
                        "folder has room")
                           .c_str(),
                       NoVerdictError);
  setenv("CXX", named.c_str(), 1);  // an empty one counts for nothing
}

TEST_CASE("lesson on a GPU: a kernel that is right on the host and wrong there is wrong") {
  if (std::system("command -v c++ >/dev/null && command -v addr2line >/dev/null") != 0) return;
  const FakeNvcc nvcc("head -c $((4 * width * height)) /dev/zero >$result");
  const KernelFile kernel = copying_kernel();
  const LessonWish one{make_mask("one", 1, 1, {1}), {}};
  const LessonVerdict verdict = judge(kernel, one, GpuWish{device(), nvcc.path(), false});
  CHECK(verdict.host.is_right());
  REQUIRE(verdict.gpu);
  CHECK(verdict.gpu->score.right == 0);
  CHECK(verdict.gpu->times.empty());
  CHECK_FALSE(verdict.is_right());
  CHECK(verdict_failure(kernel, verdict) ==
        "'mine.cu' is wrong on 10 of 10 pictures on the GPU, and right on the host");
  const std::string text = verdict_text(kernel, verdict, 200);
  CHECK(text.find("on a GPU: right on 0 of 10 pictures\n") != text.npos);
  CHECK(text.find("mine.cu: on the GPU: 1536 of 1536 outputs are wrong") != text.npos);

  // Where nvcc does not work, the host's verdict holds, unless the GPU was asked for.
  nvcc.write("echo no licence; exit 1");
  const LessonVerdict alone = judge(kernel, one, GpuWish{device(), nvcc.path(), false});
  CHECK(alone.is_right());
  REQUIRE(alone.remarks.size() == 1);
  CHECK(alone.remarks[0].text == "it is not tried on the GPU: nvcc fails: no licence");
  CHECK_THROWS_AS(judge(kernel, one, GpuWish{device(), nvcc.path(), true}), IoError);
}

TEST_CASE("lesson: a verdict with times in text and JSON") {
  const KernelFile kernel = copying_kernel();
  LessonVerdict verdict;
  verdict.masks = {make_mask("m", 5, 3, std::vector<double>(15, 1))};
  verdict.why_masks = "for a reason";
  verdict.host = {9, 9, 0, {}};
  verdict.gpu = {"a GPU", {10, 10, 0, {}}, 4096, 4096, {{"copy", 0.5, 2}, {"basic", 0.25, 1}}};
  CHECK(verdict_failure(kernel, verdict).empty());
  CHECK(verdict_text(kernel, verdict, 200) ==
        "copy: blocks of 16x16 threads for 16x16 outputs; mask 5x3 (for a reason)\n"
        "on the host, its memory watched: right on 9 of 9 pictures\n"
        "on a GPU: right on 10 of 10 pictures\n"
        "\n"
        "4096x4096 on a GPU, in medians, and in device copies of the picture's bytes:\n"
        "             ms  copies\n"
        "  yours  0.5000    2.00\n"
        "  basic  0.2500    1.00\n");
  const std::string json = verdict_json(kernel, verdict, 1.5);
  CHECK(json.find("\"size\": \"4096x4096\"") != json.npos);
  CHECK(json.find("\"ms\": 0.25") != json.npos);

  // A race that a GPU does not show.
  verdict.host = {9, 0, 0, {{"race", 27, "two threads"}}};
  const std::string text = verdict_text(kernel, verdict, 200);
  CHECK(text.find("mine.cu:27: two threads\n") != text.npos);
  CHECK(text.find("by luck") != text.npos);
  CHECK(verdict_failure(kernel, verdict) == "'mine.cu' is wrong on 9 of 9 pictures");
}

}  // namespace convfilt
