#include "app/grammar/clashes.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "app/commands.hpp"
#include "src/auto/machine.hpp"
#include "src/recipe/table.hpp"

namespace convfilt {
namespace {

constexpr const char* kFull =
    "--mode=full: outside the picture all is 0; leave out --border and --border-value";
constexpr const char* kSized =
    "--region, --luma: the result has the picture's size then; leave out --mode";
constexpr const char* kOfSamples =
    "--nodata: it is a value of the picture's own samples; leave out --linear, --luma, --output "
    "and --depth";
constexpr const char* kOwnMasks =
    "--table: its masks are in its own list, and it draws nothing; leave out --mask, --picture and "
    "--at";
constexpr const char* kOwnTiles =
    "--table: tiles are in its own list, and overlap takes --block, --part and --domain alone; "
    "leave out other settings";
constexpr const char* kOfCheck =
    "--size, --depth, --channels, --device: only mask check takes these; leave them out";

using ClashesByCommand = std::map<std::string, std::vector<Clash>, std::less<>>;

/// Those in the first group hold for every command that has both options.
const ClashesByCommand kClashes = {
    {"",
     {
         {"--quiet=true", "--verbose=true", "--quiet, --verbose: give one of the two"},
         {"--mode=full", "--border!=constant", kFull},
         {"--mode=full", "--border-value!=0", kFull},
         {"--border-value", "--border!=constant",
          "--border-value: only --border=constant has one; leave out --border", "replicate"},
         {"--luma=true", "--mode!=same", kSized},
         {"--region", "--mode!=same", kSized},
         {"--region", "--depth",
          "--region, --depth: the rest of the picture keeps its depth; leave out one of the two"},
         {"--nodata", "--linear=true", kOfSamples},
         {"--nodata", "--luma=true", kOfSamples},
         {"--nodata", "--output!=clamp", kOfSamples},
         {"--nodata", "--depth", kOfSamples},
         {"--newer=true", "--if-exists!=overwrite",
          "--newer replaces results that are older than their inputs; leave out --if-exists"},
         {"--pages", "--page", "--page takes one page; leave out --pages"},
         {"--null=true",
          "--files-from=", "--null: only --files-from has a list; add it, or leave out --null", ""},
         {"--in-place=true", "--loader!=auto",
          "--in-place, --loader=opencv: OpenCV does not report what else a file holds; leave out "
          "one of the two"},
         // Codecs of GPUs take plain pictures of filters that run there.
         {"--codec=gpu", "--device=cpu|emulator"},
         {"--codec=gpu", "--output!=clamp"},
         {"--codec=gpu", "--depth"},
         {"--codec=gpu", "--loader!=auto"},
         {"--codec=gpu", "--linear=true"},
         {"--codec=gpu", "--luma=true"},
         {"--codec=gpu", "--keep-hidden=true"},
         {"--codec=gpu", "--nodata"},
         {"--codec=gpu", "--region"},
         {"--codec=gpu", "--progressive=true"},
         {"--codec=gpu", "--optimize=true"},
     }},
    {"mask",
     {
         {"ACTION=check|make", "--output",
          "--output: only mask show draws a picture; leave it out"},
         {"ACTION=show|make", "--size", kOfCheck},
         {"ACTION=show|make", "--depth", kOfCheck},
         {"ACTION=show|make", "--channels", kOfCheck},
         {"ACTION=show|make", "--device", kOfCheck},
     }},
    {"compare",
     {
         {"--weights", "--masks=",
          "--weights: only random masks have a choice of them; add --masks, e.g. --masks 3,5,7",
          ""},
         {"IN", "--size", "--size: the size of IN is compared; leave out one of the two"},
         {"IN", "--depth", "--depth: the depth of IN is compared; leave out one of the two"},
         {"IN", "--channels",
          "--channels: the channels of IN are compared; leave out one of the two"},
         // A chart shows one picture.
         {"--plot", "--size~,"},
         {"--plot", "--depth~,"},
         {"--plot", "--channels~,"},
     }},
    {"explain",
     {
         {"--at", "--picture=",
          "--at: it chooses the block of a picture; add --picture, e.g. --picture tiles.svg", ""},
         {"--markdown", "--table=",
          "--markdown: only tables have it; add --table, e.g. --table tile=8,16 mask=5", ""},
         {"--table!~overlap", "--mask", kOwnMasks},
         {"--table", "--picture", kOwnMasks},
         {"--table", "--at", kOwnMasks},
         {"--table!~overlap", "--flip=true",
          "--table: its masks have equal weights; leave out --flip"},
     }},
    {"try",
     {
         {"--mask-size", "--mask", "--mask-size and --mask: leave out one of the two"},
     }},
};

/// These, and those that follow from the tables of filters, strategies and settings.
ClashesByCommand all_clashes() {
  ClashesByCommand all = kClashes;
  std::vector<Clash>& shared = all[""];
  const auto& strategies = this_machine().strategies;
  const auto not_on = [](DeviceKind kind) {
    return [kind](const Strategy* strategy) { return !strategy->runs_on(kind); };
  };
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda})
    shared.push_back({"--strategy=" + those(strategies, not_on(kind)),
                      "--device=" + std::string(name_of(kind))});
  shared.push_back({"--codec=gpu", "--strategy=" + those(strategies, not_on(DeviceKind::cuda))});
  for (const char* option :
       {"IN",       "--size",         "--depth",      "--channels", "--mask",
        "--masks",  "--weights",      "--strategies", "--repeats",  "--patience",
        "--border", "--border-value", "--mode",       "--device",   "--threads",
        "--pitch",  "--on-damage",    "--max-pixels", "--page",     "--loader"})
    all["compare"].push_back({"--from", option,
                              "--from: nothing is measured; leave out IN and all options that "
                              "choose what to measure"});
  for (const FilterOption& option : mask_options()) {
    const auto lacks = [&](const MaskLine& line) { return line.lacks(option.name); };
    const std::string refusal = option.name + ": mask make takes it for " +
                                option.text.substr(0, option.text.find(':')) + "; leave it out";
    all["mask"].push_back({"ACTION=check|show", option.name, refusal});
    all["mask"].push_back({"MASK=" + those(mask_lines(), lacks), option.name, refusal});
  }
  Words commands = {"explain"};
  for (const FilterLine& filter : filters()) {
    commands.emplace_back(filter.help.name);
    all[commands.back()] = filter.clashes;
  }
  for (const Setting setting : kSettings) {
    const bool of_overlap =
        setting == Setting::domain || setting == Setting::block || setting == Setting::part;
    all["explain"].push_back(
        {of_overlap ? "--table!~overlap" : "--table", option_name(setting), kOwnTiles});
    const auto lacks = [=](const Strategy* strategy) { return !strategy->has(setting); };
    const std::string others = "--strategy=|auto|" + those(strategies, lacks);
    for (const std::string& command : commands)
      all[command].push_back({option_name(setting), others, "", ""});
  }
  for (auto& [command, rows] : all)
    if (!command.empty()) rows.insert(rows.begin(), shared.begin(), shared.end());
  return all;
}

