#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "app/grammar/commands.hpp"
#include "src/auto/choice.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"
#include "src/run/codec_choice.hpp"
#include "src/run/shard.hpp"

namespace convfilt {
namespace {

Region region_in(const std::string& word) {
  constexpr std::string_view kEllipse = "ellipse:";
  const bool is_ellipse = word.starts_with(kEllipse);
  const auto numbers = numbers_in("--region", is_ellipse ? word.substr(kEllipse.size()) : word,
                                  {0, 0, 1, 1}, "X,Y,W,H or ellipse:X,Y,W,H, e.g. 100,50,640,480");
  return {numbers[0], numbers[1], numbers[2], numbers[3], is_ellipse};
}

/// IN and OUT, and where they are folders.
struct Names {
  std::string in, out, out_folder;
  Words more;
};

/// Takes the names apart: words before OUT are inputs; with -o all of them are.
void complete_names(Names& names, Selection& selection, bool has_mask) {
  const bool has_list = !selection.files_from.empty();
  if (names.out_folder.empty()) {
    require(names.more.empty(),
            "several inputs: name the folder for their results with -o, e.g. -o out/" +
                std::string(has_mask ? "; for several masks, write convfilt run 'apply A | apply "
                                       "B' IN OUT"
                                     : ""));
    if (has_list && names.out.empty()) std::swap(names.in, names.out);
    selection.out = names.out;
  } else {
    if (!names.out.empty()) names.more.insert(names.more.begin(), names.out);
    selection.out = names.out_folder;
  }
  if (!names.in.empty()) selection.inputs.push_back(names.in);
  selection.inputs.insert(selection.inputs.end(), names.more.begin(), names.more.end());
  require(!has_list || !selection.out.empty(),
          "OUT is missing: name the folder for the results with -o, e.g. -o out/");
}

/// Which option asks for a folder, since one picture has no use for it; empty if none does.
std::string folder_option(const FilterCommand& command, bool has_shard, bool has_out_folder) {
  const Batch& batch = command.batch;
  const Selection& selection = batch.selection;
  // One picture has a use for these, too, where OUT can be a picture.
  const bool is_folder =
      selection.out != "-" && selection.format.empty() && !find_format(extension_of(selection.out));
  const std::pair<const char*, bool> options[] = {
      {"--if-exists", is_folder && batch.if_exists != IfExists::overwrite},
      {"--newer", is_folder && batch.newer},
      {"--resume", is_folder && batch.resume},
      {"--dry-run", is_folder && command.dry_run},
      {"--fail-fast", is_folder && batch.fail_fast},
      {"--json", is_folder && command.json},
      {"--files-from", !selection.files_from.empty()},
      {"--recursive", selection.recursive},
      {"--glob", !selection.globs.empty()},
      {"--follow-links", selection.follow_links},
      {"--name", selection.name != Selection{}.name},
      {"--shard", has_shard},
      {"--codec=gpu", batch.codec == CodecKind::gpu},
      {"--devices", !batch.devices.empty()},
      {"-o", has_out_folder}};
  for (const auto& [option, is_given] : options)
    if (is_given) return option;
  return "";
}

void folder_options(Binder& binder, FilterCommand& command, const std::shared_ptr<Names>& names) {
  Batch& batch = command.batch;
  Selection& selection = batch.selection;
  binder.group("Many pictures");
  binder.option("-o,--out-folder", "FOLDER", names->out_folder,
                "Folder for the results. All other names are then inputs");
  binder.flag("-r,--recursive", selection.recursive,
              "Look into folders in folders, too. OUT mirrors them");
  binder.repeated("--glob", "PATTERN", selection.globs,
                  "Take the files of a folder whose names match, such as '*.jpg'. May be given "
                  "several times (default: the endings of pictures)");
  binder.option("--files-from", "FILE", selection.files_from,
                "Read the pictures' names from a list, one a line; - is standard input");
  binder.flag("-0,--null", selection.nul, "Names in that list end with NUL");
  binder.flag("--follow-links", selection.follow_links,
              "Follow links to folders, and to files elsewhere");
  binder.option("--name", "TEMPLATE", selection.name,
                "Names of the results (default {stem}{ext}), such as {stem}_blur{ext}. With "
                "{page} each page of a file becomes a picture, as in {stem}_{page}{ext}");
  binder.choice("--if-exists", batch.if_exists, kIfExists,
                "What to do if a result is already there");
  binder.flag("--newer", batch.newer, "Filter only pictures that are newer than their results");
  binder.flag("--resume", batch.resume,
              "Do only what an earlier run of the command left undone. The journal beside the "
              "results records it");
  const auto has_shard = std::make_shared<bool>(false);
  const auto read_shard = [&batch, has_shard](const std::string& word) {
    batch.shard = shard_in(word, [](const char* variable) { return std::getenv(variable); });
    *has_shard = true;
  };
  binder.option("--shard", "I/N", read_shard,
                "Part I of N, from 1, for one of N machines. auto takes both numbers from the "
                "variables of Slurm and other launchers, auto/N only I, as on Kubernetes");
  binder.choice("--codec", batch.codec, kCodecs,
                "Read and write JPEGs on the CPU, or on GPUs by nvImageCodec. The two round "
                "differently, so one run never mixes them; with --shard, auto takes the CPU, so "
                "that shards agree");
  binder.option("--devices", "LIST", batch.devices,
                "CUDA devices that share the pictures: all, or numbers such as 0,1 (default all)");
  binder.flag("--fail-fast", batch.fail_fast, "Stop after the first failure");
  binder.flag("--dry-run", command.dry_run, "Print what would be done, and do nothing");
  binder.flag("--json", command.json,
              "Print a line of JSON for each picture, done or not, on standard output. It "
              "has a name that is not UTF-8 percent-encoded, too");
  binder.flag("--no-progress", command.no_progress, "Show no progress bar on a terminal");
  const auto read_memory = [&batch](const std::string& word) {
    batch.max_memory = bytes_in("--max-memory", word);
  };
  binder.option(
      "--max-memory", "BYTES", read_memory,
      "Limit of memory for all pictures under way, such as 500M or 2G (default: no limit). "
      "For a picture that is filtered as a whole, it is an estimate. Pipes go through "
      "a file in $TMPDIR, else in /var/tmp");
  binder.then([&command, names, has_shard] {
    if (!command.batch.devices.empty()) device_numbers(command.batch.devices);
    const bool has_out_folder = !names->out_folder.empty();
    const bool has_mask =
        std::ranges::count(command.line->options, "MASK", &FilterOption::name) > 0;
    complete_names(*names, command.batch.selection, has_mask);
    command.needs_folder = folder_option(command, *has_shard, has_out_folder);
  });
}

void file_options(Binder& binder, Batch& batch) {
  WriteOptions& write = batch.write;
  binder.group("Files");
  const auto read_format = [&](const std::string& word) {
    write.format = batch.selection.format = word;
  };
  binder.option("--format", "NAME", read_format,
                "Format of OUT, such as png (default: by its name)");
  binder.number("--quality", "Q", write.quality, {0, 100},
                "Quality, 0 to 100 (default: a JPEG's own, else 95). It is for JPEG, WebP, "
                "HEIC, AVIF and JPEG XL; by default WebP and JPEG XL are lossless");
  binder.choice("--subsampling", write.subsampling,
                Choices<Subsampling>{{"444", {1, 1}}, {"422", {2, 1}}, {"420", {2, 2}}},
                "Chroma of a JPEG (default: as in IN, else 420)");
  binder.flag("--progressive", write.progressive,
              "Write a progressive JPEG: some 4 % smaller, in twice the time; its coefficients, 3 "
              "bytes a pixel, lie in memory");
  binder.flag("--optimize", write.optimize,
              "Write a JPEG with the shortest codes: some 2 % smaller, in half as much time again; "
              "memory as above");
  binder.number("--compression", "N", write.compression, {0, 9},
                "Compression of PNG and TIFF: 0, none, to 9, smallest (default: fast)");
  const auto strip = std::make_shared<std::string>();
  const Choices<Strip> strips = {
      {"all", Strip::all}, {"gps", Strip::gps}, {"all-but-rights", Strip::all_but_rights}};
  binder.joined(
      "--strip", "NAME", "all", *strip,
      "Leave out metadata. gps leaves out places alone (GPS and GeoTIFF; cities and countries "
      "of XMP and IPTC; not what a camera's own notes hide), and all-but-rights keeps "
      "authors and rights. The colour profile, or label, stays",
      words_of(strips));
  binder.then([strip, strips, &write] {
    if (*strip == "true") *strip = "all";  // as a default
    if (!strip->empty() && *strip != "false") write.strip = meaning_of("--strip", *strip, strips);
  });
  binder.flag("--in-place", batch.selection.in_place, "Allow OUT to be the same file as IN");
  reading_options(binder, batch.read);
  binder.then([&batch] { batch.write.loader = batch.read.loader; });
}

}  // namespace

void declare(Binder& binder, const FilterOption& option, FilterValues& values) {
  const std::string& name = option.name;
  option.set_default(values);
  if (option.is_argument()) return binder.positional(name.c_str(), values.words[name], option.text);
  if (option.is_flag()) return binder.flag(name, values.flags[name], option.text);
  const std::string first = first_sentence(option.text);
  std::string text = option.text, usual;
  if (option.words.empty()) {
    text = first + ", " + limits_of(option.bounds) + option.text.substr(first.size());
    if (option.usual) usual = shown(*option.usual);
  } else {
    usual = option.words.front();
  }
  const auto read = [&values, option](const std::string& word) { option.read(word, values); };
  binder.option(name, option.letters.c_str(), read, with_default(text, usual), option.words);
}

void declare(Binder& binder, FilterCommand& command) {
  const auto names = std::make_shared<Names>();
  for (const FilterOption& option : command.line->options)
    if (option.is_argument()) declare(binder, option, command.values);
  // With --files-from or -o there may be one name, or none.
  binder.more(names->more);
  binder.positional("IN", names->in, "Picture or folder to read; - is standard input", false);
  binder.positional("OUT", names->out,
                    "Picture or folder to write. - is standard output, and needs --format. With "
                    "-o, this and more words are inputs, too",
                    false);
  std::string title(command.line->help.name);
  title[0] = char(std::toupper(static_cast<unsigned char>(title[0])));
  binder.group(title.c_str(), true);
  for (const FilterOption& option : command.line->options)
    if (!option.is_argument()) declare(binder, option, command.values);

  ConvolverOptions& convolver = command.batch.convolver;
  Request& request = convolver.request;
  binder.group("How to compute");
  binder.option("--strategy", "NAME", request.strategy,
                "Way to convolve (convfilt list strategies)", strategy_names(this_machine()));
  device_options(binder, convolver);
  border_options(binder, convolver);
  if (!command.line->is_chain()) {
    binder.flag("--flip", command.values.flip, "Turn the mask by 180 degrees: true convolution");
    binder.flag(
        "--normalize", command.values.normalize,
        "Scale the weights to sum to 1. In a mask that finds edges, scale the positive ones so");
  }

  Mapping& mapping = command.mapping;
  binder.group("What is filtered");
  binder.flag("--linear", mapping.linear,
              "Filter linear light, by the curve that IN's profile or label tells, else sRGB's. "
              "Floats without a profile are light already");
  binder.flag(
      "--luma", mapping.luma,
      "Filter luma alone: 0.299 red, 0.587 green, 0.114 blue (Y of JPEG); with --linear, "
      "luminance. Edges are then grey. A baseline JPEG that becomes a JPEG keeps its chroma "
      "bit for bit and its quantisation, as -v says for one picture. Its chroma is coded anew by "
      "masks that change lightness, where it is stored turned, in several scans, with one Huffman "
      "code for luma and chroma or in other samplings than 4:4:4, 4:2:2, 4:2:0 and 4:4:0; and "
      "with --quality, --subsampling, --progressive, --optimize, --linear, --region, --depth, "
      "--loader or --keep-hidden");
  binder.flag("--keep-hidden", mapping.keep_hidden,
              "Keep the colours of clear pixels, which alpha hides (default: they are black)");
  binder.option(
      "--nodata", "VALUE",
      [&mapping](const std::string& word) { mapping.nodata = nodata_in(word); },
      "Samples of this value (a number, nan, or auto: the one that a GeoTIFF names) neither count "
      "nor change, and no other result gets it. Where a mask reaches them, its rest is scaled up; "
      "one that sums to 0 takes the middle sample for them. Edges, several masks, and sharpening "
      "with a threshold or limit take the nearest sample with data");
  const auto regions = std::make_shared<Words>();
  binder.repeated("--region", "X,Y,W,H", *regions,
                  "Filter only these pixels; the others stay as they were. ellipse:X,Y,W,H is the "
                  "ellipse in that box. May be given several times. A JPEG made from a JPEG keeps "
                  "its coefficients outside, but for the blocks at the rim; in other lossy files "
                  "the whole picture is coded anew");
  binder.then([regions, &mapping] {
    for (const std::string& word : *regions) mapping.regions.push_back(region_in(word));
  });
  binder.choice("--output", mapping.negative, kNegatives,
                "How to store responses below 0: clamp makes them 0, abs makes them positive, "
                "signed adds half of each response to the middle of the range");

  binder.choice("--depth", mapping.depth, choices_of(kDepths),
                "Depth of the result (default: IN's). f32 has a range from 0 to 1, and keeps "
                "responses outside it; TIFF and PFM hold it");

  file_options(binder, command.batch);
  folder_options(binder, command, names);
  setting_options(binder, request);
  message_options(binder, command.loudness);
  binder.then([&binder, &command] {
    command.given = binder.values();
    for (const ArgumentFacts& option : binder.facts().options)
      command.options.insert(command.options.end(), option.names.begin(), option.names.end());
  });
}

Extent size_in(const std::string& word) {
  const auto sides = parse_sides(word);
  require(sides.has_value(),
          "--size: " + in_quotes(word) + " is not a size; write WxH, e.g. 2048x2048");
  return *sides;
}

void check_pixels(const Extent& size, std::int64_t most) {
  require(size.width >= 1 && size.height >= 1 && size.width <= most / size.height,
          "--size: '" + size_text(size.width, size.height) + "': a picture has 1 to " +
              std::to_string(most) + " pixels");
}

void device_options(Binder& binder, ConvolverOptions& convolver) {
  Request& request = convolver.request;
  binder.group("How to compute");
  binder.option("--device", "NAME", request.device, "Where to compute (default auto)",
                device_names());
  binder.number("--threads", "N", request.threads, {1, 1024},
                "CPU threads, 1 to 1024 (default: all cores)");
  binder.choice("--pitch", convolver.padded_pitch,
                Choices<bool>{{"padded", true}, {"packed", false}}, "Rows in GPU memory");
  binder.then([&request] { check_names(request, this_machine()); });
}

void border_options(Binder& binder, ConvolverOptions& convolver) {
  const auto border = std::make_shared<std::optional<Border>>();
  const auto value = std::make_shared<std::optional<double>>();
  binder.group("Mask and border");
  binder.choice("--border", *border, choices_of(kBorders),
                "What lies outside the picture (default replicate)");
  binder.number("--border-value", "V", *value, {.least = std::numeric_limits<double>::lowest()},
                "Sample outside the picture, with --border=constant (default 0)");
  binder.choice("--mode", convolver.mode, choices_of(kModes),
                "Which outputs to compute. same: those of the picture. valid: those whose mask "
                "lies inside. full: all that the mask touches, with 0 outside");
  binder.then([border, value, &convolver] {
    const bool is_constant = convolver.mode == Mode::full || *value;
    convolver.border = border->value_or(is_constant ? Border::constant : Border::replicate);
    convolver.border_value = value->value_or(convolver.border_value);
  });
}

void reading_options(Binder& binder, ReadOptions& read) {
  binder.choice("--on-damage", read.refuse_damaged, Choices<bool>{{"fail", true}, {"warn", false}},
                "What to do if IN is damaged");
  binder.number("--max-pixels", "N", read.max_pixels, {.least = 1},
                "Refuse a picture of more pixels (default 2^29)");
  binder.number(
      "--page", "N", read.page, {},
      "Page of a file with several pictures, from 0 (default: all where the format of OUT "
      "holds several, else the first)");
  const auto pages = std::make_shared<bool>(true);
  binder.choice(
      "--pages", *pages, Choices<bool>{{"all", true}, {"first", false}},
      "Pages that are read. A TIFF holds all; WebP and PNG hold the frames of an animation; "
      "with {page} in --name each page becomes a file");
  binder.then([pages, &read] {
    if (!*pages) read.page = 0;
  });
  binder.choice(
      "--loader", read.loader, kLoaders,
      "Read and write files by each format's own library, or by OpenCV; damage is then found only "
      "as far as OpenCV finds it");
}

void setting_options(Binder& binder, Request& request) {
  const auto given = std::make_shared<std::vector<Setting>>();
  binder.group("Settings of a strategy");
  for (const Setting setting : kSettings) {
    Words owners;
    for (const Strategy* strategy : this_machine().strategies)
      if (strategy->has(setting)) owners.emplace_back(strategy->name);
    if (owners.empty()) continue;
    const SettingInfo& info = info_of(setting);
    std::string text = listed(owners) + ": " + std::string(info.summary);
    if (info.words.empty())
      text += ". " + std::to_string(info.lowest) + " to " + std::to_string(info.highest) +
              " (default: the strategy chooses)";
    const auto read = [&request, given, setting](const std::string& word) {
      set_from_word(request.tuning, setting, word);
      given->push_back(setting);
    };
    binder.option(option_name(setting), info.words.empty() ? "N" : "NAME", read, text,
                  words_of(info.words));
  }
  binder.then([&request, given] {
    check_names(request, this_machine());
    for (const Setting setting : *given) check_setting(request, setting, this_machine());
  });
}

void message_options(Binder& binder, Loudness& loudness) {
  const auto verbose = std::make_shared<bool>(false), quiet = std::make_shared<bool>(false);
  binder.group("Messages");
  binder.flag("-v,--verbose", *verbose, "Report what ran where, why, and how long it took");
  binder.flag("-q,--quiet", *quiet, "Print errors only");
  binder.then([&loudness, verbose, quiet] {
    loudness = *verbose ? Loudness::verbose : *quiet ? Loudness::quiet : Loudness::normal;
    set_loudness(loudness);
  });
}

}  // namespace convfilt
