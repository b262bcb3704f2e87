#include "app/grammar/commands.hpp"

#include "src/auto/choice.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {

Extent size_in(const std::string& word) {
  const auto sides = parse_sides(word);
  require(sides.has_value(),
          "--size: " + in_quotes(word) + " is not a size; write WxH, e.g. 2048x2048");
  return *sides;
}

void check_pixels(const Extent& size, std::int64_t most) {
  require(size.width >= 1 && size.height >= 1 && size.width <= most / size.height,
          "--size: '" + std::to_string(size.width) + "x" + std::to_string(size.height) +
              "': a picture has 1 to " + std::to_string(most) + " pixels");
}

void declare(Binder& binder, MaskCommand& command) {
  binder.positional("ACTION", command.action,
                    "check: size, sum, rank, exactness, and what auto takes. show: weights and "
                    "response",
                    true, words_of(kMaskActions));
  binder.positional("MASK", command.mask, "A text file, or a name (convfilt list masks)");
  binder.group("For check", true);
  const auto read_size = [&](const std::string& word) {
    const Extent size = size_in(word);
    check_pixels(size, ReadOptions{}.max_pixels);
    command.width = int(size.width);
    command.height = int(size.height);
  };
  binder.option("--size", "WxH", read_size,
                "Size of the picture that auto is asked about (default 1920x1080)");
  binder.list("--depth", command.depths, choices_of(kDepths),
              "Depths of its samples, commas between (default: each)");
  binder.choice("--channels", command.channels, kChannels, "1, or 3 for colour");
  binder.option("--device", "NAME", command.request.device, "Where to compute (default auto)",
                device_names());
  binder.group("For show", true);
  binder.option("--output", "FILE", command.output,
                "Write a picture of the response instead of the drawing");
  binder.then([&command] {
    require_choice("action", command.action, words_of(kMaskActions));
    if (command.action == "check") return check_names(command.request, this_machine());
    require(command.output != "-",
            "--output: the text goes to standard output; name a file, e.g. --output response.png");
    require(command.output.empty() || !extension_of(command.output).empty(),
            "--output: " + in_quotes(command.output) +
                " has no suffix that says the format; write e.g. " +
                in_quotes(command.output + ".png"));
  });
}

void declare(Binder& binder, MergeCommand& command) {
  binder.positional("OUT", command.out, "The folder of the results");
  message_options(binder, command.loudness);
}

void declare(Binder& binder, ListCommand& command) {
  binder.positional("TOPIC", command.topic, "strategies, filters, masks or devices (default: all)",
                    false, words_of(kListTopics));
  binder.then([&command] {
    if (!command.topic.empty()) require_choice("topic", command.topic, words_of(kListTopics));
  });
}

void declare(Binder& binder, GenerateCommand& command) {
  binder.positional("WHAT", command.what, "man, bash, zsh or fish", true, words_of(kGenerated));
  binder.then(
      [&command] { require_choice("thing to generate", command.what, words_of(kGenerated)); });
}

}  // namespace convfilt
