#include <algorithm>
#include <utility>

#include "app/grammar/help.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

bool takes_mask(const ArgumentFacts& argument) {
  return argument.value == "MASK" || argument.value == "M";
}

bool takes_file(const ArgumentFacts& argument) {
  return argument.value == "FILE" || argument.value == "IN" || argument.value == "OUT" ||
         takes_mask(argument);
}

// ---- troff

/// Text for troff: a backslash, a hyphen that is one, and lines that would be requests.
std::string troff(const std::string& text) {
  std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return replaced(replaced(out, "\n.", "\n\\&."), "\n'", "\n\\&'");
}

std::string troff_of(const ArgumentFacts& argument) {
  std::string text;
  for (const std::string& name : argument.names)
    text += (text.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
  if (argument.joined) return text + "[=\\fI" + troff(argument.value) + "\\fR]";
  return argument.value.empty() ? text : text + " \\fI" + troff(argument.value) + "\\fR";
}

std::string entry_of(const ArgumentFacts& option) {
  std::string text = ".TP\n" + troff_of(option) + "\n" + troff(option.text);
  if (!option.choices.empty()) text += ": " + troff(listed(option.choices, "or"));
  return text + "\n";
}

/// The commands that have this very option.
Words owners_of(const ArgumentFacts& option, const std::vector<CommandFacts>& commands) {
  Words owners;
  for (const CommandFacts& command : commands)
    for (const ArgumentFacts& other : command.options)
      if (other.names == option.names && other.text == option.text &&
          other.choices == option.choices)
        owners.emplace_back(command.help->name);
  return owners;
}

std::string troff_of(const CommandFacts& command, const std::vector<CommandFacts>& commands) {
  const std::string name = troff(std::string(command.help->name));
  std::string text = ".SS \"convfilt " + name + "\"\n.B convfilt " + name + "\n";
  text += "[\\fIOPTIONS\\fR]";
  for (const ArgumentFacts& positional : command.positionals)
    text += (positional.required ? " \\fI" : " [\\fI") + troff(positional.value) +
            (positional.required ? "\\fR" : "\\fR]");
  text += "\n.PP\n" + troff(std::string(command.help->about));
  if (!command.help->more.empty()) text += ".PP\n" + troff(std::string(command.help->more));
  text += ".PP\n.nf\n" + troff(std::string(command.help->examples)) + ".fi\n";
  for (const ArgumentFacts& positional : command.positionals)
    text += ".TP\n\\fI" + troff(positional.value) + "\\fR\n" + troff(positional.text) + "\n";
  for (const ArgumentFacts& option : command.options)
    if (owners_of(option, commands).size() == 1) text += entry_of(option);
  return text;
}

/// The options that several commands have, each once, below the names of these commands.
std::string troff_of_shared(const std::vector<CommandFacts>& commands) {
  std::vector<std::pair<std::string, std::string>> parts;  // headings and options
  for (const CommandFacts& command : commands)
    for (const ArgumentFacts& option : command.options) {
      const Words owners = owners_of(option, commands);
      if (owners.size() == 1 || owners.front() != command.help->name) continue;
      const std::string heading = option.group + ", in " + listed(owners);
      const auto part =
          std::ranges::find(parts, heading, &std::pair<std::string, std::string>::first);
      if (part == parts.end())
        parts.emplace_back(heading, entry_of(option));
      else
        part->second += entry_of(option);
    }
  std::string text = ".SH \"SHARED OPTIONS\"\n";
  for (const auto& [heading, options] : parts) text += ".SS \"" + troff(heading) + "\"\n" + options;
  return text;
}

/// The variables that set options, each once, with the option's name.
std::string troff_of_variables(const std::vector<CommandFacts>& commands) {
  Words known;
  std::string text;
  for (const CommandFacts& command : commands)
    for (const ArgumentFacts& option : command.options) {
      if (option.variable.empty() || std::ranges::count(known, option.variable)) continue;
      known.push_back(option.variable);
      text += ".TP\n.B " + option.variable + "\nThe value of " + troff(option.names.back()) +
              ", where that is not given.\n";
    }
  return text;
}

// ---- shells

/// Commands that print the masks' names, a line each. They stand between columns of blanks and
/// may have single ones. The width keeps each mask on one line.
const std::string kMasksInAwk =
    "COLUMNS=100000 convfilt list masks 2>/dev/null | awk -F '   *' '/^  [^ ]/ { print $2 }'";
const std::string kMasksInFish =
    " -a '(COLUMNS=100000 convfilt list masks 2>/dev/null | string match -rg \"^  (\\\\S+(?: "
    "\\\\S+)*)\")'";

/// In single quotes for a shell. fish takes \' inside them, the others do not.
std::string shell_quoted(const std::string& text, bool fish = false) {
  if (fish) return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// A script with the commands' names, and the cases of its `case`.
std::string filled(const std::string& script, const std::string& names, const std::string& cases) {
  return replaced(replaced(replaced(script, "@MASKS@", kMasksInAwk), "@COMMANDS@", names),
                  "@CASES@", cases);
}

/// The first clause of a text: what fits beside a name.
std::string brief(const ArgumentFacts& argument) {
  return first_sentence(argument.text.substr(0, argument.text.find_first_of(":(;")));
}

/// The choices but cuda:N, whose N stands for a number.
Words completions_of(const ArgumentFacts& argument) {
  Words words = argument.choices;
  std::erase_if(words, [](const std::string& word) { return word.ends_with(":N"); });
  return words;
}

const std::string kBash = R"sh(# bash completion for convfilt; made by: convfilt generate bash
_convfilt_mask_names() { mapfile -t choices < <(@MASKS@); }
_convfilt() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]} option='' files='' position name
  local -a options=() choices=()
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W @COMMANDS@ -- "$word")
    return
  fi
  # Readline makes a word of each =.
  if [ "$word" = = ]; then word='' option=$before
  elif [ "$before" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $before == -* ]]; then option=$before
  fi
  position=$((COMP_CWORD - 1))
  case $command in
