#include "src/lab/try/text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/lab/explain/count_reads.hpp"

namespace convfilt {
namespace {

/// The student's kernel in a table, whatever its name.
constexpr const char* kYours = "yours";

/// The counts that a student's kernel has, too, in the words of `explain`. Its ghost cells and the
/// accesses that load a tile are not known, and it has no plane of sums.
std::vector<CountName> counts_told() {
  std::vector<CountName> names;
  for (const CountName& name : watched_counts())
    if (name.name != "ghost cells" && !name.name.ends_with("additions") &&
        !name.name.starts_with("warps that"))
      names.push_back(name);
  return names;
}

/// A column for each kernel, a row for each count.
std::string counts_table(const LessonVerdict& verdict, std::size_t width) {
  std::vector<BlockRow> rows = {*verdict.block};
  rows.front().name = kYours;
  rows.insert(rows.end(), verdict.textbook.begin(), verdict.textbook.end());
  Table table;
  table.words = 1;
  table.head = {""};
  for (const BlockRow& row : rows) table.head.push_back(row.name);
  const auto add = [&](std::string_view name, const auto& cell) {
    Table::Line line{{std::string(name)}, ""};
    for (const BlockRow& row : rows) line.cells.push_back(cell(row));
    table.lines.push_back(line);
  };
  add("threads", [](const BlockRow& row) { return to_string(row.block); });
  add("outputs", [](const BlockRow& row) { return to_string(row.outputs); });
  for (const CountName& count : counts_told())
    add(count.name, [&](const BlockRow& row) { return std::to_string(count.of(row.counts)); });
  add("reads an output", [](const BlockRow& row) {
    return with_format("%.2f", double(row.counts.global_reads) / double(row.outputs.count()));
  });
  add("reuse",
      [](const BlockRow& row) { return row.reuse > 0 ? with_format("%.2f", row.reuse) : "-"; });
  // Strategies apply a large mask in several launches, whose warps are counted together.
  const bool has_parts = std::ranges::any_of(verdict.textbook, [](const BlockRow& row) {
    return row.counts.warps.warps > std::uint64_t(row.block.width * row.block.height + 31) / 32;
  });
  const std::string in_parts =
      has_parts
          ? "Our strategies apply such a mask in parts, a launch each, and all of these count.\n"
          : "";
  return "A block in the middle, under a mask of " +
         mask_sides(verdict.masks.front(), verdict.task) +
         (verdict.textbook.empty() ? ":\n" : ", beside our strategies:\n") + as_text(table, width) +
         in_parts +
         "Reuse: taps for each read of global memory. Sectors of 32 bytes and bursts of 64 are "
         "those that\nwarps touch in global memory; the lanes of a divergent warp make different "
         "accesses.\n";
}

std::string times_table(const LessonOnGpu& gpu) {
  Table table;
  table.words = 1;
  table.head = {"", "ms", "copies"};
  for (const TimeRow& row : gpu.times)
    table.lines.push_back({{&row == &gpu.times.front() ? kYours : row.name,
                            with_format("%.4f", row.ms), with_format("%.2f", row.copies)},
                           ""});
  return to_string(Extent{gpu.width, gpu.height}) + " on " + gpu.device +
         ", in medians, and in device copies of the picture's bytes:\n" + as_text(table);
}

std::string score_text(const std::string& where, const LessonScore& score) {
  return where + ": right on " + std::to_string(score.right) + " of " +
         std::to_string(score.pictures) + " pictures" +
         (score.untried > 0 ? ", " + std::to_string(score.untried) + " not tried" : "") + "\n";
}

/// By how much outputs are off, and which tolerance would let them pass where nothing else is
/// wrong.
std::string errors_text(const LessonScore& score) {
  // Where outputs should be nearly 0, a part of them means nothing.
  constexpr double kMostPart = 10, kMostTolerance = 1e6;
  const double off = score.absolute_error, part = score.relative_error;
  if (!score.is_off || !std::isfinite(off)) return "";
  std::string text = "Outputs are off by up to " + with_format("%.3g", off);
  if (part < kMostPart)
    text += ", and by up to " + with_format("%.3g", 100 * part) + " % of what they should be";
  if (score.of_tolerance > 0) {
    const bool passes = score.of_tolerance <= 1 && score.faults.empty();
    text += ", " + with_format("%.3g", score.of_tolerance) + " times the tolerance" +
            (passes ? ", which alone lets them pass" : "");
  } else if (off < kMostTolerance && std::ranges::none_of(score.faults, [](const auto& fault) {
               return fault.finding.has_value();
             })) {
    text += ": --tolerance " + with_format("%.2g", off * 1.05);
    if (part < kMostPart) text += " or --relative-tolerance " + with_format("%.2g", part * 1.05);
    text += " would let them pass";
  }
  return text + ".\n";
}

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json json_of(const LessonFinding::ThreadPosition& place) {
  nlohmann::ordered_json json = {{"block", {place.block_x, place.block_y}},
                                 {"thread", {place.thread_x, place.thread_y}}};
  if (place.block_z > 0 || place.thread_z > 0) {
    json["block"].push_back(place.block_z);
    json["thread"].push_back(place.thread_z);
  }
  return json;
}

nlohmann::ordered_json json_of(std::span<const LessonSentence> sentences) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const LessonSentence& sentence : sentences) {
    nlohmann::ordered_json one = {{"kind", sentence.kind}};
    if (sentence.line > 0) one["line"] = sentence.line;
    one["text"] = sentence.text;
    if (!sentence.picture.empty()) one["picture"] = sentence.picture;
    if (!sentence.mask.empty()) one["mask"] = sentence.mask;
    if (sentence.finding) {
      const LessonFinding& finding = *sentence.finding;
      if (!finding.memory.empty() && finding.memory != "-") {
        one["memory"] = finding.memory;
        one["cell"] = finding.cell;
      }
      if (finding.times > 0) one["times"] = finding.times;
      if (finding.threads > 0) one["threads"] = finding.threads;
      one["place"] = json_of(finding.place);
      if (finding.other.line > 0) {
        one["other"] = json_of(finding.other);
        one["other"]["line"] = finding.other.line;
      }
    }
    all.push_back(one);
  }
  return all;
}

