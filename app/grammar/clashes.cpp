#include "app/grammar/clashes.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <vector>

#include "app/grammar/choices.hpp"
#include "app/options.hpp"
#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/auto/machine.hpp"
#include "src/base/errors.hpp"
#include "src/filter/edge.hpp"

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

/// Rows for one command after another.
class ClashTable {
 public:
  /// Rows that follow are for this command; empty = for every command that has both options.
  void of(std::string_view command) { command_ = command; }

  template <class Clashes>
  void excludes(std::string one, std::string other, Clashes clash, std::string message = "") {
    rows.push_back(
        {command_, std::move(one), std::move(other), clash, std::move(message), std::nullopt});
  }

  /// `one` has a use only with another value of `other` than `absent` and those that clash.
  template <class Clashes>
  void needs(std::string one, std::string other, std::string_view absent, Clashes clash,
             std::string message = "") {
    excludes(std::move(one), std::move(other), clash, std::move(message));
    rows.back().absent = absent;
  }

  std::vector<Clash> rows;

 private:
  std::string_view command_;
};

/// A clash of `one` when it is on, with the values of the other that `clash` takes.
template <class Clashes>
auto if_on(Clashes clash) {
  return [clash](Value one, Value other) { return is_on(one) && clash(other); };
}

void add_picture_rows(ClashTable& table) {
  const std::string full =
      "--mode=full: outside the picture all is 0; leave out --border and --border-value";
  const std::string sized =
      "--region, --luma: the result has the picture's size then; leave out --mode";
  const auto is_full = [](Value mode) { return mode == name_of(Mode::full); };
  table.excludes("--quiet", "--verbose", both, "--quiet, --verbose: give one of the two");
  table.excludes(
      "--mode", "--border",
      [=](Value mode, Value border) { return is_full(mode) && not_constant(border); }, full);
  table.excludes(
      "--mode", "--border-value",
      [=](Value mode, Value value) { return is_full(mode) && !is_zero(value); }, full);
  table.needs(
      "--border-value", "--border", name_of(Border::replicate),
      [](Value, Value border) { return not_constant(border); },
      "--border-value: only --border=constant has one; leave out --border");
  table.excludes("--luma", "--mode", changes_size, sized);
  table.excludes("--region", "--mode", changes_size, sized);
  table.excludes(
      "--newer", "--if-exists",
      if_on([](Value rule) { return is_other(rule, kIfExists, "overwrite"); }),
      "--newer replaces results that are older than their inputs; leave out --if-exists");
  table.needs("--null", "--files-from", "", if_on([](Value list) { return list.empty(); }),
              "--null: only --files-from has a list; add it, or leave out --null");
  table.excludes(
      "--in-place", "--loader",
      if_on([](Value loader) { return is_other(loader, kLoaders, "auto"); }),
      "--in-place, --loader=opencv: OpenCV does not report what else a file holds; leave "
      "out one of the two");
  table.excludes("--strategy", "--device", run_apart);
  // Codecs of GPUs take plain pictures of filters that run there.
  const auto is_gpu = [](auto clash) {
    return [clash](Value codec, Value other) { return codec == "gpu" && clash(other); };
  };
  table.excludes("--codec", "--device", is_gpu([](Value device) {
                   return device == name_of(DeviceKind::cpu) ||
                          device == name_of(DeviceKind::emulator);
                 }));
  table.excludes("--codec", "--strategy", is_gpu([](Value strategy) {
                   return run_apart(strategy, std::string(name_of(DeviceKind::cuda)));
                 }));
  table.excludes("--codec", "--output", is_gpu([](Value output) { return output != "clamp"; }));
  table.excludes("--codec", "--loader", is_gpu([](Value loader) { return loader != "auto"; }));
  for (const char* option : {"--linear", "--luma", "--region", "--progressive"})
    table.excludes("--codec", option, is_gpu(is_on));
}

