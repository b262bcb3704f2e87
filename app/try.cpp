#include <unistd.h>

#include "app/commands.hpp"
#include "src/auto/choice.hpp"
#include "src/base/errors.hpp"
#include "src/base/width.hpp"
#include "src/lesson/gpu_program.hpp"
#include "src/lesson/judge.hpp"
#include "src/lesson/text.hpp"
#include "src/mask/file.hpp"

namespace convfilt {
namespace {

constexpr const char* kNvccRemedy =
    "install the CUDA toolkit, or name its nvcc in NVCC or put it into PATH";

/// The GPU to try the kernel on, too. None where nobody asks for one and it or nvcc is missing;
/// `remark` then says what a GPU that is there lacks.
std::optional<GpuWish> gpu_of(const TryCommand& command, const Machine& machine,
                              std::string& remark) {
  if (command.device == name_of(DeviceKind::cpu)) return std::nullopt;
  const Wanted wanted = wanted_device(command.device, machine);
  if (wanted.kind == DeviceKind::emulator)
    throw UsageError(
        "--device=emulator: the emulator is for our own kernels; --device=cpu runs yours on the "
        "host");
  if (!wanted.kind && !has_cuda(machine)) return std::nullopt;
  GpuWish wish{machine.cuda().devices.at(std::size_t(wanted.ordinal)), find_nvcc(),
               wanted.kind.has_value()};
  if (!wish.nvcc.empty()) return wish;
  const std::string why =
      std::string("there is no nvcc to compile it for ") + wish.device.name + "; " + kNvccRemedy;
  if (wish.is_asked) throw IoError("--device=" + command.device + ": " + why);
  remark = "it is not tried on the GPU: " + why;
  return std::nullopt;
}

}  // namespace

void run(const TryCommand& command) {
  const KernelFile kernel = read_kernel_file(command.kernel, command.launch);
  MaskWish mask{std::nullopt, command.mask_size};
  if (!command.mask.empty()) mask.mask = load_mask(command.mask);
  std::string remark;
  const std::optional<GpuWish> gpu = gpu_of(command, this_machine(), remark);
  LessonVerdict verdict = judge(kernel, mask, gpu);
  if (!remark.empty()) verdict.remarks.push_back({"no_gpu", 0, remark});
  if (command.json)
    print_result(verdict_json(kernel, verdict));
  else
    print_text(verdict_text(kernel, verdict, terminal_width(STDOUT_FILENO)));
  if (!verdict.is_right()) throw IoError(verdict_failure(kernel, verdict));
}

}  // namespace convfilt
