#!/usr/bin/env python3
"""Damaged pictures: no file may make convfilt crash, wait or swallow the memory, and what it accepts
must have the pixels that a strict decoder of another make reads.

    tests/pictures/damaged.py [--flips N] [--formats a,b] [--seed N] [--jobs N] [--small] [--keep FOLDER]

CONVFILT names the program, by default build/release/bin/convfilt. --formats takes the beginnings of
kinds, such as jpeg,png-16; --small is a selection of some seconds; --keep copies what failed there.
Originals of every kind are made first, by this script or by ffmpeg, vips and gm; a kind whose tool is
missing is named and left out. Each original is then cut at every 1/16th, has single bits flipped, gets
rubbish behind its end, and lies about its width and height; bombs are small files that promise much.

Each file is one run of `convfilt apply` with the mask 1, which changes no sample. A run must
- end within 10 s and 1 GiB, by itself, with exit code 0 or 1;
- where it refuses, say so in one line that names the file, and leave nothing behind;
- where it accepts, say at most warnings, and give the other decoder's pixels.
A cut file may never be accepted, nor a flipped bit where the format has a checksum (PNG).
The other decoders: ffmpeg's own for JPEG, PNG, WebP, BMP and HEVC; this script for TIFF, GIF and the
PNM family; libaom by ffmpeg for AVIF, which libheif reads by dav1d or libaom, as it was built.
JPEG XL has no second decoder here: ffmpeg's is libjxl, too, so that column only says that the file was
fed to it in the same way.

Exit code: 0, 1 after a failure, 77 where nothing can run, with the reason.
"""
import argparse
import array
import collections
import math
import os
import random
import re
import resource
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

WALL_SECONDS = 10
MOST_BYTES = 1 << 30
MOST_COMPARED = 1 << 23  # pixels, since Python takes a second for some million
WIDTH, HEIGHT = 92, 60


# ---- Originals ------------------------------------------------------------------------------------

def sample(x, y, channel, top):
    """Slopes, waves and an edge, so that no coder finds two rows or two blocks alike."""
    wave = math.sin((x + 3 * channel) / 7.0) * math.cos((y - 5 * channel) / 9.0)
    edge = 0.25 if (x // 11 + y // 13) % 2 else 0.0
    value = 0.1 + 0.25 * x / WIDTH + 0.2 * y / HEIGHT + 0.12 * (1 + wave) / 2 + edge
    return min(top, int(value * top))


def samples(channels, top):
    return [sample(x, y, c, top) for y in range(HEIGHT) for x in range(WIDTH) for c in range(channels)]


def packed(values, bits):
    if bits == 8:
        return bytes(values)
    words = array.array("H", values)
    words.byteswap()
    return words.tobytes()


def netpbm(channels, bits):
    top = (1 << bits) - 1
    head = f"P{5 if channels == 1 else 6}\n{WIDTH} {HEIGHT}\n{top}\n"
    return head.encode() + packed(samples(channels, top), bits)


def ascii_pgm():
    rows = samples(1, 255)
    return f"P2\n# plain\n{WIDTH} {HEIGHT}\n255\n".encode() + "\n".join(
        " ".join(map(str, rows[i:i + 16])) for i in range(0, len(rows), 16)).encode() + b"\n"


def bitmap():
    row_bytes = (WIDTH + 7) // 8
    return f"P4\n{WIDTH} {HEIGHT}\n".encode() + bytes((x * 37 + x // 5) & 255 for x in range(row_bytes * HEIGHT))


def pam():
    head = f"P7\nWIDTH {WIDTH}\nHEIGHT {HEIGHT}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    return head.encode() + bytes(v if i % 4 < 3 else 255 - v // 4 for i, v in enumerate(samples(4, 255)))


def pfm(channels=3):
    head = f"{'PF' if channels == 3 else 'Pf'}\n{WIDTH} {HEIGHT}\n-1.0\n"
    return head.encode() + array.array("f", (v / 60000 for v in samples(channels, 65535))).tobytes()


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(bits, colour, interlaced=False, extra=b"", width=WIDTH, height=HEIGHT, stream=None):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    size = channels * bits // 8
    if stream is None:
        pixels = packed(samples(channels, (1 << bits) - 1), bits)
        if colour == 3:
            pixels = bytes(v % 200 for v in pixels)
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        rows = bytearray()
        for left, top, across, down in passes if interlaced else [(0, 0, 1, 1)]:
            before = None
            for y in range(top, height, down):
                row = b"".join(pixels[(y * width + x) * size:(y * width + x + 1) * size]
                               for x in range(left, width, across))
                if before is None:
                    rows += b"\0" + row
                else:  # Up
                    rows += b"\2" + bytes(a - b & 255 for a, b in zip(row, before))
                before = row
        stream = zlib.compress(bytes(rows), 9)
    head = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, int(interlaced)))
    half = len(stream) // 2
    return (b"\x89PNG\r\n\x1a\n" + head + extra + png_chunk(b"IDAT", stream[:half]) + png_chunk(b"IDAT", stream[half:]) +
            png_chunk(b"tEXt", b"Title\0waves") + png_chunk(b"IEND", b""))


def palette():
    colours = bytes((i * 73 + c * 91) & 255 for i in range(200) for c in range(3))
    return png(8, 3, extra=png_chunk(b"PLTE", colours))


def riff(chunks):
    body = b"WEBP" + b"".join(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)
                              for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def riff_chunks(data):
    """Names and contents, as far as they are there."""
    at, found = 12, []
    while at + 8 <= len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        found.append((data[at:at + 4], data[at + 8:at + 8 + length]))
        at += 8 + length + (length & 1)
    return found


def animated_webp(first, second):
    def three(value):
        return struct.pack("<I", value)[:3]

    def frame(still):
        inner = b"".join(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)
                         for name, data in riff_chunks(still) if name in (b"VP8 ", b"VP8L"))
        return three(0) + three(0) + three(WIDTH - 1) + three(HEIGHT - 1) + three(100) + b"\0" + inner
    return riff([(b"VP8X", b"\x02\0\0\0" + three(WIDTH - 1) + three(HEIGHT - 1)), (b"ANIM", b"\0" * 6),
                 (b"ANMF", frame(first)), (b"ANMF", frame(second))])


class Missing(Exception):
    """A tool, or a thing that it should do."""


class Workshop:
    """Makes originals in a folder of its own."""

    def __init__(self, folder, convfilt):
        self.folder, self.convfilt = folder, convfilt
        self.mask = os.path.join(folder, "one.txt")
        for name, data in (("one.txt", b"1\n"), ("colour.ppm", netpbm(3, 8)), ("grey.pgm", netpbm(1, 8)),
                           ("deep.ppm", netpbm(3, 16)), ("float.pfm", pfm()), ("alpha.pam", pam())):
            self.write(name, data)

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def make(self, out, *command):
        if command[0] != self.convfilt and not shutil.which(command[0]):
            raise Missing(f"{command[0]} is not installed")
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        path = os.path.join(self.folder, out)
        if done.returncode or not os.path.exists(path):
            words = (done.stderr.decode(errors="replace").strip() or "no output").splitlines()[-1]
            raise Missing(f"{os.path.basename(command[0])} cannot make {out}: {words}")
        with open(path, "rb") as file:
            return file.read()

    def own(self, source, out, *options):
        return self.make(out, self.convfilt, "apply", "one.txt", source, out, *options)

    def vips(self, operation, out, *options, source="colour.ppm"):
        return self.make(out, "vips", operation, source, out, *options)


def tiff(*options, source="colour.ppm"):
    return lambda shop: shop.vips("tiffsave", "o.tif", *options, source=source)


def own(source, out, *options):
    return lambda shop: shop.own(source, out, *options)


def made(data):
    return lambda shop: data()


# A kind: its name, the end of its files' names, how it is made, the other decoder, how far samples may differ.
Kind = collections.namedtuple("Kind", "name extension make other tolerance")


