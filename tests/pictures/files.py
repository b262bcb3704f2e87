"""Small files of one picture, made by hand or by other programs, and what other programs find in a file. extras.py uses them."""
import json, re, shutil, struct, subprocess, zlib

W, H = 48, 32  # the left half has one colour, the right half another
LEFT, RIGHT = (200, 60, 40), (40, 120, 220)
TOOLS = {}


def has(tool): return TOOLS.setdefault(tool, bool(shutil.which(tool)))


class Missing(Exception):
    """A program is not installed, or cannot make the file."""


def run(*command):
    if not has(command[0]): raise Missing(command[0])
    done = subprocess.run(command, capture_output=True)
    if done.returncode: raise Missing(f"{command[0]}: {(done.stderr or done.stdout).decode(errors='replace').strip()[-200:]}")
    return done.stdout


class Exiftool:
    """One process for all calls, because each start takes longer than the rest."""
    process = None

    def __call__(self, *words):
        if not has("exiftool"): raise Missing("exiftool")
        if not self.process:
            self.process = subprocess.Popen(["exiftool", "-stay_open", "True", "-@", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        self.process.stdin.write("".join(word + "\n" for word in (*words, "-execute")).encode())
        self.process.stdin.flush()
        answer = b""
        while not answer.endswith(b"{ready}\n"): answer += self.process.stdout.readline()
        return answer[:-len(b"{ready}\n")]

    def close(self):
        if self.process: self.process.communicate(b"-stay_open\nFalse\n")


exiftool = Exiftool()


def tag(path, name):
    """The value of a tag, without its group; None where there is none."""
    answer = exiftool("-j", "-n", "-a", "-u", "-b", "-" + name, path)
    values = [v for k, v in (json.loads(answer)[0] if answer.strip() else {}).items() if k != "SourceFile"]
    return values[0] if values else None


def change(path, *words):
    if b"1 image files updated" not in exiftool("-n", "-overwrite_original", *words, path): raise Missing(f"exiftool does not write {words[0]}")


# ---- files --------------------------------------------------------------------------------------------------------------------

def halves(left, right): return (bytes(left) * (W // 2) + bytes(right) * (W // 2)) * H


def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(path, data=halves(LEFT, RIGHT), colour=2, bits=8, chunks=(), behind=()):
    row = len(data) // H
    rows = b"".join(b"\0" + data[y * row:(y + 1) * row] for y in range(H))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, bits, colour, 0, 0, 0)) + b"".join(chunk(*c) for c in chunks) +
                           chunk(b"IDAT", zlib.compress(rows)) + b"".join(chunk(*c) for c in behind) + chunk(b"IEND", b""))


def apng(path):
    def control(n): return b"fcTL", struct.pack(">5I2HBB", n, W, H, 0, 0, 100, 1000, 0, 0)
    rows = b"".join(b"\0" + bytes(RIGHT) * W for _ in range(H))
    png(path, chunks=[(b"acTL", struct.pack(">II", 2, 0)), control(0)], behind=[control(1), (b"fdAT", struct.pack(">I", 2) + zlib.compress(rows))])


def tiff(path, *pages):
    """A page: (data, {tag: (type, values or bytes)}). The tags of a plain RGB picture are there."""
    body, last = bytearray(b"II*\0\0\0\0\0"), 4
    for data, more in pages or [(halves(LEFT, RIGHT), {})]:
        tags = {256: (4, [W]), 257: (4, [H]), 258: (3, [8, 8, 8]), 259: (3, [1]), 262: (3, [2]), 273: (4, [len(body)]), 277: (3, [3]), 278: (4, [H]),
                279: (4, [len(data)]), **more}
        body += data + bytes(len(data) % 2)
        entries = b""
        for number, (kind, values) in sorted(tags.items()):
            size = {2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8}[kind]
            if not isinstance(values, bytes): values = struct.pack(f"<{len(values)}{ {3: 'H', 4: 'I', 12: 'd'}[kind]}", *values)
            entries += struct.pack("<HHI", number, kind, len(values) // size)
            if len(values) <= 4: entries += values.ljust(4, b"\0")
            else:
                entries += struct.pack("<I", len(body))
                body += values + bytes(len(values) % 2)
        body[last:last + 4] = struct.pack("<I", len(body))
        body += struct.pack("<H", len(tags)) + entries + bytes(4)
        last = len(body) - 4
    open(path, "wb").write(body)


def floats(left, right): return struct.pack("<3f", *left) * (W // 2) + struct.pack("<3f", *right) * (W // 2)


def tiff_of(path, data, samples=3, bits=8, photometric=2, form=1, extra=()):
    tiff(path, (data, {258: (3, [bits] * samples), 262: (3, [photometric]), 277: (3, [samples]), 339: (3, [form] * samples),
                       **({338: (3, extra)} if extra else {})}))


def exr(path, names="BGR", left=(.2, .4, .6), right=(.1, .3, .5), attributes=(), parts=0):
    """Floats without compression. The values stand in the order of names, which the alphabet gives."""
    def attribute(name, kind, value): return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value
    channels = b"".join(n.encode() + b"\0" + struct.pack("<IIII", 2, 0, 1, 1) for n in names) + b"\0"
    window = struct.pack("<4i", 0, 0, W - 1, H - 1)
    usual = {b"channels": (b"chlist", channels), b"compression": (b"compression", b"\0"), b"dataWindow": (b"box2i", window), b"displayWindow": (b"box2i", window),
             b"lineOrder": (b"lineOrder", b"\0"), b"pixelAspectRatio": (b"float", struct.pack("<f", 1)), b"screenWindowCenter": (b"v2f", bytes(8)),
             b"screenWindowWidth": (b"float", struct.pack("<f", 1)), **{name: (kind, value) for name, kind, value in attributes}}
    heads = [b"".join(attribute(name, *usual[name]) for name in usual) + (b"" if not parts else attribute(b"name", b"string", b"part%d" % n) + attribute(
        b"type", b"string", b"scanlineimage") + attribute(b"chunkCount", b"int", struct.pack("<I", H))) + b"\0" for n in range(parts or 1)]
    head = b"v/1\x01" + struct.pack("<I", 0x1002 if parts else 2) + b"".join(heads) + (b"\0" if parts else b"")
    row = b"".join(struct.pack(f"<{W}f", *[a] * (W // 2), *[b] * (W // 2)) for a, b in zip(left, right))
    chunks = [(struct.pack("<I", n) if parts else b"") + struct.pack("<iI", y, len(row)) + row for n in range(parts or 1) for y in range(H)]
    table, at = b"", len(head) + 8 * len(chunks)
    for each in chunks: table, at = table + struct.pack("<Q", at), at + len(each)
    open(path, "wb").write(head + table + b"".join(chunks))


def hdr(path, left=(128, 64, 32, 128), right=(32, 64, 128, 128), lines=b""):
    row = b"".join(bytes([128 + W // 2, a]) + bytes([128 + W // 2, b]) for a, b in zip(left, right))
    open(path, "wb").write(b"#?RADIANCE\n" + lines + b"FORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (H, W) + (bytes([2, 2, 0, W]) + row) * H)


def pnm(path, data=halves(LEFT, RIGHT), kind=b"P6", comment=b"", most=255):
    open(path, "wb").write(kind + b"\n" + comment + b"%d %d\n%d\n" % (W, H, most) + data)


def pam(path, data, samples, name, most=255):
    open(path, "wb").write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n" % (W, H, samples, most, name) + data)


def pfm(path, left, right): open(path, "wb").write(b"PF\n%d %d\n-1.0\n" % (W, H) + floats(left, right) * H)


def from_png(path, source, *more):
    """A file of another program's making, without loss where that can be."""
    kind = path.rsplit(".", 1)[1]
    if kind == "png": shutil.copy(source, path)
    elif kind == "jpg":
        run("ffmpeg", "-v", "error", "-y", "-i", source, "-pix_fmt", "rgb24", "-frames:v", "1", "j.ppm")
        run("cjpeg", "-quality", "97", "-sample", "1x1", *more, "-outfile", path, "j.ppm")
    elif kind == "webp": run("cwebp", "-quiet", "-lossless", "-exact", source, "-o", path)
    elif kind == "avif": run("avifenc", "-s", "9", "--min", "0", "--max", "4", "-y", "444", *more, source, path)
    elif kind == "heic": run("heif-enc", "-q", "95", *more, source, "-o", path)
    elif kind == "jxl": run("cjxl", "-d", "0", *more, source, path)
    elif kind == "gif" and open(source, "rb").read()[25] == 6: run("vips", "copy", source, path)
    elif kind == "gif": run("ffmpeg", "-v", "error", "-y", "-i", source, "-loop", "-1", path)
    else: raise Missing(kind)


def plain(path, chunks=(), data=halves(LEFT, RIGHT), colour=2):
    """A picture of 8 bits in any format, from a PNG with these chunks."""
    if path.endswith(".tif"): return tiff(path)
    png("p.png", data, colour, chunks=chunks)
    from_png(path, "p.png")


def jpeg_with(path, segments, tail=b""):
    base = open(path, "rb").read()
    open(path, "wb").write(base[:2] + b"".join(b"\xff" + m + struct.pack(">H", len(d) + 2) + d for m, d in segments) + base[2:] + tail)


def profile(kind, colours):
    """An ICC profile. `kind` is RGB or GRAY; `colours` are X, Y, Z of red, green and blue under D50."""
    def body(name, data): return name + bytes(4) + data
    def fixed(*v): return struct.pack(f">{len(v)}i", *(round(x * 65536) for x in v))
    gamma = body(b"para", struct.pack(">HH", 3, 0) + fixed(2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045))
    tags = [(b"desc", body(b"desc", struct.pack(">I", 5) + b"mine\0" + bytes(78))), (b"wtpt", body(b"XYZ ", fixed(.9642, 1, .8249)))]
    tags += [(b"kTRC", body(b"curv", struct.pack(">IHH", 1, 0x0180, 0)))] if kind == b"GRAY" else [
        (name + tail, data) for name, xyz in zip((b"r", b"g", b"b"), colours) for tail, data in ((b"XYZ", body(b"XYZ ", fixed(*xyz))), (b"TRC", gamma))]
    at, table, data = 132 + 12 * len(tags), b"", b""
    for name, each in tags:
        each += bytes(-len(each) % 4)
        table += struct.pack(">4sII", name, at + len(data), len(each))
        data += each
    return struct.pack(">I4sI4s4s4s12x4s28x3i48x", at + len(data), b"lcms", 0x2200000, b"mntr", kind.ljust(4), b"XYZ ", b"acsp", 63190, 65536, 54061) + \
        struct.pack(">I", len(tags)) + table + data


SRGB = profile(b"RGB", ((.43607, .22249, .01392), (.38515, .71687, .09708), (.14307, .06061, .7141)))
P3 = profile(b"RGB", ((.51512, .2412, -.00105), (.29198, .69225, .04189), (.1571, .06657, .78407)))
GREY = profile(b"GRAY", ())
BROKEN = b"no profile" * 30


def with_profile(path, extra, icc):
    kind = path.rsplit(".", 1)[1]
    data, colour = (halves((80,), (190,)), 0) if icc == GREY and kind not in ("webp",) else (halves(LEFT, RIGHT), 2)
    if kind == "tif":
        more = {34675: (7, icc)} if extra else {}
        return tiff(path, (data, {**({258: (3, [8]), 262: (3, [1]), 277: (3, [1])} if colour == 0 else {}), **more}))
    chunks = [(b"iCCP", b"x\0\0" + zlib.compress(icc))] if extra else []
    if kind == "png": return png(path, data, colour, chunks=chunks)
    png("p.png", data, colour, chunks=chunks if kind in ("jxl", "heic") else ())
    open("p.icc", "wb").write(icc)
    from_png(path, "p.png", *(["--icc", "p.icc"] if extra and kind == "avif" else []), *(["-grayscale"] if colour == 0 and kind == "jpg" else []))
    if extra and kind == "jpg": jpeg_with(path, [(b"\xe2", b"ICC_PROFILE\0\1\1" + icc)])
    if extra and kind == "webp": run("webpmux", "-set", "icc", "p.icc", path, "-o", path)


# ---- what other programs find ----------------------------------------------------------------------------------------------------

def pixel(path, x=W // 4, y=H // 2):
    """Red, green, blue and perhaps alpha, as parts of the full range."""
    kind = path.rsplit(".", 1)[1]
    if kind in ("avif", "heic"):
        run({"avif": "avifdec", "heic": "heif-convert"}[kind], path, "d.png")
        return pixel("d.png", x, y)
    if kind in ("tif", "pfm", "hdr", "exr", "jxl"):
        values = [float(v) for v in run("vips", "getpoint", path, str(x), str(y)).split()]
        form = run("vipsheader", "-f", "format", path)
        full = 255 if b"UCHAR" in form else 65535 if b"USHORT" in form else 1
        values = [v / full for v in values]
        if kind == "exr" and len(values) == 4: values[3] /= 255  # as vips has it
        return values[:1] * 3 + values[1:] if len(values) < 3 else values
    raw = run("ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba64le", "-")
    return [v / 65535 for v in struct.unpack_from("<4H", raw, 8 * (y * W + x))]


def near(got, want, far=.03): return len(got) >= len(want) and all(abs(a - b) <= far for a, b in zip(got, want))


def size(path):
    if path.endswith((".ppm", ".pam")): return [int(n) for n in re.findall(rb"(?:^|WIDTH |HEIGHT |\s)(\d+)(?=\s)", open(path, "rb").read()[2:60])[:2]]
    if path.endswith(".jxl"): return [int(run("vipsheader", "-f", name, path)) for name in ("width", "height")]
    return [tag(path, "ImageWidth"), tag(path, "ImageHeight")]


def pictures(path):
    kind = path.rsplit(".", 1)[1]
    if kind == "ppm": return open(path, "rb").read().count(b"P6\n")
    if kind == "tif": return run("tiffinfo", path).count(b"Image Width")
    if kind == "png": return tag(path, "AnimationFrames") or 1
    if kind == "webp": return int((re.search(rb"frames: (\d+)", run("webpmux", "-info", path)) or [0, 1])[1])
    if kind == "heic": return run("heif-info", path).count(b"image: ")
    return 1


def said(name, want=None):
    def find(path):
        value = tag(path, name)
        return value is not None and (want is None or value == want)
    return find


def label_of(primaries, transfer, name):
    """The same codes, or a profile."""
    def find(path):
        if path.endswith(".jxl"): return bool(re.search(name, run("jxlinfo", path).decode()))
        codes = tag(path, "ColorPrimaries"), tag(path, "TransferCharacteristics")
        return codes == (primaries, transfer) or said("ICC_Profile:ProfileVersion")(path)
    return find


def gamma(path):
    """Samples without a label are light in OpenEXR."""
    return path.endswith(".exr") and near(pixel(path), [v / 255 for v in LEFT]) or label_of(1, 8, "inear|gamma")(path) or said("PNG:Gamma")(path)


def icc(path):
    if not path.endswith(".jxl"): return said("ICC_Profile:ProfileVersion")(path) or said("ColorPrimaries", 12)(path)
    return bool(re.search(r"P3 primaries|ICC profile|1\.5|gamma", run("jxlinfo", path).decode()))


def usual_colours(path): return icc(path) or near(pixel(path), [v / 255 for v in LEFT])  # without a label they are sRGB's


def alpha(*want):
    """Of the left half, and the colours under it."""
    def find(path):
        got = pixel(path)
        if len(got) < 4: return False
        associated = path.endswith(".exr")
        coded = [1.055 * v ** (1 / 2.4) - .055 for v in want[:3]] + [want[3]]  # light that has become sRGB
        return near(got, [v * want[3] for v in want[:3]] + [want[3]] if associated else want) or near(got, coded)
    return find


def values(*want, far=.002):
    def find(path):
        got = pixel(path)
        return all(a != a if b != b else abs(a - b) <= far for a, b in zip(got, want))
    return find


if __name__ == "__main__": print(__doc__)  # also for --help