const std::vector<Clash>& rows_of(std::string_view command) {
  static const ClashesByCommand table = all_clashes();
  const auto own = table.find(command);
  return own == table.end() ? table.at("") : own->second;
}

/// Whether a condition may be judged by the value: other code reports words that are no names of
/// its option.
bool is_known(const std::string& value, const std::string& condition) {
  static const std::map<std::string, Words> names = {{"--mode", words_of(kModes)},
                                                     {"--border", words_of(kBorders)},
                                                     {"--if-exists", words_of(kIfExists)},
                                                     {"--loader", words_of(kLoaders)},
                                                     {"--output", words_of(kNegatives)}};
  const auto known = names.find(option_in(condition));
  return known == names.end() || condition.find("!=") == condition.npos ||
         std::ranges::count(known->second, value) > 0;
}

bool clash(const Clash& row, const std::string& one, const std::string& other) {
  return is_known(one, row.one) && is_known(other, row.other) && meets(one, row.one) &&
         meets(other, row.other);
}

}  // namespace

void check_clashes(std::string_view command, const Values& values) {
  check_clashes(rows_of(command), values);
}

bool gives_way(std::string_view command, const std::string& option, const std::string& value,
               const Values& stronger, bool on_line) {
  return std::ranges::any_of(rows_of(command), [&](const Clash& row) {
    const auto one = stronger.find(option_in(row.one)), other = stronger.find(option_in(row.other));
    if (option_in(row.one) == option && other != stronger.end())
      return clash(row, value, other->second);
    return option_in(row.other) == option && one != stronger.end() && (on_line || !row.absent) &&
           clash(row, one->second, value);
  });
}

bool is_useless(std::string_view command, const std::string& option, const std::string& value,
                const Values& values) {
  return std::ranges::any_of(rows_of(command), [&](const Clash& row) {
    return option_in(row.one) == option && row.absent && clash(row, value, *other_in(values, row));
  });
}

std::string option_name(Setting setting) {
  return "--" + std::string(info_of(setting).name);
}

}  // namespace convfilt