def kinds():
    # Chroma that is scaled up and floating-point transforms differ by some steps between makes.
    jpeg = ("jpg", "jpeg", 4)
    yield Kind("jpeg", jpeg[0], own("colour.ppm", "o.jpg", "--subsampling", "444", "--quality", "85"), *jpeg[1:])
    yield Kind("jpeg-420", jpeg[0], own("colour.ppm", "o.jpg", "--quality", "85"), *jpeg[1:])
    yield Kind("jpeg-progressive", jpeg[0], own("colour.ppm", "o.jpg", "--quality", "85", "--progressive"), *jpeg[1:])
    yield Kind("jpeg-grey", jpeg[0], own("grey.pgm", "o.jpg", "--quality", "85"), *jpeg[1:])
    yield Kind("jpeg-restart", jpeg[0], lambda shop: shop.vips("jpegsave", "o.jpg", "--restart-interval", "3"), *jpeg[1:])
    yield Kind("jpeg-cmyk", jpeg[0], lambda shop: shop.make(
        "o.jpg", "gm", "convert", "colour.ppm", "-colorspace", "CMYK", "-quality", "85", "o.jpg"), *jpeg[1:])
    yield Kind("png", "png", made(lambda: png(8, 2)), "png", 0)
    yield Kind("png-16", "png", made(lambda: png(16, 2)), "png", 0)
    yield Kind("png-palette", "png", made(palette), "png", 0)
    yield Kind("png-interlaced", "png", made(lambda: png(8, 2, interlaced=True)), "png", 0)
    yield Kind("png-grey-alpha", "png", made(lambda: png(8, 4)), "png", 0)
    yield Kind("tiff-strips", "tif", tiff("--compression", "none"), "tiff", 0)
    yield Kind("tiff-16", "tif", own("deep.ppm", "o.tif"), "tiff", 0)
    yield Kind("tiff-tiles", "tif", tiff("--tile", "--tile-width", "32", "--tile-height", "32"), "tiff", 0)
    yield Kind("tiff-deflate", "tif", tiff("--compression", "deflate", "--predictor", "horizontal"), "tiff", 0)
    yield Kind("tiff-lzw", "tif", tiff("--compression", "lzw", "--predictor", "none"), "tiff", 0)
    yield Kind("tiff-jpeg", "tif", tiff("--compression", "jpeg", "--Q", "85"), "tiff", 4)
    yield Kind("tiff-big", "tif", tiff("--bigtiff", "--compression", "packbits"), "tiff", 0)
    yield Kind("tiff-float", "tif", tiff("--compression", "none", source="float.pfm"), "tiff", 0)
    yield Kind("webp-lossy", "webp", own("colour.ppm", "o.webp", "--quality", "85"), "webp", 4)
    yield Kind("webp-lossless", "webp", own("alpha.pam", "o.webp"), "webp", 0)
    yield Kind("webp-animated", "webp", lambda shop: animated_webp(
        shop.own("colour.ppm", "o.webp"), shop.own("grey.pgm", "o.webp", "--quality", "50")), "webp", 0)
    yield Kind("pbm", "pbm", made(bitmap), "pnm", 0)
    yield Kind("pgm-plain", "pgm", made(ascii_pgm), "pnm", 0)
    yield Kind("pgm", "pgm", made(lambda: netpbm(1, 8)), "pnm", 0)
    yield Kind("ppm", "ppm", made(lambda: netpbm(3, 16)), "pnm", 0)
    yield Kind("pam", "pam", made(pam), "pnm", 0)
    yield Kind("pfm", "pfm", made(pfm), "pnm", 0)
    yield Kind("gif", "gif", lambda shop: shop.make("o.gif", "ffmpeg", "-v", "error", "-y", "-i", "colour.ppm", "o.gif"), "gif", 0)
    yield Kind("bmp", "bmp", own("colour.ppm", "o.bmp"), "bmp", 0)
    yield Kind("heic", "heic", own("colour.ppm", "o.heic", "--quality", "70"), "heif", 4)
    yield Kind("heic-grey", "heic", own("grey.pgm", "o.heic", "--quality", "70"), "heif", 1)
    yield Kind("avif", "avif", own("colour.ppm", "o.avif", "--quality", "70"), "heif", 4)
    yield Kind("avif-grey", "avif", own("grey.pgm", "o.avif", "--quality", "70"), "heif", 1)
    yield Kind("jxl", "jxl", own("colour.ppm", "o.jxl"), "jxl", 0)
    yield Kind("jxl-lossy", "jxl", own("colour.ppm", "o.jxl", "--quality", "80"), "jxl", 1)


# ---- Other decoders -------------------------------------------------------------------------------

class Refused(Exception):
    """The other decoder does not take the file."""


class Unable(Exception):
    """The other decoder has no such kind, however sound the file is."""


class Pixels:
    """Samples by rows, interleaved: grey, RGB or RGBA; top is the largest integer, None for floats."""

    def __init__(self, width, height, channels, top, values):
        self.width, self.height, self.channels, self.top, self.values = width, height, channels, top, values
        if len(values) != width * height * channels:
            raise Refused("the samples do not fill the picture")


def words_of(data, code, big_endian):
    values = array.array(code, data)
    if big_endian != (sys.byteorder == "big"):
        values.byteswap()
    return values