@CASES@  esac
  # A flag takes no value, so what follows it is an argument.
  if [[ $word == -* && $before != = ]]; then
    choices=("${options[@]}") files=''
  fi
  # Names of masks may be any words, and compgen -W would expand what is in them.
  for name in "${choices[@]}"; do [[ $name != "$word"* ]] || COMPREPLY+=("$name"); done
  [ -z "$files" ] || { compopt -o filenames; local found
    mapfile -t found < <(compgen -f -- "$word"); COMPREPLY+=("${found[@]}"); }
}
complete -F _convfilt convfilt
)sh";

std::string bash(const std::vector<CommandFacts>& commands) {
  Words names;
  std::string cases;
  for (const CommandFacts& command : commands) {
    names.emplace_back(command.help->name);
    Words options;
    std::string values;
    for (const ArgumentFacts& option : command.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
      if (option.value.empty()) continue;
      const std::string pattern = joined(option.names, "|");
      if (!option.choices.empty()) {
        values +=
            "        " + pattern + ") choices=(" + joined(completions_of(option), " ") + ") ;;\n";
      } else if (takes_mask(option)) {
        values += "        " + pattern + ") _convfilt_mask_names; files=yes ;;\n";
      } else {
        values += "        " + pattern + ") " + (takes_file(option) ? "files=yes" : ":") + " ;;\n";
      }
    }
    // The first word of all may be completed otherwise than those that follow it.
    const auto words_for = [&](std::size_t k) -> std::string {
      if (k >= command.positionals.size()) return "files=yes";
      const ArgumentFacts& positional = command.positionals[k];
      if (!positional.choices.empty()) return "choices=(" + joined(positional.choices, " ") + ")";
      return takes_mask(positional) ? "files=yes; _convfilt_mask_names" : "files=yes";
    };
    std::string positional = words_for(0);
    if (command.positionals.size() > 1)
      positional = "if [ $position -gt 1 ]; then " + words_for(1) + "; else " + positional + "; fi";
    cases += "    " + std::string(command.help->name) + ")\n      options=(" +
             joined(options, " ") + ")\n      case $option in\n" + values + "        '') " +
             positional + " ;;\n        *) files=yes ;;\n      esac ;;\n";
  }
  return filled(kBash, shell_quoted(joined(names, " ") + " help --help --version"), cases);
}