nlohmann::ordered_json json_of(const BlockRow& row) {
  nlohmann::ordered_json json = {
      {"name", row.name}, {"threads", to_string(row.block)}, {"outputs", to_string(row.outputs)}};
  for (const CountName& count : counts_told()) {
    std::string key(count.name);
    std::ranges::replace(key, ' ', '_');
    json[key] = count.of(row.counts);
  }
  if (row.reuse > 0) json["reuse"] = row.reuse;
  return json;
}

}  // namespace

std::string verdict_text(const KernelFile& kernel, const LessonVerdict& verdict,
                         std::size_t width) {
  const std::string file = printable_name(kernel.path);
  std::string masks;
  for (const Mask& mask : verdict.masks)
    masks += (masks.empty() ? "" : ", ") + mask_sides(mask, verdict.task);
  const LaunchSize& launch = verdict.launch;
  std::string text = kernel.kernel + ": blocks of " + to_string(launch.block) + " threads for " +
                     to_string(launch.outputs) + " outputs; " +
                     (verdict.masks.size() > 1 ? "masks " : "mask ") + masks + " (" +
                     verdict.why_masks + ")" +
                     (verdict.task.is_valid ? "; outputs where the mask lies inside" : "") +
                     (verdict.task.channels == 1 ? ""
                      : verdict.task.is_planar   ? "; channels as planes"
                                                 : "; channels side by side") +
                     "\n" + score_text("on the host, its memory watched", verdict.host);
  if (verdict.gpu) text += score_text("on " + verdict.gpu->device, verdict.gpu->score);
  const auto say = [&](const LessonSentence& sentence, const std::string& what) {
    const std::string line = sentence.line > 0 ? ":" + std::to_string(sentence.line) : "";
    text += file + line + ": " + what + sentence.text + "\n";
  };
  if (verdict.launch_fault) say(*verdict.launch_fault, "");
  for (const LessonSentence& fault : verdict.host.faults) say(fault, "");
  if (verdict.gpu) {
    for (const LessonSentence& fault : verdict.gpu->score.faults)
      if (!verdict.host.has_fault(fault.kind)) say(fault, "on the GPU: ");
    if (verdict.gpu->score.is_right() && !verdict.host.is_right())
      text +=
          "The GPU's results are right all the same, by luck: another GPU, or another size, may "
          "show the mistake.\n";
  }
  text += errors_text(verdict.host);
  for (const LessonSentence& remark : verdict.remarks) say(remark, "remark: ");
  if (!verdict.gpu && verdict.is_right())
    text +=
        "nvcc, which has not compiled it here, refuses some things that the host's compiler "
        "takes.\n";
  // Who has a mistake to mend needs no figures yet.
  if (verdict.block && verdict.is_right()) text += "\n" + counts_table(verdict, width);
  if (verdict.gpu && !verdict.gpu->times.empty()) text += "\n" + times_table(*verdict.gpu);
  return text;
}

