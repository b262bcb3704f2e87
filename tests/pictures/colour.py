#!/usr/bin/env python3
"""Colours of pictures through every format: what a file says its colours are, another program reads after convfilt.

    CONVFILT=… tests/pictures/colour.py [KIND|CHECK...]

A picture of one colour goes from each format and kind of label into each format. Other programs (exiftool, ffmpeg, avifdec,
heif-convert, djxl, jxlinfo) give the samples and the label of the result; this script turns both into light, which must be that
of the input. Prints a table of kind × format: label (the same one), profile (an equal one), sRGB (converted, with a warning).
With CONVFILT_TEST_SIZE=short a third of the table is tried, each format and kind several times.
A picture without a label must give no warning. Before it, single values of kinds that have one right answer. What the installed programs cannot make or read is left out, with its name.
Exit code: 0, 1 after a failure, 77 where nothing can run.
"""
import json, math, os, re, shutil, struct, subprocess, sys, tempfile, zlib

if {"-h", "--help"} & set(sys.argv[1:]): sys.exit(print(__doc__.strip()))
CONVFILT = os.path.realpath(os.environ.get("CONVFILT", "build/release/bin/convfilt"))
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
BT709 = (.3127, .329, .64, .33, .3, .6, .15, .06)
PRIMARIES = {1: BT709, 9: (.3127, .329, .708, .292, .17, .797, .131, .046), 12: (.3127, .329, .68, .32, .265, .69, .15, .06)}
ADOBE = (.3127, .329, .64, .33, .21, .71, .15, .06)
W, H = 48, 32
SHORT = os.environ.get("CONVFILT_TEST_SIZE") == "short"


