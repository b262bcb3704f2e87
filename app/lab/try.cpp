#include <unistd.h>

#include <new>

#include "app/commands.hpp"
#include "app/lab/commands.hpp"
#include "src/auto/choice.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/terminal.hpp"
#include "src/lab/try/gpu_program.hpp"
#include "src/lab/try/judge.hpp"
#include "src/lab/try/text.hpp"
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
  if (wish.is_asked) throw NoVerdictError("--device=" + command.device + ": " + why);
  remark = "it is not tried on the GPU: " + why;
  return std::nullopt;
}

void try_kernel(const TryCommand& command) {
  const auto start = Clock::now();
  const KernelFile kernel = read_kernel_file(command.kernel, command.launch);
  LessonWish wish = command.wish;
  if (!command.mask.empty()) wish.mask = load_mask(command.mask);
  std::string remark;
  const std::optional<GpuWish> gpu = gpu_of(command, this_machine(), remark);
  LessonVerdict verdict = judge(kernel, wish, gpu);
  if (!remark.empty()) verdict.remarks.push_back({"no_gpu", 0, remark});
  if (command.json)
    print_result(verdict_json(kernel, verdict, ms_since(start) / 1e3));
  else
    print_text(verdict_text(kernel, verdict, terminal_width(STDOUT_FILENO)));
  if (!verdict.is_right()) throw IoError(verdict_failure(kernel, verdict));
}

}  // namespace

void TryCommand::run() {
  const auto print = [&](const char* status, int line, const std::string& text) {
    if (json) print_result(refusal_json(kernel, status, line, text));
  };
  try {
    try_kernel(*this);
  } catch (const KernelRefused& refusal) {
    print(refusal.is_compilers ? "not_compiled" : "refused", refusal.line, refusal.text);
    throw;
  } catch (const NoVerdictError& error) {
    print("error", 0, error.what());
    throw;
  } catch (const DeviceError& error) {
    print("error", 0, error.what());
    throw NoVerdictError(error.what());
  } catch (const std::bad_alloc&) {
    const std::string why = "out of memory: the launch is too large, or memory is short";
    print("error", 0, why);
    throw NoVerdictError(why);
  }
}

}  // namespace convfilt
