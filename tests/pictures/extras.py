#!/usr/bin/env python3
"""Nothing dropped in silence: small files, each with one extra, and what becomes of that extra in each format.

    CONVFILT=… tests/pictures/extras.py [-v] [KIND|FORMAT...]

Each file has a twin without the extra. Both go through `apply identity` into each format, and in place. Outcomes of the extra:
kept (another program finds it in the result), warned (a line on stderr names it), refused (no result and a message). None of these,
a warning for the twin, and a result in place that lacks a picture are failures. Prints the table of kind × format, then the sums.
What the installed programs cannot make or check is left out, with its name. -v prints every message.
With CONVFILT_TEST_SIZE=short each file goes into its own format, in place, and into a third of the others.
Exit code: 0, 1 after a failure, 77 where nothing can run.
"""
import hashlib, os, re, shutil, struct, subprocess, sys, tempfile, zlib

sys.dont_write_bytecode = True
from files import *

CONVFILT = os.path.realpath(os.environ.get("CONVFILT", "build/release/bin/convfilt"))
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
SHORT = os.environ.get("CONVFILT_TEST_SIZE") == "short"
OUTPUTS = ("jpg", "png", "tif", "webp", "ppm", "pam", "avif", "jxl", "exr")


# ---- the kinds -------------------------------------------------------------------------------------------------------------------

NEVER = "(?!)"


class Kind:
    def __init__(self, name, formats, make, found, words, is_part=False, options=(), twin=NEVER, gone=(), has_extra=True):
        """make(path, extra) writes a file; found(path) tells whether another program finds the extra; words are those of a warning.
        Where is_part, a result in place must have it. The twin may cause a warning of these words; the tags in gone would be a lie."""
        self.name, self.formats, self.make, self.found, self.words = name, formats.split(), make, found, words
        self.is_part, self.options, self.twin, self.gone = is_part, options, twin, gone
        # So that it must be found in the file, too. exiftool does not read what cjxl has compressed.
        self.has_extra = has_extra and not is_part and found is not never


def never(path): return False


def tagged(*words):
    def make(path, extra):
        if not path.endswith(".jxl"):
            plain(path)
            return extra and change(path, *words)
        plain("p.jpg")
        if extra: change("p.jpg", *words)
        run("cjxl", "p.jpg", path)
    return make


def mentions(text):
    """Of the header of a PAM, which exiftool does not read, each line is text."""
    return lambda path: text.encode() in (open(path, "rb").read(200) if path.endswith(".pam") else exiftool("-j", "-a", "-u", path))


def pages(path, extra):
    if path.endswith(".tif"): return tiff(path, *[(halves(LEFT, RIGHT), {}), (halves(RIGHT, LEFT), {})][:2 if extra else 1])
    if path.endswith(".ppm"):
        pnm(path)
        open(path, "ab").write(open(path, "rb").read() if extra else b"")
    elif path.endswith(".heic"):
        png("a.png"), png("b.png", halves(RIGHT, LEFT))
        run("heif-enc", "a.png", *["b.png"] * extra, "-o", path)


def frames(path, extra):
    png("a.png"), png("b.png", halves(RIGHT, LEFT)), apng("c.png")
    if path.endswith(".avif"): run("avifenc", "-s", "9", "a.png", *["b.png"] * extra, path)
    elif path.endswith(".jxl"): run("cjxl", "-d", "0", "c.png" if extra else "a.png", path)
    elif not extra: plain(path)
    elif path.endswith(".png"): apng(path)
    elif path.endswith(".webp"): run("img2webp", "-lossless", "-d", "100", "a.png", "b.png", "-o", path)
    else: run("ffmpeg", "-v", "error", "-y", "-f", "apng", "-i", "c.png", path)


def behind(what):
    def make(path, extra):
        plain(path)
        if not extra: return
        second = open(path, "rb").read()
        index = b"MPF\0MM\0*\0\0\0\x08" + struct.pack(">HHHI4sHHII", 3, 0xB000, 7, 4, b"0100", 0xB001, 4, 1, 2) + struct.pack(">HHIII", 0xB002, 7, 32, 50, 0)
        index += struct.pack(">IIIHHIIIHH", 0x30000, 4000, 0, 0, 0, 0, len(second), 1234, 0, 0)
        words = {"gain map": b"xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/' h:Version='1.0'",
                 "motion photo": b"xmlns:g='http://ns.google.com/photos/1.0/camera/' g:MotionPhoto='1'"}.get(what)
        xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>" \
            b"<rdf:Description %s/></rdf:RDF></x:xmpmeta>" % (words or b"")
        jpeg_with(path, [(b"\xe1", xmp)] * bool(words) + [(b"\xe2", index)] * (what != "motion photo"),
                  b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(range(256)) * 8 if what == "motion photo" else second)
    return make