def run(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


# ---- light ------------------------------------------------------------------------------------------------------------------

def srgb(v): return v / 12.92 if v <= .04045 else ((v + .055) / 1.055) ** 2.4


def pq(v):
    m = v ** (32 / 2523)
    return (max(m - 3424 / 4096, 0) / (2413 / 128 - 2392 / 128 * m)) ** (16384 / 2610)


def hlg(v): return v * v / 3 if v <= .5 else (math.exp((v - .55991073) / .17883277) + .28466892) / 12


CURVES = {1: lambda v: v / 4.5 if v < .081 else ((v + .099) / 1.099) ** (1 / .45), 8: lambda v: v, 13: srgb, 16: pq, 18: hlg}


def inverse(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return [[x / det for x in row] for row in ((e * i - f * h, c * h - b * i, b * f - c * e), (f * g - d * i, a * i - c * g, c * d - a * f),
                                               (d * h - e * g, b * g - a * h, a * e - b * d))]


def times(m, v): return [sum(x * y for x, y in zip(row, v)) for row in m]


def matrix(xy):
    """From red, green and blue to X, Y and Z."""
    white, *colours = ([x / y, 1, (1 - x - y) / y] for x, y in zip(xy[::2], xy[1::2]))
    columns = [list(row) for row in zip(*colours)]
    share = times(inverse(columns), white)
    return [[x * s for x, s in zip(row, share)] for row in columns]


def light(samples, label):
    """X, Y and Z in D65; a label is (matrix, curves of red, green and blue)."""
    return times(label[0], [curve(v) for curve, v in zip(label[1], samples)])


def codes(primaries, transfer): return matrix(PRIMARIES[primaries]), [CURVES[transfer]] * 3


def profile_label(icc):
    """The label of a profile, read without lcms2. Bradford's adaptation from D50 to D65."""
    tags = {}
    for k in range(struct.unpack(">I", icc[128:132])[0]):
        name, at, size = struct.unpack(">4sII", icc[132 + 12 * k:144 + 12 * k])
        tags[name] = icc[at:at + size]
    def xyz(name): return [v / 65536 for v in struct.unpack(">3i", tags[name][8:20])]
    def curve(data):
        if data[:4] == b"para":
            kind = struct.unpack(">H", data[8:10])[0]
            count = (1, 3, 4, 5, 7)[kind]
            g, a, b, c, d, e, f = [v / 65536 for v in struct.unpack(f">{count}i", data[12:12 + 4 * count])] + [0] * (7 - count)
            assert kind in (0, 3, 4), kind
            return (lambda v: v ** g) if kind == 0 else lambda v: (a * v + b) ** g + e if v >= d else c * v + f
        count = struct.unpack(">I", data[8:12])[0]
        values = struct.unpack(f">{count}H", data[12:12 + 2 * count])
        if count < 2: return lambda v: v ** (values[0] / 256 if count else 1)
        def table(v):
            at = min(int(v * (count - 1)), count - 2)
            return (values[at] + (v * (count - 1) - at) * (values[at + 1] - values[at])) / 65535
        return table
    bradford = [[.9555766, -.0230393, .0631636], [-.0282895, 1.0099416, .0210077], [.0122982, -.0204830, 1.3299098]]
    colours = [times(bradford, xyz(name)) for name in (b"rXYZ", b"gXYZ", b"bXYZ")]
    return [list(row) for row in zip(*colours)], [curve(tags[name]) for name in (b"rTRC", b"gTRC", b"bTRC")]


def p3_profile():
    def tag(kind, data): return kind + bytes(4) + data
    fixed = lambda *v: struct.pack(f">{len(v)}i", *(round(x * 65536) for x in v))
    tags = [(b"desc", tag(b"desc", struct.pack(">I", 3) + b"P3\0" + bytes(78))), (b"wtpt", tag(b"XYZ ", fixed(.9642, 1, .8249))),
            (b"rXYZ", tag(b"XYZ ", fixed(.51512, .24120, -.00105))), (b"gXYZ", tag(b"XYZ ", fixed(.29198, .69225, .04189))),
            (b"bXYZ", tag(b"XYZ ", fixed(.15710, .06657, .78407)))] + [(n, tag(b"curv", struct.pack(">IHH", 1, 0x0233, 0)))
                                                                     for n in (b"rTRC", b"gTRC", b"bTRC")]
    at, table, body = 132 + 12 * len(tags), b"", b""
    for name, data in tags:
        data += bytes(-len(data) % 4)
        table += struct.pack(">4sII", name, at + len(body), len(data))
        body += data
    return struct.pack(">I4sI4s4s4s12x4s28x3i48x", at + len(body), b"lcms", 0x2200000, b"mntr", b"RGB ", b"XYZ ", b"acsp", 63190, 65536, 54061) + \
        struct.pack(">I", len(tags)) + table + body


# ---- files ------------------------------------------------------------------------------------------------------------------

def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(path, rgb, chunks=()):
    rows = (b"\0" + bytes(rgb) * W) * H
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 0)) +
                           b"".join(chunk(*c) for c in chunks) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def png_label(path):
    data, at, found = open(path, "rb").read(), 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        found[kind] = data[at + 8:at + 8 + size]
        at += size + 12
    if b"cICP" in found: return "label", codes(*found[b"cICP"][:2])
    if b"iCCP" in found: return "profile", profile_label(zlib.decompress(found[b"iCCP"][found[b"iCCP"].index(0) + 2:]))
    if b"gAMA" not in found: return "sRGB", codes(1, 13)
    gamma = 1e5 / struct.unpack(">I", found[b"gAMA"])[0]
    xy = [v / 1e5 for v in struct.unpack(">8I", found[b"cHRM"])] if b"cHRM" in found else BT709
    return "label", (matrix(xy), [lambda v: v ** gamma] * 3)


def icc_of(path): return run("exiftool", "-q", "-b", "-icc_profile", path)


