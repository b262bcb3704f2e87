#include "src/picture/io.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/codecs/jpeg/patch.hpp"
#include "src/picture/codecs/jpeg/segments.hpp"
#include "src/picture/codecs/jpeg/stream.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/samples.hpp"
#include "src/picture/xmp.hpp"

namespace convfilt {
namespace {

std::string shown_out(const std::string& path) {
  return path == "-" ? "standard output" : quoted_name(path);
}

const Format& format_for(const std::string& path, const WriteOptions& options) {
  const bool said = !options.format.empty();
  const std::string extension = said ? options.format : path == "-" ? "" : extension_of(path);
  if (extension.empty()) {
    throw UsageError("cannot tell the format of " + shown_out(path) +
                     ": name it with --format, one of: " + known_extensions());
  }
  if (const Format* format = find_format(extension)) {
    if (format->written) return *format;
    throw UsageError("cannot write " + (said ? "" : shown_out(path) + ": ") +
                     std::string(format->name) +
                     (said ? ", which is only read;" : " is only read;") +
                     " --format=png, or another, writes it");
  }
  const std::string nearest = nearest_extension(extension);
  throw UsageError(
      (said ? "unknown format " + in_quotes(extension)
            : "unknown extension " + in_quotes("." + extension) + " of " + shown_out(path)) +
      (nearest.empty() ? ";" : "; did you mean '" + nearest + "'?") +
      " known: " + known_extensions());
}

Depth nearest_depth(const Format& format, Depth depth) {
  if (format.holds(depth)) return depth;
  for (const Depth deepest : {Depth::f32, Depth::u16, Depth::u8}) {
    if (format.holds(deepest)) return deepest;
  }
  return Depth::u8;
}

/// The metadata of a picture that was turned as its orientation says.
void turn_metadata(const Header& shape, Metadata& metadata) {
  if (!metadata.resolution) metadata.resolution = exif_resolution(shape.metadata.exif);
  if (metadata.resolution && turns_sideways(shape.orientation))
    std::swap(metadata.resolution->x, metadata.resolution->y);
  if (!metadata.exif.empty())
    metadata.exif = exif_of_result(shape.metadata.exif, shape.width, shape.height);
  if (shape.orientation != 1) set_xmp_upright(metadata.xmp);
}

/// Leaves out a profile that cannot be true, and takes the label that EXIF may have.
void check_label(Metadata& metadata, ReadContext& context) {
  Bytes& icc = metadata.icc;
  const bool is_damaged = !icc.empty() && !is_profile(icc);
  if (is_damaged || (!icc.empty() && !profile_is_grey(icc) && !profile_is_rgb(icc))) {
    icc.clear();
    context.warn(is_damaged ? kDamagedProfile
                            : "its colour profile is for other colours than those it is read as, "
                              "and is left out");
  }
  if (!metadata.label.codes) metadata.label.codes = codes_in(icc);
  if (icc.empty() && metadata.label.empty()) metadata.label = exif_label(metadata.exif);
}

bool has_codes(FormatId format, const ColourLabel::Codes& codes) {
  constexpr int kPrimariesOfJxl[] = {1, 9, 11, 12}, kTransfersOfJxl[] = {1, 8, 13, 16, 18};
  return codes.full_range &&
         (format != FormatId::jxl || (std::ranges::count(kPrimariesOfJxl, codes.primaries) > 0 &&
                                      std::ranges::count(kTransfersOfJxl, codes.transfer) > 0));
}

/// Whether what is written means the same without label and profile. Whole samples of sRGB stay as
/// they are in floats of formats that have place for neither.
bool is_usual(const Format& format, const Metadata& metadata, Depth from, Depth written) {
  const bool has_place = format.labels != Labels::none;
  const auto says_none = [&](Depth depth) {
    return metadata.label.codes || metadata.icc.empty()
               ? says_nothing(metadata.label, depth)
               : !has_place && profile_says_nothing(metadata.icc, depth);
  };
  return says_none(written) || (!has_place && from != Depth::f32 && says_none(from));
}

/// Tells the picture's colours as the format can: by their label, else by a profile. If it has
/// neither, returns how they become those of pictures without.
std::optional<ColourConversion> fit_label(const std::string& to, const Header& shape,
                                          const Format& format, const WriteOptions& options,
                                          Header& written, std::vector<std::string>& warnings) {
  if (options.loader == Loader::opencv) return std::nullopt;
  const std::string name(format.name);
  const auto warn = [&](const std::string& text) { warnings.push_back(to + text); };
  Metadata& metadata = written.metadata;
  ColourLabel& label = metadata.label;
  const ColourLabel given = label;
  const bool has_profile = !metadata.icc.empty();
  const Depth like = shape.depth == Depth::f32 ? written.depth : shape.depth;
  const bool says_usual = is_usual(format, metadata, shape.depth, written.depth);
  if (has_profile) {
    metadata.icc = profile_for(metadata.icc, written.channels);
    if (metadata.icc.empty())
      warn("the colour profile is for other colours than those that the " + name +
           " has, and is left out");
  }
  if (format.labels == Labels::all) {
    if (says_usual && shape.format != format.id) label = {};
    return std::nullopt;
  }
  const bool has_levels = format.id == FormatId::heic || format.id == FormatId::avif;
  if (!has_levels && (!label.mastering.empty() || !label.light_levels.empty()))
    warn(name + " has no place for levels of light (mDCV, cLLI); they are left out");
  label = {};
  if (has_levels) {
    label.mastering = given.mastering;
    label.light_levels = given.light_levels;
  }
  const std::string what = given.codes || !has_profile
                               ? "the label of its colours (" + words_of(given) + ")"
                               : "a colour profile";
  const std::string left_out = name + " has no place for " + what + "; it is left out";
  if (says_usual) {
    if (format.labels == Labels::none) metadata.icc.clear();
    if (format.id == FormatId::jxl && given.codes && has_codes(format.id, *given.codes))
      label.codes = given.codes;  // which says of floats whether they are light
    return std::nullopt;
  }
  if (format.labels == Labels::none && shape.is_response) {
    metadata.icc.clear();
    return std::nullopt;
  }
  if (format.labels == Labels::none) {
    try {
      ColourConversion conversion(shape.metadata, shape.depth, shape.channels, like);
      metadata.icc.clear();
      warn(name + " has no place for " + what + "; its colours become " +
           (like == Depth::f32 ? "linear " : "") + "sRGB");
      return conversion;
    } catch (const std::invalid_argument&) {
      warn(left_out);
      metadata.icc.clear();
      return std::nullopt;
    }
  }
  if (const auto codes = codes_of(given); format.labels == Labels::codes && codes &&
                                          (given.codes || !has_profile) &&
                                          has_codes(format.id, *codes)) {
    label.codes = codes;
    metadata.icc.clear();
    return std::nullopt;
  }
  const bool says_exif = given.in_exif && format.id == FormatId::jpeg &&
                         (options.strip == Strip::none || options.strip == Strip::gps);
  if (has_profile || says_exif) return std::nullopt;
  metadata.icc = profile_of(given, written.channels);
  if (metadata.icc.empty()) warn(left_out);
  return std::nullopt;
}

/// "a JPEG", "an AVIF".
std::string with_article(std::string_view name) {
  return (std::string_view("AEIOU").find(name.front()) == std::string_view::npos ? "a " : "an ") +
         std::string(name);
}

/// A PNG's text of this keyword is what other formats call a comment.
constexpr std::string_view kComment("Comment\0", 8);

void exchange_comments(FormatId to, Metadata& metadata) {
  if (to == FormatId::png) {
    for (Bytes& comment : metadata.comments) {
      while (!comment.empty() && comment.back() == 0) comment.pop_back();
      std::ranges::replace(comment, 0, ' ');
      comment.insert(comment.begin(), kComment.begin(), kComment.end());
      metadata.text_chunks.push_back({"tEXt", std::move(comment)});
    }
    metadata.comments.clear();
  } else if (to == FormatId::jpeg) {
    std::erase_if(metadata.text_chunks, [&](const Metadata::Chunk& text) {
      const bool is_comment = text.type == "tEXt" && starts_with(text.data, kComment);
      if (is_comment)
        metadata.comments.emplace_back(text.data.begin() + kComment.size(), text.data.end());
      return is_comment;
    });
  }
}

/// Leaves out the blocks that the format has no place for; fit_label() takes care of colours.
void leave_out_blocks(const std::string& to, const Header& shape, const Format& format,
                      bool is_opencv, Metadata& metadata, std::vector<std::string>& warnings) {
  const bool has_none = is_opencv || format.labels == Labels::none;
  // Many programs that read PNM do not know comments, so that only those of PNM stay.
  const auto is_pnm = [](FormatId id) { return id == FormatId::pnm || id == FormatId::pam; };
  const bool has_comments =
      !is_opencv && (format.id == FormatId::jpeg || (is_pnm(format.id) && is_pnm(shape.format)));
  if (!is_opencv) exchange_comments(format.id, metadata);
  const std::string comments = "the comment of a " + std::string(name_of(shape.format));
  std::vector<std::string> names;
  const auto leave_out = [&](bool is_without, auto& block, const char* name) {
    if (is_without && !block.empty()) names.emplace_back(name);
    if (is_without) block.clear();
  };
  leave_out(is_opencv, metadata.icc, "an ICC profile");
  leave_out(has_none, metadata.exif, "EXIF");
  leave_out(has_none, metadata.xmp, "XMP");
  leave_out(has_none || format.resolution_in_exif, metadata.iptc, "IPTC");
  leave_out(has_none || format.id != FormatId::png, metadata.text_chunks, "the text of a PNG");
  leave_out(!has_comments, metadata.comments, comments.c_str());
  if (const auto& pixels = metadata.resolution; has_none && pixels) {
    if (pixels->has_unit || pixels->x != pixels->y)
      names.emplace_back(pixels->has_unit ? "the density of pixels" : "the shape of pixels");
    metadata.resolution.reset();
  }
  if (names.empty()) return;
  warnings.push_back(to + std::string(format.name) + " has no place for " + listed(names) +
                     (names.size() > 1 ? "; they are" : "; it is") + " left out");
}

void fit_metadata(const std::string& to, const Header& shape, const Format& format,
                  const WriteOptions& options, Header& written,
                  std::vector<std::string>& warnings) {
  Metadata& metadata = written.metadata;
  const bool keeps_all = options.strip == Strip::none || options.strip == Strip::gps;
  if (keeps_all) turn_metadata(shape, metadata);
  metadata = stripped(std::move(metadata), options.strip);
  erase_parts(metadata.xmp);
  if (!metadata.paths.empty() && format.id != FormatId::jpeg && format.id != FormatId::tiff) {
    metadata.paths.clear();
    warnings.push_back(to + std::string(format.name) +
                       " has no place for clipping paths; they are left out");
  }
  if (format.id != FormatId::tiff && has_tags(metadata.exif, kPlaceTags)) {
    metadata.exif = without_tags(metadata.exif, kPlaceTags);
    warnings.push_back(to + std::string(format.name) +
                       " has no place for tags of GeoTIFF and GDAL; they are left out");
  }
  leave_out_blocks(to, shape, format, options.loader == Loader::opencv, metadata, warnings);
  if (metadata.resolution && format.resolution_in_exif)
    metadata.exif = exif_with_resolution(std::move(metadata.exif), *metadata.resolution);
}

/// The picture as the format can hold it. Every loss adds a warning.
Header fitted(const std::string& path, const Header& shape, const Format& format,
              const WriteOptions& options, std::vector<std::string>& warnings,
              std::optional<ColourConversion>& conversion) {
  const std::string name(format.name), to = shown_out(path) + ": ";
  const auto warn = [&](const std::string& text) { warnings.push_back(to + text); };
  Header written = shape;
  written.format = format.id;
  written.orientation = 1;
  if (format.several == Several::none || options.loader != Loader::automatic ||
      (format.several == Several::frames && !shape.frame))
    written.pages = 1;
  if (written.pages == 1) written.frame.reset();
  if (written.frame && format.several == Several::all) {
    warn(name + " has no times; those of the frames are left out");
    written.frame.reset();
  }
  if (shape.channels > 1 && !format.colour) {
    throw UsageError("cannot write " + to + name +
                     " holds grey pictures only; name it .ppm or .png to keep the colours");
  }
  if (options.quality && !format.quality) warn(name + " has no quality to set");
  const bool is_jpeg = format.id == FormatId::jpeg;
  if (options.progressive && !is_jpeg) warn("--progressive is for JPEG alone");
  if (options.optimize && !is_jpeg) warn("--optimize is for JPEG alone");
  if (options.subsampling && !is_jpeg) warn("--subsampling is for JPEG alone");
  const bool is_png_or_tiff = format.id == FormatId::png || format.id == FormatId::tiff;
  if (options.compression && !is_png_or_tiff) warn("--compression is for PNG and TIFF alone");
  const std::string extension = extension_of(path);
  const Format* named = path == "-" ? nullptr : find_format(extension);
  if (named && named->id != format.id)
    warn("written as " + name + ", as --format says, though its name ends in ." + extension);
  if (shape.channels == 4 && !format.alpha) {
    written.channels = 3;
    warn(name + " has no alpha; the picture is laid on white");
  }
  written.two_levels = shape.two_levels && is_png_or_tiff && options.loader == Loader::automatic;
  if (!written.two_levels) written.depth = nearest_depth(format, shape.depth);
  if (size_of(written.depth) < size_of(shape.depth))
    warn(name + " has no " + std::string(name_of(shape.depth)) + " samples; they become " +
         std::string(name_of(written.depth)));
  if (written.channels == 1 && !format.grey) written.channels = 3;
  conversion = fit_label(to, shape, format, options, written, warnings);
  fit_metadata(to, shape, format, options, written, warnings);
  return written;
}

/// Why a result cannot keep what its original has outside some regions, as the file stores it;
/// empty where it can, or where nothing is lost by storing it anew.
std::string why_coded_anew(const Header& shape, const Format& format, const WriteOptions& options) {
  constexpr std::int64_t kMostBytes = std::int64_t{768} << 20;  // as ReadContext::check_memory()
  const bool is_lossy = format.id == FormatId::jpeg || format.id == FormatId::heic ||
                        format.id == FormatId::avif || (format.quality && options.quality);
  if (!is_lossy) return "";
  if (format.id != FormatId::jpeg || shape.format != FormatId::jpeg)
    return "only a JPEG made from a JPEG keeps its coefficients";
  if (options.loader != Loader::automatic) return "OpenCV's codecs write no coefficients";
  if (shape.orientation != 1) return "IN is stored turned";
  if (options.quality) return "--quality changes its tables";
  if (options.subsampling && shape.channels > 1 && options.subsampling != shape.subsampling)
    return "--subsampling changes its sampling";
  if (shape.coefficient_bytes == 0) return "its colours or their sampling must be changed";
  if (shape.coefficient_bytes > kMostBytes)
    return "its coefficients would take more than 768 MiB of memory";
  return "";
}

}  // namespace

PictureReader::PictureReader(const std::string& path, const ReadOptions& options)
    : path_(path), source_(open_source(path)), context_(shown_input(path), options) {
  try {
    reader_ = codec_for(format_of(*source_, path), options.loader).open(*source_, context_);
  } catch (const std::bad_alloc&) {
    context_.fail("not enough memory for it");
  }
  take_header();
  choose_pictures();
}

void PictureReader::take_header() {
  header_ = reader_->header();
  check_label(header_.metadata, context_);
}

void PictureReader::choose_pictures() {
  const ReadOptions& options = context_.options();
  const int count = header().pages;
  const bool is_one = header().format != FormatId::tiff || options.loader == Loader::opencv;
  if (options.page.value_or(0) != 0 && count == 1 && is_one)
    context_.fail("only the first picture of " + with_article(name_of(header().format)) +
                  " is read; leave out --page");
  const int page = context_.first_page(count);
  takes_all_ = !options.page && (options.several == Several::all ||
                                 (options.several == Several::frames && header().frame));
  if (count == 1 || takes_all_) return;
  const std::string others = " of its " + std::to_string(count) + " pictures is read";
  if (options.page)
    context_.leaves_out_as_asked(
        (page == 0 ? "only the first" : "only page " + std::to_string(page)) + others);
  else
    context_.leaves_out("only the first" + others,
                        std::string("; --page N takes another, ") +
                            (header().frame ? "WebP, PNG and TIFF hold all" : "TIFF holds all"));
}

bool PictureReader::next() {
  if (!takes_all_) return false;
  context_.begin_next();
  rows_read_ = 0;
  if (!reader_->next()) return false;
  take_header();
  return true;
}

void PictureReader::read(PictureView<std::byte> rows) {
  try {
    reader_->read(rows);
    rows_read_ += rows.height;
    if (rows_read_ == header().height && !context_.is_damaged()) reader_->finish();
  } catch (const std::bad_alloc&) {
    context_.fail("not enough memory for its pixels");
  }
}

void PictureReader::check_replaced_by(const std::string& out) const {
  const std::vector<std::string>& parts = context_.left_out();
  if (parts.empty() || !same_file(path_, out)) return;
  throw IoError("cannot replace " + shown_out(out) + " by a result that lacks a part of it (" +
                joined(parts, "; ") + "); write to another file");
}

std::shared_ptr<const jpeg::KeptChroma> PictureReader::chroma_for(const std::string& out,
                                                                  const WriteOptions& options) {
  if (format_for(out, options).id != FormatId::jpeg || header_.format != FormatId::jpeg ||
      context_.is_damaged() || header_.channels != 3 || header_.orientation != 1 ||
      options.quality || options.subsampling || options.needs_coefficients() ||
      options.loader != Loader::automatic || context_.options().loader != Loader::automatic)
    return nullptr;
  const auto blocks = [](int side) { return std::int64_t{side + 7} / 8; };
  const std::int64_t units = blocks(header_.width) * blocks(header_.height);
  // A copy takes no more than the file, and units have a length each.
  auto chroma = jpeg::chroma_of(
      admitted_file(std::int64_t(file_bytes()) + units * std::int64_t(sizeof(std::uint16_t))),
      std::size_t(units));
  if (!chroma) file_held_ = std::int64_t(file_bytes());
  return chroma;
}

Picture read_all(PictureReader& reader) {
  const Header& header = reader.header();
  Image image;
  try {
    image = Image(header.width, header.height, header.channels, header.depth);
    reader.read(image.view());
    return {upright(std::move(image), header.orientation), header};
  } catch (const std::bad_alloc&) {
    reader.fail("not enough memory for its pixels");
  }
}

Picture read_picture(const std::string& path, const ReadOptions& options,
                     std::vector<std::string>* warnings) {
  PictureReader reader(path, options);
  Picture picture = read_all(reader);
  if (warnings)
    warnings->insert(warnings->end(), reader.warnings().begin(), reader.warnings().end());
  return picture;
}

Image read_image(const std::string& path, const ReadOptions& options,
                 std::vector<std::string>* warnings) {
  return read_picture(path, options, warnings).image;
}

Several several_in(const std::string& out, const WriteOptions& options) {
  return format_for(out, options).several;
}

void check_format(const std::string& out, const WriteOptions& options) {
  format_for(out, options);
}

void check_options(const WriteOptions& options) {
  if (!options.format.empty()) check_format("-", options);
  const auto check = [](const char* name, std::optional<int> number, int most) {
    if (number && (*number < 0 || *number > most))
      throw UsageError(std::string(name) + " is 0 to " + std::to_string(most) + ", not " +
                       std::to_string(*number));
  };
  check("--quality", options.quality, 100);
  check("--compression", options.compression, 9);
}

void check_output(const std::string& in, const std::string& out, const WriteOptions& options,
                  bool in_place) {
  check_format(out, options);
  check_options(options);
  if (!in_place && same_file(in, out)) {
    throw UsageError("input and output are the same file, " + shown_out(out) +
                     "; --in-place replaces it");
  }
  if (out != "-") check_writable(out);
}

WriteOptions jpeg_settings(const Header& shape, WriteOptions options) {
  // A JPEG made from a JPEG has its input's settings, unless the user gives others.
  if (shape.format == FormatId::jpeg) {
    if (!options.quality) options.quality = shape.quality;
    if (!options.subsampling) options.subsampling = shape.subsampling;
  }
  if (!options.quality) options.quality = kDefaultJpegQuality;
  if (!options.subsampling) options.subsampling = Subsampling{};
  return options;
}

PictureWriter::PictureWriter(const std::string& path, const Header& shape,
                             const WriteOptions& options, const Original* original)
    : path_(path), options_(options), shape_(shape) {
  const Format& format = format_for(path, options);
  written_ = fitted(path, shape, format, options, warnings_, conversion_);
  file_ = std::make_unique<AtomicFile>(path);
  sink_ = sink_of(*file_);
  const bool is_jpeg = format.id == FormatId::jpeg;
  WriteOptions settings = is_jpeg ? jpeg_settings(shape, options) : options;
  if (format.id == FormatId::webp && shape.format == FormatId::webp && !settings.quality)
    settings.quality = shape.quality;
  if (original && original->chroma) {
    writer_ = jpeg::write_luma(*sink_, written_, original->chroma);
    return;
  }
  const std::string why = original ? why_coded_anew(shape, format, options) : "";
  if (!why.empty())
    warnings_.push_back(shown_out(path) + ": the whole picture is coded anew, because " + why +
                        "; pixels outside the region may change");
  writer_ = original && why.empty() && is_jpeg
                ? jpeg::patch(*sink_, written_, settings, original->reader.admitted_file(),
                              original->regions)
                : codec_for(format.id, options.loader).create(*sink_, written_, settings);
}

PictureWriter::PreparedRows PictureWriter::prepare(PictureView<const std::byte> rows,
                                                   int first) const {
  PreparedRows prepared;
  Depth depth = shape_.depth;
  prepared.is_cut =
      depth == Depth::f32 && written_.depth != depth && !is_in_range(rows, written_.depth);
  const auto change = [&](int channels, Depth to, auto&& work) {
    Image changed(rows.width, rows.height, channels, to);
    work(rows, changed.view());
    prepared.fitted = std::move(changed);
    rows = std::as_const(prepared.fitted).view();
  };
  if (conversion_)
    change(rows.channels, depth, [&](auto in, auto out) { (*conversion_)(in, out); });
  if (written_.channels < shape_.channels)
    change(3, depth, [&](auto in, auto out) { flatten_onto_white(in, depth, out); });
  if (written_.depth != depth) {
    change(rows.channels, written_.depth,
           [&](auto in, auto out) { convert_depth(in, depth, out, written_.depth); });
    depth = written_.depth;
  }
  if (written_.channels > shape_.channels)
    change(3, depth, [&](auto in, auto out) { repeat_grey(in, depth, out); });
  prepared.encoded = writer_->encode(rows, first);
  return prepared;
}

void PictureWriter::write(PictureView<const std::byte> rows, PreparedRows prepared) {
  const Image& fitted = prepared.fitted;
  is_cut_ |= prepared.is_cut;
  writer_->write(fitted.empty() ? rows : fitted.view(), std::move(prepared.encoded));
}

void PictureWriter::next(const Header& shape) {
  std::vector<std::string> warnings;
  shape_ = shape;
  written_ = fitted(path_, shape, format_for(path_, options_), options_, warnings, conversion_);
  for (std::string& warning : warnings)
    if (std::ranges::find(warnings_, warning) == warnings_.end())
      warnings_.push_back(std::move(warning));
  writer_->next(written_);
}

void PictureWriter::finish() {
  writer_->finish();
  if (is_cut_)
    warnings_.push_back(shown_out(path_) + ": " + std::string(name_of(written_.format)) +
                        " has no samples below 0 or above 1, and no NaN; they become 0 or 1");
  for (const std::string& warning : writer_->warnings())
    warnings_.push_back(shown_out(path_) + ": " + warning);
  // Some writers hold the whole file, which may wait a while for its name.
  writer_.reset();
}

void PictureWriter::commit(const std::function<void(const FileStamp&)>& before, bool replaces) {
  file_->commit(before, replaces);
}

void write_encoded_jpeg(const std::string& path, const Header& shape, const WriteOptions& options,
                        ByteView encoded, std::vector<std::string>& warnings,
                        const std::function<void(const FileStamp&)>& before, bool replaces) {
  std::optional<ColourConversion> none;  // a JPEG has a profile
  const Header written = fitted(path, shape, format_for(path, options), options, warnings, none);
  const jpeg::Segments segments = jpeg::segments_of(written.metadata);
  for (const std::string& sentence : segments.left_out)
    warnings.push_back(shown_out(path) + ": " + sentence);
  AtomicFile file(path);
  file.write(0, jpeg::with_metadata(encoded, written.metadata));
  file.commit(before, replaces);
}

void write_picture(const std::string& path, const Image& image, const Header& header,
                   const WriteOptions& options, std::vector<std::string>* warnings) {
  Header shape = header;
  shape.width = image.width();
  shape.height = image.height();
  shape.pages = 1;
  shape.frame.reset();
  shape.channels = image.channels();
  shape.depth = image.depth();
  PictureWriter writer(path, shape, options);
  const PictureView<const std::byte> all = image.view();
  const int step = std::max(1, writer.rows_at_a_time());
  for (int y = 0; y < all.height; y += step) {
    PictureView<const std::byte> rows = all;
    rows.data = all.row(y);
    rows.height = std::min(step, all.height - y);
    writer.write(rows, writer.prepare(rows, y));
  }
  writer.finish();
  writer.commit();
  if (warnings)
    warnings->insert(warnings->end(), writer.warnings().begin(), writer.warnings().end());
}

void write_image(const std::string& path, const Image& image, const WriteOptions& options,
                 std::vector<std::string>* warnings) {
  write_picture(path, image, Header{}, options, warnings);
}

}  // namespace convfilt
