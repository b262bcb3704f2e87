#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/lesson/judge.hpp"
#include "src/mask/file.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

std::string sides(const Extent& extent) {
  return std::to_string(extent.width) + "x" + std::to_string(extent.height);
}

std::string json_of(const KernelFile& kernel, const Mask& mask, const LessonVerdict& verdict) {
  const auto list = [](const std::vector<LessonSentence>& sentences) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const LessonSentence& sentence : sentences) {
      nlohmann::ordered_json one = {{"kind", sentence.kind}};
      if (sentence.line > 0) one["line"] = sentence.line;
      one["text"] = sentence.text;
      all.push_back(one);
    }
    return all;
  };
  const LessonCounts& c = verdict.counts;
  nlohmann::ordered_json json = {
      {"kernel", kernel.kernel},
      {"file", kernel.path},
      {"block", sides(kernel.launch.block)},
      {"outputs", sides(kernel.launch.outputs)},
      {"mask", std::to_string(mask.width) + "x" + std::to_string(mask.height)},
      {"right", verdict.is_right()},
      {"pictures", verdict.trials},
      {"pictures_right", verdict.right},
      {"faults", list(verdict.faults)},
      {"remarks", list(verdict.remarks)},
      {"block_counts",
       {{"global_reads", c.global_reads},
        {"global_writes", c.global_writes},
        {"shared_reads", c.shared_reads},
        {"shared_writes", c.shared_writes},
        {"mask_reads", c.mask_reads},
        {"barriers", c.barriers},
        {"sectors", c.sectors},
        {"fewest_sectors", c.fewest_sectors},
        {"bank_conflicts", c.bank_conflicts}}}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void print_verdict(const KernelFile& kernel, const Mask& mask, const LessonVerdict& verdict) {
  const std::string file = printable_name(kernel.path);
  print_text(kernel.kernel + ": blocks of " + sides(kernel.launch.block) + " threads for " +
             sides(kernel.launch.outputs) + " outputs, mask " + std::to_string(mask.width) + "x" +
             std::to_string(mask.height) + ": right on " + std::to_string(verdict.right) + " of " +
             std::to_string(verdict.trials) + " pictures\n");
  const auto say = [&](const LessonSentence& sentence, const char* what) {
    const std::string line = sentence.line > 0 ? ":" + std::to_string(sentence.line) : "";
    print_text(file + line + ": " + what + sentence.text + "\n");
  };
  for (const LessonSentence& fault : verdict.faults) say(fault, "");
  for (const LessonSentence& remark : verdict.remarks) say(remark, "remark: ");
  const LessonCounts& c = verdict.counts;
  const double outputs = double(kernel.launch.outputs.width) * double(kernel.launch.outputs.height);
  char text[320];
  std::snprintf(text, sizeof text,
                "A block in the middle: %lld global reads (%.2f an output), %lld global writes, "
                "%lld shared reads, %lld shared writes, %lld mask reads, barriers: %lld\n",
                static_cast<long long>(c.global_reads), double(c.global_reads) / outputs,
                static_cast<long long>(c.global_writes), static_cast<long long>(c.shared_reads),
                static_cast<long long>(c.shared_writes), static_cast<long long>(c.mask_reads),
                static_cast<long long>(c.barriers));
  print_text(text);
}

}  // namespace

void run(const TryCommand& command) {
  const KernelFile kernel = read_kernel_file(command.kernel, command.launch);
  const Mask mask = command.mask.empty()
                        ? random_mask(Weights::bits16, int(command.mask_size.width),
                                      int(command.mask_size.height))
                        : load_mask(command.mask);
  const LessonVerdict verdict = judge(kernel, mask);
  if (command.json)
    print_result(json_of(kernel, mask, verdict));
  else
    print_verdict(kernel, mask, verdict);
  if (!verdict.is_right())
    throw IoError(quoted_name(kernel.path) + " is wrong on " +
                  std::to_string(verdict.trials - verdict.right) + " of " +
                  std::to_string(verdict.trials) + " pictures");
}

}  // namespace convfilt
