#include "src/picture/codecs/jpeg/stream.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/jpeg/libjpeg.hpp"
#include "src/picture/codecs/jpeg/segments.hpp"

namespace convfilt::jpeg {
namespace {

constexpr unsigned char kStart = 0xD8, kQuantisation = 0xDB;

/// The header of a file that libjpeg takes without a warning, and the scan behind it.
class PlainScan : public WithLibjpeg<PlainScan, jpeg_decompress_struct> {
 public:
  explicit PlainScan(ByteView file) : file_(file) {
    errors_.emit_message = [](j_common_ptr c, int level) {
      if (level < 0) leave(of(c).exit_, c->err->msg_code);
    };
    is_read_ = attempted([this] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, file_.data(), static_cast<unsigned long>(file_.size()));
      jpeg_read_header(&info_, TRUE);
    });
  }

  /// The tables of a scan.
  struct Codes {
    std::vector<HuffmanTable> tables;
    std::optional<std::size_t> numbers[2][NUM_HUFF_TBLS];  ///< of tables, by kind and in the file
    struct Component {
      std::size_t dc, ac;  ///< numbers of tables
      int blocks;          ///< in a unit
    };
    std::vector<Component> components;
  };
  /// Nothing where the scan is not plain, whatever its data.
  std::optional<Codes> codes() const {
    const int count = info_.num_components;
    if (!is_read_ || info_.data_precision != BITS_IN_JSAMPLE || info_.comps_in_scan != count ||
        info_.Ss != 0 || info_.Se != DCTSIZE2 - 1 || info_.Ah != 0 || info_.Al != 0)
      return std::nullopt;
    if (count != 1 && (count != 3 || !is_ycc())) return std::nullopt;
    Codes codes;
    for (int i = 0; i < count; ++i) {
      const jpeg_component_info& component = info_.comp_info[i];
      const int steps = component.quant_tbl_no;
      const std::optional<std::size_t> dc =
          number_of(HuffmanTable::Kind::dc, component.dc_tbl_no, info_.dc_huff_tbl_ptrs, codes);
      const std::optional<std::size_t> ac =
          number_of(HuffmanTable::Kind::ac, component.ac_tbl_no, info_.ac_huff_tbl_ptrs, codes);
      if (info_.cur_comp_info[i] != &component || steps >= NUM_QUANT_TBLS ||
          !info_.quant_tbl_ptrs[steps] || !dc || !ac)
        return std::nullopt;
      codes.components.push_back(
          {*dc, *ac, count == 1 ? 1 : component.h_samp_factor * component.v_samp_factor});
    }
    return codes;
  }

  /// Whether markers end the segments of the scan in their turn, whose data begin at `at`, and
  /// `visit(data, units)` says yes to each. The scan must end the file, unless more may follow.
  template <class Visit>
  bool each_segment(std::size_t at, bool more_may_follow, Visit visit) const {
    const auto units = [this](std::size_t samples, int factor) {
      const std::size_t side = info_.num_components == 1 ? DCTSIZE : DCTSIZE * std::size_t(factor);
      return (samples + side - 1) / side;
    };
    const jpeg_component_info& luma = info_.comp_info[0];
    std::size_t left = units(info_.image_width, luma.h_samp_factor) *
                       units(info_.image_height, luma.v_samp_factor);
    std::size_t begin = at;
    for (std::size_t restarts = 0; at < file_.size();) {
      const void* found = std::memchr(file_.data() + at, 0xFF, file_.size() - at);
      if (!found) return false;
      at = std::size_t(static_cast<const unsigned char*>(found) - file_.data()) + 2;
      if (at > file_.size()) return false;
      const unsigned char marker = file_[at - 1];
      if (marker == 0) continue;
      const std::size_t interval = info_.restart_interval,
                        here = interval > 0 ? std::min(interval, left) : left;
      if (!visit(file_.subspan(begin, at - 2 - begin), here)) return false;
      left -= here;
      begin = at;
      if (marker == JPEG_EOI && left == 0 && (more_may_follow || at == file_.size())) return true;
      if (left == 0 || marker != JPEG_RST0 + restarts % 8) return false;
      ++restarts;
    }
    return false;
  }

