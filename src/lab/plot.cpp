#include "src/lab/plot.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/atomic_file.hpp"
#include "src/base/descriptor.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

extern char** environ;

namespace convfilt {
namespace {

/// PNG pixels for a point.
constexpr int kPixels = 2;

struct Outcome {
  int status = 0;  ///< as waitpid() gives it
  std::string out, messages;
};

[[noreturn]] void fail(const std::string& why) {
  throw IoError("cannot draw: " + why);
}

/// A file in memory. gnuplot's input and output are such files, so neither program waits for a
/// pipe.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes = {}) {
    if (fd() < 0) fail(std::string("no memory for the script (") + std::strerror(errno) + ")");
    if (!write_at(fd(), 0, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}))
      fail(std::strerror(errno));
  }

  int fd() const { return file_.get(); }

  std::string text() const {
    std::string all(std::size_t(::lseek(fd(), 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(fd(), all.data(), all.size(), 0);
    all.resize(got > 0 ? std::size_t(got) : 0);
    return all;
  }

 private:
  const Descriptor file_{::memfd_create("convfilt", MFD_CLOEXEC)};
};

/// Runs gnuplot with `input` on its standard input. Throws IoError where it cannot be started.
Outcome gnuplot(const std::vector<const char*>& arguments, std::string_view input) {
  const MemoryFile script(input), out, messages;
  posix_spawn_file_actions_t wiring;
  posix_spawn_file_actions_init(&wiring);
  posix_spawn_file_actions_adddup2(&wiring, script.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&wiring, out.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&wiring, messages.fd(), STDERR_FILENO);
  std::vector<char*> words = {const_cast<char*>("gnuplot")};
  for (const char* argument : arguments) words.push_back(const_cast<char*>(argument));
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], &wiring, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&wiring);

  Outcome outcome;
  if (error == 0) {
    while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
    }
    outcome.out = out.text();
    outcome.messages = messages.text();
  }
  if (error == ENOENT)
    fail("gnuplot is not installed; install the package gnuplot-nox, or leave out the picture");
  if (error != 0) fail(std::string("gnuplot does not start: ") + std::strerror(error));
  return outcome;
}

/// The line of gnuplot's messages with the error: "line 3: undefined variable: x".
std::string cause_in(const std::string& messages) {
  std::string cause;
  for (std::string_view rest = messages; !rest.empty();) {
    const std::string_view line = SourceText::take_line(rest);
    const bool says = line.find_first_not_of(" \t^") != line.npos;
    if (says && (cause.empty() || line.find("line ") != line.npos))
      cause = line.substr(line.find_first_not_of(" \t"));
  }
  return printable_name(cause);
}

std::string terminal(PlotFormat format, PlotSize size) {
  const auto wxh = [](int width, int height) {
    return std::to_string(width) + "," + std::to_string(height);
  };
  if (format == PlotFormat::svg)
    return "set terminal svg noenhanced size " + wxh(size.width, size.height) +
           " font 'sans-serif,12' background 'white'\nletter = 12\n";
  const std::string scale = std::to_string(kPixels);
  return "set terminal pngcairo noenhanced size " +
         wxh(kPixels * size.width, kPixels * size.height) + " font 'Sans,9' fontscale " + scale +
         " linewidth " + scale + " pointscale " + scale + " background '#ffffff'\nletter = 9\n";
}

/// gnuplot's SVG writes font ':Bold' as a family of that name, and viewers then take any letters.
void make_bold(std::string& svg) {
  constexpr std::string_view kFamily = "font-family=\":Bold\"";
  constexpr std::string_view kBold = "font-family=\"sans-serif\" font-weight=\"bold\"";
  for (std::size_t at = 0; (at = svg.find(kFamily, at)) != svg.npos; at += kBold.size())
    svg.replace(at, kFamily.size(), kBold);
}

}  // namespace

PlotFormat plot_format_of(const std::string& path) {
  const auto ends = [&](std::string_view end) { return path.size() > 4 && path.ends_with(end); };
  if (ends(".svg") || ends(".SVG")) return PlotFormat::svg;
  if (ends(".png") || ends(".PNG")) return PlotFormat::png;
  throw UsageError("a drawing is an .svg or a .png, by the end of its name, not " +
                   in_quotes(path));
}

std::vector<unsigned char> run_gnuplot(const std::string& script, PlotFormat format,
                                       PlotSize size) {
  // A user's ~/.gnuplot must not change the picture.
  Outcome outcome =
      gnuplot({"--default-settings"}, "set encoding utf8\n" + terminal(format, size) + script);
  if (outcome.status != 0 || outcome.out.empty()) {
    const std::string cause = cause_in(outcome.messages);
    fail("gnuplot fails" + (cause.empty() ? std::string() : ": " + cause) +
         "; is the package gnuplot-nox whole?");
  }
  if (format == PlotFormat::svg) make_bold(outcome.out);
  return {outcome.out.begin(), outcome.out.end()};
}

void plot_to_file(const std::string& path, const std::string& script, PlotSize size) {
  write_file(path, run_gnuplot(script, plot_format_of(path), size));
}

void check_plot(const std::string& path) {
  plot_format_of(path);
  check_writable(path);
  gnuplot({"--version"}, {});
}

std::string in_gnuplot(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'') quoted += '\'';
    quoted += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return quoted + "'";
}

}  // namespace convfilt