def doubled(line, count):
    """A line of samples at twice the density: each new one lies a quarter from the nearest old one."""
    last = len(line) - 1
    return [(3 * line[i // 2] + line[min(last, max(0, i // 2 + (1 if i & 1 else -1)))]) / 4 for i in range(count)]


def scaled_up(plane, width, height, full_width, full_height):
    rows = [plane[y * width:(y + 1) * width] for y in range(height)]
    if full_width > width:
        across = -(-full_width // width)
        rows = [doubled(row, full_width) if across == 2 else [row[x // across] for x in range(full_width)]
                for row in rows]
    if full_height > height:
        if -(-full_height // height) == 2:
            columns = [doubled(column, full_height) for column in zip(*rows)]
            rows = list(zip(*columns))
        else:
            down = -(-full_height // height)
            rows = [rows[y // down] for y in range(full_height)]
    return [v for row in rows for v in row]


def clamped(value):
    return 0 if value < 0 else 255 if value > 255 else int(value + 0.5)


def colours_of(luma, blue, red, full_range):
    """BT.601, as JFIF and WebP have it."""
    values = bytearray(3 * len(luma))
    scale, low = (1.0, 0) if full_range else (255 / 219, 16)
    stretch = 1.0 if full_range else 255 / 224
    kr, kg1, kg2, kb = 1.402 * stretch, 0.344136 * stretch, 0.714136 * stretch, 1.772 * stretch
    for i, (y, u, v) in enumerate(zip(luma, blue, red)):
        y = (y - low) * scale
        u -= 128
        v -= 128
        values[3 * i] = clamped(y + kr * v)
        values[3 * i + 1] = clamped(y - kg1 * u - kg2 * v)
        values[3 * i + 2] = clamped(y + kb * u)
    return values


def picked(data, step, order):
    values = bytearray(len(data) // step * len(order))
    for to, origin in enumerate(order):
        values[to::len(order)] = data[origin::step]
    return values


def unpack(name, width, height, data, jpeg):
    """Raw samples of ffmpeg's pixel format as Pixels."""
    count = width * height
    orders = {"rgb24": (3, (0, 1, 2)), "bgr24": (3, (2, 1, 0)), "rgba": (4, (0, 1, 2, 3)), "bgra": (4, (2, 1, 0, 3)),
              "argb": (4, (1, 2, 3, 0)), "bgr0": (4, (2, 1, 0)), "ya8": (2, (0, 0, 0, 1))}
    if name in orders:
        step, order = orders[name]
        return Pixels(width, height, len(order), 255, picked(data, step, order))
    if name == "gray":
        return Pixels(width, height, 1, 255, data)
    deep = {"gray16be": 1, "rgb48be": 3, "rgba64be": 4, "gray16le": 1, "rgb48le": 3, "rgba64le": 4}
    if name in deep:
        return Pixels(width, height, deep[name], 65535, words_of(data, "H", name.endswith("be")))
    if name == "ya16be":
        words = words_of(data, "H", True)
        return Pixels(width, height, 4, 65535, [v for i in range(count) for v in (words[2 * i],) * 3 + (words[2 * i + 1],)])
    if name == "monob":
        row = (width + 7) // 8
        return Pixels(width, height, 1, 255, [255 * (data[y * row + x // 8] >> (7 - x % 8) & 1)
                                              for y in range(height) for x in range(width)])
    if name == "pal8":
        table = data[-1024:]
        return Pixels(width, height, 4, 255, bytes(table[4 * i + c] for i in data[:count] for c in (2, 1, 0, 3)))
    if name in ("gbrp", "gbrap"):
        green, blue, red = (data[i * count:(i + 1) * count] for i in range(3))
        return Pixels(width, height, 3, 255, bytes(v for pixel in zip(red, green, blue) for v in pixel))
    match = re.fullmatch(r"yuv(a?)(j?)(\d)(\d)(\d)p", name)
    if not match:
        raise Unable(f"pixels of ffmpeg's {name}")
    alpha, full = match[1] == "a", match[2] == "j" or jpeg
    across, down = {"444": (1, 1), "422": (2, 1), "420": (2, 2), "440": (1, 2), "411": (4, 1), "410": (4, 4)}[
        match[3] + match[4] + match[5]]
    small_width, small_height = -(-width // across), -(-height // down)
    small = small_width * small_height
    luma = data[:count]
    blue = scaled_up(data[count:count + small], small_width, small_height, width, height)
    red = scaled_up(data[count + small:count + 2 * small], small_width, small_height, width, height)
    colours = colours_of(luma, blue, red, full)
    if not alpha:
        return Pixels(width, height, 3, 255, colours)
    opacity = data[count + 2 * small:]
    return Pixels(width, height, 4, 255, bytes(v for i in range(count) for v in (*colours[3 * i:3 * i + 3], opacity[i])))


def by_ffmpeg(folder, data, codec, options=(), demuxer="image2"):
    """One picture through a decoder of ffmpeg."""
    path = os.path.join(folder, "ffmpeg.in")
    raw = os.path.join(folder, "ffmpeg.out")
    with open(path, "wb") as file:
        file.write(data)
    source = ["-f", "image2", "-pattern_type", "none"] if demuxer == "image2" else ["-f", demuxer]
    try:
        done = subprocess.run(
            ["ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-loglevel", "level+info", "-xerror", "-threads", "1",
             "-err_detect", "crccheck+bitstream+buffer+explode", *source, "-c:v", codec, *options, "-i", path,
             "-frames:v", "1", "-f", "rawvideo", "-y", raw],
            capture_output=True, check=False, timeout=60)
    except subprocess.TimeoutExpired as late:
        raise Refused("ffmpeg takes over a minute") from late
    text = done.stderr.decode(errors="replace")
    trouble = re.findall(r"\[(?:error|fatal)\] (.*)", text)
    if done.returncode or trouble:
        raise Refused("ffmpeg: " + (trouble or [f"exit code {done.returncode}"])[0][:90])
    shape = re.findall(r"Video: rawvideo.*?, ([a-z0-9]+)(?:\((\w*).*?\)+)?, (\d+)x(\d+)[, ]", text)
    with open(raw, "rb") as file:
        content = file.read()
    if not shape or not content:
        raise Refused("ffmpeg gives no picture")
    name, spread, width, height = shape[-1]
    return unpack(name, int(width), int(height), content, codec == "mjpeg" or spread == "pc")


def jpeg(folder, data):
    return by_ffmpeg(folder, data, "mjpeg")


def three_bytes(data, at):
    return int.from_bytes(data[at:at + 3], "little")


def webp(folder, data):
    """Of an animated one the first picture, at its place on a clear canvas."""
    chunks = riff_chunks(data)
    frames = [content for name, content in chunks if name == b"ANMF"]
    if not frames:
        return by_ffmpeg(folder, data, "webp")
    canvas = dict(chunks).get(b"VP8X", b"")
    width, height = three_bytes(canvas, 4) + 1, three_bytes(canvas, 7) + 1
    left, top = 2 * three_bytes(frames[0], 0), 2 * three_bytes(frames[0], 3)
    inner = [chunk for chunk in riff_chunks(b"\0" * 12 + frames[0][16:]) if chunk[0] in (b"VP8 ", b"VP8L")]
    frame = by_ffmpeg(folder, riff(inner), "webp")
    if (frame.width, frame.height) != (three_bytes(frames[0], 6) + 1, three_bytes(frames[0], 9) + 1):
        raise Refused("a frame of another size than its head says")
    if left + frame.width > width or top + frame.height > height:
        raise Refused("a frame beyond the canvas")
    return on_canvas(frame, width, height, left, top)


def on_canvas(frame, width, height, left, top):
    if (frame.width, frame.height) == (width, height):
        return frame
    if width * height > MOST_COMPARED:
        raise Unable("a canvas of many pixels")
    values, from_values = bytearray(4 * width * height), as_channels(frame, 4)
    for y in range(min(frame.height, height - top)):
        shown = 4 * min(frame.width, width - left)
        start = 4 * ((top + y) * width + left)
        values[start:start + shown] = bytes(from_values[4 * y * frame.width:4 * y * frame.width + shown])
    return Pixels(width, height, 4, 255, values)


def gif_codes(data, at, smallest):
    """The codes of the sub-blocks from `at` on, as indices."""
    packed_codes = bytearray()
    while True:
        if at >= len(data):
            raise Refused("the data end too early")
        length = data[at]
        if length == 0:
            break
        packed_codes += data[at + 1:at + 1 + length]
        at += 1 + length
    clear, bits, place, limit = 1 << smallest, smallest + 1, 0, 8 * len(packed_codes)
    number = int.from_bytes(packed_codes, "little")
    table, before = None, None
    while place + bits <= limit:
        code = number >> place & (1 << bits) - 1
        place += bits
        if code == clear:
            table, bits, before = [bytes([i]) for i in range(clear)] + [b"", b""], smallest + 1, None
            continue
        if code == clear + 1:
            return
        if table is None:
            table = [bytes([i]) for i in range(clear)] + [b"", b""]
        if code < len(table):
            entry = table[code]
        elif code == len(table) and before is not None and len(table) < 4096:
            entry = before + before[:1]
        else:
            raise Refused("no such code")
        yield entry
        if before is not None and len(table) < 4096:
            table.append(before + entry[:1])
            if len(table) == 1 << bits and bits < 12:
                bits += 1
        before = entry


def gif(_, data):
    """The first picture on its screen, which is clear elsewhere."""
    try:
        if data[:6] not in (b"GIF87a", b"GIF89a"):
            raise Refused("no GIF")
        width, height, flags = struct.unpack_from("<HHB", data, 6)
        at = 13
        colours = data[at:at + (6 << (flags & 7))] if flags & 0x80 else b""
        at += len(colours)
        clear = None
        while data[at] != 0x2C:
            if data[at] == 0:
                at += 1
                continue
            if data[at] != 0x21:
                raise Refused("a block of no known kind")
            if data[at + 1] == 0xF9 and data[at + 2] == 4:
                clear = data[at + 6] if data[at + 3] & 1 else None
            at += 2
            while data[at]:
                at += 1 + data[at]
            at += 1
        left, top, frame_width, frame_height, flags = struct.unpack_from("<HHHHB", data, at + 1)
        at += 10
        if flags & 0x80:
            colours = data[at:at + (6 << (flags & 7))]
            at += len(colours)
        if not width or not height:
            width, height = left + frame_width, top + frame_height
        if not frame_width or not frame_height or not colours or not 1 < data[at] < 12:
            raise Refused("a picture without size or colours")
        if max(width * height, frame_width * frame_height) > MOST_COMPARED:
            raise Unable("a screen of many pixels")
        indices = bytearray()
        for entry in gif_codes(data, at + 1, data[at]):
            indices += entry
            if len(indices) >= frame_width * frame_height:
                break
    except (IndexError, struct.error) as error:
        raise Refused("it ends too early") from error
    if len(indices) < frame_width * frame_height:
        raise Refused("too few pixels")
    if flags & 0x40:
        order = [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, frame_height, step)]
        rows = [b""] * frame_height
        for i, y in enumerate(order):
            rows[y] = indices[i * frame_width:(i + 1) * frame_width]
        indices = b"".join(rows)
    known = len(colours) // 3
    table = [(*colours[3 * i:3 * i + 3], 255) if i < known and i != clear else (0, 0, 0, 0) for i in range(256)]
    values = bytes(v for index in indices[:frame_width * frame_height] for v in table[index])
    frame = Pixels(frame_width, frame_height, 4, 255, values)
    if left >= width or top >= height:
        return Pixels(width, height, 4, 255, bytes(4 * width * height))
    if (left, top, frame_width, frame_height) == (0, 0, width, height):
        return frame
    return on_canvas(frame, width, height, left, top)


def header_words(data, count):
    """The first words of a PNM file, and where its samples begin."""
    at, found = 0, []
    while len(found) < count:
        match = re.compile(rb"(?:\s|#[^\n]*\n)*([^\s#]+)").match(data, at)
        if not match:
            raise Refused("the header ends too early")
        found.append(match[1])
        at = match.end()
    return found, at + 1


def positive(word):
    if not re.fullmatch(rb"\d{1,9}", word) or int(word) == 0:
        raise Refused("a number of the header is none")
    return int(word)


def integers(data, width, height, channels, top, spread):
    """Binary samples, which may not exceed their top; spread scales them to 8 or 16 bits."""
    code = "B" if top < 256 else "H"
    if len(data) != width * height * channels * (1 if top < 256 else 2):
        raise Refused("more or fewer samples than promised")
    values = words_of(data, code, True)
    full = 255 if top < 256 else 65535
    if max(values) > top:
        raise Refused("a sample above the maximum")
    if spread and top != full:
        values = [(v * full * 2 + top) // (2 * top) for v in values]
    return Pixels(width, height, channels, full, values)


def pnm(_, data):
    magic = data[:2]
    if magic == b"P7":
        head, end, rest = data.partition(b"ENDHDR\n")
        fields = {}
        for line in head.decode("latin-1").splitlines()[1:]:
            if line and not line.startswith("#"):
                name, _, value = line.partition(" ")
                fields[name] = value.strip()
        if not end or not {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"} <= fields.keys():
            raise Refused("the header ends too early")
        width, height, channels, top = (positive(fields[name].encode()) for name in ("WIDTH", "HEIGHT", "DEPTH", "MAXVAL"))
        pixels = integers(rest, width, height, channels, top, True)
        if channels == 2:
            raise Unable("PAM of two channels")
        return pixels
    if magic in (b"PF", b"Pf"):
        (_, width, height, scale), start = header_words(data, 4)
        width, height, channels = positive(width), positive(height), 3 if magic == b"PF" else 1
        try:
            big_endian = float(scale) > 0
        except ValueError as error:
            raise Refused("no scale") from error
        if len(data) - start != 4 * width * height * channels:
            raise Refused("more or fewer samples than promised")
        values = words_of(data[start:], "f", big_endian)
        row = width * channels
        return Pixels(width, height, channels, None,
                      array.array("f", (v for y in reversed(range(height)) for v in values[y * row:(y + 1) * row])))
    if magic in (b"P1", b"P4"):
        (_, width, height), start = header_words(data, 3)
        width, height = positive(width), positive(height)
        if magic == b"P4":
            row = (width + 7) // 8
            if len(data) - start != row * height:
                raise Refused("more or fewer samples than promised")
            bits = [data[start + y * row + x // 8] >> (7 - x % 8) & 1 for y in range(height) for x in range(width)]
        else:
            bits = [b - 48 for b in data[start:] if b in b"01"]
        return Pixels(width, height, 1, 255, bytes(0 if bit else 255 for bit in bits))
    (_, width, height, top), start = header_words(data, 4)
    width, height, top = positive(width), positive(height), positive(top)
    if top > 65535:
        raise Refused("samples of more than 16 bits")
    channels = 3 if magic in (b"P3", b"P6") else 1
    if magic in (b"P2", b"P3"):
        try:
            values = [int(word) for word in data[start:].split()]
        except ValueError as error:
            raise Refused("a sample is no number") from error
        if len(values) != width * height * channels or max(values) > top or min(values) < 0:
            raise Refused("other samples than promised")
        full = 255 if top < 256 else 65535
        return Pixels(width, height, channels, full, [(v * full * 2 + top) // (2 * top) for v in values])
    return integers(data[start:], width, height, channels, top, True)


def unpacked_bits(data):
    out, at = bytearray(), 0
    while at < len(data):
        count = data[at]
        at += 1
        if count < 128:
            if at + count + 1 > len(data):
                raise Refused("a run behind the end")
            out += data[at:at + count + 1]
            at += count + 1
        elif count > 128:
            if at >= len(data):
                raise Refused("a run behind the end")
            out += data[at:at + 1] * (257 - count)
            at += 1
    return bytes(out)


def unlzw(data, wanted):
    table, out, bits, at, limit = [], bytearray(), 9, 0, 8 * len(data)
    number = int.from_bytes(data, "big")
    before = None
    while len(out) < wanted:
        if at + bits > limit:
            raise Refused("LZW: codes end too early")
        code = number >> (limit - at - bits) & ((1 << bits) - 1)
        at += bits
        if code == 256:
            table, bits, before = [bytes([i]) for i in range(256)] + [b"", b""], 9, None
            continue
        if code == 257 or not table:
            raise Refused("LZW: ends too early, or begins without a clear")
        if code < len(table):
            entry = table[code]
        elif code == len(table) and before is not None:
            entry = before + before[:1]
        else:
            raise Refused("LZW: no such code")
        out += entry
        if before is not None and len(table) < 4096:
            table.append(before + entry[:1])
        bits = min(12, (len(table) + 1).bit_length() if before is not None else 9)
        before = entry
    return bytes(out)


def tiff_directory(data):
    """The tags of the first directory; the byte order; all of it strictly inside the file."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if not order or len(data) < 16:
        raise Refused("no TIFF")
    big = struct.unpack_from(order + "H", data, 2)[0] == 43
    word, count_code, entry = ("Q", "Q", 20) if big else ("I", "H", 12)
    try:
        at = struct.unpack_from(order + word, data, 8 if big else 4)[0]
        count = struct.unpack_from(order + count_code, data, at)[0]
        at += struct.calcsize(count_code)
        tags = {}
        for i in range(count):
            tag, kind = struct.unpack_from(order + "HH", data, at + i * entry)
            number = struct.unpack_from(order + word, data, at + i * entry + 4)[0]
            code = {1: "B", 2: "c", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d",
                    13: "I", 16: "Q", 17: "q", 18: "Q"}.get(kind)
            if not code:
                continue
            size = struct.calcsize("=" + code) * number
            place = at + i * entry + 4 + struct.calcsize(word)
            if size > struct.calcsize(word):
                place = struct.unpack_from(order + word, data, place)[0]
            if place + size > len(data):
                raise Refused(f"tag {tag} lies behind the end")
            values = struct.unpack_from(order + code * number if len(code) == 1 else f"{order}{code * number}", data, place)
            tags.setdefault(tag, values)
    except (struct.error, OverflowError, MemoryError) as error:
        raise Refused("the directory lies behind the end") from error
    return tags, order


def whole(tags, number, default=None):
    values = tags.get(number)
    if not values:
        if default is None:
            raise Refused(f"no tag {number}")
        return default
    if not isinstance(values[0], int):
        raise Refused(f"tag {number} is no integer")
    return values[0]


def tiff_part(folder, data, tags, wanted, width, height, channels):
    """One strip or tile without its compression."""
    compression = whole(tags, 259, 1)
    if compression == 1:
        if len(data) < wanted:
            raise Refused("a strip ends too early")
        return data[:wanted]
    if compression in (8, 32946):
        try:
            inflater = zlib.decompressobj()
            part = inflater.decompress(data, wanted)
        except zlib.error as error:
            raise Refused(str(error)) from error
    elif compression == 5:
        part = unlzw(data, wanted)
    elif compression == 32773:
        part = unpacked_bits(data)
    elif compression == 7:
        tables = bytes(tags.get(347, ()))
        stream = tables[:-2] + data[2:] if tables else data
        if whole(tags, 262) == 2:  # the three components are red, green and blue, which only Adobe's segment says
            stream = stream[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0" + stream[2:]
        pixels = jpeg(folder, stream)
        if (pixels.width, pixels.channels) != (width, channels) or pixels.height < height:
            raise Refused("a strip of another size")
        part = bytes(pixels.values)
    else:
        raise Unable(f"TIFF compression {compression}")
    if len(part) < wanted:
        raise Refused("a strip ends too early")
    return part[:wanted]


def without_predictor(part, predictor, row_samples, channels, code, order):
    if predictor == 1:
        return words_of(part, code, order == ">")
    if predictor != 2 or code == "f":
        raise Unable(f"TIFF predictor {predictor}")
    values = words_of(part, code, order == ">")
    mask = 255 if code == "B" else 65535
    for start in range(0, len(values), row_samples):
        for i in range(start + channels, start + row_samples):
            values[i] = values[i] + values[i - channels] & mask
    return values


def tiff_pixels(folder, data):
    tags, order = tiff_directory(data)
    width, height = whole(tags, 256), whole(tags, 257)
    channels, bits = whole(tags, 277, 1), tags.get(258, (1,))
    form, photometric = whole(tags, 339, 1), whole(tags, 262)
    if not 0 < width * height <= 1 << 24 or channels > 4:
        raise Refused("an impossible size")
    if len(set(bits)) != 1 or whole(tags, 284, 1) != 1 or photometric not in (0, 1, 2, 6) or whole(tags, 266, 1) != 1:
        raise Unable("TIFF of several depths, planes, or another colour space")
    code = {(8, 1): "B", (16, 1): "H", (32, 3): "f"}.get((bits[0], form))
    if not code:
        raise Unable(f"TIFF samples of {bits[0]} bits, form {form}")
    tiled = 322 in tags
    part_width = whole(tags, 322) if tiled else width
    part_height = whole(tags, 323) if tiled else min(height, whole(tags, 278, height))
    offsets, counts = tags.get(324 if tiled else 273), tags.get(325 if tiled else 279)
    if not part_width or not part_height or part_width * part_height > 1 << 24:
        raise Refused("strips without a size")
    across, down = -(-width // part_width), -(-height // part_height)
    if not offsets or not counts or len(offsets) < across * down or len(counts) < across * down:
        raise Refused("too few strips")
    size = struct.calcsize(code)
    values = array.array(code, bytes(width * height * channels * size))
    for i in range(across * down):
        left, top = i % across * part_width, i // across * part_height
        rows = part_height if tiled else min(part_height, height - top)
        if offsets[i] + counts[i] > len(data):
            raise Refused("a strip lies behind the end")
        part = tiff_part(folder, data[offsets[i]:offsets[i] + counts[i]], tags, part_width * rows * channels * size,
                         part_width, rows, channels)
        part = without_predictor(part, whole(tags, 317, 1), part_width * channels, channels, code, order)
        for y in range(min(rows, height - top)):
            shown = min(part_width, width - left) * channels
            start = ((top + y) * width + left) * channels
            values[start:start + shown] = part[y * part_width * channels:y * part_width * channels + shown]
    top = {"B": 255, "H": 65535, "f": None}[code]
    if photometric == 0 and top:
        values = array.array(code, (top - v for v in values))
    return Pixels(width, height, channels, top, values)


def boxes(data, start, end):
    while start + 8 <= end:
        length, name = struct.unpack_from(">I4s", data, start)
        if length < 8 or start + length > end:
            raise Refused("a box lies behind the end")
        yield name, start + 8, start + length
        start += length


def inside(data, names, start=0, end=None):
    """The contents of a box within boxes."""
    end = len(data) if end is None else end
    for name, first, last in boxes(data, start, end):
        if name == names[0]:
            first += 4 if name == b"meta" else 0
            return (first, last) if len(names) == 1 else inside(data, names[1:], first, last)
    raise Refused(f"no box {names[0].decode('latin-1')}")


def without_padding(pixels):
    """Coded pictures have rows more than the original, which the file's boxes cut away."""
    row = pixels.width * pixels.channels
    values = [v for y in range(min(HEIGHT, pixels.height)) for v in pixels.values[y * row:y * row + WIDTH * pixels.channels]]
    return Pixels(min(WIDTH, pixels.width), min(HEIGHT, pixels.height), pixels.channels, pixels.top, values)


def heif(folder, data):
    """The first item of a file of convfilt's own, which is its only coded one, given to ffmpeg's decoder for its codec."""
    try:
        first, _ = inside(data, [b"meta", b"iloc"])
        version, sizes = data[first], struct.unpack_from(">H", data, first + 4)[0]
        if version > 1 or sizes != 0x4440:
            raise Unable("HEIF with an index of another kind")
        at = first + (14 if version else 12)
        base, extents, offset, length = struct.unpack_from(">IHII", data, at)
        offset += base
        if extents != 1 or offset + length > len(data):
            raise Refused("the picture lies behind the end")
        item = data[offset:offset + length]
        first, _ = inside(data, [b"meta", b"iprp", b"ipco", b"hvcC" if b"hvcC" in data[:2000] else b"av1C"])
    except (struct.error, IndexError) as error:
        raise Refused("boxes that end too early") from error
    if b"hvcC" not in data[:2000]:
        return without_padding(by_ffmpeg(folder, item, "libaom-av1", demuxer="obu"))
    stream, at = bytearray(), first + 23
    for _ in range(data[first + 22]):
        number, at = struct.unpack_from(">H", data, at + 1)[0], at + 3
        for _ in range(number):
            size = struct.unpack_from(">H", data, at)[0]
            stream += b"\0\0\0\1" + data[at + 2:at + 2 + size]
            at += 2 + size
    at = 0
    while at + 4 <= len(item):
        size = struct.unpack_from(">I", item, at)[0]
        if at + 4 + size > len(item):
            raise Refused("a unit lies behind the end")
        stream += b"\0\0\0\1" + item[at + 4:at + 4 + size]
        at += 4 + size
    return without_padding(by_ffmpeg(folder, bytes(stream), "hevc", demuxer="hevc"))


OTHERS = {
    "jpeg": jpeg, "webp": webp, "pnm": pnm, "tiff": tiff_pixels, "heif": heif,
    "gif": gif,
    "png": lambda folder, data: by_ffmpeg(folder, data, "png"),
    "bmp": lambda folder, data: by_ffmpeg(folder, data, "bmp"),
    "jxl": lambda folder, data: by_ffmpeg(folder, data, "libjxl"),
}


# ---- Comparing ------------------------------------------------------------------------------------

def as_channels(pixels, channels):
    """The same picture with as many channels, where that loses nothing; else None."""
    if pixels.channels == channels:
        return pixels.values
    if pixels.top is None:
        return None
    values = pixels.values
    if pixels.channels == 4 and channels == 3:
        if any(v != pixels.top for v in values[3::4]):
            return None
        return [v for i in range(0, len(values), 4) for v in values[i:i + 3]]
    if pixels.channels == 1:
        return [v for grey in values for v in ((grey,) * 3 + (pixels.top,))[:channels]]
    if channels == 1:
        step = pixels.channels
        return values[0::step] if values[0::step] == values[1::step] == values[2::step] else None
    return [v for i in range(0, len(values), 3) for v in (*values[i:i + 3], pixels.top)]


def difference(ours, theirs, tolerance):
    """A sentence, or nothing where the pictures are equal."""
    if (ours.width, ours.height) != (theirs.width, theirs.height):
        return f"{ours.width}x{ours.height} pixels, not {theirs.width}x{theirs.height}"
    if ours.top != theirs.top:
        return f"another depth: {ours.top}, not {theirs.top}"
    values = as_channels(theirs, ours.channels)
    if values is None:
        return f"{ours.channels} channels, not {theirs.channels}"
    own_values = ours.values
    if ours.top is None:
        wrong = sum(1 for a, b in zip(own_values, values) if a != b and not (a != a and b != b))
        return f"{wrong} samples differ" if wrong else ""
    if ours.channels == 4:  # what lies under a clear pixel is nobody's
        clear = [alpha == 0 for alpha in own_values[3::4]]
        far = [abs(a - b) for i, (a, b) in enumerate(zip(own_values, values)) if i % 4 == 3 or not clear[i // 4]]
    else:
        far = [abs(a - b) for a, b in zip(own_values, values)]
    most = max(far)
    if most <= tolerance:
        return ""
    return f"{sum(1 for d in far if d > tolerance)} of {len(far)} samples differ, by up to {most}"


# ---- Damage ---------------------------------------------------------------------------------------

SIDES = (0, 1, 23000, 65535, (1 << 31) - 1)  # 23000x23000 pixels are below the limit of 2^29


def sides_of(data, kind):
    """Where width and height stand: (offset, format of struct, what is added to the value)."""
    def found(pattern, width, height, code, minus=0):
        at = data.find(pattern)
        return [] if at < 0 else [(at + width, code, minus), (at + height, code, minus)]
    extension = kind.extension
    if extension == "jpg":
        for marker in (b"\xff\xc0\0", b"\xff\xc1\0", b"\xff\xc2\0"):
            if marker in data:
                return found(marker, 7, 5, ">H")
    if extension == "png":
        return [(16, ">I", 0), (20, ">I", 0)]
    if extension == "gif":
        return [(6, "<H", 0), (8, "<H", 0)] + found(b"\x2c\0\0\0\0", 5, 7, "<H")
    if extension == "bmp":
        return [(18, "<I", 0), (22, "<I", 0)]
    if extension in ("heic", "avif"):
        return found(b"ispe", 8, 12, ">I")
    if extension == "webp":
        if b"VP8X" in data[:16]:
            return [(24, "3", 1), (27, "3", 1)] + [(at, "3", 1) for at in (data.find(b"ANMF") + 14, data.find(b"ANMF") + 17)]
        if b"VP8L" in data[:16]:
            return [(21, "14", 1), (21, "28", 1)]
        return found(b"\x9d\x01\x2a", 3, 5, "<H")
    return []


def tiff_sides(data):
    tags_at = []
    order = "<" if data[:2] == b"II" else ">"
    big = data[2 if order == "<" else 3] == 43
    at = struct.unpack_from(order + ("Q" if big else "I"), data, 8 if big else 4)[0]
    count = struct.unpack_from(order + ("Q" if big else "H"), data, at)[0]
    for i in range(count):
        place = at + (8 if big else 2) + i * (20 if big else 12)
        tag, kind = struct.unpack_from(order + "HH", data, place)
        if tag in (256, 257):
            tags_at.append((place + (12 if big else 8), order + {3: "H", 4: "I"}[kind], 0))
    return tags_at


def with_number(data, place, value):
    at, code, minus = place
    changed = bytearray(data)
    if code == "3":
        changed[at:at + 3] = struct.pack("<I", (value - minus) & 0xFFFFFF if value < 1 << 24 else 0xFFFFFF)[:3]
    elif code in ("14", "28"):
        shift = int(code) - 14
        word = struct.unpack_from("<I", data, at)[0]
        field = min(max(value - minus, 0) if value else 0, 0x3FFF)
        struct.pack_into("<I", changed, at, word & ~(0x3FFF << shift) | field << shift)
    else:
        most = (1 << 8 * struct.calcsize(code)) - 1
        struct.pack_into(code, changed, at, min(value, most))
    return bytes(changed)


def jxl_bits(data):
    return [data[i // 8] >> (i % 8) & 1 for i in range(16, 8 * len(data))]


def lying_jxl(data, width, height):
    """Sides of a bare code stream, whose header has numbers of 9, 13, 18 or 30 bits, one below their value."""
    bits = jxl_bits(data)

    def take(count):
        value = sum(bits.pop(0) << i for i in range(count))
        return value
    if take(1):
        take(5)
        if take(3) == 0:
            take(5)
    else:
        take((9, 13, 18, 30)[take(2)])
        if take(3) == 0:
            take((9, 13, 18, 30)[take(2)])

    def put(value, count):
        return [value >> i & 1 for i in range(count)]

    def side(value):
        field = min(max(value - 1, 0), (1 << 30) - 1)
        return put(3, 2) + put(field, 30)
    bits = put(0, 1) + side(height) + put(0, 3) + side(width) + bits
    bits += [0] * (-len(bits) % 8)
    return data[:2] + bytes(sum(bits[i + j] << j for j in range(8)) for i in range(0, len(bits), 8))


def lies(data, kind):
    """The file with other sides in its header: width, height, both."""
    extension = kind.extension
    if extension in ("pbm", "pgm", "ppm", "pam", "pfm"):
        width, height = str(WIDTH).encode(), str(HEIGHT).encode()
        for value in SIDES:
            text = str(value).encode()
            yield f"width-{value}", data.replace(width, text, 1)
            yield f"height-{value}", data.replace(height, text, 1)
            yield f"both-{value}", data.replace(width, text, 1).replace(height, text, 1)
        return
    if extension == "jxl":
        if data[:2] == b"\xff\x0a":
            for value in SIDES:
                yield f"width-{value}", lying_jxl(data, value, HEIGHT)
                yield f"height-{value}", lying_jxl(data, WIDTH, value)
                yield f"both-{value}", lying_jxl(data, value, value)
        return
    places = tiff_sides(data) if extension == "tif" else sides_of(data, kind)
    for number in range(0, len(places), 2):
        pair = places[number:number + 2]
        for value in SIDES:
            for name, chosen in (("width", pair[:1]), ("height", pair[1:]), ("both", pair)):
                changed = data
                for place in chosen:
                    changed = with_number(changed, place, value)
                if extension == "png":
                    changed = changed[:29] + struct.pack(">I", zlib.crc32(changed[12:29])) + changed[33:]
                yield f"{name}{'-of-frame' if number else ''}-{value}", changed


def jpeg_bomb(width, height, rounds):
    """Three components, empty: one bit a block for DC, then scans of AC that are a few bytes each."""
    def segment(marker, body):
        return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body
    blocks = -(-width // 8) * -(-height // 8)
    out = bytearray(b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) +
                    segment(0xC2, struct.pack(">BHHB", 8, height, width, 3) + b"\1\x11\0\2\x11\0\3\x11\0"))
    table = bytes([1] + [0] * 15)
    out += segment(0xC4, b"\0" + table + b"\0") + segment(0xC4, b"\x10" + table + b"\xe0")
    for component in (1, 2, 3):
        out += segment(0xDA, bytes([1, component, 0, 0, 0, 0x01])) + b"\0" * (blocks // 8 + 1)
    for turn in range(rounds):
        # 2^14 blocks a run: the code and 14 bits of zero
        bits = -(-blocks // (1 << 14)) * 15
        out += segment(0xDA, bytes([1, 1 + turn % 3, 0, 1 + turn % 63, 1 + turn % 63, 0])) + b"\0" * (bits // 8 + 1)
    return bytes(out + b"\xff\xd9")


def zeros(count):
    """A zlib stream of so many zeros, and never all of them in memory."""
    coder = zlib.compressobj(9)
    block, out = bytes(1 << 20), bytearray()
    for _ in range(count >> 20):
        out += coder.compress(block)
    return bytes(out + coder.compress(bytes(count & (1 << 20) - 1)) + coder.flush())


def tiff_bomb(width, height, part, rows):
    """Strips that are all the same bytes of the file."""
    strips = -(-height // rows)
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1),
            (278, 4, 1, rows)]
    start = 8
    offsets = start + len(part)
    counts = offsets + 4 * strips
    tags += [(273, 4, strips, offsets), (279, 4, strips, counts)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags)) + bytes(4)
    return (struct.pack("<2sHI", b"II", 42, counts + 4 * strips) + part + struct.pack("<I", start) * strips +
            struct.pack("<I", len(part)) * strips + directory)


def bombs(small):
    """Small files that say or inflate to huge pictures. None has pixels to be compared."""
    side = 65535
    yield "png-header.png", png(8, 2, width=30000, height=17000, stream=zlib.compress(bytes(1000)))
    yield "png-header-interlaced.png", png(16, 6, True, width=23000, height=23000, stream=zlib.compress(bytes(1000)))
    yield "png-65535.png", png(8, 0, width=side, height=side, stream=zlib.compress(bytes(1000)))
    yield "png-text.png", png(8, 2, extra=png_chunk(b"zTXt", b"Comment\0\0" + zeros((16 if small else 512) << 20)))
    yield "png-profile.png", png(8, 2, extra=png_chunk(b"iCCP", b"p\0\0" + zeros((16 if small else 512) << 20)))
    yield "ppm-65535.ppm", b"P6\n65535 65535\n65535\n"
    yield "pgm-2e29.pgm", b"P5\n32768 16384\n255\n\0"
    yield "pfm-2e29.pfm", b"PF\n32768 16384\n-1\n\0"
    yield "pam-2e29.pam", b"P7\nWIDTH 32768\nHEIGHT 16384\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\n\0"
    yield "gif-65535.gif", b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6) + b"\x2c" + \
        struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\2\1\x44\0;"
    yield "gif-screen.gif", b"GIF89a" + struct.pack("<HHBBB", 23000, 23000, 0x80, 0, 0) + bytes(6) + b"\x2c" + \
        struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0;"
    yield "bmp-2e28.bmp", b"BM" + struct.pack("<IIIIiiHHIIIIII", 58, 0, 54, 40, 16384, 16384, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(4)
    yield "webp-16383.webp", riff([(b"VP8L", b"\x2f" + struct.pack("<I", 0x3FFF | 0x3FFF << 14) + bytes(40))])
    yield "jpeg-65500.jpg", jpeg_bomb(64, 64, 3).replace(struct.pack(">HH", 64, 64), struct.pack(">HH", 65500, 65500))
    yield "tiff-strips.tif", tiff_bomb(1 << 15, 1 << 14, zlib.compress(bytes(100)), 1)
    if small:
        yield "jpeg-scans.jpg", jpeg_bomb(2000, 2000, 600)
        yield "png-inflates.png", png(8, 0, width=8000, height=8000, stream=zeros(8000 * 8001))
        return
    yield "jpeg-scans-1.jpg", jpeg_bomb(8000, 8000, 600)
    for rounds in (1, 12, 28, 100):
        yield f"jpeg-23000-{rounds}.jpg", jpeg_bomb(23000, 23000, rounds)
    yield "jpeg-14000-29.jpg", jpeg_bomb(14000, 14000, 29)
    yield "png-inflates.png", png(8, 0, width=23000, height=23000, stream=zeros(23000 * 23001))
    yield "png-inflates-rgba16.png", png(16, 6, width=16000, height=16000, stream=zeros(16000 * 8 * 16000 + 16000))
    interlaced = 16000 * 16000 * 8 + 16000 * 16000
    yield "png-interlaced.png", png(16, 6, True, width=16000, height=16000, stream=zeros(interlaced))
    yield "tiff-inflates.tif", tiff_bomb(23000, 23000, zeros(23000 * 100), 100)
    yield "tiff-one-strip.tif", tiff_bomb(23000, 23000, zeros(23000 * 23000), 23000)


Case = collections.namedtuple("Case", "kind name how data")


def damaged(kind, data, options):
    yield Case(kind, "sound", "sound", data)
    steps = 4 if options.small else 16
    for i in range(steps):
        yield Case(kind, f"cut-{i}", "cut", data[:len(data) * i // steps])
    if kind.name != "pgm-plain":  # its last byte is a space
        yield Case(kind, "cut-last", "cut", data[:-1])
    chance = random.Random(f"{options.seed} {kind.name}")
    for i in range(options.flips):
        bit = chance.randrange(8 * len(data))
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield Case(kind, f"flip-{bit // 8}.{bit % 8}", "flip", bytes(changed))
    yield Case(kind, "trailing", "trailing", data + b"trailing rubbish")
    for name, changed in lies(data, kind):
        if changed != data and (not options.small or name.startswith("both")):
            yield Case(kind, name, "lie", changed)


# ---- Running --------------------------------------------------------------------------------------

# words: lines that a library printed by itself
Run = collections.namedtuple("Run", "verdict text seconds peak picture words")


def environment():
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("CONVFILT") or name == "CONVFILT_MODULES"}
    return kept | {"XDG_CONFIG_HOME": "/nonexistent", "LC_ALL": "C"}


def run_convfilt(options, mask, folder, name, ending):
    """One run in a process of its own; verdict is 'refused', 'accepted', or what is wrong."""
    said, out = os.path.join(folder, "said"), os.path.join(folder, "out")
    os.mkdir(out)
    target = os.path.join(out, f"o.{ending}")
    opened = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
              (os.POSIX_SPAWN_OPEN, 1, said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
              (os.POSIX_SPAWN_DUP2, 1, 2)]
    command = [options.convfilt, "apply", mask, os.path.join(folder, name), target, "--device", "cpu"]
    command += ["--compression", "0"] if ending == "tif" else []
    process = os.posix_spawn(options.convfilt, command, environment(), file_actions=opened)
    handle = os.pidfd_open(process)
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    slow = not waiting.poll(1000 * WALL_SECONDS)
    if slow:
        os.kill(process, 9)
    _, status, usage = os.wait4(process, 0)
    os.close(handle)
    with open(said, encoding="utf-8", errors="replace") as file:
        text = file.read()
    peak = usage.ru_maxrss * 1024
    seconds = usage.ru_utime + usage.ru_stime
    left = sorted(os.listdir(out))
    # Debian's libjxl 0.7 is built so that it prints what it finds wrong, and it has no callback for that.
    libjxl = [line for line in text.splitlines() if line.startswith("./lib/jxl/")]
    lines = [line for line in text.splitlines() if line not in libjxl]

    def result(verdict, words=""):
        return Run(verdict, (words or text).strip(), seconds, peak, target, len(libjxl))
    if slow:
        return result("slow", f"killed after {WALL_SECONDS} s")
    if os.WIFSIGNALED(status):
        return result("crash", f"signal {os.WTERMSIG(status)}: {text}")
    if peak > MOST_BYTES:
        return result("large", f"{peak >> 20} MiB")
    code = os.WEXITSTATUS(status)
    if code == 0:
        if left != [os.path.basename(target)]:
            return result("left", f"accepted, and left {left}")
        if not all(line.startswith("convfilt: warning: ") for line in lines):
            return result("noise")
        return result("accepted")
    if left:
        return result("left", f"refused, and left {left}")
    if code != 1:
        return result("exit", f"exit code {code}: {text}")
    if len(lines) != 1 or not lines[0].startswith("convfilt: cannot read '") or name not in lines[0]:
        return result("noise")
    return result("refused")


def check(options, shop, case):
    """The run's verdict, what the other decoder says ('', 'equal', 'differs', 'refuses', 'unable'), and a text."""
    folder = tempfile.mkdtemp(dir=options.work)
    try:
        name = f"in.{case.kind.extension}"
        with open(os.path.join(folder, name), "wb") as file:
            file.write(case.data)
        # What a bomb inflates to is written small, so that the disk's time is not the reader's.
        run = run_convfilt(options, shop.mask, folder, name, "png" if case.how == "bomb" else "tif")
        if run.verdict != "accepted" or case.how == "bomb":
            return run, "", run.text
        with open(run.picture, "rb") as file:
            ours = tiff_pixels(folder, file.read())
        try:
            theirs = OTHERS[case.kind.other](folder, case.data)
        except Refused as why:
            return run, "refuses", str(why)
        except Unable as why:
            return run, "unable", str(why)
        words = difference(ours, theirs, case.kind.tolerance)
        if words and case.kind.other == "jpeg":  # transforms part where coefficients are out of range
            for transform in ("int", "faani"):
                theirs = by_ffmpeg(folder, case.data, "mjpeg", ("-idct", transform))
                words = difference(ours, theirs, case.kind.tolerance) and words
        return run, "differs" if words else "equal", words
    finally:
        shutil.rmtree(folder)


# What ffmpeg says of a JPEG, where libjpeg-turbo says nothing, and why.
SILENCES = (
    ("error count|error ac|error dc|error y=|error decoding",
     "JPEG: a run of zeros that leaves its block, or a code of no table: libjpeg-turbo's fast decoder goes on without a word"),
    ("EXIF", "JPEG: EXIF that ffmpeg refuses, which no pixel depends on"),
    ("index out of range", "JPEG: a scan names a table that it does not use"),
)


def known(case, other, words):
    """Why another answer of the other decoder says nothing against convfilt, where that is known."""
    if other in ("", "equal") or case.how not in ("flip", "lie"):
        return ""
    if case.kind.other == "heif":
        return "HEIC, AVIF: their data carry no checksum, and libheif does not tell what its decoders conceal"
    if case.kind.name == "jpeg-cmyk" and b"Adobe" not in case.data:
        return "JPEG: Adobe's mark is gone, and decoders guess what its four colours mean"
    if other == "refuses" and case.kind.extension == "tif" and re.match("no tag|too few strips", words):
        return "TIFF: a tag is gone that TIFF wants, and libtiff guesses it"
    if case.how != "flip" or case.kind.other != "jpeg" and case.kind.name != "tiff-jpeg":
        return ""
    if other == "refuses":
        if "EXIF" in words:
            return SILENCES[1][1]
        return next((why for pattern, why in SILENCES if re.search(pattern, words)), "")
    if case.kind.name == "jpeg-restart":
        return "JPEG: bytes are left before a restart marker: libjpeg-turbo goes on behind it without a word, ffmpeg astray"
    quantisation = [at for at in range(len(case.data) - 70) if case.data[at:at + 3] == b"\xff\xdb\0"]
    flipped = int(case.name.partition("-")[2].partition(".")[0])
    wrong, _, rest = words.partition(" of ")
    if any(at < flipped < at + 140 for at in quantisation) or \
            wrong.isdigit() and 8 * int(wrong) <= int(rest.split()[0]):
        return "JPEG: coefficients out of range, where transforms overflow in different ways; all else is equal"
    return ""


def failure(case, run, other):
    """Why this is a failure; nothing where it is none."""
    if run.verdict not in ("refused", "accepted"):
        return run.verdict
    if run.verdict == "refused":
        return "a sound file is refused" if case.how == "sound" else ""
    if case.how == "cut" or case.how == "trailing" and case.kind.extension != "tif":  # a TIFF has no end
        return f"{case.how}, and accepted"
    if case.how == "flip" and case.kind.extension == "png":
        return "a wrong checksum is accepted"
    if case.how == "sound" and other != "equal":
        return "the other decoder does not read the sound file alike"
    return {"differs": "accepted, and the other decoder reads other pixels",
            "refuses": "accepted, and the other decoder refuses"}.get(other, "")


COLUMNS = ("files", "refused", "accepted", "equal", "differs", "refuses", "unable", "crash", "slow", "large", "noise",
           "left", "exit", "words")
HEADS = ("files", "refused", "accepted", "equal", "other differs", "other refuses", "not compared", "crashed", "over 10 s",
         "over 1 GiB", "noise", "left behind", "exit code", "libjxl prints")


def print_table(counts, names):
    rows = [["kind", *HEADS]] + [[name, *(str(counts[name][column]) for column in COLUMNS)] for name in names]
    total = collections.Counter()
    for name in names:
        total.update(counts[name])
    rows.append(["all", *(str(total[column]) for column in COLUMNS)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for i, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) if k == 0 else cell.rjust(width)
                                for k, (cell, width) in enumerate(zip(row, widths))) + " |")
        if i == 0:
            print("|" + "|".join("-" * (width + 1) + ("-" if k == 0 else ":") for k, width in enumerate(widths)) + "|")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--flips", type=int)
    parser.add_argument("--formats", default="")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.flips is None:
        options.flips = 3 if options.small else 500
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    options.convfilt = os.path.abspath(os.environ.get("CONVFILT") or os.path.join(root, "build/release/bin/convfilt"))
    return options


def main():
    options = arguments()
    if not shutil.which("ffmpeg"):
        print("skipped pictures: ffmpeg, the other decoder, is not installed")
        return 77
    if not os.access(options.convfilt, os.X_OK):
        print(f"there is no program {options.convfilt}; CONVFILT names one", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as options.work:
        shop = Workshop(options.work, options.convfilt)
        wanted = tuple(filter(None, options.formats.split(",")))
        originals, names = [], []
        for kind in kinds():
            if wanted and not kind.name.startswith(wanted):
                continue
            try:
                data = kind.make(shop)
            except Missing as why:
                print(f"skipped {kind.name}: {why}")
                continue
            names.append(kind.name)
            originals.append((kind, data))
        options.bombs = not wanted or "bombs".startswith(wanted)
        if options.bombs:
            names.append("bombs")
        # Few of them are in memory at a time, since a child's peak begins with that of this process.
        cases = (case for kind, data in originals for case in damaged(kind, data, options))
        return judge(options, shop, cases, names)


def bombs_of(options):
    if options.bombs:
        for name, data in bombs(options.small):
            yield Case(Kind("bombs", name.rpartition(".")[2], None, None, 0), name, "bomb", data)


def judge(options, shop, cases, names):
    counts = collections.defaultdict(collections.Counter)
    reasons, excused = collections.defaultdict(list), collections.defaultdict(list)
    most = {"seconds": (0, ""), "peak": (0, "")}
    lock = threading.Lock()

    def one(case):
        run, other, words = check(options, shop, case)
        reason = known(case, other, words)
        why = failure(case, run, "" if reason else other)
        with lock:
            tally = counts[case.kind.name]
            tally["files"] += 1
            tally[run.verdict] += 1
            if other:
                tally[other] += 1
            if run.words:
                tally["words"] += 1
            for what, value in (("seconds", run.seconds), ("peak", run.peak)):
                most[what] = max(most[what], (value, f"{case.kind.name} {case.name}"))
            if case.how == "bomb":
                print(f"{case.name}: {len(case.data)} bytes, {run.verdict}, {run.seconds:.1f} s of CPU time, "
                      f"{run.peak >> 20} MiB: {run.text[:200].replace(options.work, '')}")
            if reason:
                excused[reason].append(f"{case.kind.name} {case.name}")
            if why:
                reasons[why].append(f"{case.kind.name} {case.name}: {words}".replace(options.work, "").replace("\n", " / "))
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(os.path.join(options.keep, f"{case.kind.name}-{case.name}.{case.kind.extension}"), "wb") as file:
                        file.write(case.data)
    # Bombs run alone, so that their wall time is their own.
    turn = threading.Lock()

    def work():
        while True:
            with turn:
                case = next(cases, None)
            if case is None:
                return
            one(case)
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(work) for _ in range(options.jobs)]:
            done.result()
    for case in bombs_of(options):
        one(case)
    print_table(counts, names)
    print(f"most CPU time: {most['seconds'][0]:.1f} s ({most['seconds'][1]}); "
          f"most memory: {most['peak'][0] >> 20} MiB ({most['peak'][1]})")
    for why, files in sorted(excused.items()):
        print(f"Known, {why}: {len(files)}")
        for text in textwrap.wrap(", ".join(files), 160):
            print(f"  {text}")
    for why, files in sorted(reasons.items()):
        print(f"FAILED, {why}: {len(files)}")
        for text in files:
            print(f"  {text}")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