def read(path):
    """How the file tells its colours, the label, and the samples of a pixel in the middle, 0 to 1."""
    kind = path.rsplit(".", 1)[1]
    if kind == "png": label = png_label(path)
    elif kind in ("avif", "heic", "hif"):
        tags = json.loads(run("exiftool", "-n", "-j", "-ColorPrimaries", "-TransferCharacteristics", path))[0]
        icc = icc_of(path)
        name = "sRGB" if tags["ColorPrimaries"] == 1 and tags["TransferCharacteristics"] == 13 else "label"
        label = ("profile", profile_label(icc)) if icc else (name, codes(tags["ColorPrimaries"], tags["TransferCharacteristics"]))
    elif kind == "jxl":
        text = run("jxlinfo", path).decode()
        primaries = re.search(r"(\S+) primaries", text)
        if primaries:
            transfer = re.search(r", ([^,]+) transfer function", text)[1]
            pair = {"sRGB": 1, "Rec.2100": 9, "P3": 12}[primaries[1]], {"sRGB": 13, "PQ": 16, "HLG": 18, "Linear": 8, "linear": 8}[transfer]
            label = "sRGB" if pair == (1, 13) else "label", codes(*pair)
        else:
            run("djxl", path, "decoded.png")
            label = png_label("decoded.png")
    else:
        icc = icc_of(path)
        label = ("profile", profile_label(icc)) if icc else ("sRGB", codes(1, 13))
    plain = {"avif": ("avifdec", path, "decoded.png"), "heic": ("heif-convert", path, "decoded.png"), "jxl": ("djxl", path, "decoded.png")}.get(kind)
    if plain: run(*plain)
    raw = run("ffmpeg", "-v", "error", "-i", "decoded.png" if plain else path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    middle = 3 * (W * (H // 2) + W // 2)
    return label[0], label[1], [v / 255 for v in raw[middle:middle + 3]]


# ---- the table --------------------------------------------------------------------------------------------------------------

RGB = (110, 90, 80)
KINDS = {
    "plain": ((), codes(1, 13), 1), "display p3": ([(b"cICP", bytes([12, 13, 0, 1]))], codes(12, 13), 1),
    "pq": ([(b"cICP", bytes([9, 16, 0, 1]))], codes(9, 16), 203 / 10000), "hlg": ([(b"cICP", bytes([9, 18, 0, 1]))], codes(9, 18), hlg(.75)),
    "linear": ([(b"gAMA", struct.pack(">I", 100000))], codes(1, 8), 1),
    "gamma, primaries": ([(b"gAMA", struct.pack(">I", 45471)), (b"cHRM", struct.pack(">8I", *(round(v * 1e5) for v in ADOBE)))],
                         (matrix(ADOBE), [lambda v: v ** 2.19921875] * 3), 1),
    "profile": ([(b"iCCP", b"p3\0\0" + zlib.compress(p3_profile()))], profile_label(p3_profile()), 1)}
FORMATS = {"png": (), "tif": (), "webp": (), "jpg": ("--quality", "100", "--subsampling", "444"), "avif": ("--quality", "100"),
           "heic": ("--quality", "100"), "jxl": (), "ppm": (), "bmp": (), "jp2": ()}
TOOLS = {"avif": "avifdec", "heic": "heif-convert", "jxl": "jxlinfo"}


def table(formats, wanted):
    failures = rows = 0
    print(f"{'kind':<18}{'from':<6}" + "".join(f"{f:<9}" for f in formats))
    for kind in wanted:
        chunks, label, white = KINDS[kind]
        sources = {"png": "in.png"}
        png("in.png", RGB, chunks)
        want = light([v / 255 for v in RGB], label)
        for source in ("png", "avif", "jxl", "tif"):
            if source not in formats: continue
            if source != "png":  # what it wrote was read by another program
                subprocess.run([CONVFILT, "apply", "identity", "in.png", "in." + source, *FORMATS[source]], check=True, capture_output=True)
            row = f"{kind:<18}{source:<6}"
            rows += 1
            for column, f in enumerate(formats):
                if SHORT and (rows + column) % 3 != 0:
                    row += f"{'':<9}"
                    continue
                out = "out." + f
                done = subprocess.run([CONVFILT, "apply", "identity", "in." + source, out, *FORMATS[f], "--device", "cpu"], capture_output=True, text=True)
                if done.returncode:
                    row, failures = row + f"{'FAILED':<9}", failures + 1
                    print(done.stderr, file=sys.stderr)
                    continue
                word, found, samples = read(out)
                got = light(samples, found)
                converted = word == "sRGB" and kind != "plain"
                expected = [v / white for v in want] if converted else want
                scale = max(expected)  # as eyes see it, roughly
                far = max(abs(max(a / scale, 0) ** (1 / 2.4) - max(b / scale, 0) ** (1 / 2.4)) for a, b in zip(got, expected))
                why = []
                if far > .025: why.append(f"light {[round(v, 4) for v in got]} for {[round(v, 4) for v in expected]}")
                if converted != ("become sRGB" in done.stderr): why.append("a wrong warning: " + (done.stderr.strip() or "none"))
                if kind == "plain" and done.stderr: why.append("a warning: " + done.stderr.strip())
                if converted and f not in ("ppm", "bmp", "jp2"): why.append("converted, though the format has labels")
                row += f"{'WRONG' if why else word:<9}"
                failures += bool(why)
                for text in why: print(f"{kind}, {source} to {f}: {text}", file=sys.stderr)
            print(row, flush=True)
    return failures


# ---- single values --------------------------------------------------------------------------------------------------------------

def convfilt(*arguments):
    """Its messages; it must succeed."""
    done = subprocess.run([CONVFILT, *arguments, "--device", "cpu"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def samples(path, pixels, code="H"):
    """Of a row of four: a list of channels a pixel."""
    raw = run("ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", pixels, "-")
    values = struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)
    return values


def grey_png(path, row, colour, chunks=(), bits=8):
    size = struct.pack(">IIBBBBB", len(row) // (2 if colour == 4 else 1), 1, bits, colour, 0, 0, 0)
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + b"".join(chunk(*c) for c in chunks) +
                           chunk(b"IDAT", zlib.compress(b"\0" + bytes(row))) + chunk(b"IEND", b""))


def tiff(path, data, bits, photometric, samples=3, form=1, more=()):
    """One strip of a row of four pixels. `more` are tags of type undefined."""
    tags = [(256, 3, 1, 4), (257, 3, 1, 1), (258, 3, 1, bits), (259, 3, 1, 1), (262, 3, 1, photometric), (273, 4, 1, 8), (277, 3, 1, samples),
            (278, 3, 1, 1), (279, 4, 1, len(data)), (339, 3, 1, form)]
    body = data + bytes(len(data) % 2)
    for tag, value in more:
        tags.append((tag, 7, len(value), 8 + len(body)))
        body += value + bytes(len(value) % 2)
    if samples > 1:
        tags[2] = (258, 3, samples, 8 + len(body))
        body += struct.pack(f"<{samples}H", *[bits] * samples)
    ifd = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *t) for t in sorted(tags)) + bytes(4)
    open(path, "wb").write(b"II*\0" + struct.pack("<I", 8 + len(body)) + body + ifd)


def exr(path, pixels):
    """Four pixels of A, B, G, R in a row, not compressed."""
    def attribute(name, kind, value): return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value
    channels = b"".join(n + b"\0" + struct.pack("<IIII", 2, 0, 1, 1) for n in (b"A", b"B", b"G", b"R")) + b"\0"
    window = struct.pack("<4i", 0, 0, 3, 0)
    head = b"v/1\x01\2\0\0\0" + attribute(b"channels", b"chlist", channels) + attribute(b"compression", b"compression", b"\0") + \
        attribute(b"dataWindow", b"box2i", window) + attribute(b"displayWindow", b"box2i", window) + attribute(b"lineOrder", b"lineOrder", b"\0") + \
        attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)) + attribute(b"screenWindowCenter", b"v2f", bytes(8)) + \
        attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0"
    data = b"".join(struct.pack("<4f", *plane) for plane in zip(*pixels))
    open(path, "wb").write(head + struct.pack("<Q", len(head) + 8) + struct.pack("<iI", 0, len(data)) + data)


