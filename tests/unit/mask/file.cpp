#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/file.hpp"

namespace fs = std::filesystem;
using convfilt::Mask;
using Weights = std::vector<double>;

namespace {

template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

/// A folder that goes away with the test.
struct Folder {
  Folder() {
    path = fs::temp_directory_path() / ("convfilt_mask_" + std::to_string(getpid()));
    fs::create_directory(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  fs::path path;
};

}  // namespace

TEST_CASE("files: read, missing, folders, too large") {
  const Folder folder;
  CHECK(convfilt::load_mask(folder.write("a mask.txt", "1 2 3")).name == "a mask");
  CHECK(convfilt::load_mask(folder.write("m.mat", "1 1 2\n3")).divisor == 2);
  const auto error = [](const std::string& path) {
    return message_of<convfilt::IoError>([&] { convfilt::load_mask(path); });
  };
  CHECK(error((folder.path / "none.txt").string()).find("none.txt: cannot be opened: No such") !=
        std::string::npos);
  CHECK(error(folder.path.string()).find(": a folder, not a mask") != std::string::npos);
  const std::string large = folder.write("large.txt", "");
  fs::resize_file(large, (std::uintmax_t{64} << 20) + 1);
  CHECK(error(large).find("larger than 64 MiB") != std::string::npos);
  const std::string bad = folder.write("bad.txt", "1 z");
  CHECK(error(bad).find(bad + ":1:3: 'z' is not a number") == 0);
  const std::string named = folder.write("new\nline.txt", "z");
  CHECK(error(named).find("new\\x0Aline.txt:1:1:") != std::string::npos);
}

TEST_CASE("every filter loads by name, is in lowest terms and has a description") {
  const std::set<std::string> expected = {
      "identity", "box3",       "box5",       "gaussian3", "gaussian5", "gaussian7", "sharpen3",
      "unsharp5", "laplacian3", "laplacian8", "log5",      "sobel_x",   "sobel_y",   "scharr_x",
      "scharr_y", "prewitt_x",  "prewitt_y",  "emboss3",   "motion9",   "outline3"};
  const std::set<std::string> edges = {"laplacian3", "laplacian8", "log5",     "sobel_x",
                                       "sobel_y",    "scharr_x",   "scharr_y", "prewitt_x",
                                       "prewitt_y",  "outline3"};
  std::set<std::string> found;
  for (const convfilt::FilterInfo& filter : convfilt::list_filters()) {
    CAPTURE(filter.name);
    found.insert(filter.name);
    CHECK(filter.description.size() > 10);
    const Mask mask = convfilt::load_mask(filter.name);
    CHECK(mask.name == filter.name);
    CHECK(mask.width == filter.width);
    CHECK(mask.height == filter.height);
    CHECK(mask.width % 2 == 1);
    CHECK(mask.anchor_x == mask.width / 2);
    for (double weight : mask.weights) CHECK(weight == std::trunc(weight));
    CHECK(convfilt::gain(mask) == (edges.count(filter.name) == 1 ? 0 : 1));
  }
  CHECK(found == expected);
  CHECK(convfilt::load_mask("gaussian5").divisor == 256);
  CHECK(convfilt::load_mask("gaussian7").weight(3, 3) == 400);
  CHECK(convfilt::load_mask("unsharp5").weight(2, 2) == 476);
}

TEST_CASE("derivatives are positive where brightness grows with x or y") {
  for (const std::string name : {"sobel", "scharr", "prewitt"}) {
    CAPTURE(name);
    const Mask x = convfilt::load_mask(name + "_x"), y = convfilt::load_mask(name + "_y");
    double along_x = 0, across_x = 0;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) {
        along_x += x.weight(i, j) * i;
        across_x += x.weight(i, j) * j;
        CHECK(x.weight(i, j) == y.weight(j, i));
      }
    }
    CHECK(along_x > 0);
    CHECK(across_x == 0);
  }
}

TEST_CASE("names: the environment comes first, misspelt ones get the nearest") {
  const Folder folder;
  folder.write("box3.txt", "# mine\n5");
  folder.write("other.txt", "6");
  folder.write("kernel.mat", "#\n#  as vips writes it \n1 1\n7");
  folder.write("README.md", "no mask");
  setenv("CONVFILT_FILTERS", folder.path.c_str(), 1);
  CHECK(convfilt::load_mask("box3").weights == Weights{5});
  CHECK(convfilt::load_mask("other").weights == Weights{6});
  CHECK(convfilt::load_mask("box5").width == 5);
  CHECK(convfilt::load_mask("kernel").weights == Weights{7});
  const auto filters = convfilt::list_filters();
  CHECK(filters.size() == 22);
  for (const convfilt::FilterInfo& filter : filters) {
    if (filter.name == "box3") CHECK(filter.description == "mine");
    if (filter.name == "other") CHECK(filter.description == "");
    // A comment without a word is passed over.
    if (filter.name == "kernel") CHECK(filter.description == "as vips writes it");
  }
  setenv("CONVFILT_FILTERS", "/no/such/folder", 1);
  CHECK_THROWS_AS(convfilt::load_mask("box3"), convfilt::UsageError);
  unsetenv("CONVFILT_FILTERS");
  CHECK(convfilt::load_mask("box3").width == 3);
  const auto error = [](const std::string& name) {
    return message_of<convfilt::UsageError>([&] { convfilt::load_mask(name); });
  };
  CHECK(error("gausian5") ==
        "'gausian5' is neither a file nor a mask's name (see 'convfilt list masks'); did you mean "
        "'gaussian5'?");
  CHECK(error("sobel").find("did you mean 'sobel_x' or 'sobel_y'?") != std::string::npos);
  CHECK(error("gausian5.txt").find("'gaussian5'") != std::string::npos);
  CHECK(error("qqqq").find("did you mean") == std::string::npos);
}
