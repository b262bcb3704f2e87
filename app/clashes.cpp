#include "app/clashes.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <vector>

#include "app/checks.hpp"
#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/auto/machine.hpp"
#include "src/base/errors.hpp"
#include "src/explain/overlap_costs.hpp"

namespace convfilt {
namespace {

using Value = const std::string&;

/// Two options of which a command takes one alone, at least with some of their values.
struct Clash {
  std::string_view command;  ///< empty = every command that has both
  std::string one, other;
  std::function<bool(Value one, Value other)> clash;
  std::string message;  ///< empty where other code knows more, and reports the clash
  /// If this is set, `one` needs `other`, which has this value if it is not given.
  std::optional<std::string> absent;
};

bool is_on(Value value) {
  return value != "false";
}

bool always(Value, Value) {
  return true;
}

bool both(Value one, Value other) {
  return is_on(one) && is_on(other);
}

bool is_zero(Value word) {
  double number = 1;
  std::from_chars(word.data() + word.starts_with('+'), word.data() + word.size(), number);
  return number == 0;
}

/// Whether the value is one of the words, and not the usual one. Other code reports unknown words.
template <class Things>
bool is_other(Value value, const Things& things, std::string_view usual) {
  const Words words = words_of(things);
  return value != usual && std::ranges::count(words, value) > 0;
}

bool changes_size(Value one, Value mode) {
  return is_on(one) && is_other(mode, kModes, name_of(Mode::same));
}

bool not_constant(Value border) {
  return is_other(border, kBorders, name_of(Border::constant));
}

bool run_apart(Value strategy, Value device) {
  const Strategy* known = this_machine().find(strategy);
  const std::string kind = device.substr(0, device.find(':'));
  return known && kind != Request{}.device && std::ranges::count(device_names(), kind) > 0 &&
         std::ranges::count(devices_of(*known), kind) == 0;
}

bool is_gpu(Value codec) {
  return codec == "gpu";
}

std::vector<Clash> make_table() {
  const std::string full =
      "--mode=full: outside the picture all is 0; leave out --border and --border-value";
  const std::string sized =
      "--region, --luma: the result has the picture's size then; leave out --mode";
  std::vector<Clash> table = {
      {"", "--quiet", "--verbose", both, "--quiet, --verbose: give one of the two", {}},
      {"",
       "--mode",
       "--border",
       [](Value mode, Value border) { return mode == name_of(Mode::full) && not_constant(border); },
       full,
       {}},
      {"",
       "--mode",
       "--border-value",
       [](Value mode, Value value) { return mode == name_of(Mode::full) && !is_zero(value); },
       full,
       {}},
      {"", "--border-value", "--border", [](Value, Value border) { return not_constant(border); },
       "--border-value: only --border=constant has one; leave out --border",
       std::string(name_of(Border::replicate))},
      {"", "--luma", "--mode", changes_size, sized, {}},
      {"", "--region", "--mode", changes_size, sized, {}},
      {"",
       "--newer",
       "--if-exists",
       [](Value newer, Value rule) {
         return is_on(newer) && is_other(rule, kIfExists, kIfExists[0]);
       },
       "--newer replaces results that are older than their inputs; leave out --if-exists",
       {}},
      {"", "--null", "--files-from",
       [](Value null, Value list) { return is_on(null) && list.empty(); },
       "--null: only --files-from has a list; add it, or leave out --null", ""},
      {"",
       "--in-place",
       "--loader",
       [](Value in_place, Value loader) {
         return is_on(in_place) && is_other(loader, kLoaders, kLoaders[0]);
       },
       "--in-place, --loader=opencv: OpenCV does not report what else a file holds; leave out one "
       "of the two",
       {}},
      {"", "--strategy", "--device", run_apart, "", {}},
      {"",
       "--codec",
       "--device",
       [](Value codec, Value device) {
         return is_gpu(codec) &&
                (device == name_of(DeviceKind::cpu) || device == name_of(DeviceKind::emulator));
       },
       "",
       {}},
      {"",
       "--codec",
       "--strategy",
       [](Value codec, Value strategy) {
         return is_gpu(codec) && run_apart(strategy, std::string(name_of(DeviceKind::cuda)));
       },
       "",
       {}},
      {"",
       "--codec",
       "--output",
       [](Value codec, Value negative) { return is_gpu(codec) && negative != kNegatives[0].name; },
       "",
       {}},
      {"",
       "--codec",
       "--loader",
       [](Value codec, Value loader) { return is_gpu(codec) && loader != kLoaders[0]; },
       "",
       {}},
      {"blur",
       "--sigma",
       "--box",
       always,
       "--sigma, --box: a blur has one of the two; leave out the other",
       {}},
      {"edge", "--region", "--luma", both, "", {}},
      {"edge", "--sigma", "--method",
       [](Value, Value method) {
         const auto* known = std::ranges::find(kEdgeMethods, method, &EdgeMethod::name);
         return known != std::end(kEdgeMethods) && !known->first.empty();
       },
       "", EdgeOptions{}.method},
      {"edge", "--direction", "--method",
       [](Value direction, Value method) {
         const auto* known = std::ranges::find(kEdgeMethods, method, &EdgeMethod::name);
         return direction != EdgeOptions{}.direction && known != std::end(kEdgeMethods) &&
                known->second.empty();
       },
       "", EdgeOptions{}.method},
      {"compare", "--weights", "--masks", [](Value, Value masks) { return masks.empty(); },
       "--weights: only random masks have a choice of them; add --masks, e.g. --masks 3,5,7", ""},
      {"explain", "--at", "--picture", [](Value, Value picture) { return picture.empty(); },
       "--at: it chooses the block of a picture; add --picture, e.g. --picture tiles.svg", ""},
      {"mask",
       "ACTION",
       "--output",
       [](Value action, Value) { return action == kMaskActions[0]; },
       "--output: mask show draws a picture, mask check does not; leave it out",
       {}},
      {"try",
       "--mask-size",
       "--mask",
       always,
       "--mask-size and --mask: leave out one of the two",
       {}},
  };
  for (const char* option : {"--linear", "--luma", "--region", "--progressive"})
    table.push_back({"",
                     "--codec",
                     option,
                     [](Value codec, Value other) { return is_gpu(codec) && is_on(other); },
                     "",
                     {}});
  for (const auto& [option, what] : {std::pair{"--size", "the size"},
                                     {"--depth", "the depth"},
                                     {"--channels", "the channels"}}) {
    table.push_back({"compare",
                     "IN",
                     option,
                     always,
                     std::string(option) + ": " + what + " of IN " +
                         (std::string(what).ends_with("s") ? "are" : "is") +
                         " compared; leave out one of the two",
                     {}});
    // A chart shows one picture.
    table.push_back({"compare",
                     "--plot",
                     option,
                     [](Value, Value list) { return list.find(',') != list.npos; },
                     "",
                     {}});
  }
  for (const char* option :
       {"IN",       "--size",         "--depth",      "--channels", "--mask",
        "--masks",  "--weights",      "--strategies", "--repeats",  "--patience",
        "--border", "--border-value", "--mode",       "--device",   "--threads",
        "--pitch",  "--on-damage",    "--max-pixels", "--page",     "--loader"})
    table.push_back(
        {"compare",
         "--from",
         option,
         always,
         "--from: nothing is measured; leave out IN and all options that choose what to measure",
         {}});
  for (const char* option : {"--size", "--depth", "--channels", "--device"})
    table.push_back({"mask",
                     "ACTION",
                     option,
                     [](Value action, Value) { return action == kMaskActions[1]; },
                     "--size, --depth, --channels, --device: mask check takes these, mask show "
                     "takes none; leave them out",
                     {}});
  const auto has_masks = [](Value lists, Value) { return lists.find(kOverlapTable) == lists.npos; };
  for (const char* option : {"--mask", "--picture", "--at"})
    table.push_back({"explain",
                     "--table",
                     option,
                     option == std::string_view("--mask")
                         ? std::function<bool(Value, Value)>(has_masks)
                         : always,
                     "--table: its masks are in its own list, and it draws nothing; leave out "
                     "--mask, --picture and --at",
                     {}});
  table.push_back({"explain",
                   "--table",
                   "--flip",
                   [=](Value lists, Value flip) { return is_on(flip) && has_masks(lists, flip); },
                   "--table: its masks have equal weights; leave out --flip",
                   {}});
  for (const Setting setting : kSettings) {
    const auto lacks = [setting](Value, Value strategy) {
      const Strategy* known = this_machine().find(strategy);
      return !known || !known->has(setting);
    };
    for (const char* command : {"blur", "sharpen", "edge", "apply", "explain"})
      table.push_back({command, option_name(setting), "--strategy", lacks, "", ""});
    const bool of_overlap = std::ranges::count(kOverlapSettings, setting) > 0;
    table.push_back({"explain",
                     "--table",
                     option_name(setting),
                     [=](Value lists, Value) { return has_masks(lists, "") || !of_overlap; },
                     "--table: tiles are in its own list, and overlap takes --block, --part and "
                     "--domain alone; leave out other settings",
                     {}});
  }
  return table;
}

/// The rows for the command.
std::vector<const Clash*> rows_of(std::string_view command) {
  static const std::vector<Clash> table = make_table();
  std::vector<const Clash*> rows;
  for (const Clash& row : table)
    if (row.command.empty() || row.command == command) rows.push_back(&row);
  return rows;
}

/// The value of the row's other option. If that is not given, `absent`, which is empty where the
/// row needs no other option.
std::optional<std::string> other_in(const Values& values, const Clash& row) {
  const auto found = values.find(row.other);
  return found == values.end() ? row.absent : found->second;
}

}  // namespace

void check_clashes(std::string_view command, const Values& values) {
  for (const Clash* row : rows_of(command)) {
    const auto one = values.find(row->one);
    if (one == values.end() || row->message.empty()) continue;
    const std::optional<std::string> other = other_in(values, *row);
    if (other && row->clash(one->second, *other)) throw UsageError(row->message);
  }
}

bool gives_way(std::string_view command, const std::string& option, const std::string& value,
               const Values& stronger, bool on_line) {
  return std::ranges::any_of(rows_of(command), [&](const Clash* row) {
    const auto one = stronger.find(row->one), other = stronger.find(row->other);
    if (row->one == option && other != stronger.end()) return row->clash(value, other->second);
    return row->other == option && one != stronger.end() && (on_line || !row->absent) &&
           row->clash(one->second, value);
  });
}

bool is_useless(std::string_view command, const std::string& option, const std::string& value,
                const Values& values) {
  return std::ranges::any_of(rows_of(command), [&](const Clash* row) {
    return row->one == option && row->absent && row->clash(value, *other_in(values, *row));
  });
}

std::string option_name(Setting setting) {
  return "--" + std::string(info_of(setting).name);
}

}  // namespace convfilt