def smaller_copy(path, extra): tiff(path, *[(halves(LEFT, RIGHT), {}), (halves(RIGHT, LEFT), {254: (4, [1])})][:2 if extra else 1])


def png_label(*chunks): return lambda path, extra: plain(path, chunks if extra else ())


def coded(primaries, transfer, of_jxl):
    """The label as each format has it."""
    def make(path, extra):
        kind = path.rsplit(".", 1)[1]
        png("p.png", chunks=[(b"cICP", bytes([primaries, transfer, 0, 1]))] if extra and kind == "png" else ())
        pnm("p.ppm")
        codes = (str(primaries), str(transfer)) if extra else ("1", "13")
        if kind == "jxl": run("cjxl", "-d", "0", *(["-x", "color_space=" + of_jxl] if extra else []), "p.ppm", path)
        else: from_png(path, "p.png", *(["--cicp", "%s/%s/6" % codes] if kind == "avif" else []))
    return make


def primaries_of_exr(path, extra):
    exr(path, attributes=[(b"chromaticities", b"chromaticities", struct.pack("<8f", .68, .32, .265, .69, .15, .06, .3127, .329))] if extra else [])


def window_of_exr(path, extra):
    exr(path, attributes=[(b"displayWindow", b"box2i", struct.pack("<4i", -8, -8, W + 7, H + 7))] if extra else [])


def channel_of_exr(path, extra): exr(path, "BGRZ", (.2, .4, .6, 7), (.1, .3, .5, 9)) if extra else exr(path)


def fifth_sample(path, extra): tiff_of(path, halves((*LEFT, 7), (*RIGHT, 9)), 4, extra=[0]) if extra else tiff(path)


def attribute_of_exr(path, extra): exr(path, attributes=[(b"comments", b"string", b"words of mine")] if extra else [])


def exposure(path, extra): hdr(path, lines=b"EXPOSURE=2.0\n" if extra else b"")


def comment(path, extra):
    kind = path.rsplit(".", 1)[1]
    if kind == "ppm": return pnm(path, comment=b"# words of mine\n" if extra else b"")
    if kind == "pam": return open(path, "wb").write((b"P7\n" + b"# words of mine\n" * extra + b"WIDTH %d\nHEIGHT %d\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n"
                                                     % (W, H)) + halves(LEFT, RIGHT))
    if kind == "hdr": return hdr(path, lines=b"# words of mine\n" if extra else b"")
    plain(path)
    if extra and kind == "jpg": jpeg_with(path, [(b"\xfe", b"words of mine")])
    elif extra: change(path, "-Comment=words of mine")


def texts(path, extra):
    plain(path, [(b"tEXt", b"Title\0words of mine"), (b"iTXt", b"Author\0\0\0\0\0somebody")] if extra else ())


def density(path, extra):
    kind = path.rsplit(".", 1)[1]
    if kind == "png": return plain(path, [(b"pHYs", struct.pack(">IIB", 11811, 11811, 1))] if extra else ())
    plain(path)
    if extra and kind == "jpg": change(path, "-JFIF:XResolution=300", "-JFIF:YResolution=300", "-JFIF:ResolutionUnit=1")
    elif extra: change(path, "-IFD0:XResolution=300", "-IFD0:YResolution=300", "-IFD0:ResolutionUnit=2")


def finds_density(path): return abs((tag(path, "XResolution") or 0) - 300) < .01 or tag(path, "PixelsPerUnitX") == 11811


def aspect(path, extra):
    kind = path.rsplit(".", 1)[1]
    if kind == "png": return plain(path, [(b"pHYs", struct.pack(">IIB", 2, 1, 0))] if extra else ())
    if kind == "exr": return exr(path, attributes=[(b"pixelAspectRatio", b"float", struct.pack("<f", .5))] if extra else [])
    plain(path)
    if extra and kind == "jpg": change(path, "-JFIF:XResolution=2", "-JFIF:YResolution=1", "-JFIF:ResolutionUnit=0")
    elif extra: change(path, "-IFD0:XResolution=2", "-IFD0:YResolution=1", "-IFD0:ResolutionUnit=1")