/// The text with which _arguments completes a value.
std::string zsh_value(const ArgumentFacts& argument) {
  std::string text = ":" + replaced(argument.value, ":", "\\:") + ":";
  if (!argument.choices.empty())
    return text + "(" + replaced(joined(completions_of(argument), " "), ":", "\\:") + ")";
  if (takes_mask(argument)) return text + "_convfilt_masks";
  return text + (takes_file(argument) ? "_files" : " ");
}

const std::string kZsh = R"sh(#compdef convfilt
# zsh completion for convfilt; made by: convfilt generate zsh
_convfilt_masks() {
  local -a filters
  filters=(${(f)"$(@MASKS@)"})
  compadd -a filters
  _files
}
_convfilt() {
  local -a commands
  commands=(
@COMMANDS@  )
  if (( CURRENT == 2 )); then
    _describe command commands
    compadd -- --help --version
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
@CASES@  esac
}
if [ "$funcstack[1]" = _convfilt ]; then _convfilt "$@"; else compdef _convfilt convfilt; fi
)sh";

std::string zsh(const std::vector<CommandFacts>& commands) {
  const auto escaped = [](const std::string& text) {
    return replaced(replaced(replaced(text, "[", "\\["), "]", "\\]"), ":", "\\:");
  };
  std::string names, cases;
  for (const CommandFacts& command : commands) {
    names += "    " +
             shell_quoted(std::string(command.help->name) + ":" +
                          escaped(std::string(command.help->summary))) +
             "\n";
    cases += "    " + std::string(command.help->name) + ") _arguments -s \\\n";
    for (const ArgumentFacts& option : command.options) {
      const std::string about = "[" + escaped(brief(option)) + "]";
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        std::string spec = (option.repeats ? "*" : "") + name;
        if (option.joined)
          spec += "=-" + about + ":" + zsh_value(option);
        else if (option.value.empty())
          spec += about;
        else
          spec += std::string(is_long ? "=" : "+") + about + zsh_value(option);
        cases += "      " + shell_quoted(spec) + " \\\n";
      }
    }
    for (std::size_t k = 0; k < command.positionals.size(); ++k)
      cases += "      " + shell_quoted(std::to_string(k + 1) + zsh_value(command.positionals[k])) +
               " \\\n";
    if (command.takes_more) cases += "      '*:IN:_files' \\\n";
    cases += "      && return ;;\n";
  }
  return filled(kZsh, names, cases);
}

std::string fish(const std::vector<CommandFacts>& commands) {
  const auto about = [](const std::string& text) { return " -d " + shell_quoted(text, true); };
  std::string text =
      "# fish completion for convfilt; made by: convfilt generate fish\n"
      "complete -c convfilt -n __fish_use_subcommand -f\n"
      "complete -c convfilt -n __fish_use_subcommand -l help -d 'Print what it does'\n"
      "complete -c convfilt -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandFacts& command : commands) {
    text += "complete -c convfilt -n __fish_use_subcommand -a " + std::string(command.help->name) +
            about(std::string(command.help->summary)) + "\n";
    const std::string line = "complete -c convfilt -n '__fish_seen_subcommand_from " +
                             std::string(command.help->name) + "'";
    for (const ArgumentFacts& option : command.options) {
      text += line;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty() && !option.joined) text += takes_file(option) ? " -r -F" : " -x";
      if (!option.choices.empty())
        text += " -a " + shell_quoted(joined(completions_of(option), " "), true);
      if (takes_mask(option)) text += kMasksInFish;
      text += about(brief(option)) + "\n";
    }
    if (command.positionals.empty()) continue;
    const ArgumentFacts& first = command.positionals.front();
    const ArgumentFacts& second = command.positionals[command.positionals.size() > 1];
    // A mask may follow one of the first argument's choices.
    const bool follows = !first.choices.empty() && takes_mask(second);
    const auto line_if = [&](const char* condition) {
      return follows ? line.substr(0, line.size() - 1) + "; and " + condition +
                           "__fish_seen_subcommand_from " + joined(first.choices, " ") + "'"
                     : line;
    };
    if (!first.choices.empty())
      text += line_if("not ") + " -f -a " + shell_quoted(joined(first.choices, " "), true) + "\n";
    if (takes_mask(first) || follows) text += line_if("") + kMasksInFish + "\n";
  }
  return text;
}

}  // namespace

