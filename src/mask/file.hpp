/// Masks from files, and filters: the named masks that come with the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/mask/set.hpp"

namespace convfilt {

/// One line of `convfilt list masks`.
struct FilterInfo {
  std::string name;         ///< the file's stem: what load_mask takes
  std::string description;  ///< the file's first comment line, without '#'; may be empty
  int width = 0, height = 0;
};

/// The masks of a text file, or of a filter by its name. The name of an existing file, or a word
/// with a
/// '/', is a path; any other word is a name. Logs a warning for a grid that may be meant as a vips
/// matrix.
///
/// Throws IoError if the file cannot be read, is larger than 64 MiB or holds no masks (see
/// parse_masks); UsageError for a name that no filter has, with the nearest names.
MaskSet load_masks(const std::string& path_or_name);

/// The only mask of a file. Throws as load_masks() does, and IoError if there are several.
Mask load_mask(const std::string& path_or_name);

/// All filters, by name. If two folders have a filter of the same name, the folder that is searched
/// first wins. A file that is not a mask is skipped with a warning.
std::vector<FilterInfo> list_filters();

/// The existing folders with filters, in the order of search: the folder in CONVFILT_FILTERS, the
/// one beside the library if a program calls it, and the one beside the running program. Throws
/// UsageError if CONVFILT_FILTERS is set and is no folder.
std::vector<std::filesystem::path> filter_folders();

/// Throws UsageError if the output would replace the mask's file, or that of another kind.
void check_keeps_mask(const std::string& mask, const std::string& out,
                      const std::string& kind = "mask");

}  // namespace convfilt