def finds_aspect(path):
    x, y = (tag(path, "XResolution"), tag(path, "YResolution")) if tag(path, "XResolution") else (tag(path, "PixelsPerUnitX"), tag(path, "PixelsPerUnitY"))
    return x and y and x == 2 * y or str(tag(path, "PixelAspectRatio")) == "0.5"


def tiff_tags(more): return lambda path, extra: tiff(path, (halves(LEFT, RIGHT), more if extra else {}))


def resources():
    def each(number, data, name=b""):
        named = bytes([len(name)]) + name
        return b"8BIM" + struct.pack(">H", number) + named + b"\0" * (len(named) % 2) + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)
    return each(2000, struct.pack(">H24x", 6) + struct.pack(">Hh22x", 2, 0), b"Path 1") + each(2999, b"\x06Path 1\0\0\0\0")


def clipping_path(path, extra):
    if path.endswith(".tif"): return tiff_tags({34377: (7, resources())})(path, extra)
    plain(path)
    if extra: jpeg_with(path, [(b"\xed", b"Photoshop 3.0\0" + resources())])


def turned(path, extra):
    if path.endswith(".tif"): return tiff_tags({274: (3, [6])})(path, extra)
    if path.endswith(".avif"):
        png("p.png")
        return from_png(path, "p.png", *(["--irot", "3"] if extra else []))
    tagged("-IFD0:Orientation=6")(path, True) if extra else plain(path)


def finds_turned(path): return size(path) == [H, W] and tag(path, "Orientation") in (None, 1)


def with_alpha(left, right, *more):
    def make(path, extra):
        if path.endswith(".pam"): return pam(path, halves(left, right), 4, b"RGB_ALPHA") if extra else pam(path, halves(LEFT, RIGHT), 3, b"RGB")
        if path.endswith(".tif"): return tiff_of(path, halves(left, right), 4, extra=[2]) if extra else tiff(path)
        plain(path, data=halves(left, right), colour=6) if extra else plain(path)
    return make


def associated(path, extra):
    if path.endswith(".exr"): return exr(path, "ABGR", (.5, .1, .2, .4), (1, .1, .2, .4)) if extra else exr(path)
    tiff_of(path, halves((100, 50, 25, 128), (*RIGHT, 255)), 4, extra=[1]) if extra else tiff(path)


def key(path, extra):
    plain(path, [(b"tRNS", struct.pack(">3H", *LEFT))] if extra else ())


def grey_key(path, extra): plain(path, [(b"tRNS", struct.pack(">H", 80))] if extra else (), halves((80,), (190,)), 0)


def palette_key(path, extra): plain(path, [(b"PLTE", bytes((*LEFT, *RIGHT)))] + [(b"tRNS", b"\0")] * extra, halves((0,), (1,)), 3)


