#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/grammar/commands.hpp"
#include "kernels/backend/devices.hpp"
#include "src/auto/choice.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/base/terminal.hpp"
#include "src/mask/file.hpp"

namespace convfilt {
namespace {

using Cells = std::vector<std::string>;

std::string table(const std::vector<Cells>& rows) {
  Table table;
  for (const Cells& cells : rows) table.lines.push_back({cells, ""});
  table.words = table.lines.empty() ? 0 : table.lines[0].cells.size();
  return as_text(table);
}

std::string strategies_table(const Machine& machine) {
  std::vector<Cells> rows;
  for (const Strategy* s : machine.strategies) {
    std::vector<std::string> settings;
    for (Setting setting : s->settings)
      settings.push_back("--" + std::string(info_of(setting).name));
    rows.push_back(
        {std::string(s->name), std::string(name_of(s->family)), joined(devices_of(*s), ", "),
         joined(words_of(depths_of(*s)), ", "),
         std::string(s->summary) + (settings.empty() ? "" : " (" + listed(settings) + ")")});
  }
  std::vector<Cells> bounds;
  const auto add = [&](std::string_view name, const std::string& within) {
    const std::string bound = "within " + within;
    const auto same = std::ranges::find(bounds, bound, [](const Cells& cells) { return cells[1]; });
    if (same == bounds.end())
      bounds.push_back({"  " + std::string(name), bound});
    else
      (*same)[0] += ", " + std::string(name);
  };
  for (Family family : kFamilies) add(name_of(family), std::string(bound_of(family)));
  // A strategy that takes few depths has a bound for these alone.
  for (const Strategy* s : machine.strategies)
    if (const std::string own = bound_of(s->family, depths_of(*s)); own != bound_of(s->family))
      add(s->name, own);
  return table(rows) + "\nby family or strategy, how far from the real-valued result:\n" +
         table(bounds);
}

std::string filters_table() {
  std::vector<Cells> rows;
  for (const FilterLine& line : filters()) {
    std::vector<std::string> options;
    for (const FilterOption& option : line.options) options.push_back(option.name);
    rows.push_back({std::string(line.help.name),
                    std::string(line.help.summary) + " (" + listed(options) + ")"});
  }
  return table(rows);
}

std::string masks_table() {
  std::vector<Cells> rows;
  for (const auto& mask : list_filters())
    rows.push_back({mask.name, size_text(mask.width, mask.height), mask.description});
  return table(rows);
}

std::string devices_table(const Machine& machine) {
  std::vector<Cells> rows = {
      {"cpu", plural(std::uint64_t(machine.cores), "core")},
      {"emulator", "runs the source of CUDA kernels on the CPU, to learn from"}};
  const CudaDevices& found = machine.cuda();
  for (const CudaDevice& device : found.devices) {
    rows.push_back({"cuda:" + std::to_string(device.ordinal),
                    device.name + ", compute capability " + std::to_string(device.major) + "." +
                        std::to_string(device.minor) + ", " +
                        std::to_string(device.multiprocessors) + " multiprocessors, " +
                        with_format("%.1f GiB", double(device.memory) / (1 << 30))});
  }
  if (found.devices.empty()) rows.push_back({"cuda", "none: " + found.missing});
  return table(rows);
}

const Words kTopics = {"strategies", "filters", "masks", "devices"};

struct ListCommand : Command {
  std::string topic;  ///< empty = all

  void run() override;
};

void ListCommand::run() {
  const Machine machine = this_machine();
  std::string text;
  for (const std::string& one : topic.empty() ? kTopics : Words{topic}) {
    if (topic.empty()) text += (text.empty() ? "" : "\n") + one + "\n";
    text += one == "strategies" ? strategies_table(machine)
            : one == "filters"  ? filters_table()
            : one == "masks"    ? masks_table()
                                : devices_table(machine);
  }
  print_text(text);
}

void declare(Binder& binder, ListCommand& command) {
  binder.positional("TOPIC", command.topic, "What to list (default: all)", false, kTopics);
  binder.then([&command] {
    if (!command.topic.empty()) require_choice("topic", command.topic, kTopics);
  });
}

}  // namespace

const OtherCommand kList{
    {"list", "Strategies, filters, masks and devices to choose from",
     "List what there is to choose from.\n",
     "  convfilt list\n"
     "  convfilt list masks\n"
     "  convfilt list devices                        which GPU, or why there is none\n"},
    declare_as<ListCommand>};

void print_text(std::string_view text) {
  print_result(wrapped(text, terminal_width(STDOUT_FILENO)));
}

void print_result(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !whole)
    throw IoError("standard output: cannot write; is the disk full or the pipe closed?");
}

void write_result(const std::string& path, const std::string& text) {
  if (path == "-") return print_result(text);
  write_file(path, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

}  // namespace convfilt
