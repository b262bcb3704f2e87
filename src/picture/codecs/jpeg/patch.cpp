#include "src/picture/codecs/jpeg/patch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/picture/codecs/jpeg/libjpeg.hpp"
#include "src/picture/codecs/jpeg/segments.hpp"
#include "src/picture/image.hpp"

namespace convfilt::jpeg {
namespace {

/// The coefficients of a file without damage.
class Coefficients : public WithLibjpeg<Coefficients, jpeg_decompress_struct> {
 public:
  explicit Coefficients(ByteView file) {
    errors_.emit_message = [](j_common_ptr c, int level) {
      const int code = c->err->msg_code;
      if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM &&
          code != JWRN_NOT_SEQUENTIAL && code != JWRN_EXTRANEOUS_DATA)
        leave(of(c).exit_, code);
    };
    is_good_ = attempted([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, file.data(), static_cast<unsigned long>(file.size()));
      jpeg_read_header(&info_, TRUE);
    });
  }

  /// Whether all that was read until now is whole.
  bool is_good() const { return is_good_; }

  bool read() {
    is_good_ = is_good_ && attempted([&] { arrays_ = jpeg_read_coefficients(&info_); });
    return is_good_;
  }

  j_decompress_ptr info() { return &info_; }
  jvirt_barray_ptr* arrays() { return arrays_; }

  /// A row of blocks, for reading and writing.
  JBLOCKROW row(int component, int y) {
    JBLOCKARRAY rows = nullptr;
    attempted([&] {
      rows = info_.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info_),
                                           arrays_[component], JDIMENSION(y), 1, TRUE);
    });
    return rows ? rows[0] : nullptr;
  }

 private:
  bool is_good_ = false;
  jvirt_barray_ptr* arrays_ = nullptr;
};

/// How blocks are made of pixels.
struct Coding {
  struct Component {
    int across, down;  ///< blocks in a unit of the scan
    int table;
  };
  std::vector<Component> components;
  int across = 1, down = 1;  ///< the most of a component
  J_COLOR_SPACE colours = JCS_UNKNOWN;
  std::array<std::optional<JQUANT_TBL>, NUM_QUANT_TBLS> tables;

  int unit_width() const { return across * DCTSIZE; }
  int unit_height() const { return down * DCTSIZE; }
};

/// Nothing where the header lacks a table, or has a step of 0.
std::optional<Coding> coding_of(const jpeg_decompress_struct& info) {
  Coding coding;
  coding.colours = info.jpeg_color_space;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    const int number = component.quant_tbl_no;
    if (number < 0 || number >= NUM_QUANT_TBLS || !info.quant_tbl_ptrs[number]) return std::nullopt;
    const JQUANT_TBL& table = *info.quant_tbl_ptrs[number];
    if (std::ranges::find(table.quantval, 0) != std::end(table.quantval)) return std::nullopt;
    coding.tables[std::size_t(number)] = table;
    coding.components.push_back({component.h_samp_factor, component.v_samp_factor, number});
    coding.across = std::max(coding.across, component.h_samp_factor);
    coding.down = std::max(coding.down, component.v_samp_factor);
  }
  return coding;
}

/// Encodes rows as a picture of their own.
class Strip : public Compressor {
 public:
  Strip(ByteSink& sink, const Header& header, const Coding& coding,
        PictureView<const std::byte> rows)
      : Compressor(sink, header) {
    run([&] {
      info_.image_width = JDIMENSION(rows.width);
      info_.image_height = JDIMENSION(rows.height);
      info_.input_components = rows.channels;
      info_.in_color_space = rows.channels == 1 ? JCS_GRAYSCALE : JCS_EXT_BGR;
      jpeg_set_defaults(&info_);
      jpeg_set_colorspace(&info_, coding.colours);
      for (std::size_t i = 0; i < coding.components.size(); ++i) {
        info_.comp_info[i].h_samp_factor = coding.components[i].across;
        info_.comp_info[i].v_samp_factor = coding.components[i].down;
        info_.comp_info[i].quant_tbl_no = coding.components[i].table;
      }
      for (std::size_t i = 0; i < coding.tables.size(); ++i) {
        JQUANT_TBL*& table = info_.quant_tbl_ptrs[i];
        if (!coding.tables[i]) continue;
        if (!table) table = jpeg_alloc_quant_table(reinterpret_cast<j_common_ptr>(&info_));
        *table = *coding.tables[i];
        table->sent_table = FALSE;
      }
      jpeg_start_compress(&info_, TRUE);
      write_rows(rows);
      jpeg_finish_compress(&info_);
    });
  }
};

class PatchWriter : public RowWriter, public Compressor {
 public:
  PatchWriter(ByteSink& sink, const Header& header, const WriteOptions& options, ByteView file,
              std::vector<Region> regions)
      : Compressor(sink, header),
        sink_(sink),
        header_(header),
        options_(options),
        regions_(std::move(regions)),
        segments_(segments_of(header.metadata)) {
    warnings_ = segments_.left_out;
    original_.emplace(file);
    if (original_->is_good()) coding_ = coding_of(*original_->info());
  }