  std::size_t file_size() const { return file_.size(); }

  /// Whether there is chroma, luma's Huffman tables are not those of it, and the blocks of a row of
  /// units fit beside each other.
  bool has_own_luma() const {
    const jpeg_component_info* const c = info_.comp_info;
    return is_read_ && info_.num_components == 3 &&
           (info_.image_width + 2 * DCTSIZE) * JDIMENSION(c->v_samp_factor) <= JPEG_MAX_DIMENSION &&
           std::none_of(c + 1, c + 3, [&](const jpeg_component_info& chroma) {
             return chroma.dc_tbl_no == c->dc_tbl_no || chroma.ac_tbl_no == c->ac_tbl_no;
           });
  }

 private:
  /// Whether three colours are YCbCr of a subsampling that devices have. Where no segment names
  /// them, the names R, G and B say that they are none.
  bool is_ycc() const {
    const jpeg_component_info* const c = info_.comp_info;
    const auto is = [](const jpeg_component_info& component, int across, int down) {
      return component.h_samp_factor <= across && component.v_samp_factor <= down;
    };
    const bool is_rgb =
        c[0].component_id == 'R' && c[1].component_id == 'G' && c[2].component_id == 'B';
    const bool is_named_rgb = info_.saw_Adobe_marker && info_.Adobe_transform == 0;
    return !is_rgb && !is_named_rgb && info_.jpeg_color_space == JCS_YCbCr && is(c[0], 2, 2) &&
           is(c[1], 1, 1) && is(c[2], 1, 1);
  }

  /// The number among `codes` of a table of the file, which is added where it is new.
  static std::optional<std::size_t> number_of(HuffmanTable::Kind kind, int in_file,
                                              JHUFF_TBL* const (&all)[NUM_HUFF_TBLS],
                                              Codes& codes) {
    if (in_file >= NUM_HUFF_TBLS || !all[in_file]) return std::nullopt;
    std::optional<std::size_t>& number = codes.numbers[std::size_t(kind)][std::size_t(in_file)];
    if (!number) {
      const JHUFF_TBL& table = *all[in_file];
      const auto counts = ByteView(table.bits).last<16>();
      const int symbols = std::accumulate(counts.begin(), counts.end(), 0);
      number = codes.tables.size();
      codes.tables.emplace_back(kind, counts, ByteView(table.huffval).first(std::size_t(symbols)));
    }
    return number;
  }

  ByteView file_;
  bool is_read_ = false;
};

/// The scan of a baseline JPEG with a byte for each quantisation step; nothing where there is none.
std::optional<std::size_t> baseline_scan(ByteView file) {
  constexpr unsigned char kBaseline = 0xC0, kLastFrame = 0xCF;
  constexpr std::size_t kSteps = DCTSIZE2 + 1;
  std::size_t at = 2;
  for (std::optional<SegmentInFile> segment; (segment = segment_at(file, at)); at = segment->next) {
    const auto& [marker, payload, next] = *segment;
    if (marker == kScan) return at;
    const bool is_of_frame = marker >= kBaseline && marker <= kLastFrame;
    if (is_of_frame && marker != kBaseline && marker != kHuffmanTables) break;
    if (marker == kQuantisation &&
        (payload.size() % kSteps != 0 || payload.empty() || payload[0] >= NUM_QUANT_TBLS))
      break;
  }
  return std::nullopt;
}

/// Whether the segments of the scan whose data begin at `at` hold their units.
bool hold(const PlainScan& scan, const PlainScan::Codes& codes, std::size_t at,
          CodedChroma* chroma = nullptr) {
  std::vector<ScanComponent> components;
  for (const auto& [dc, ac, blocks] : codes.components)
    components.emplace_back(codes.tables[dc], codes.tables[ac], blocks, scan.file_size() - at);
  return scan.each_segment(at, chroma != nullptr, [&](ByteView data, std::size_t units) {
    return holds_units(data, components, units, chroma);
  });
}

}  // namespace

