#include "app/grammar/filters.hpp"

#include "src/filter/edge.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

FilterOption number(const char* name, const char* letters, std::optional<double> usual,
                    const Bounds<double>& bounds, const char* text) {
  return {name, letters, text, bounds, usual};
}

FilterOption whole(const char* name, const char* letters, std::optional<double> usual,
                   const Bounds<double>& bounds, const char* text) {
  return {name, letters, text, bounds, usual, true};
}

FilterOption word(const char* name, const Words& words, const char* text) {
  return {.name = name, .letters = "NAME", .text = text, .words = words};
}

FilterOption mask_argument() {
  return {
      .name = "MASK", .letters = "MASK", .text = "A text file, or a name (convfilt list masks)"};
}

FilterPtr find_edges_of(const FilterValues& values) {
  EdgeOptions edge{values.word("--method"), values.word("--direction"), {}};
  if (values.has("--sigma")) edge.sigma = values.number("--sigma");
  std::vector<Mask> masks = edge_masks(edge);
  for (Mask& mask : masks) mask = values.finished(mask);
  return edge_filter(masks);
}

bool has_file(const EdgeMethod& method) {
  return !method.first.empty();
}

bool has_one_mask(const EdgeMethod& method) {
  return method.second.empty();
}

// A filter is one entry: its name, what help says, its options, what makes it, and which of its
// options exclude each other, if any do.
const FilterLine kFilters[] = {
    {{"blur", "Gaussian blur, or the mean of a box",
      "Blur a picture with a Gaussian, or with a box.\n",
      "  convfilt blur photo.jpg soft.jpg                 Gaussian, sigma 2\n"
      "  convfilt blur photo.jpg backdrop.jpg --sigma 40\n"
      "  convfilt blur scan.tif mean.tif --box 9          mean of 9x9 pixels\n"
      "  convfilt blur photos/ out/ -r                    a folder, and those in it\n"},
     {number("--sigma", "S", 2, {0, kMaxSigma, true}, "Sigma of the Gaussian, in pixels"),
      whole("--box", "N", {}, {1, kMaxMaskSide}, "Take the mean of a box of NxN pixels instead")},
     [](const FilterValues& values) {
       return mask_filter(values.finished(values.has("--box")
                                              ? box_mask(int(values.number("--box")))
                                              : gaussian_mask(values.number("--sigma"))));
     },
     {{"--sigma", "--box", "--sigma, --box: a blur has one of the two; leave out the other"}}},
    {{"sharpen", "Unsharp mask: add what a blur takes away",
      "Sharpen a picture by an unsharp mask: add A times what a Gaussian blur takes\n"
      "away.\n",
      "  convfilt sharpen photo.jpg crisp.jpg\n"
      "  convfilt sharpen photo.jpg crisp.jpg --amount 0.5\n"
      "  convfilt sharpen scan.png local.png --sigma 10   contrast of larger things\n"},
     {number("--amount", "A", 1, {0, kMaxAmount}, "How much to add"),
      number("--sigma", "S", 1, {0, kMaxSigma, true}, "Size of the details, in pixels")},
     [](const FilterValues& values) {
       return mask_filter(
           values.finished(sharpen_mask(values.number("--amount"), values.number("--sigma"))));
     }},
    {{"edge", "Find edges: Sobel, Scharr, Prewitt, Laplacian, LoG",
      "Find edges: bright where a colour changes fast, black where it does not.\n",
      "  convfilt edge photo.jpg edges.png                length of the Sobel gradient\n"
      "  convfilt edge photo.jpg upright.png --direction x\n"
      "  convfilt edge photo.jpg blobs.png --method log --sigma 3\n"},
     {word("--method", words_of(kEdgeMethods), "Masks that find edges"),
      number("--sigma", "S", {}, {0, kMaxSigma, true},
             "Sigma of --method=log, in pixels (default 1.4)"),
      word("--direction", {"both", "x", "y"}, "Direction of the changes to find")},
     find_edges_of,
     {{"--region", "--luma=true"},
      {"--sigma", "--method=" + those(kEdgeMethods, has_file), "", EdgeOptions{}.method},
      {"--direction=x|y", "--method=" + those(kEdgeMethods, has_one_mask), "",
       EdgeOptions{}.method}}},
    {{"apply", "Apply any mask: from a text file, or a mask by name",
      "Apply a mask: a text file of numbers, a row on each line, or a mask by name.\n",
      "  convfilt apply emboss3 photo.jpg relief.png\n"
      "  convfilt apply my-mask.txt photo.jpg out.png     grammar: filters/README.md\n"
      "  convfilt apply gaussian5 photo.png out.png --strategy tiled-in -v\n"},
     {mask_argument()},
     [](const FilterValues& values) {
       return mask_filter(values.finished(load_mask(values.word("MASK"))));
     }},
};

}  // namespace

Mask FilterValues::finished(Mask mask) const {
  if (normalize) mask = normalized(mask);
  if (flip) mask = flipped(mask);
  return mask;
}

std::span<const FilterLine> filters() {
  return kFilters;
}

}  // namespace convfilt