  int rows_at_a_time() const override { return coding_ ? coding_->unit_height() : 1; }

  std::int64_t held_bytes() const override { return header_.coefficient_bytes; }

  /// Encodes the units that hold pixels of a region, and those between them.
  EncodedRows encode(PictureView<const std::byte> rows, int first) const override {
    const Span columns = columns_of(rows, first);
    if (columns.first == columns.end) return {};
    rows.data += std::ptrdiff_t(columns.first) * rows.channels;
    rows.width = columns.end - columns.first;
    MemorySink sink;
    const Strip strip(sink, header_, *coding_, rows);
    EncodedRows encoded;
    encoded.bytes = sink.bytes();
    return encoded;
  }

  void write(PictureView<const std::byte> rows, EncodedRows encoded) override {
    if (next_row_ == 0) read_original();
    if (whole_)
      whole_->write(rows, {});
    else if (!encoded.bytes.empty())
      put(rows, encoded.bytes);
    next_row_ += rows.height;
  }

  void finish() override {
    if (whole_) return whole_->finish();
    run([&] {
      // The standard's tables lack codes for some values that a file may have.
      info_.optimize_coding = TRUE;
      if (options_.progressive) jpeg_simple_progression(&info_);
      set_density(header_.metadata.resolution, &info_);
      jpeg_write_coefficients(&info_, original_->arrays());
      write_segments(segments_, &info_);
      jpeg_finish_compress(&info_);
    });
  }

 private:
  void read_original() {
    if (coding_ && original_->read() && has_kept_tables() && can_be_coded() &&
        attempted([&] { jpeg_copy_critical_parameters(original_->info(), &info_); }))
      return;
    original_.reset();
    warnings_.push_back(
        "the whole picture is coded anew, because IN is damaged or changes its "
        "tables between scans; pixels outside the region may change");
    whole_ = kJpegCodec.create(sink_, header_, options_);
  }

  /// Whether the tables of the header are those of all scans.
  bool has_kept_tables() {
    for (std::size_t i = 0; i < coding_->components.size(); ++i) {
      const JQUANT_TBL* table = original_->info()->comp_info[i].quant_table;
      const auto& kept = coding_->tables[std::size_t(coding_->components[i].table)];
      if (!table || !std::ranges::equal(table->quantval, kept->quantval)) return false;
    }
    return true;
  }

  /// Whether all values are among those of 8-bit samples. Others have no code.
  bool can_be_coded() {
    constexpr int kMost = 1 << (BITS_IN_JSAMPLE + 2);
    for (int i = 0; i < original_->info()->num_components; ++i) {
      const jpeg_component_info& blocks = original_->info()->comp_info[i];
      for (int y = 0; y < int(blocks.height_in_blocks); ++y) {
        const JCOEF* row = original_->row(i, y)[0];
        for (std::size_t k = 0; k < std::size_t(blocks.width_in_blocks) * DCTSIZE2; ++k) {
          const bool is_mean = k % DCTSIZE2 == 0;
          if (row[k] >= kMost || row[k] < (is_mean ? -kMost : 1 - kMost)) return false;
        }
      }
    }
    return true;
  }

  /// The columns of the units from the first to the last that hold pixels of a region.
  Span columns_of(PictureView<const std::byte> rows, int first) const {
    if (!coding_) return {};
    Span all{rows.width, 0};
    for (int y = first; y < first + rows.height; ++y) {
      const std::vector<Span> spans = spans_in_row(regions_, y);
      if (spans.empty()) continue;
      all.first = std::min(all.first, spans.front().first);
      all.end = std::max(all.end, spans.back().end);
    }
    if (all.end == 0) return {};
    const int unit = coding_->unit_width();
    return {all.first / unit * unit, std::min((all.end - 1) / unit * unit + unit, rows.width)};
  }

  /// Takes the blocks that hold pixels of a region from what encode() made of a row of units.
  void put(PictureView<const std::byte> rows, const Bytes& encoded) {
    Coefficients strip(encoded);
    if (!strip.read()) fail_to_encode(header_, "");
    const int left = columns_of(rows, next_row_).first;
    for (int i = 0; i < original_->info()->num_components; ++i) {
      const Coding::Component& component = coding_->components[std::size_t(i)];
      // Pixels that a block covers.
      const int width = coding_->unit_width() / component.across;
      const int height = coding_->unit_height() / component.down;
      const jpeg_component_info& blocks = strip.info()->comp_info[i];
      for (int y = 0; y < component.down && y < int(blocks.height_in_blocks); ++y) {
        std::vector<Span> spans;
        for (int row = y * height; row < std::min(rows.height, (y + 1) * height); ++row)
          std::ranges::copy(spans_in_row(regions_, next_row_ + row), std::back_inserter(spans));
        const JBLOCKROW from = strip.row(i, y);
        const JBLOCKROW to = original_->row(i, next_row_ / height + y);
        for (int x = 0; x < int(blocks.width_in_blocks); ++x) {
          const int begin = left + x * width, end = begin + width;
          const bool is_touched = std::ranges::any_of(
              spans, [&](const Span& span) { return span.first < end && span.end > begin; });
          if (is_touched) std::memcpy(to[left / width + x], from[x], sizeof(JBLOCK));
        }
      }
    }
  }