std::optional<SegmentInFile> segment_at(ByteView file, std::size_t at) {
  if (at + 4 > file.size() || file[at] != 0xFF) return std::nullopt;
  const std::size_t length = big_endian(file, at + 2, 2);
  if (length < 2 || at + 2 + length > file.size()) return std::nullopt;
  return SegmentInFile{file[at + 1], file.subspan(at + 4, length - 2), at + 2 + length};
}

void append_segment(unsigned char marker, ByteView payload, Bytes& to) {
  to.insert(to.end(), {0xFF, marker});
  append_big_endian(to, payload.size() + 2, 2);
  to.insert(to.end(), payload.begin(), payload.end());
}

bool is_plain(ByteView file) {
  const std::optional<std::size_t> at = baseline_scan(file);
  if (!at) return false;
  const PlainScan scan(file);
  const auto codes = scan.codes();
  return codes && hold(scan, *codes, segment_at(file, *at)->next);
}

std::unique_ptr<huffman::Scan> codes_of_plain(ByteView file) {
  constexpr std::size_t kMostSegments = 1 << 16;
  const std::optional<std::size_t> at = baseline_scan(file);
  if (!at) return nullptr;
  const PlainScan scan(file);
  const auto codes = scan.codes();
  if (!codes) return nullptr;
  auto found = std::make_unique<huffman::Scan>();
  for (const HuffmanTable& table : codes->tables) found->codes.push_back(table.codes());
  for (const auto& [dc, ac, blocks] : codes->components)
    found->blocks.insert(found->blocks.end(), std::size_t(blocks),
                         {std::uint8_t(dc), std::uint8_t(ac)});
  const std::size_t data = segment_at(file, *at)->next;
  bool is_for_device = file.size() <= huffman::Scan::kMostBytes;
  if (is_for_device) found->data.reserve(file.size());
  const bool is_whole =
      is_for_device && scan.each_segment(data, false, [&](ByteView stuffed, std::size_t units) {
        is_for_device = found->segments.size() < kMostSegments;
        if (is_for_device) found->add(stuffed, units * found->blocks.size());
        return is_for_device;
      });
  if (is_whole) return found;
  if (is_for_device || !hold(scan, *codes, data)) return nullptr;
  found->data = Bytes();
  found->segments = std::vector<huffman::Scan::Segment>();
  return found;
}

std::unique_ptr<const KeptChroma> chroma_of(ByteView file, std::size_t units) {
  const std::optional<std::size_t> at = baseline_scan(file);
  const PlainScan scan(file);
  if (!at || !scan.has_own_luma()) return nullptr;
  const std::size_t data = segment_at(file, *at)->next;
  auto kept = std::make_unique<KeptChroma>();
  kept->head = file.first(data);
  kept->tables = *at;
  kept->coded = {BitWriter(file.size()), {}, file.size() - data};
  kept->coded.lengths.reserve(units);
  const auto codes = scan.codes();
  if (!codes || !hold(scan, *codes, data, &kept->coded)) return nullptr;
  kept->coded.bits.end(JPEG_EOI);
  return kept;
}

Bytes with_metadata(ByteView encoded, const Metadata& metadata) {
  Bytes file = {0xFF, kStart};
  std::vector<Segment> segments = segments_of(metadata).list;
  segments.insert(segments.begin(), jfif_segment(metadata.resolution));
  for (const Segment& segment : segments) append_segment(segment.marker, segment.payload, file);
  std::size_t at = 2;
  for (std::optional<SegmentInFile> segment; (segment = segment_at(encoded, at));
       at = segment->next) {
    if (segment->marker == kScan) break;
    const bool is_metadata =
        (segment->marker >= kApp0 && segment->marker <= kApp15) || segment->marker == kComment;
    if (!is_metadata)
      file.insert(file.end(), encoded.begin() + std::ptrdiff_t(at),
                  encoded.begin() + std::ptrdiff_t(segment->next));
  }
  file.insert(file.end(), encoded.begin() + std::ptrdiff_t(at), encoded.end());
  return file;
}

}  // namespace convfilt::jpeg