def floats(path):
    """Of a TIFF of one strip without compression."""
    tags = json.loads(run("exiftool", "-j", "-n", "-StripOffsets", "-StripByteCounts", path))[0]
    return struct.unpack(f"<{tags['StripByteCounts'] // 4}f", open(path, "rb").read()[tags["StripOffsets"]:][:tags["StripByteCounts"]])


def same(got, want, near=0):
    assert len(got) == len(want) and all(abs(a - b) <= near for a, b in zip(got, want)), f"{got} for {want}"


def openexr_alpha():
    exr("a.exr", [(.5, 0, .1, .4)] * 4)
    convfilt("apply", "identity", "a.exr", "a.png")
    same(samples("a.png", "rgba64le")[:4], (52428, 13107, 0, 32768))
    convfilt("apply", "identity", "a.png", "b.exr")
    same(samples("b.exr", "gbrapf32le", "f")[8:9], (.4,), 1e-4)


def radiance_is_positive():
    head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 4\n"
    open("a.hdr", "wb").write(head + bytes((128, 128, 128, 131)) * 2 + bytes((128, 128, 128, 125)) * 2)
    assert "no samples below 0" in convfilt("sharpen", "a.hdr", "b.hdr")
    assert min(open("b.hdr", "rb").read().split(b"+X 4\n")[1][8:11]) == 0