  ByteSink& sink_;
  const Header header_;
  const WriteOptions options_;
  const std::vector<Region> regions_;
  const Segments segments_;
  std::optional<Coefficients> original_;
  std::optional<Coding> coding_;      ///< nothing where the header does not tell
  std::unique_ptr<RowWriter> whole_;  ///< codes the whole picture anew; mostly null
  int next_row_ = 0;
};

/// Encodes luma in strips, and puts chroma between.
class LumaWriter : public RowWriter {
 public:
  LumaWriter(ByteSink& sink, const Header& header, std::shared_ptr<const KeptChroma> chroma)
      : sink_(sink), header_(header), chroma_(std::move(chroma)), original_(chroma_->head) {
    warnings_ = segments_of(header.metadata).left_out;
    coding_ = *coding_of(*original_.info());
    const Coding::Component luma{1, 1, coding_.components.front().table};
    coding_.components = {luma};
    coding_.colours = JCS_GRAYSCALE;
    units_ = (header.width + coding_.unit_width() - 1) / coding_.unit_width();
  }

  int rows_at_a_time() const override { return coding_.unit_height(); }

  /// Has the blocks lie beside each other in the order of the scan.
  EncodedRows encode(PictureView<const std::byte> rows, int /*first*/) const override {
    const int width = coding_.unit_width(), last = (units_ - 1) * width;
    Image blocks(units_ * width * coding_.down, DCTSIZE, 1, Depth::u8);
    for (int y = 0; y < coding_.unit_height(); ++y) {
      const std::byte* from = rows.row(std::min(y, rows.height - 1));
      std::byte* to = blocks.view().row(y % DCTSIZE) + y / DCTSIZE * width;
      const auto put = [&]<int kWidth>(std::integral_constant<int, kWidth>) {
        for (int x = 0; x < last; x += kWidth, to += kWidth * coding_.down)
          std::memcpy(to, from + x, kWidth);
      };
      if (width == DCTSIZE)
        put(std::integral_constant<int, DCTSIZE>());
      else
        put(std::integral_constant<int, 2 * DCTSIZE>());
      std::memcpy(to, from + last, std::size_t(rows.width - last));
      std::fill(to + (rows.width - last), to + width, from[rows.width - 1]);
    }
    MemorySink sink;
    const Strip strip(sink, header_, coding_, std::as_const(blocks).view());
    EncodedRows encoded;
    encoded.bytes = sink.bytes();
    return encoded;
  }

  void write(PictureView<const std::byte> /*rows*/, EncodedRows encoded) override {
    const ByteView strip = encoded.bytes;
    std::size_t at = 2;
    std::vector<ByteView> tables;
    for (std::optional<SegmentInFile> segment; (segment = segment_at(strip, at));) {
      at = segment->next;
      if (segment->marker == kHuffmanTables) tables.push_back(segment->payload);
      if (segment->marker == kScan) break;
    }
    if (!all_) begin(tables);
    all_->add(strip.subspan(at), std::size_t(units_));
    sink_.append(all_->out.data());
    all_->out.clear();
  }

  void finish() override {
    all_->out.end(JPEG_EOI);
    sink_.append(all_->out.data());
  }

 private:
  /// Writes what stands before the data. Tables of the file may lack codes for luma that has
  /// changed, so that luma has the standard's.
  void begin(const std::vector<ByteView>& tables) {
    const jpeg_decompress_struct& info = *original_.info();
    const jpeg_component_info& luma = info.comp_info[0];
    all_.emplace(chroma_->coded, coding_.across * coding_.down, info.restart_interval, tables[0],
                 tables[1]);
    const auto scan = chroma_->head.begin() + std::ptrdiff_t(chroma_->tables);
    Bytes head(chroma_->head.begin(), scan);
    for (int i = 0; i < 2; ++i) {
      const ByteView table = tables[std::size_t(i)];
      append_segment(kHuffmanTables, table, head);
      head[head.size() - table.size()] =
          static_cast<unsigned char>(i == 0 ? luma.dc_tbl_no : 0x10 | luma.ac_tbl_no);
    }
    head.insert(head.end(), scan, chroma_->head.end());
    sink_.append(with_metadata(head, header_.metadata));
  }

  ByteSink& sink_;
  const Header header_;
  const std::shared_ptr<const KeptChroma> chroma_;
  Coefficients original_;
  Coding coding_;
  int units_;  ///< in a row
  std::optional<Interleaver> all_;
};

}  // namespace

std::unique_ptr<RowWriter> write_luma(ByteSink& sink, const Header& header,
                                      std::shared_ptr<const KeptChroma> chroma) {
  return std::make_unique<LumaWriter>(sink, header, std::move(chroma));
}

std::unique_ptr<RowWriter> patch(ByteSink& sink, const Header& header, const WriteOptions& options,
                                 ByteView file, std::vector<Region> regions) {
  return std::make_unique<PatchWriter>(sink, header, options, file, std::move(regions));
}

}  // namespace convfilt::jpeg