std::string manual_page(const std::vector<CommandFacts>& commands) {
  std::string text =
      ".TH CONVFILT 1 \"\" \"convfilt " CONVFILT_VERSION
      "\" \"User Commands\"\n"
      ".nh\n.ad l\n"
      ".SH NAME\nconvfilt \\- blur, sharpen, find edges and apply any mask to pictures\n"
      ".SH SYNOPSIS\n.B convfilt\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
      ".SH DESCRIPTION\n"
      ".B convfilt\nfilters pictures by convolution: exactly, and with the same bytes on every CPU "
      "and GPU, except for roundings under very large masks. Weights apply as written "
      "(correlation); "
      "\\fB\\-\\-flip\\fR gives true convolution. An output appears whole or not at all.\n"
      ".SH COMMANDS\n";
  for (const CommandFacts& command : commands) text += troff_of(command, commands);
  text +=
      troff_of_shared(commands) +
      ".SH \"EXIT STATUS\"\n.TP\n0\nAll was done.\n.TP\n1\nAn input, an output or a device "
      "failed.\n.TP\n2\nThe command line, or a mask, asks for something impossible.\n"
      ".TP\n3\n\\fBtry\\fR has no verdict, because the file or a compiler is missing.\n"
      ".TP\n130, 143\nA signal (INT, TERM) ended it; \\fB\\-\\-resume\\fR does the rest of a "
      "folder.\n"
      ".SH ENVIRONMENT\nOptions win over the environment, and it wins over the file below.\n" +
      troff_of_variables(commands) +
      ".TP\n.B CONVFILT_FILTERS\nA folder of masks by name, which is searched before those that "
      "came with the program.\n"
      ".TP\n.B CONVFILT_PROFILES\nA folder of profiles (see \\fBconvfilt tune\\fR). Profiles are "
      "then "
      "read only from there.\n"
      ".TP\n.B CONVFILT_NVIMGCODEC\nThe folder of nvImageCodec, where the system's libraries have "
      "none; see \\-\\-codec.\n"
      ".TP\n.B XDG_CACHE_HOME\nWhere your own profiles lie, in convfilt/profiles; else ~/.cache.\n"
      ".TP\n.B COLUMNS\nThe width that tables and lines are fitted to; else the terminal's, or "
      "100.\n"
      ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/convfilt/config.toml\nElse\n"
      ".IR ~/.config/convfilt/config.toml .\nYour defaults for options, without the dashes. Lines "
      "below a command's name in brackets are for that command, and win over those for all. "
      "Options "
      "that name files, and \\-\\-in\\-place, belong on the command line.\n.IP\n.nf\n"
      "border = \"reflect\"\nthreads = 4\n[blur]\nsigma = 3\n.fi\n"
      ".SH \"SEE ALSO\"\n.BR vips (1),\n.BR gm (1)\n";
  return text;
}

std::string completion(const std::string& shell, const std::vector<CommandFacts>& commands) {
  return shell == "bash" ? bash(commands) : shell == "zsh" ? zsh(commands) : fish(commands);
}

}  // namespace convfilt
