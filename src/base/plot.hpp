/// Charts and drawings by gnuplot, a program of its own: a script goes in, a picture comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

enum class PlotFormat { svg, png };

/// The format that the end of the file's name says; throws UsageError for other ends.
PlotFormat plot_format_of(const std::string& path);

/// The size of a drawing in points of an SVG. A PNG has two pixels for each point, so that it is
/// sharp in print.
struct PlotSize {
  int width = 900, height = 600;
};

/// The picture that the script draws. The script is complete but for the terminal, which is chosen
/// here: UTF-8, plain text ("enhanced" is off), lines and letters of a size that suits both
/// formats, which the script finds in the variable `letter`. The font ':Bold' is bold. Throws
/// IoError with the package's name where gnuplot is missing, and with what it says where it fails.
std::vector<unsigned char> run_gnuplot(const std::string& script, PlotFormat format, PlotSize size);

/// run_gnuplot() to a file, whole or not at all; the format is chosen by the end of its name.
void plot_to_file(const std::string& path, const std::string& script, PlotSize size);

/// Throws what plot_to_file() would throw for the file's name or place, or for want of gnuplot. It
/// is called before any work.
void check_plot(const std::string& path);

/// The text as a string of gnuplot's language, quotes included.
std::string in_gnuplot(std::string_view text);

}  // namespace convfilt
