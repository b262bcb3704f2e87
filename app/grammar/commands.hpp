/// The options and arguments of each command, bound to its struct and checked.
#pragma once

#include "app/grammar/binder.hpp"
#include "app/options.hpp"

namespace convfilt {

/// `command` is to be a command without values, and must outlive the binder.
void declare(Binder& binder, FilterCommand& command);
void declare(Binder& binder, CompareCommand& command);
void declare(Binder& binder, ExplainCommand& command);
void declare(Binder& binder, TuneCommand& command);
void declare(Binder& binder, MaskCommand& command);
void declare(Binder& binder, MergeCommand& command);
void declare(Binder& binder, TryCommand& command);
void declare(Binder& binder, ListCommand& command);
void declare(Binder& binder, GenerateCommand& command);

// What several commands have.

/// --device, --threads and --pitch.
void device_options(Binder& binder, ConvolverOptions& convolver);

/// --border, --border-value and --mode.
void border_options(Binder& binder, ConvolverOptions& convolver);

/// What is the same for all pictures that are read.
void reading_options(Binder& binder, ReadOptions& read);

/// An option for each setting that strategies have.
void setting_options(Binder& binder, Request& request);

/// -v and -q.
void message_options(Binder& binder, Loudness& loudness);

}  // namespace convfilt