def lab_neutral():
    for bits, photometric, pixel in ((8, 8, bytes((128, 0, 0))), (16, 8, struct.pack("<3H", 32896, 0, 0)),
                                     (8, 9, bytes((128, 128, 128))), (16, 9, struct.pack("<3H", 32768, 32768, 32768))):
        tiff("a.tif", pixel * 4, bits, photometric)
        convfilt("apply", "identity", "a.tif", "a.png")
        same(samples("a.png", "rgb24", "B")[:3], (119, 119, 119), bits > 8)
    tiff("a.tif", bytes((138, 81, 70)) * 4, 8, 8)  # red of sRGB
    convfilt("apply", "identity", "a.tif", "a.png")
    same(samples("a.png", "rgb24", "B")[:3], (254, 0, 0), 4)


def grey_level_is_alpha():
    for bits, data in ((8, (9, 7, 9, 7)), (16, (0, 9, 0, 7, 0, 9, 0, 7))):
        row = bytes(data)
        size = struct.pack(">IIBBBBB", 4, 1, bits, 0, 0, 0, 0)
        open("a.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"tRNS", b"\0\7") +
                                  chunk(b"IDAT", zlib.compress(b"\0" + row)) + chunk(b"IEND", b""))
        assert convfilt("apply", "identity", "a.png", "b.png") == ""
        same([v > 0 for v in samples("b.png", "rgba64le")[3::4]], (1, 0, 1, 0))


def grey_profile():
    return p3_profile().replace(b"RGB ", b"GRAY").replace(b"rTRC", b"kTRC")


def grey_with_alpha_keeps_its_curve():
    grey_png("a.png", (9, 255, 99, 255, 9, 0, 99, 7), 4, [(b"iCCP", b"grey\0\0" + zlib.compress(grey_profile()))])
    for out in ("b.png", "b.tif", "b.webp"):
        assert convfilt("apply", "identity", "a.png", out) == ""
        _, curves = profile_label(icc_of(out))
        same([curve(.5) for curve in curves], [.5 ** (0x0233 / 256)] * 3, 2e-3)


def damaged_profiles():
    for data in (b"x\0\0" + zlib.compress(b"no profile" * 30), b"x\0\0no stream"):
        png("a.png", RGB, [(b"iCCP", data)])
        assert "profile is damaged" in convfilt("apply", "identity", "a.png", "b.png")


