#include "src/picture/xmp.hpp"

#include <span>

#include "src/picture/byte_order.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// Properties of a namespace whose names begin like this.
struct Properties {
  std::string_view uri, begin;
};

constexpr Properties kOfParts[] = {
    {"http://ns.adobe.com/hdr-gain-map/1.0/", ""},
    {"http://ns.google.com/photos/1.0/camera/", "MicroVideo"},
    {"http://ns.google.com/photos/1.0/camera/", "MotionPhoto"},
    {"http://ns.google.com/photos/1.0/container/", ""},
    {"http://ns.google.com/photos/1.0/container/item/", ""},
};

constexpr Properties kOfPlaces[] = {
    {"http://ns.adobe.com/exif/1.0/", "GPS"},
    {"http://ns.adobe.com/photoshop/1.0/", "City"},
    {"http://ns.adobe.com/photoshop/1.0/", "State"},
    {"http://ns.adobe.com/photoshop/1.0/", "Country"},
    {"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "Location"},
    {"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "CountryCode"},
    {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "Location"},
    {"http://www.dji.com/drone-dji/1.0/", "Gps"},
};

/// Where the name that begins at `at` is followed by an attribute's "="; npos where it is not.
std::size_t equals_behind(std::string_view xml, std::size_t at) {
  const std::size_t end = xml.find_first_of("= \t\r\n<>\"'", at);
  const std::size_t equals = xml.find_first_not_of(kBlank, end);
  return equals != xml.npos && xml[equals] == '=' ? equals : xml.npos;
}

/// The end of an attribute whose name begins at `at`; npos where it is none.
std::size_t end_of_attribute(std::string_view xml, std::size_t at) {
  const std::size_t equals = equals_behind(xml, at);
  const std::size_t open = equals == xml.npos ? equals : xml.find_first_not_of(kBlank, equals + 1);
  if (open == xml.npos || (xml[open] != '"' && xml[open] != '\'')) return xml.npos;
  const std::size_t close = xml.find(xml[open], open + 1);
  return close == xml.npos ? close : close + 1;
}

/// The end of an element whose name begins at `at`, with all that is in it.
std::size_t end_of_element(std::string_view xml, std::size_t at) {
  const std::size_t tag_end = xml.find('>', at);
  if (tag_end == xml.npos) return tag_end;
  if (xml[tag_end - 1] == '/') return tag_end + 1;
  const std::string name(xml.substr(at, xml.find_first_of(" \t\r\n>", at) - at));
  const std::string end = "</" + name + ">";
  const std::size_t close = xml.find(end, tag_end);
  return close == xml.npos ? close : close + end.size();
}

/// Ends at the first that is not well formed, since looking for its end may take long.
void erase(std::string& xml, const std::string& prefix, std::string_view begin) {
  const std::string wanted = prefix + ":" + std::string(begin);
  std::string kept;
  std::size_t taken = 0;  // what of the packet is kept or erased
  for (std::size_t at = xml.find(wanted, 1); at != xml.npos; at = xml.find(wanted, at)) {
    const char before = xml[at - 1];
    const bool is_element = before == '<';
    const bool is_attribute =
        kBlank.find(before) != kBlank.npos && equals_behind(xml, at) != xml.npos;
    if (!is_element && !is_attribute) {  // such as the words of a caption
      at += wanted.size();
      continue;
    }
    const std::size_t end = is_element ? end_of_element(xml, at) : end_of_attribute(xml, at);
    if (end == xml.npos) break;
    kept.append(xml, taken, at - 1 - taken);
    at = taken = end;
  }
  xml = kept.append(xml, taken, xml.npos);
}

/// Erases the properties under all prefixes of their namespace, and declarations that nothing needs
/// any more.
void erase(std::string& xml, const Properties& properties) {
  constexpr std::string_view kDeclares = "xmlns:";
  int left = 8;  // more declarations of one namespace are no honest packet's
  for (std::size_t at = xml.find(properties.uri); at != xml.npos && left > 0;
       at = xml.find(properties.uri, at + 1), --left) {
    const std::size_t end = at + properties.uri.size() + 1, begin = xml.rfind(kDeclares, at);
    if (begin == xml.npos || begin == 0 || end_of_attribute(xml, begin) != end) continue;
    const std::size_t name = begin + kDeclares.size();
    const std::string prefix = xml.substr(name, xml.find_first_of("= \t\r\n", name) - name);
    const std::string declaration = xml.substr(begin - 1, end - (begin - 1));
    if (prefix.empty()) continue;
    erase(xml, prefix, properties.begin);
    const std::size_t there = xml.find(declaration);
    if (there == xml.npos || xml.find(prefix + ":") != xml.npos) continue;
    xml.erase(there, declaration.size());
    at = there;
  }
}

/// Properties of authors, owners and licences.
constexpr std::string_view kOfRights[] = {
    "dc:rights",
    "dc:creator",
    "xmpRights:",
    "plus:",
    "cc:",
    "photoshop:Credit",
    "photoshop:AuthorsPosition",
};

void erase_all(Bytes& xmp, std::span<const Properties> kinds) {
  std::string xml(text_of(xmp));
  for (const Properties& properties : kinds) erase(xml, properties);
  if (xml.size() < xmp.size()) xmp.assign(xml.begin(), xml.end());
}

}  // namespace

void erase_parts(Bytes& xmp) {
  erase_all(xmp, kOfParts);
}

void erase_places(Bytes& xmp) {
  erase_all(xmp, kOfPlaces);
}

void erase_first(std::string& xml, std::string_view name) {
  const std::size_t at = xml.find(name);
  if (at == 0 || at == xml.npos) return;
  const bool is_element = xml[at - 1] == '<';
  const std::size_t end = is_element ? end_of_element(xml, at) : end_of_attribute(xml, at);
  if (end != xml.npos) xml.erase(at - is_element, end - (at - is_element));
}

std::string packet_of(const std::string& description) {
  return "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
         "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
         "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
         "<rdf:Description rdf:about=\"\" " +
         description + "</rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>";
}

Bytes rights_in_xmp(const Bytes& xmp) {
  std::string xml(text_of(xmp)), attributes, elements;
  for (const std::string_view name : kOfRights) {
    for (std::size_t at = xml.find(name); at != xml.npos; at = xml.find(name, at)) {
      const char before = at > 0 ? xml[at - 1] : '\0';
      const bool is_element = before == '<', is_attribute = kBlank.find(before) != kBlank.npos;
      const std::size_t end = is_element     ? end_of_element(xml, at)
                              : is_attribute ? end_of_attribute(xml, at)
                                             : xml.npos;
      if (end == xml.npos) {
        at += name.size();
        continue;
      }
      at -= is_element;
      std::string& to = is_element ? elements : attributes;
      to += (is_element ? "" : " ") + xml.substr(at, end - at);
      xml.erase(at, end - at);
    }
  }
  if (attributes.empty() && elements.empty()) return {};
  const std::string packet = packet_of(
      "xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
      " xmlns:xmpRights=\"http://ns.adobe.com/xap/1.0/rights/\""
      " xmlns:plus=\"http://ns.useplus.org/ldf/xmp/1.0/\""
      " xmlns:cc=\"http://creativecommons.org/ns#\""
      " xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\"" +
      attributes + ">" + elements + "</rdf:Description>");
  return Bytes(packet.begin(), packet.end());
}

}  // namespace convfilt