def finds_key(path): return near(pixel(path)[3:4], [0]) and near(pixel(path, W * 3 // 4)[3:4], [1])


def real(left, right=(.1, .3, .5), plain=(.2, .4, .6)):
    def make(path, extra):
        first = left if extra else plain
        if path.endswith(".tif"): return tiff_of(path, floats(first, right) * H, 3, 32, 2, 3)
        if path.endswith(".exr"): return exr(path, "BGR", first[::-1], right[::-1])
        pfm("p.pfm", first, right)
        if path.endswith(".jxl"): run("cjxl", "-d", "0", "-x", "color_space=RGB_D65_SRG_Rel_Lin", "p.pfm", path)
        else: shutil.copy("p.pfm", path)
    return make


def deep(path, extra):
    colours = [int((n + .5) / 255 * 65535) for n in LEFT], [v * 257 for v in RIGHT]
    kind, order = path.rsplit(".", 1)[1], "<" if path.endswith("tif") else ">"
    data = halves(*(struct.pack(order + "3H", *colour) for colour in colours)) if extra else halves(LEFT, RIGHT)
    if kind == "tif": tiff_of(path, data, 3, 16 if extra else 8)
    elif kind == "ppm": pnm(path, data, most=65535 if extra else 255)
    elif kind == "pam": pam(path, data, 3, b"RGB", 65535 if extra else 255)
    else:
        png("p.png", data, bits=16 if extra else 8)
        from_png(path, "p.png", *(["-d", "12"] if extra and kind == "avif" else []))


def one_bit(path, extra):
    data = b"\xff\xff\xff\0\0\0" * H if extra else halves((255,), (0,))
    if path.endswith(".tif"): tiff_of(path, data, 1, 1 if extra else 8, 1)
    else: png(path, data, 0, 1 if extra else 8)


def finds_two_levels(path): return near(pixel(path), [1] * 3) and near(pixel(path, W * 3 // 4), [0] * 3)


def cmyk(path, extra):
    if path.endswith(".tif"): return tiff_of(path, halves((10, 200, 220, 30), (220, 120, 10, 20)), 4, photometric=5) if extra else tiff(path)
    plain(path)
    if extra:
        png("p.png")
        run("convert", "p.png", "-strip", "-colorspace", "CMYK", path)


def lab(path, extra): tiff_of(path, halves((128, 20, 30), (90, 250, 10)), photometric=8) if extra else tiff(path)


def white_is_zero(path, extra): tiff_of(path, halves((55,), (215,)), 1, photometric=0) if extra else tiff_of(path, halves((200,), (40,)), 1, photometric=1)


def grey_samples(form, bits):
    value = {(2, 16): struct.pack("<h", -9000), (1, 32): struct.pack("<I", 123456789), (3, 64): struct.pack("<d", .123456789012)}[form, bits]
    return lambda path, extra: tiff_of(path, value * W * H, 1, bits, 1, form) if extra else tiff_of(path, bytes([90]) * W * H, 1, photometric=1)


BECOMES = "samples; they become"  # in formats without floats, and without light
FLOATS = BECOMES + "|become sRGB"
KINDS = [
    Kind("second page", "tif ppm heic", pages, lambda path: pictures(path) > 1, "pictures", True),
    Kind("frame", "gif webp png avif jxl", frames, lambda path: pictures(path) > 1, "pictures? ", True),
    Kind("smaller copy", "tif", smaller_copy, never, "smaller copies", True),
    *(Kind(what, "jpg", behind(what), never, "other pictures or parts", True, gone=("XMP-hdrgm:all", "XMP-GCamera:all", "MPF:all"))
      for what in ("gain map", "motion photo", "two by MPO")),
    Kind("second part", "exr", lambda path, extra: exr(path, parts=2 if extra else 0), never, "parts", True, twin=FLOATS),
    *(Kind(name, formats, lambda path, extra, data=data: with_profile(path, extra, data), found, words) for name, formats, data, found, words in (
        ("profile sRGB", "jpg png tif webp avif heic jxl", SRGB, usual_colours, "profile|colours"),
        ("profile P3", "jpg png tif webp avif heic jxl", P3, icc, "profile|become (linear )?sRGB"),
        ("profile grey", "jpg png tif", GREY, icc, "profile|become (linear )?sRGB"),
        ("profile broken", "jpg png tif webp avif", BROKEN, never, "profile is damaged"))),
    Kind("label P3", "png avif jxl", coded(12, 13, "RGB_D65_DCI_Rel_SRG"), label_of(12, 13, "P3"), "label of its colours"),
    Kind("label PQ", "png avif jxl", coded(9, 16, "RGB_D65_202_Rel_PeQ"), label_of(9, 16, "PQ"), "label of its colours"),
    Kind("gamma 1", "png", png_label((b"gAMA", struct.pack(">I", 100000))), gamma, "label of its colours"),
    Kind("gamma, primaries", "png", png_label((b"gAMA", struct.pack(">I", 45471)), (b"cHRM", struct.pack(
        ">8I", 31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000))), lambda path: gamma(path) or icc(path), "label of its colours"),
    Kind("primaries", "exr", primaries_of_exr, said("Chromaticities"), "primaries", twin=FLOATS),
    Kind("GPS", "jpg png tif webp avif heic jxl", tagged("-GPS:GPSLatitude=52.5", "-GPS:GPSLatitudeRef=N"), said("GPSLatitude"), "EXIF"),
    Kind("orientation", "jpg png tif webp avif", turned, finds_turned, NEVER, has_extra=False),
    Kind("XMP", "jpg png tif webp avif heic jxl", tagged("-XMP-dc:Title=words of mine"), mentions("words of mine"), "XMP"),
    Kind("IPTC", "jpg png tif", tagged("-IPTC:City=words of mine"), mentions("words of mine"), "IPTC"),
    Kind("texts", "png", texts, mentions("words of mine"), "text"),
    Kind("description", "tif", tiff_tags({270: (2, b"words of mine\0")}), mentions("words of mine"), "EXIF"),
    Kind("comment", "jpg gif ppm pam hdr", comment, mentions("words of mine"), "comment", twin=FLOATS),
    Kind("attribute", "exr", attribute_of_exr, mentions("words of mine"), "its header .* 'comments'", twin=FLOATS),
    Kind("display window", "exr", window_of_exr, never, "its header .* 'displayWindow'", twin=FLOATS),
    Kind("depth channel", "exr", channel_of_exr, never, "channels beside colours", True, twin=FLOATS),
    Kind("sample of no name", "tif", fifth_sample, never, "samples of a pixel beside", True),
    Kind("density", "jpg png tif", density, finds_density, "density of pixels"),
    Kind("aspect", "jpg png tif exr", aspect, finds_aspect, "shape of pixels|pixelAspectRatio", twin=FLOATS),
    Kind("exposure", "hdr", exposure, said("Exposure", 2), "its header .* 'EXPOSURE'", twin=FLOATS),
    Kind("GeoTIFF", "tif", tiff_tags({33550: (12, [10., 10., 0.]), 33922: (12, [0., 0., 0., 500000., 5000000., 0.]), 34735: (3, [1, 1, 0, 0])}),
         said("PixelScale"), "GeoTIFF"),
    Kind("nodata", "tif", tiff_tags({42113: (2, b"999\0")}), said("GDALNoData"), "GDAL"),
    Kind("clipping path", "jpg tif", clipping_path, said("ClippingPathName"), "clipping path"),
    Kind("alpha", "png tif webp avif heic jxl pam", with_alpha((*LEFT, 128), (*RIGHT, 255)), alpha(*(v / 255 for v in (*LEFT, 128))), "alpha"),
    Kind("alpha associated", "tif", associated, alpha(.784, .392, .196, .502), "alpha"),
    Kind("alpha associated", "exr", associated, alpha(.8, .4, .2, .5), "alpha", twin=FLOATS),
    Kind("alpha key", "png", key, finds_key, "alpha"),
    Kind("alpha key, grey", "png", grey_key, finds_key, "alpha"),
    Kind("alpha, palette", "png", palette_key, finds_key, "alpha"),
    Kind("alpha of GIF", "gif", with_alpha((*LEFT, 0), (*RIGHT, 255)), finds_key, "alpha"),
    Kind("hidden colours", "png tif webp pam", with_alpha((*LEFT, 0), (*RIGHT, 255)), alpha(*(v / 255 for v in LEFT), 0), "alpha", options=["--keep-hidden"]),
    Kind("above 1", "tif exr pfm jxl", real((4, .4, .6)), values(4, .4, .6), "above 1|outside", twin=FLOATS),
    Kind("below 0", "tif exr pfm jxl", real((-.5, .4, .6)), values(-.5, .4, .6), "below 0|outside", twin=FLOATS),
    Kind("NaN", "tif exr pfm", real((float("nan"), .4, .6)), values(float("nan"), .4, .6), "NaN|not finite", twin=FLOATS),
    Kind("16 bits", "png tif ppm pam avif jxl", deep, values(*((n + .5) / 255 for n in LEFT), far=.0008), BECOMES),
    Kind("1 bit", "png tif", one_bit, finds_two_levels, NEVER),
    Kind("CMYK", "jpg tif", cmyk, never, "CMYK"),
    Kind("CIELab", "tif", lab, never, "CIELab"),
    Kind("white is zero", "tif", white_is_zero, lambda path: near(pixel(path), [200 / 255] * 3), NEVER, has_extra=False),
    Kind("signed samples", "tif", grey_samples(2, 16), never, "signed samples"),
    Kind("32 bits", "tif", grey_samples(1, 32), never, "32-bit samples"),
    Kind("64-bit floats", "tif", grey_samples(3, 64), never, "64-bit samples"),
]


# ---- the table -------------------------------------------------------------------------------------------------------------------

def convfilt(source, out, *options):
    if os.path.exists(out) and source != out: os.remove(out)
    done = subprocess.run([CONVFILT, "apply", "identity", source, out, "--device", "cpu", *options], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr.strip()


class Table:
    def __init__(self, verbose):
        self.rows, self.verbose, self.failures, self.sums, self.left_out, self.twins, self.lacks = 0, verbose, 0, {}, {}, {}, {}

    def fail(self, where, text):
        self.failures += 1
        print(f"{where}: {text}", file=sys.stderr)

    def outcome(self, kind, where, code, messages, out):
        """Of the extra, and None where the installed programs cannot tell."""
        if self.verbose and messages: print(f"    {where}: {messages}")
        if code:
            if "convfilt: " not in messages or os.path.exists(out): self.fail(where, f"exit code {code}, and {messages or 'no message'}")
            return "refused"
        for name in kind.gone:
            if tag(out, name) is not None: self.fail(where, f"the result still has {name}")
        warned = re.search(kind.words, messages)
        if kind.found(out):
            if warned: self.fail(where, f"kept, and yet it says {messages}")
            return "kept"
        if warned: return "warned"
        self.fail(where, "lost in silence" + (f"; it says {messages}" if messages else ""))
        return "LOST"

    def check_twin(self, kind, twin, out):
        """A twin without the extra, into the same format, is not warned of. Many kinds have one twin."""
        about = hashlib.sha1(open(twin, "rb").read()).hexdigest(), out, tuple(kind.options)
        if about not in self.twins: self.twins[about] = convfilt(twin, out, *kind.options)
        code, messages = self.twins[about]
        wrong = [line for line in messages.splitlines() if not re.search(kind.twin, line)]
        if code or wrong: self.fail(f"{kind.name}, {twin} to {out}", f"of the twin it says {messages or code}")

    def in_place(self, kind, where, source, own):
        kept = "place." + own
        shutil.copy(source, kept)
        code, messages = convfilt(kept, kept, "--in-place", *kind.options)
        if code:
            if open(kept, "rb").read() != open(source, "rb").read(): self.fail(where, "refused, but the file is another")
            return "refused" if "convfilt: " in messages else self.fail(where, "refused without a message")
        if kind.found(kept): return "kept"
        if kind.is_part: self.fail(where, f"the file has lost a part; it says {messages or 'nothing'}")
        elif not re.search(kind.words, messages): self.fail(where, f"lost in silence; it says {messages or 'nothing'}")
        else: return "warned"
        return "LOST"

    def check_program(self, out):
        """A build may lack the module of a format."""
        if out not in self.lacks: self.lacks[out] = convfilt("plain.png", "lacks." + out)
        if self.lacks[out][0]: raise Missing(self.lacks[out][1])

    def row(self, kind, own):
        source, twin = "in." + own, "twin." + own
        try:
            kind.make(source, True)
            kind.make(twin, False)
            if own != "gif": self.check_program(own)
            if kind.has_extra and own != "jxl" and not kind.found(source): raise Missing("it is not found in the file that was made")
        except Missing as missing:
            self.left_out.setdefault(str(missing), []).append(f"{kind.name} in {own}")
            return
        cells = []
        self.rows += 1
        for column, out in enumerate(OUTPUTS + (own,) * (own not in OUTPUTS) + ("place",)):
            if SHORT and out in OUTPUTS and out != own and (self.rows + column) % 3:
                cells.append(f"{'':<8}")
                continue
            where = f"{kind.name}, {own} to {out}"
            try:
                if out in OUTPUTS: self.check_program(out)
                if out == "place": word = self.in_place(kind, where, source, own)
                elif own in ("gif",) and out == own: word = "refused"  # it is only read, so that this is one case for all kinds
                else:
                    word = self.outcome(kind, where, *convfilt(source, "out." + out, *kind.options), "out." + out)
                    self.check_twin(kind, twin, "twin_out." + out)
            except Missing as missing:
                self.left_out.setdefault(str(missing), []).append(where)
                word = "-"
            self.sums[word] = self.sums.get(word, 0) + 1
            cells.append(f"{word:<8}" if out != own or own in OUTPUTS else f"{word} ({own})".ljust(16))
        extra = cells.pop(len(OUTPUTS)) if own not in OUTPUTS else ""
        print(f"{kind.name:<18}{own:<6}" + "".join(cells) + extra, flush=True)


def main():
    arguments = [word for word in sys.argv[1:] if word != "-v"]
    if not has("exiftool"):
        print("skipped: exiftool is not installed")
        return 77
    table = Table("-v" in sys.argv)
    print(f"{'kind':<18}{'from':<6}" + "".join(f"{out:<8}" for out in OUTPUTS) + "in place")
    formats = {own for kind in KINDS for own in kind.formats}
    names = [word for word in arguments if word not in formats]
    png("plain.png")
    for kind in KINDS:
        if names and kind.name not in names: continue
        for own in kind.formats:
            if own in arguments or not formats & set(arguments): table.row(kind, own)
    exiftool.close()
    for reason, cases in table.left_out.items(): print(f"left out ({reason}): {'; '.join(cases)}")
    print(", ".join(f"{count} {word}" for word, count in sorted(table.sums.items())) + f"; {table.failures} failures")
    return 1 if table.failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