def blocks_as_text():
    exif = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 274, 3, 1, 6, 0, 0)
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description " \
        b"xmlns:dc='http://purl.org/dc/elements/1.1/' dc:format='image/x'/></rdf:RDF></x:xmpmeta>"
    def text(name, data): return b"zTXt", b"Raw profile type " + name + b"\0\0" + zlib.compress(b"\n%s\n%8d\n" % (name, len(data)) + data.hex().encode())
    for name in (b"exif", b"APP1"):
        png("a.png", RGB, [text(name, exif), text(b"xmp", xmp), text(b"icc", p3_profile()), (b"tEXt", b"Title\0kept")])
        assert convfilt("apply", "identity", "a.png", "b.png") == ""
        tags = json.loads(run("exiftool", "-j", "-n", "b.png"))[0]
        assert (tags["ImageWidth"], tags["ImageHeight"], tags["Orientation"], tags["Title"]) == (H, W, 1, "kept"), tags
        assert icc_of("b.png") == p3_profile() and tags["Format"] == "image/x", tags


def shape_of_pixels():
    png("a.png", RGB, [(b"pHYs", struct.pack(">IIB", 2, 1, 0))])
    for out, names, want in (("b.png", ("PixelsPerUnitX", "PixelsPerUnitY", "PixelUnits"), (2, 1, 0)),
                             ("b.jpg", ("XResolution", "YResolution", "ResolutionUnit"), (2, 1, 0)),
                             ("b.tif", ("XResolution", "YResolution", "ResolutionUnit"), (2, 1, 1))):
        convfilt("apply", "identity", "a.png", out)
        tags = json.loads(run("exiftool", "-j", "-n", out))[0]
        same([tags[name] for name in names], want)
        convfilt("apply", "identity", out, "c.png")
        assert json.loads(run("exiftool", "-j", "-n", "c.png"))[0]["PixelsPerUnitX"] == 2


def white_is_zero():
    tiff("a.tif", struct.pack("<4f", 0, .25, .5, 1), 32, 0, 1, 3)
    convfilt("apply", "identity", "a.tif", "b.tif")
    same(floats("b.tif"), (1, .75, .5, 0))


def webp_stays_lossy():
    run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x240", "-frames:v", "1", "big.png")
    for quality in (30, 60, 75, 90):
        if not shutil.which("cwebp"): return
        run("cwebp", "-quiet", "-q", str(quality), "big.png", "-o", "a.webp")
        convfilt("apply", "identity", "a.webp", "b.webp")
        before, after = (open(f, "rb").read() for f in ("a.webp", "b.webp"))
        assert after[12:16] == b"VP8 " and .7 < len(after) / len(before) < 1.4, (quality, len(before), len(after))
    convfilt("apply", "identity", "big.png", "b.webp")
    assert open("b.webp", "rb").read()[12:16] == b"VP8L"


def linear_light():
    grey_png("a.png", (0, 0, 255, 255), 0, [(b"gAMA", struct.pack(">I", 100000))])
    convfilt("blur", "--box", "3", "--linear", "a.png", "b.png")
    same(samples("b.png", "gray", "B"), (0, 85, 170, 255))
    grey_png("a.png", (0, 0, 255, 255), 0, [(b"cICP", bytes((9, 16, 0, 1)))])
    convfilt("blur", "--box", "3", "--linear", "a.png", "b.png")
    same([pq(v / 255) for v in samples("b.png", "gray", "B")], (0, 1 / 3, 2 / 3, 1), .02)
    # Floats with a profile are coded: 0.5 ** 2.2 in the middle of 0 and 1 (weights 1/3).
    tiff("a.tif", struct.pack("<12f", *[0] * 6, *[1] * 6), 32, 2, 3, 3, [(34675, p3_profile())])
    convfilt("blur", "--box", "3", "--linear", "a.tif", "b.tif")
    same(floats("b.tif")[3:9], [(1 / 3) ** (256 / 0x0233)] * 3 + [(2 / 3) ** (256 / 0x0233)] * 3, 1e-3)


