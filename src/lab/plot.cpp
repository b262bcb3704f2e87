#include "src/lab/plot.hpp"

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/process.hpp"

namespace convfilt {
namespace {

/// PNG pixels for a point.
constexpr int kPixels = 2;

[[noreturn]] void fail(const std::string& why) {
  throw IoError("cannot draw: " + why);
}

struct Outcome {
  int code = 0;
  std::string picture, messages;
};

/// Runs gnuplot on a script. Throws IoError where it cannot be started.
Outcome gnuplot(const std::string& option, const std::string& script = "") try {
  constexpr double kSeconds = 3600;
  const ScratchFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string text = "set output " + in_gnuplot(file("picture")) + "; " + script;
  write_file(file("script"), {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  const Ended ended =
      run_process({"gnuplot", option, file("script")}, file("messages"), {.seconds = kSeconds});
  if (ended.code() == kNoProgram)
    fail("gnuplot is not installed; install the package gnuplot-nox, or leave out the picture");
  if (ended.code() == kNotStarted) fail(not_started("gnuplot"));
  if (ended.timed_out) fail("gnuplot takes more than an hour; leave out the picture");
  return {ended.code(), contents_of(file("picture")),
          replaced(contents_of(file("messages")), '"' + file("script") + "\" ", "")};
} catch (const NoVerdictError& error) {
  fail(error.what());
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

/// Whether the picture has its end.
bool is_whole(std::string_view picture, PlotFormat format) {
  constexpr std::string_view kLastChunk("\0\0\0\0IEND\xAE\x42\x60\x82", 12);
  if (format == PlotFormat::png) return picture.ends_with(kLastChunk);
  const std::size_t last = picture.find_last_not_of("\r\n ");
  return last != picture.npos && picture.substr(0, last + 1).ends_with("</svg>");
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
std::string with_bold(const std::string& svg) {
  return replaced(svg, "font-family=\":Bold\"", "font-family=\"sans-serif\" font-weight=\"bold\"");
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
      gnuplot("--default-settings", "set encoding utf8\n" + terminal(format, size) + script);
  std::string& picture = outcome.picture;
  if (outcome.code != 0) {
    const std::string cause = cause_in(outcome.messages);
    fail("gnuplot fails" + (cause.empty() ? std::string() : ": " + cause) +
         "; is the package gnuplot-nox whole?");
  }
  // A full disk does not make gnuplot fail.
  if (!is_whole(picture, format))
    fail(
        "gnuplot's picture is cut short; see whether the temporary folder has room, or draw less, "
        "since a picture of more than 64 MiB is not taken");
  if (format == PlotFormat::svg) picture = with_bold(picture);
  return {picture.begin(), picture.end()};
}

void plot_to_file(const std::string& path, const Drawing& drawing) {
  write_file(path, run_gnuplot(drawing.script, plot_format_of(path), drawing.size));
}

void check_plot(const std::string& path) {
  plot_format_of(path);
  check_writable(path);
  gnuplot("--version");
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
