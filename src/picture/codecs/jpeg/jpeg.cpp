/// JPEG by libjpeg-turbo: baseline, progressive and arithmetic, of 8 bits a sample.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/codecs/jpeg/libjpeg.hpp"
#include "src/picture/codecs/jpeg/segments.hpp"
#include "src/picture/codecs/parts.hpp"

namespace convfilt {
namespace {

enum OwnCode { kDamage = -2, kTooManyScans = -3, kHeaderTooLong = -4 };

/// Bytes of all coefficients of a file that is decoded or encoded, two each.
template <class Info>
std::int64_t coefficient_bytes(const Info& info) {
  std::int64_t samples = 0;
  for (int i = 0; i < info.num_components; ++i)
    samples += info.comp_info[i].h_samp_factor * info.comp_info[i].v_samp_factor;
  const std::int64_t pixels = std::int64_t{info.image_width} * info.image_height;
  return std::int64_t{sizeof(JCOEF)} * pixels * samples /
         (info.max_h_samp_factor * info.max_v_samp_factor);
}

/// Header::coefficient_bytes. Arrays of coefficients have whole units of a scan.
std::int64_t kept_bytes(const jpeg_decompress_struct& info) {
  const int count = info.num_components;
  int blocks = 0;
  std::int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    const int h = component.h_samp_factor, v = component.v_samp_factor;
    if (info.max_h_samp_factor % h || info.max_v_samp_factor % v) return 0;
    blocks += h * v;
    bytes += std::int64_t{sizeof(JBLOCK)} * ((component.width_in_blocks + h - 1) / h * h) *
             ((component.height_in_blocks + v - 1) / v * v);
  }
  return count == 1 || (count == 3 && blocks <= C_MAX_BLOCKS_IN_MCU) ? bytes : 0;
}

/// The quantisation of luma at quality 50 (ISO/IEC 10918-1, table K.1), row by row.
constexpr int kStandardLuma[DCTSIZE2] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

/// The quality whose standard table is nearest.
int quality_of(const JQUANT_TBL& table) {
  int best = 100;
  long least = -1;
  for (int quality = 100; quality >= 1; --quality) {
    const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    long distance = 0;
    for (int i = 0; i < DCTSIZE2; ++i) {
      const int step = std::clamp((kStandardLuma[i] * scale + 50) / 100, 1, 255);
      distance += std::abs(step - int(table.quantval[i]));
    }
    if (least < 0 || distance < least) {
      least = distance;
      best = quality;
    }
  }
  return best;
}

bool can_subsample(Subsampling factors) {
  const auto fits = [](int factor) { return factor >= 1 && factor <= MAX_SAMP_FACTOR; };
  return fits(factors.across) && fits(factors.down) &&
         factors.across * factors.down + 2 <= C_MAX_BLOCKS_IN_MCU;
}

/// The result is empty unless there are two planes of chroma, or of cyan's neighbours, of one size.
std::optional<Subsampling> subsampling_of(const jpeg_decompress_struct& info) {
  if (info.num_components != 3 && info.num_components != 4) return std::nullopt;
  const jpeg_component_info &luma = info.comp_info[0], &blue = info.comp_info[1],
                            &red = info.comp_info[2];
  if (blue.h_samp_factor != red.h_samp_factor || blue.v_samp_factor != red.v_samp_factor ||
      luma.h_samp_factor % blue.h_samp_factor || luma.v_samp_factor % blue.v_samp_factor)
    return std::nullopt;
  const Subsampling factors{luma.h_samp_factor / blue.h_samp_factor,
                            luma.v_samp_factor / blue.v_samp_factor};
  return can_subsample(factors) ? std::optional(factors) : std::nullopt;
}

std::optional<Metadata::Resolution> resolution_of(const jpeg_decompress_struct& info) {
  if (!info.saw_JFIF_marker) return std::nullopt;
  return resolution_in(info.density_unit + 1u, info.X_density,
                       info.Y_density);  // TIFF counts from 1
}

std::vector<jpeg::Segment> saved_segments(const jpeg_decompress_struct& info) {
  std::vector<jpeg::Segment> segments;
  for (const jpeg_marker_struct* marker = info.marker_list; marker; marker = marker->next) {
    segments.push_back({marker->marker, {marker->data, marker->data + marker->data_length}});
  }
  return segments;
}

/// The formula that OpenCV uses, too. 255 is no ink, as Adobe writes it, and as browsers read files
/// without Adobe's mark.
void cmyk_to_bgr(const unsigned char* cmyk, int width, unsigned char* bgr) {
  for (int x = 0; x < width; ++x, cmyk += 4, bgr += 3)
    for (int ink = 0; ink < 3; ++ink)
      bgr[2 - ink] = static_cast<unsigned char>(cmyk[3] - ((255 - cmyk[ink]) * cmyk[3] >> 8));
}

class JpegReader : public FirstPictureReader,
                   public jpeg::WithLibjpeg<JpegReader, jpeg_decompress_struct> {
 public:
  JpegReader(ByteSource& source, ReadContext& context)
      : FirstPictureReader(source, context, FormatId::jpeg),
        buffer_(new unsigned char[jpeg::kBufferBytes]) {
    errors_.emit_message = [](j_common_ptr c, int level) {
      if (level < 0) of(c).note_warning();
    };
    run([&] { jpeg_create_decompress(&info_); });
    set_source();
    read_header();
  }

  void read(PictureView<std::byte> rows) override {
    if (!started_) start();
    if (!given_up_) run([&] { decode(rows); });
    const int there = std::min(decoded_rows_, missing_from_) - next_row_;
    for (int y = std::clamp(there, 0, rows.height); y < rows.height; ++y)
      std::memset(rows.row(y), 0, std::size_t(rows.width) * std::size_t(rows.channels));
    next_row_ += rows.height;
  }

  /// Chroma is then neither transformed nor enlarged; its codes are read all the same.
  bool take_luma() override {
    if (started_ || header_.channels != 3 || info_.jpeg_color_space != JCS_YCbCr) return false;
    info_.out_color_space = JCS_GRAYSCALE;
    header_.channels = 1;
    return true;
  }

  /// libjpeg keeps all coefficients of several scans, two bytes each.
  std::int64_t held_bytes() const override { return several_scans_ ? coefficient_bytes(info_) : 0; }

  void finish() override {
    if (!run([&] { jpeg_finish_decompress(&info_); })) return;
    if (source_ended_) return context_.damaged(kNoEnd);
    look_behind_end();
  }

 private:
  static constexpr const char* kNoEnd = "the file ends too early (no end-of-image marker)";

  /// Runs libjpeg's functions, then reports damage. False when they were left early.
  template <class Work>
  bool run(const Work& work) {
    bool done = attempted(work);
    if (!done && takes_late_height()) done = attempted(work);
    if (!done) {
      given_up_ = true;
      if (exit_.code != kDamage) note_failure();
    }
    if (!damage_.empty()) report_damage();
    return done;
  }

  /// Whether the height stands behind the first scan. libjpeg then begins anew, with a header that
  /// has it.
  bool takes_late_height() {
    if (exit_.code != JERR_EMPTY_IMAGE || info_.image_height != 0 || late_height_) return false;
    late_height_ = jpeg::late_height(source_);
    if (!late_height_) return false;
    jpeg_abort_decompress(&info_);
    offset_ = manager_.bytes_in_buffer = 0;
    return true;
  }

  void report_damage() {
    if (first_rows_missing_ || (given_up_ && decoded_rows_ == 0)) give_up(damage_);
    context_.damaged(damage_);
  }

  void set_source() {
    info_.src = &manager_;
    manager_.init_source = [](j_decompress_ptr) {};
    manager_.term_source = [](j_decompress_ptr) {};
    manager_.resync_to_restart = jpeg_resync_to_restart;
    manager_.fill_input_buffer = [](j_decompress_ptr c) -> boolean {
      JpegReader& reader = of(c);
      if (const int code = reader.fill()) leave(reader.exit_, code);
      return TRUE;
    };
    manager_.skip_input_data = [](j_decompress_ptr c, long count) { of(c).skip(count); };
  }

  /// 0, or why there are no bytes. Behind the end of the file it gives an end-of-image marker,
  /// after which libjpeg fills what is missing in a defined way.
  int fill() noexcept {
    // Segments with metadata are kept in memory, and a hostile file may have them without end.
    constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 26;
    if (!header_read_ && offset_ > kLongestHeader) return kHeaderTooLong;
    std::size_t got = 0;
    try {
      got = source_.read(offset_, {buffer_.get(), jpeg::kBufferBytes});
    } catch (...) {
      exit_.thrown = std::current_exception();
      return jpeg::kThrown;
    }
    for (std::uint64_t i = 0; late_height_ && i < 2; ++i)
      if (const std::uint64_t at = late_height_->at + i; at >= offset_ && at < offset_ + got)
        buffer_[at - offset_] = late_height_->bytes[i];
    offset_ += got;
    if (got == 0) {
      source_ended_ = true;
      buffer_[0] = 0xFF;
      buffer_[1] = JPEG_EOI;
      got = 2;
    }
    manager_.next_input_byte = buffer_.get();
    manager_.bytes_in_buffer = got;
    // An arithmetic decoder takes the end of the data for zeros without a word.
    if (!source_ended_ || !info_.arith_code || info_.input_iMCU_row + 1 >= info_.total_iMCU_rows)
      return 0;
    note_missing_rows();
    note_damage("");
    return exit_.thrown ? jpeg::kThrown : context_.options().refuse_damaged ? kDamage : 0;
  }

  void skip(long count) {
    if (count <= 0) return;
    const auto bytes = std::uint64_t(count);
    if (bytes < manager_.bytes_in_buffer) {
      manager_.next_input_byte += bytes;
      manager_.bytes_in_buffer -= bytes;
    } else {
      offset_ = std::min(offset_ + bytes - manager_.bytes_in_buffer, source_.size());
      manager_.bytes_in_buffer = 0;
    }
  }

  /// The offset of libjpeg's next byte in the file.
  std::uint64_t position() const {
    return offset_ - (source_ended_ ? 0 : manager_.bytes_in_buffer);
  }

  int rows_per_step() const { return info_.max_v_samp_factor * DCTSIZE; }

  std::string place() const {
    if (!started_) return "byte " + std::to_string(position());
    const std::int64_t row = std::int64_t{info_.input_iMCU_row} * rows_per_step();
    const std::int64_t height = info_.image_height;
    const std::string rows = row_text(std::min(row + 1, height), height);
    return several_scans_ ? "scan " + std::to_string(info_.input_scan_number) + ", " + rows : rows;
  }

  /// Keeps libjpeg's words as the file's damage, if they are the first.
  void note_damage(const char* words) noexcept {
    if (!damage_.empty()) return;
    try {
      constexpr std::string_view kPrefix = "Corrupt JPEG data: ";
      std::string_view text = words;
      if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
      if (!source_ended_)
        damage_ = data_damaged(std::string(text) + ", " + place());
      else
        damage_ = started_ ? ends_early(place()) : kNoEnd;
    } catch (...) {
      exit_.thrown = std::current_exception();
    }
  }

  /// A warning of libjpeg. It leaves libjpeg at once where damage is refused.
  void note_warning() {
    const int code = info_.err->msg_code;
    // These two are about versions; the pixels are whole.
    if (code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM) return;
    if (is_harmless(code)) return;
    if (code == JWRN_HIT_MARKER && info_.unread_marker == JPEG_EOI) note_missing_rows();
    char words[JMSG_LENGTH_MAX];
    info_.err->format_message(reinterpret_cast<j_common_ptr>(&info_), words);
    note_damage(words);
    if (context_.options().refuse_damaged || exit_.thrown) leave(exit_, kDamage);
  }

  /// Whether the file is odd, but whole: what other programs read, too. It is told once.
  bool is_harmless(int code) noexcept {
    // Behind the data of a scan, bytes that are no padding may be what a damaged scan did not take.
    const int stray = errors_.msg_parm.i[0];
    const bool is_sequential = code == JWRN_NOT_SEQUENTIAL && info_.Ss == 0 && info_.Se == 0 &&
                               info_.Ah == 0 && info_.Al == 0;
    const bool is_stray =
        code == JWRN_EXTRANEOUS_DATA && (!started_ || is_padding_behind_scan(stray));
    if (!is_sequential && !is_stray) return false;
    try {
      if (!std::exchange(is_sequential ? told_scan_ : told_stray_, true))
        context_.warn(is_sequential
                          ? "a scan names its first coefficient alone, but has all of them"
                          : plural(std::uint64_t(stray), "stray byte") +
                                " before a marker, which other programs skip, too");
    } catch (...) {
      exit_.thrown = std::current_exception();
      leave(exit_, jpeg::kThrown);
    }
    return true;
  }

  /// Whether the bytes that libjpeg skipped before a marker are 0. It has read the marker.
  bool is_padding_behind_scan(int count) {
    constexpr int kMarkerBytes = 2;
    const unsigned char* const end = manager_.next_input_byte - kMarkerBytes;
    return end - buffer_.get() >= count &&
           std::all_of(end - count, end, [](unsigned char byte) { return byte == 0; });
  }

  /// The rows after those that libjpeg is decoding are not in the file. Where an earlier scan
  /// brought all rows, they are there, if roughly.
  void note_missing_rows() {
    if (!started_ || info_.input_scan_number > 1) return;
    const std::int64_t next = (std::int64_t{info_.input_iMCU_row} + 1) * rows_per_step();
    missing_from_ = int(std::min<std::int64_t>(missing_from_, next));
    first_rows_missing_ |= info_.input_iMCU_row == 0;
  }

  /// libjpeg gave up.
  void note_failure() {
    const std::int64_t width = info_.image_width, height = info_.image_height;
    const int number = errors_.msg_parm.i[0];
    switch (exit_.code) {
      case kTooManyScans:
        context_.fail("it has more than " + std::to_string(most_scans()) +
                      " scans, more than any picture of " + size_text(width, height) +
                      " pixels needs; write it anew first (jpegtran) if you trust it");
      case kHeaderTooLong: context_.fail("its header is longer than 64 MiB");
      case JERR_BAD_PRECISION: fail_precision(number);
      case JERR_SOF_UNSUPPORTED: fail_process(number);
      case JERR_UNKNOWN_MARKER:
        if (number == 0xF7)
          context_.fail("it is a JPEG-LS, which libjpeg-turbo does not read; convert it first");
        break;
      case JERR_EMPTY_IMAGE:
        context_.fail("its header promises " + size_text(width, height) + " pixels");
      case JERR_IMAGE_TOO_BIG:
        context_.fail("its header promises " + size_text(width, height) +
                      " pixels, more than the 65500 a side that libjpeg-turbo reads; cut it first");
      case JERR_ARITH_NOTIMPL:
      case JERR_CCIR601_NOTIMPL:
      case JERR_COMPONENT_COUNT:
      case JERR_CONVERSION_NOTIMPL:
      case JERR_FRACT_SAMPLE_NOTIMPL:
        context_.fail("it is of a kind that libjpeg-turbo does not read (" +
                      std::string(exit_.message) + "); convert it first");
      case JERR_NO_IMAGE:
      case JERR_SOF_NO_SOS:
        if (!source_ended_ && damage_.empty())
          damage_ = ends_early("no image data before its end marker");
        break;
      default: break;
    }
    note_damage(exit_.message);
  }

  [[noreturn]] void fail_precision(int bits) const {
    context_.fail("it is a JPEG of " + std::to_string(bits) +
                  " bits a sample, and only those of 8 are read; convert it to TIFF or PNG first "
                  "(djpeg of libjpeg-turbo 3 reads it)");
  }

  /// `marker` is a start-of-frame that libjpeg does not know.
  [[noreturn]] void fail_process(int marker) const {
    const bool lossless = marker == 0xC3 || marker == 0xCB;
    const std::string kind = lossless ? "lossless" : "hierarchical";
    context_.fail("it is a " + kind + " JPEG, which is not read; convert it to TIFF or PNG first" +
                  (lossless ? " (djpeg of libjpeg-turbo 3 reads it)" : ""));
  }

  void read_header() {
    run([&] {
      for (const int marker : {jpeg::kApp1, jpeg::kApp2, jpeg::kApp13, jpeg::kComment})
        jpeg_save_markers(&info_, marker, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    });
    header_read_ = true;
    set_size(info_.image_width, info_.image_height);
    if (info_.data_precision != 8) fail_precision(info_.data_precision);
    const int components = info_.num_components;
    if (components != 1 && components != 3 && components != 4) {
      context_.fail("it has " + std::to_string(components) +
                    " colour components, and only JPEGs of 1, 3 or 4 are read; convert it first");
    }
    header_.channels = components == 1 ? 1 : 3;
    info_.out_color_space = components == 1   ? JCS_GRAYSCALE
                            : components == 3 ? JCS_EXT_BGR
                                              : JCS_CMYK;
    check_quantisation();
    several_scans_ = jpeg_has_multiple_scans(&info_);
    missing_from_ = header_.height;
    take_metadata(jpeg::contents_of(saved_segments(info_)));
  }

  /// A step of 0 wipes out its coefficient, and libjpeg takes it without a word.
  void check_quantisation() {
    for (int i = 0; i < info_.num_components; ++i) {
      const int number = info_.comp_info[i].quant_tbl_no;
      const JQUANT_TBL* table =
          number >= 0 && number < NUM_QUANT_TBLS ? info_.quant_tbl_ptrs[number] : nullptr;
      if (!table || std::find(std::begin(table->quantval), std::end(table->quantval), 0) ==
                        std::end(table->quantval))
        continue;
      return context_.damaged("its header is damaged (a quantisation step of 0)");
    }
  }

  void take_metadata(jpeg::Contents contents) {
    for (const std::string& sentence : contents.left_out) context_.warn(sentence);
    header_.metadata = std::move(contents.metadata);
    announces_more_ = contents.announces_more;
    find_cut_picture(contents.pictures);
    if (info_.num_components == 4) {
      context_.warn(cmyk_becomes_rgb(!header_.metadata.icc.empty()));
      header_.metadata.icc.clear();
    }
    header_.metadata.resolution = resolution_of(info_);
    header_.orientation = exif_orientation(header_.metadata.exif);
    const int table = info_.comp_info[0].quant_tbl_no;
    if (table >= 0 && table < NUM_QUANT_TBLS && info_.quant_tbl_ptrs[table])
      header_.quality = quality_of(*info_.quant_tbl_ptrs[table]);
    header_.subsampling = subsampling_of(info_);
    header_.coefficient_bytes = kept_bytes(info_);
  }

  /// Warns if the file ends within one of several pictures. Only the first is read, so that is no
  /// damage of the result.
  void find_cut_picture(const std::vector<jpeg::IndexedPicture>& pictures) {
    const auto place = pictures.size() > 1 ? jpeg::index_place(source_) : std::nullopt;
    for (std::size_t i = 1; place && i < pictures.size(); ++i) {
      const std::uint64_t end = *place + pictures[i].at + pictures[i].size;
      if (end <= source_.size()) continue;
      return context_.warn("the file ends too early for picture " + std::to_string(i + 1) +
                           " of its " + std::to_string(pictures.size()) + " (" +
                           std::to_string(source_.size()) + " of " + std::to_string(end) +
                           " bytes)");
    }
  }

  /// Scans are work for libjpeg even where they are empty, so a small file could ask for hours.
  /// Programs write 10 or so, and libjpeg-turbo's own fuzzers stop at 500; the more pixels, the
  /// fewer are allowed.
  int most_scans() const {
    constexpr std::int64_t kMostPixels = std::int64_t{1} << 31, kFewest = 32, kMost = 500;
    const std::int64_t pixels = std::int64_t{header_.width} * header_.height;
    return int(std::clamp(kMostPixels / pixels, kFewest, kMost));
  }

  /// libjpeg holds the coefficients of a file of several scans, 2 bytes each, until its last scan
  /// is read, and no setting makes that less. Every block takes one bit of a Huffman-coded file at
  /// the least, so memory stays below 1024 times the file's size; arithmetic coding has no such
  /// bound.
  void check_coefficients() {
    if (!several_scans_) return;
    std::uint64_t blocks = 0;
    for (int i = 0; i < info_.num_components; ++i)
      blocks +=
          std::uint64_t{info_.comp_info[i].width_in_blocks} * info_.comp_info[i].height_in_blocks;
    if (info_.arith_code || blocks / 8 <= source_.size())
      return context_.check_memory(blocks * sizeof(JBLOCK));
    damage_ = cannot_hold(source_.size(), header_);
    given_up_ = true;
    report_damage();
  }

  void start() {
    check_coefficients();
    started_ = true;
    info_.progress = &progress_;
    progress_.progress_monitor = [](j_common_ptr c) { of(c).watch_scans(); };
    run([&] { jpeg_start_decompress(&info_); });
    if (several_scans_) {
      if (source_ended_) context_.damaged(kNoEnd);
      check_components();
    }
    if (info_.out_color_space == JCS_CMYK) line_.resize(std::size_t(header_.width) * 4);
  }

  /// libjpeg calls it while it reads scan after scan.
  void watch_scans() {
    for (int i = 0; i < info_.comps_in_scan; ++i)
      seen_ |= 1u << info_.cur_comp_info[i]->component_index;
    if (info_.input_scan_number > most_scans()) leave(exit_, kTooManyScans);
  }

  void check_components() {
    const int count = info_.num_components;
    for (int i = 0; i < count; ++i) {
      if (seen_ >> i & 1) continue;
      context_.damaged(ends_early("colour component " + std::to_string(i + 1) + " of " +
                                  std::to_string(count) + " has no scan"));
      return;
    }
  }

  /// It calls libjpeg, so it is called through run().
  void decode(PictureView<std::byte> rows) {
    constexpr int kMostLines = 16;
    for (int y = 0; y < rows.height; y = decoded_rows_ - next_row_) {
      JSAMPROW lines[kMostLines];
      if (!line_.empty()) {
        lines[0] = line_.data();
        jpeg_read_scanlines(&info_, lines, 1);
        cmyk_to_bgr(line_.data(), header_.width, reinterpret_cast<unsigned char*>(rows.row(y)));
        ++decoded_rows_;
        continue;
      }
      const int count = std::min(kMostLines, rows.height - y);
      for (int i = 0; i < count; ++i) lines[i] = reinterpret_cast<JSAMPROW>(rows.row(y + i));
      decoded_rows_ += int(jpeg_read_scanlines(&info_, lines, JDIMENSION(count)));
    }
  }

  /// Cameras fill the last block of a card with zeros or ones. Samsung's append a directory of
  /// their own parts, which ends with its name.
  void look_behind_end() {
    const std::uint64_t end = position(), size = source_.size();
    if (is_padding_from(end)) return;
    std::array<unsigned char, 4> last{};
    const bool is_samsung = size - end >= last.size() &&
                            source_.read(size - last.size(), last) == last.size() &&
                            std::memcmp(last.data(), "SEFT", last.size()) == 0;
    if (announces_more_ || is_samsung || is_picture_or_video(end))
      context_.leaves_out(bytes_follow(size - end) +
                          ", of other pictures or parts, which are not read");
    else
      context_.damaged(bytes_follow(size - end));
  }

  /// Whether a JPEG begins there, or a file of boxes, such as MP4, HEIC and AVIF.
  bool is_picture_or_video(std::uint64_t at) {
    std::array<unsigned char, 8> head{};
    if (source_.read(at, head) < head.size()) return false;
    return std::memcmp(head.data(), "\xFF\xD8\xFF", 3) == 0 ||
           std::memcmp(head.data() + 4, "ftyp", 4) == 0;
  }

  bool is_padding_from(std::uint64_t at) {
    const auto is_padding = [](unsigned char byte) { return byte == 0 || byte == 0xFF; };
    while (const std::size_t got = source_.read(at, {buffer_.get(), jpeg::kBufferBytes})) {
      if (!std::all_of(buffer_.get(), buffer_.get() + got, is_padding)) return false;
      at += got;
    }
    return true;
  }

  std::unique_ptr<unsigned char[]> buffer_;
  jpeg_source_mgr manager_{};
  jpeg_progress_mgr progress_{};
  std::uint64_t offset_ = 0;  ///< of the byte after the buffer
  Bytes line_;                ///< CMYK
  std::string damage_;
  std::optional<jpeg::LateHeight> late_height_;
  int next_row_ = 0;      ///< that the caller gets
  int decoded_rows_ = 0;  ///< that libjpeg gave
  int missing_from_ = 0;  ///< the first row that is not in a file that is cut
  unsigned seen_ = 0;     ///< a bit for each component that had a scan
  bool source_ended_ = false, header_read_ = false, started_ = false, several_scans_ = false,
       given_up_ = false, first_rows_missing_ = false, announces_more_ = false, told_scan_ = false,
       told_stray_ = false;
};

class JpegWriter : public RowWriter, public jpeg::Compressor {
 public:
  JpegWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : Compressor(sink, header) {
    if (header.width > JPEG_MAX_DIMENSION || header.height > JPEG_MAX_DIMENSION)
      fail_to_encode(header,
                     "a side may have " + std::to_string(JPEG_MAX_DIMENSION) + " at the most");
    const Subsampling factors = options.subsampling.value_or(Subsampling{});
    if (!can_subsample(factors)) {
      throw UsageError("JPEG has no subsampling of " + size_text(factors.across, factors.down) +
                       "; choose one from 1x1 to 4x2");
    }
    run([&] { configure(header, options, factors); });
    const jpeg::Segments segments = jpeg::segments_of(header.metadata);
    warnings_ = segments.left_out;
    run([&] {
      jpeg_start_compress(&info_, TRUE);
      jpeg::write_segments(segments, &info_);
    });
  }

  void write(PictureView<const std::byte> rows, EncodedRows) override {
    run([&] { write_rows(rows); });
  }

  void finish() override {
    run([&] { jpeg_finish_compress(&info_); });
  }

  std::int64_t held_bytes() const override {
    return info_.num_scans > 1 || info_.optimize_coding ? coefficient_bytes(info_) : 0;
  }

 private:
  /// The defaults are libjpeg's. OpenCV has the same.
  void configure(const Header& header, const WriteOptions& options, Subsampling factors) {
    const bool grey = header.channels == 1;
    info_.image_width = JDIMENSION(header.width);
    info_.image_height = JDIMENSION(header.height);
    info_.input_components = header.channels;
    info_.in_color_space = grey ? JCS_GRAYSCALE : JCS_EXT_BGR;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, options.quality.value_or(kDefaultJpegQuality), TRUE);
    if (!grey) {
      info_.comp_info[0].h_samp_factor = factors.across;
      info_.comp_info[0].v_samp_factor = factors.down;
    }
    if (options.progressive) jpeg_simple_progression(&info_);
    info_.optimize_coding = options.optimize;
    jpeg::set_density(header.metadata.resolution, &info_);
  }
};

}  // namespace

const Codec kJpegCodec{open_with<JpegReader>, create_with<JpegWriter>};

}  // namespace convfilt