def parts_of_metadata():
    png("a.png", RGB)
    convfilt("apply", "identity", "a.png", "a.jpg")
    run("exiftool", "-q", "-overwrite_original", "-GPS:GPSLatitude=52.5", "-GPS:GPSLatitudeRef=N", "-XMP-exif:GPSLatitude=52.5", "-XMP-dc:Rights=mine",
        "-XMP-dc:Title=title", "-IFD0:Artist=Ann", "-IFD0:Copyright=hers", "-IFD0:Model=m7", "-ExifIFD:ISO=100", "-IPTC:City=Berlin", "-IPTC:By-line=Ann", "a.jpg")
    def left(*option):
        convfilt("apply", "identity", *option, "a.jpg", "b.jpg")
        tags = json.loads(run("exiftool", "-j", "-G1", "-n", "b.jpg"))[0]
        assert not any("Warning" in name or "Error" in name for name in tags), tags
        return {name.split(":")[-1] for name in tags}
    names = {"GPSLatitude", "Rights", "Title", "Artist", "Copyright", "Model", "ISO", "City", "By-line"}
    assert left() & names == names
    assert left("--strip") & names == set() == left("--strip=all") & names
    assert left("--strip=gps") & names == names - {"GPSLatitude", "City"}
    assert left("--strip=all-but-rights") & names == {"Rights", "Artist", "Copyright", "By-line"}, left("--strip=all-but-rights") & names


def places():
    """--strip=gps leaves no place in any format's metadata, by exiftool, and all else."""
    place = ["XMP-exif:GPSLongitude=13.4", "XMP-photoshop:City=Oz", "XMP-photoshop:State=Oz", "XMP-photoshop:Country=Oz", "XMP-iptcCore:Location=Oz",
             "XMP-iptcCore:CountryCode=OZ", "XMP-iptcExt:LocationCreated={City=Oz,Sublocation=Oz}", "XMP-iptcExt:LocationShown={City=Oz}"]
    iim = ["IPTC:ContentLocationCode=OZZ", "IPTC:ContentLocationName=Oz", "IPTC:City=Oz", "IPTC:Sub-location=Oz", "IPTC:Province-State=Oz",
           "IPTC:Country-PrimaryLocationCode=OZZ", "IPTC:Country-PrimaryLocationName=Oz"]
    kept = ["XMP-photoshop:Credit=me", "XMP-iptcCore:Scene=010100", "XMP-iptcExt:Event=ball", "XMP-exif:ExposureTime=2", "XMP-dc:Title=photoshop:City of Oz"]
    kept_iim = ["IPTC:Keywords=one", "IPTC:By-line=Ann"]
    def tags(path): return run("exiftool", "-G1", "-s", "-XMP:all", "-IPTC:all", path).decode()
    png("plain.png", RGB)
    for f in ("jpg", "tif", "png", "webp"):
        convfilt("apply", "identity", "plain.png", "a." + f)
        has_iim = f != "webp"
        run("exiftool", "-q", "-overwrite_original", *("-" + tag for tag in kept + (kept_iim if has_iim else [])), "a." + f)
        shutil.copy("a." + f, "twin." + f)
        run("exiftool", "-q", "-overwrite_original", *("-" + tag for tag in place + (iim if has_iim else [])), "a." + f)
        assert tags("a." + f).count("O") > 7 and "LocationShown" in tags("a." + f)
        convfilt("apply", "identity", "--strip=gps", "a." + f, "b." + f)
        assert sorted(tags("b." + f).splitlines()) == sorted(tags("twin." + f).splitlines()), (f, tags("b." + f))


