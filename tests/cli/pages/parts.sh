# A second part behind a JPEG goes with a warning, and so do the tags that speak of it; clipping paths stay.
need_python sys
need_tool exiftool
python3 - <<'P'
import struct
base = open("samples/rocket.jpg", "rb").read()
def xmp(attributes, inside=""):
    return (b"http://ns.adobe.com/xap/1.0/\0" + ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            "<rdf:Description rdf:about='' xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmp:Rating='4' " + attributes + ">" + inside + "</rdf:Description></rdf:RDF></x:xmpmeta>").encode())
def jpeg(name, segments, tail=b""):
    open(name, "wb").write(base[:2] + b"".join(b"\xff" + m + struct.pack(">H", len(d) + 2) + d for m, d in segments) + base[2:] + tail)
index = b"MPF\0MM\0*\0\0\0\x08" + struct.pack(">H", 3) + struct.pack(">HHI4s", 0xB000, 7, 4, b"0100") + struct.pack(">HHII", 0xB001, 4, 1, 2)
index += struct.pack(">HHII", 0xB002, 7, 32, 50) + struct.pack(">I", 0) + struct.pack(">IIIHH", 0x30000, 4000, 0, 0, 0) + struct.pack(">IIIHH", 0, len(base), 1234, 0, 0)
hdrgm = "xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0'"
directory = ("<Container:Directory><rdf:Seq><rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic='Primary' Item:Mime='image/jpeg'/></rdf:li>"
             "<rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic='GainMap' Item:Mime='image/jpeg' Item:Length='9'/></rdf:li></rdf:Seq></Container:Directory>")
container = " xmlns:Container='http://ns.google.com/photos/1.0/container/' xmlns:Item='http://ns.google.com/photos/1.0/container/item/'"
jpeg("gain_map.jpg", [(b"\xe1", xmp(hdrgm + container, directory)), (b"\xe2", index)], base)
video = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(range(256)) * 8
camera = "xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' GCamera:BurstID='7' GCamera:Micro%s='1' GCamera:MicroVideoOffset='2048' GCamera:MotionPhoto='1'" % "Video"
jpeg("motion.jpg", [(b"\xe1", xmp(camera))], video)
jpeg("two.jpg", [(b"\xe2", index)], base)
jpeg("plain.jpg", [(b"\xe1", xmp(""))])
def resource(number, data, name=b""):
    named = bytes([len(name)]) + name
    return b"8BIM" + struct.pack(">H", number) + named + b"\0" * (len(named) % 2) + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)
path = struct.pack(">H24s", 6, b"") + struct.pack(">Hhhiiiiii", 2, 0, 0, 1 << 20, 1 << 22, 1 << 21, 1 << 23, 1 << 20, 1 << 22)[:26]
jpeg("path.jpg", [(b"\xed", b"Photoshop 3.0\0" + resource(1005, b"\0" * 16) + resource(2000, path, b"Path 1") + resource(2999, b"\x06Path 1\0\0\0\0", b""))])
P
for name in gain_map motion two plain path; do try apply identity $name.jpg out_$name.jpg; done
for name in gain_map motion two; do
  cp $name.jpg kept.jpg
  try blur kept.jpg kept.jpg --in-place -q
  same $name.jpg kept.jpg
done
for name in gain_map motion two plain path; do
  echo "$name:" >&2
  exiftool -a -G1 -s -XMP:all -MPF:all -Photoshop:all out_$name.jpg | grep -vE 'XMPToolkit|IPTCDigest' >&2 || :
  ! grep -aE 'hdrgm|MotionPhoto|MicroVideo|Container|MPF' out_$name.jpg || fail "$name says more than it has"
done
# Paths are in parts of the picture's sides, so they are true as long as those stay.
try apply identity path.jpg path.tif
try apply identity path.tif again.jpg
try apply identity path.jpg path.png
try blur path.jpg valid.jpg --mode=valid
for name in out_path.jpg path.tif again.jpg valid.jpg; do
  echo "$name: $(exiftool -a -s -Photoshop:ClippingPathName $name)" >&2
done
python3 -c '
for name in "out_path.jpg", "path.tif", "again.jpg": assert b"8BIM\x07\xd0\x06Path 1" in open(name, "rb").read(), name
assert b"Path 1" not in open("valid.jpg", "rb").read()'
