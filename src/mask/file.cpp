#include "src/mask/file.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <system_error>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

MaskSet load_file(const std::string& path) {
  std::string ambiguity;
  MaskSet set = parse_masks(read_text(path, "mask"), path, &ambiguity);
  if (!ambiguity.empty()) log_warning(ambiguity);
  return set;
}

// The text of the first comment line.
std::string description_of(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = without_blanks(SourceText::take_line(text));
    const std::string_view comment = line.starts_with('#') ? without_blanks(line.substr(1)) : "";
    if (!comment.empty()) return std::string(comment);
  }
  return "";
}

// Every filter's file, by name.
std::map<std::string, fs::path> filter_files() {
  const std::vector<fs::path> folders = filter_folders();
  if (folders.empty()) {
    throw IoError(
        "no folder of filters was found in " CONVFILT_FILTERS_FROM_PROGRAM
        " of the program's folder; install convfilt again, or name one in CONVFILT_FILTERS");
  }
  std::map<std::string, fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
      const fs::path& path = entry->path();
      std::error_code ignored;  // a pipe would be waited for
      if ((path.extension() == ".txt" || path.extension() == ".mat") &&
          fs::is_regular_file(path, ignored)) {
        files.emplace(path.stem().string(), path);
      }
    }
    if (error) {
      throw IoError(folder.string() + ": cannot be listed: " + error.message() +
                    "; check CONVFILT_FILTERS or install convfilt again");
    }
  }
  return files;
}

}  // namespace

std::vector<fs::path> filter_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  if (const char* named = std::getenv("CONVFILT_FILTERS"); named != nullptr && *named != '\0') {
    if (!fs::is_directory(named, error)) {
      throw UsageError("CONVFILT_FILTERS: '" + printable_name(named) +
                       "' is not a folder; name a folder with masks, or unset it");
    }
    folders.emplace_back(named);
  }
  const auto add = [&](const fs::path& folder) {
    const fs::path plain = folder.lexically_normal();
    if (std::ranges::count(folders, plain) == 0 && fs::is_directory(plain, error))
      folders.push_back(plain);
  };
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // In a program that only calls the library, this function lies in the library. The library's
  // filters win over those of an installation that the program may lie in. A name without a folder
  // is the program's name as called, and does not tell its place.
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&filter_folders), &here) != 0 && here.dli_fname != nullptr &&
      std::string_view(here.dli_fname).find('/') != std::string_view::npos) {
    const fs::path object = fs::canonical(here.dli_fname, error);
    if (!error && object != program) add(object.parent_path() / CONVFILT_FILTERS_FROM_LIBRARY);
  }
  if (!program.empty()) add(program.parent_path() / CONVFILT_FILTERS_FROM_PROGRAM);
  return folders;
}

MaskSet load_masks(const std::string& path_or_name) {
  std::error_code ignored;
  const bool is_path = path_or_name.find('/') != std::string::npos;
  const bool is_file =
      fs::exists(path_or_name, ignored) && !fs::is_directory(path_or_name, ignored);
  if (is_path || is_file) return load_file(path_or_name);

  const std::map<std::string, fs::path> files = filter_files();
  const auto file = files.find(path_or_name);
  if (file != files.end()) return load_file(file->second.string());
  std::vector<std::string> names;
  for (const auto& [name, path] : files) names.push_back(name);
  // "gausian5.txt" was meant as a file, but the user may want the filter of that name.
  const std::string stem = fs::path(path_or_name).stem().string();
  const bool is_number =
      !path_or_name.empty() && path_or_name.find_first_not_of("0123456789") == std::string::npos;
  if (is_number)
    throw UsageError("'" + path_or_name +
                     "' is neither a file nor a mask's name; a mask of that side is " +
                     path_or_name + "x" + path_or_name);
  throw UsageError("'" + printable_name(path_or_name) +
                   "' is neither a file nor a mask's name (see 'convfilt list masks')" +
                   did_you_mean(stem, names));
}

Mask load_mask(const std::string& path_or_name) {
  return only_mask(load_masks(path_or_name), path_or_name);
}

std::vector<FilterInfo> list_filters() {
  std::vector<FilterInfo> filters;
  for (const auto& [name, path] : filter_files()) {
    try {
      const std::string text = read_text(path.string(), "mask");
      const Mask mask = parse_masks(text, path.string()).masks[0];
      filters.push_back({name, description_of(text), mask.width, mask.height});
    } catch (const std::runtime_error& broken) {
      log_warning("not listed: " + std::string(broken.what()));
    }
  }
  return filters;
}

void check_keeps_mask(const std::string& mask, const std::string& out, const std::string& kind) {
  if (same_file(mask, out))
    throw UsageError("'" + printable_name(out) + "' is the file of the " + kind +
                     ", which the result would replace; write to another file");
}

}  // namespace convfilt