def adobe_rgb_of_cameras():
    png("a.png", RGB)
    convfilt("apply", "identity", "a.png", "a.jpg", "--quality", "100", "--subsampling", "444")
    run("exiftool", "-q", "-n", "-overwrite_original", "-ExifIFD:ColorSpace=65535", "-InteropIFD:InteropIndex=R03", "a.jpg")
    want = light([v / 255 for v in RGB], (matrix(ADOBE), [lambda v: v ** 2.2] * 3))
    for out in ("b.tif", "b.png", "b.ppm"):
        said = convfilt("apply", "identity", "a.jpg", out)
        _, label, values = read(out)
        same(light(values, label), want, .01)
        assert ("become sRGB" in said) == (out == "b.ppm"), said
    convfilt("apply", "identity", "a.jpg", "b.jpg")
    assert not icc_of("b.jpg")
    convfilt("apply", "identity", "--strip", "a.jpg", "b.jpg")
    assert icc_of("b.jpg")


def levels_of_light():
    mastering = struct.pack(">8H2I", 34000, 16000, 13250, 34500, 7500, 3000, 15635, 16450, 10000000, 50)
    levels = struct.pack(">2I", 1000 * 10000, 400 * 10000)
    png("a.png", RGB, [(b"cICP", bytes([9, 16, 0, 1])), (b"mDCV", mastering), (b"cLLI", levels)])
    for f in ("avif", "heic"):
        if not shutil.which(TOOLS[f]): continue
        assert convfilt("apply", "identity", "a.png", "b." + f) == ""
        data = open("b." + f, "rb").read()
        assert struct.pack(">2H", 1000, 400) == data[data.index(b"clli") + 4:][:4]
        assert struct.pack(">6H", 13250, 34500, 7500, 3000, 34000, 16000) + mastering[12:] == data[data.index(b"mdcv") + 4:][:24]
        convfilt("apply", "identity", "b." + f, "c.png")
        data = open("c.png", "rb").read()
        assert mastering in data and levels in data
    assert "levels of light" in convfilt("apply", "identity", "a.png", "b.jpg")


def hidden_colours():
    open("a.pam", "wb").write(b"P7\nWIDTH 4\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" +
                              bytes((1, 2, 3, 0)) * 3 + bytes((9, 9, 9, 255)))
    convfilt("blur", "--box", "3", "a.pam", "b.png")
    same(samples("b.png", "rgba", "B")[:4], (0, 0, 0, 0))
    convfilt("blur", "--box", "3", "--keep-hidden", "a.pam", "b.png")
    same(samples("b.png", "rgba", "B")[:12], (1, 2, 3, 0, 1, 2, 3, 0, 9, 9, 9, 85))


VALUES = [openexr_alpha, radiance_is_positive, lab_neutral, grey_level_is_alpha, grey_with_alpha_keeps_its_curve, damaged_profiles, blocks_as_text,
          shape_of_pixels, white_is_zero, webp_stays_lossy, linear_light, parts_of_metadata, places, adobe_rgb_of_cameras, levels_of_light, hidden_colours]


def main():
    for tool in ("exiftool", "ffmpeg"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            return 77
    formats = [f for f in FORMATS if not TOOLS.get(f) or shutil.which(TOOLS[f])]
    print("".join(f"{f} is left out, because {TOOLS[f]} is not installed\n" for f in FORMATS if f not in formats), end="")
    failures = 0
    for value in VALUES:
        if sys.argv[1:] and value.__name__ not in sys.argv[1:]: continue
        try:
            value()
        except (AssertionError, subprocess.CalledProcessError, KeyError) as error:
            failures += 1
            print(f"{value.__name__}: {type(error).__name__} {error} {getattr(error, 'stderr', '') or ''}", file=sys.stderr)
        else:
            print(f"{value.__name__}: right")
    kinds = [kind for kind in sys.argv[1:] if kind in KINDS] if sys.argv[1:] else KINDS
    if kinds: failures += table(formats, kinds)
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
