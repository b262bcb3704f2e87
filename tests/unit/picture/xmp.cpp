#include "src/picture/xmp.hpp"

#include <doctest/doctest.h>

#include <string>

namespace convfilt {
namespace {

std::string erased(const std::string& packet) {
  Bytes bytes(packet.begin(), packet.end());
  erase_parts(bytes);
  return {bytes.begin(), bytes.end()};
}

const std::string kMap = "http://ns.adobe.com/hdr-gain-map/1.0/",
                  kCamera = "http://ns.google.com/photos/1.0/camera/";

}  // namespace

TEST_CASE("properties of parts go, by whatever prefix; all else stays") {
  CHECK(erased("<r xmlns:hdrgm='" + kMap + "' hdrgm:Version='1.0' a:b=\"c\"/>") ==
        "<r a:b=\"c\"/>");
  CHECK(erased("<r xmlns:z=\"" + kMap + "\"><z:Version>1</z:Version><z:Map a='1'/><x/></r>") ==
        "<r><x/></r>");
  CHECK(erased("<r xmlns:C='" + kCamera + "'\n C:MotionPhoto = '1' C:BurstID='2'/>") ==
        "<r xmlns:C='" + kCamera + "'\n C:BurstID='2'/>");
  for (const std::string packet : {"", "<r/>", "<r hdrgm:Version='1.0'/>",
                                   "<r xmlns:a='b' a:MotionPhoto='1'>C:MotionPhoto</r>"})
    CHECK(erased(packet) == packet);
}

TEST_CASE("places go, as attributes and as elements, and words that look like them stay") {
  const std::string shop = "xmlns:p='http://ns.adobe.com/photoshop/1.0/'",
                    ext = "xmlns:e='http://iptc.org/std/Iptc4xmpExt/2008-02-29/'",
                    words = "<t> p:City of = 'Oz' </t>";
  const std::string packet = "<d " + shop + " p:City='Oz' p:Credit='me'/><d " + shop +
                             "><p:State>Oz</p:State>" + words + "</d><d " + ext +
                             "><e:LocationShown><b><l e:City='Oz'/></b></e:LocationShown></d>";
  Bytes bytes(packet.begin(), packet.end());
  erase_places(bytes);
  CHECK(std::string(bytes.begin(), bytes.end()) ==
        "<d " + shop + " p:Credit='me'/><d " + shop + ">" + words + "</d><d></d>");
}

TEST_CASE("a packet that is not well formed is read to its end in time") {
  std::string many = "<r xmlns:h='" + kMap + "' ";
  for (int i = 0; i < 200'000; ++i) many += "<h:a ";
  CHECK(erased(many).size() == many.size());
  std::string good = "<r xmlns:h='" + kMap + "'";
  for (int i = 0; i < 200'000; ++i) good += " h:a='1'";
  CHECK(erased(good + "/>") == "<r/>");
  for (std::size_t end = 0; end < 90; ++end) erased(good.substr(0, end));
}

}  // namespace convfilt

TEST_CASE("rights are kept, as attributes and as elements, and no words of a caption") {
  const auto rights = [](const std::string& packet) {
    const convfilt::Bytes kept =
        convfilt::rights_in_xmp(convfilt::Bytes(packet.begin(), packet.end()));
    return std::string(kept.begin(), kept.end());
  };
  const std::string kept = rights(
      "<d xmpRights:Marked='True' a:Title='x'><dc:creator><l>me</l></dc:creator>"
      "<dc:description> see cc:by \"q\" </dc:description></d>");
  for (const char* there : {"xmpRights:Marked='True'", "<dc:creator><l>me</l></dc:creator>"})
    CHECK(kept.find(there) != kept.npos);
  for (const char* gone : {"cc:by", "a:Title", "dc:description"})
    CHECK(kept.find(gone) == kept.npos);
  CHECK(rights("<d><dc:description> see cc:by \"q\" </dc:description></d>") == "");
}