void add_filter_rows(ClashTable& table) {
  table.of("blur");
  table.excludes("--sigma", "--box", always,
                 "--sigma, --box: a blur has one of the two; leave out the other");
  table.of("edge");
  table.excludes("--region", "--luma", both);
  const auto method_of = [](Value method) {
    return std::ranges::find(kEdgeMethods, method, &EdgeMethod::name);
  };
  table.needs("--sigma", "--method", EdgeOptions{}.method, [=](Value, Value method) {
    const auto* known = method_of(method);
    return known != std::end(kEdgeMethods) && !known->first.empty();
  });
  table.needs("--direction", "--method", EdgeOptions{}.method, [=](Value direction, Value method) {
    const auto* known = method_of(method);
    return direction != EdgeOptions{}.direction && known != std::end(kEdgeMethods) &&
           known->second.empty();
  });
}

void add_compare_rows(ClashTable& table) {
  table.of("compare");
  table.needs(
      "--weights", "--masks", "", [](Value, Value masks) { return masks.empty(); },
      "--weights: only random masks have a choice of them; add --masks, e.g. --masks 3,5,7");
  for (const auto& [option, what] : {std::pair{"--size", "the size of IN is"},
                                     {"--depth", "the depth of IN is"},
                                     {"--channels", "the channels of IN are"}}) {
    table.excludes("IN", option, always,
                   std::string(option) + ": " + what + " compared; leave out one of the two");
    // A chart shows one picture.
    table.excludes("--plot", option, [](Value, Value list) { return list.find(',') != list.npos; });
  }
  for (const char* option :
       {"IN",       "--size",         "--depth",      "--channels", "--mask",
        "--masks",  "--weights",      "--strategies", "--repeats",  "--patience",
        "--border", "--border-value", "--mode",       "--device",   "--threads",
        "--pitch",  "--on-damage",    "--max-pixels", "--page",     "--loader"})
    table.excludes("--from", option, always,
                   "--from: nothing is measured; leave out IN and all options that choose what to "
                   "measure");
}

void add_explain_rows(ClashTable& table) {
  table.of("explain");
  table.needs(
      "--at", "--picture", "", [](Value, Value picture) { return picture.empty(); },
      "--at: it chooses the block of a picture; add --picture, e.g. --picture tiles.svg");
  const std::string masks =
      "--table: its masks are in its own list, and it draws nothing; leave out --mask, --picture "
      "and --at";
  const auto has_masks = [](Value lists) { return lists.find(kOverlapTable) == lists.npos; };
  table.excludes(
      "--table", "--mask", [=](Value lists, Value) { return has_masks(lists); }, masks);
  table.excludes("--table", "--picture", always, masks);
  table.excludes("--table", "--at", always, masks);
  table.excludes(
      "--table", "--flip", [=](Value lists, Value flip) { return is_on(flip) && has_masks(lists); },
      "--table: its masks have equal weights; leave out --flip");
  for (const Setting setting : kSettings) {
    const bool of_overlap =
        setting == Setting::domain || setting == Setting::block || setting == Setting::part;
    table.excludes(
        "--table", option_name(setting),
        [=](Value lists, Value) { return has_masks(lists) || !of_overlap; },
        "--table: tiles are in its own list, and overlap takes --block, --part and --domain alone; "
        "leave out other settings");
  }
}

void add_setting_rows(ClashTable& table, std::string_view command) {
  table.of(command);
  for (const Setting setting : kSettings)
    table.needs(option_name(setting), "--strategy", "", [setting](Value, Value strategy) {
      const Strategy* known = this_machine().find(strategy);
      return !known || !known->has(setting);
    });
}

std::vector<Clash> make_table() {
  ClashTable table;
  add_picture_rows(table);
  add_filter_rows(table);
  add_compare_rows(table);
  add_explain_rows(table);
  table.of("mask");
  const auto shows = [](Value action, Value) { return action == kMaskActions[1]; };
  table.excludes(
      "ACTION", "--output", [=](Value action, Value) { return action == kMaskActions[0]; },
      "--output: mask show draws a picture, mask check does not; leave it out");
  for (const char* option : {"--size", "--depth", "--channels", "--device"})
    table.excludes("ACTION", option, shows,
                   "--size, --depth, --channels, --device: mask check takes these, mask show takes "
                   "none; leave them out");
  table.of("try");
  table.excludes("--mask-size", "--mask", always,
                 "--mask-size and --mask: leave out one of the two");
  add_setting_rows(table, "explain");
  for (const FilterLine& filter : filters()) add_setting_rows(table, filter.help.name);
  return table.rows;
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