std::string verdict_json(const KernelFile& kernel, const LessonVerdict& verdict, double seconds) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < verdict.arguments.size(); ++i)
    parameters.push_back(
        {{"name", kernel.parameters[i]}, {"given", name_of(verdict.arguments[i])}});
  nlohmann::ordered_json masks = nlohmann::ordered_json::array();
  for (const Mask& mask : verdict.masks) masks.push_back(mask_sides(mask, verdict.task));
  std::vector<LessonSentence> faults = verdict.host.faults;
  if (verdict.launch_fault) faults.insert(faults.begin(), *verdict.launch_fault);
  nlohmann::ordered_json json = {{"kernel", kernel.kernel},
                                 {"file", kernel.path},
                                 {"block", to_string(verdict.launch.block)},
                                 {"outputs", to_string(verdict.launch.outputs)},
                                 {"masks", masks},
                                 {"mode", verdict.task.is_valid ? "valid" : "same"},
                                 {"dimensions", verdict.task.dimensions},
                                 {"parameters", parameters},
                                 {"status", verdict.is_right() ? "right" : "wrong"},
                                 {"right", verdict.is_right()},
                                 {"pictures", verdict.host.pictures},
                                 {"pictures_right", verdict.host.right},
                                 {"pictures_untried", verdict.host.untried},
                                 {"seconds", std::round(seconds * 100) / 100},
                                 {"faults", json_of(faults)},
                                 {"remarks", json_of(verdict.remarks)}};
  // Some outputs have no number, or should be 0.
  for (const auto& [name, error] : {std::pair{"absolute_error", verdict.host.absolute_error},
                                    {"relative_error", verdict.host.relative_error},
                                    {"of_tolerance", verdict.host.of_tolerance}})
    if (std::isfinite(error) && (error > 0 || name[0] != 'o')) json[name] = error;
  if (verdict.gpu) {
    const LessonOnGpu& gpu = *verdict.gpu;
    json["gpu"] = {{"device", gpu.device},
                   {"right", gpu.score.is_right()},
                   {"pictures", gpu.score.pictures},
                   {"pictures_right", gpu.score.right},
                   {"faults", json_of(gpu.score.faults)}};
    if (!gpu.times.empty()) {
      json["gpu"]["size"] = to_string(Extent{gpu.width, gpu.height});
      for (const TimeRow& row : gpu.times)
        json["gpu"]["times"].push_back(
            {{"name", row.name}, {"ms", row.ms}, {"copies", row.copies}});
    }
  }
  if (verdict.block) {
    json["block_counts"] = json_of(*verdict.block);
    json["textbook"] = nlohmann::ordered_json::array();
    for (const BlockRow& row : verdict.textbook) json["textbook"].push_back(json_of(row));
  }
  return dumped(json);
}

std::string refusal_json(const std::string& path, const std::string& status, int line,
                         const std::string& text) {
  nlohmann::ordered_json json = {{"file", path}, {"status", status}, {"right", false}};
  if (line > 0) json["line"] = line;
  json["text"] = text;
  return dumped(json);
}

std::string verdict_failure(const KernelFile& kernel, const LessonVerdict& verdict) {
  if (verdict.is_right()) return "";
  const bool on_host = !verdict.host.is_right() || verdict.launch_fault;
  const LessonScore& score = on_host ? verdict.host : verdict.gpu->score;
  const int tried = score.pictures - score.untried;
  if (verdict.launch_fault && score.is_right())
    return quoted_name(kernel.path) + ": the launch is wrong; the kernel is right on " +
           std::to_string(score.right) + " of " + std::to_string(score.pictures) + " pictures";
  return quoted_name(kernel.path) + " is wrong on " + std::to_string(tried - score.right) + " of " +
         std::to_string(tried) + " pictures" +
         (on_host ? "" : " on the GPU, and right on the host");
}

}  // namespace convfilt
