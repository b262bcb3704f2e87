/// The grammar of the command line: from argv to a command, whose options are bound to its struct
/// and checked. The command-line library's words appear only in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/grammar/binder.hpp"
#include "src/base/numbers.hpp"

namespace convfilt {

using CommandPtr = std::unique_ptr<Command>;

/// A command that is no filter.
struct OtherCommand {
  CommandHelp help;
  CommandPtr (*declare)(Binder& binder);  ///< null where this build lacks the command
};

/// Understands the command line, and what the environment and a file of defaults add to it; reads
/// no other file and asks no device. `defaults` becomes what they add, also where it throws. Throws
/// UsageError; IoError where the file cannot be read.
CommandPtr parse(int argc, const char* const* argv, std::vector<Default>& defaults);

extern const OtherCommand kMask, kMerge, kList, kGenerate;
// These are in app/lab/; a build without the lab lacks them.
extern const OtherCommand kCompare, kExplain, kCheck, kTune, kTry;

/// Binds the options to a new command.
template <class OneCommand>
CommandPtr declare_as(Binder& binder) {
  auto command = std::make_unique<OneCommand>();
  declare(binder, *command);
  return command;
}

/// Binds an option to its value; help has its bounds and its default.
void declare(Binder& binder, const FilterOption& option, FilterValues& values);

/// Binds a filter's options. `command` has no values yet, and must outlive the binder.
void declare(Binder& binder, FilterCommand& command);

// Options that several commands share.

/// Channels of pictures that are not read.
inline const Choices<int> kChannels = {{"1", 1}, {"3", 3}};

/// The WxH of --size. Throws UsageError.
Extent size_in(const std::string& word);

/// Throws UsageError where a picture of that --size has more pixels, or none.
void check_pixels(const Extent& size, std::int64_t most);

/// --device, --threads and --pitch.
void device_options(Binder& binder, ConvolverOptions& convolver);

/// --border, --border-value and --mode.
void border_options(Binder& binder, ConvolverOptions& convolver);

/// The options of every command that reads pictures.
void reading_options(Binder& binder, ReadOptions& read);

/// An option for each setting that strategies have.
void setting_options(Binder& binder, Request& request);

/// -v and -q.
void message_options(Binder& binder, Loudness& loudness);

}  // namespace convfilt
