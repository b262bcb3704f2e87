#!/usr/bin/env python3
"""Two programs, the same results: runs an old convfilt and a new one on the same small pictures, and
compares exit codes, messages, --json lines and every byte of the results.

    tests/same_results.py OLD NEW [full] [options]
    tests/same_results.py --record FILE OLD [full] [options]     keeps pictures, cases and hashes
    tests/same_results.py --against FILE NEW [options]           compares with what was kept

OLD and NEW are the programs, with their modules where their builds have them (../lib/convfilt).
Cases come in four groups, or those of --groups:
- filters: PAM, PFM and TIFF by command x depth and channels x size x border x mode x mapping x strategy x
  threads x one or many: all triples of the most important factors, all pairs of the rest (full: all triples);
- files: what is read x what is written x their options x metadata and orientation x one, a pipe, a folder, a
  folder with a limit of memory: all pairs (full: all triples);
- damage: each picture is cut, flipped and lengthened, read strictly and with --on-damage=warn;
- options: refusals, lists, help.
A program that has no result after five minutes is stopped, which is a failure, even where both programs are.
The cases are the same on every machine; --seed makes others. Times are left out of what is compared, and so
is the order of lines where several threads write them. --ignore messages,json,help compares less, for changes
that mean to change those; --only TEXT runs the cases whose command holds TEXT; --list prints the commands;
--keep FOLDER keeps results that differ; --part 2/4 runs every fourth case, from the second on. Prints each
difference, then the number of cases.

Exit code: 0, 1 after a difference, 2 where nothing can run.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import itertools
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = 300  # a loaded machine has been seen to take more than 60
LATE = "time"


# ---- Pictures -------------------------------------------------------------------------------------

def samples(width, height, channels, top):
    """Slopes, waves, an edge and noise; alpha, if there is one, has clear, half clear and solid parts."""
    noise = random.Random(width * 1000 + height)
    values = []
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                if channels in (2, 4) and c == channels - 1:
                    value = (0, 0.5, 1, 1)[(x // 5 + y // 3) % 4]
                else:
                    wave = math.sin((x + 3 * c) / 7.0) * math.cos((y - 5 * c) / 9.0)
                    edge = 0.25 if (x // 11 + y // 13) % 2 else 0.0
                    value = 0.1 + 0.2 * x / width + 0.2 * y / height + 0.1 * (1 + wave) + edge + 0.05 * noise.random()
                values.append(min(top, int(value * top)))
    return values


def packed(values, bits, order=">"):
    return struct.pack(f"{order}{len(values)}{'B' if bits <= 8 else 'H'}", *values)


def pam(width, height, channels, bits):
    kind = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}[channels]
    top = (1 << bits) - 1
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {top}\nTUPLTYPE {kind}\nENDHDR\n"
    return head.encode() + packed(samples(width, height, channels, top), bits)


def pnm(width, height, channels, top=255, plain=False):
    values = samples(width, height, channels, top)
    magic = (2 if channels == 1 else 3) + (0 if plain else 3)
    head = f"P{magic}\n# made by a test\n{width} {height}\n{top}\n".encode()
    if plain:
        return head + "\n".join(map(str, values)).encode() + b"\n"
    return head + packed(values, 8 if top < 256 else 16)


def pbm(width, height, plain=False):
    bits = [int((x * 37 + x // 5 + y) % 3 == 0) for y in range(height) for x in range(width)]
    if plain:
        return f"P1\n{width} {height}\n".encode() + "".join(map(str, bits)).encode() + b"\n"
    rows = bytearray()
    for y in range(height):
        row = bits[y * width:(y + 1) * width] + [0] * (-width % 8)
        rows += bytes(int("".join(map(str, row[i:i + 8])), 2) for i in range(0, len(row), 8))
    return f"P4\n{width} {height}\n".encode() + bytes(rows)


def pfm(width, height, channels, order="<"):
    values = [v / 40000 - 0.1 for v in samples(width, height, channels, 65535)]
    head = f"{'PF' if channels == 3 else 'Pf'}\n{width} {height}\n{'-' if order == '<' else ''}1.0\n"
    return head.encode() + struct.pack(f"{order}{len(values)}f", *values)


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, bits, colour, before=b"", after=b"", interlaced=False):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    values = samples(width, height, channels, (1 << bits) - 1)
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = bytearray()
    for left, top, across, down in passes if interlaced else [(0, 0, 1, 1)]:
        for y in range(top, height, down):
            row = [v for x in range(left, width, across)
                   for v in values[(y * width + x) * channels:(y * width + x + 1) * channels]]
            if not row:
                continue
            if bits < 8:
                row += [0] * (-len(row) % (8 // bits))
                row = [sum(v << (8 - bits * (k + 1)) for k, v in enumerate(row[i:i + 8 // bits]))
                       for i in range(0, len(row), 8 // bits)]
            rows += b"\0" + packed(row, bits)
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + before + png_chunk(b"IDAT", zlib.compress(bytes(rows))) +
            after + png_chunk(b"IEND", b""))


def palette(count):
    return png_chunk(b"PLTE", bytes((i * 73 + c * 91) & 255 for i in range(count) for c in range(3)))


def tiff_directory(entries, order="<", big=False):
    """A TIFF of one directory; entries {tag: (type, values)}; and where its bytes end."""
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8, 16: 8}
    codes = {1: "B", 2: "B", 3: "H", 4: "I", 5: "I", 7: "B", 12: "d", 16: "Q"}
    count_code, place_code, room = ("Q", "Q", 8) if big else ("I", "I", 4)
    mark = b"II" if order == "<" else b"MM"
    head = mark + (struct.pack(order + "HHHQ", 43, 8, 0, 16) if big else struct.pack(order + "HI", 42, 8))
    start = len(head)
    directory_size = (8 if big else 2) + len(entries) * (20 if big else 12) + room
    table = struct.pack(order + ("Q" if big else "H"), len(entries))
    rest = b""
    for tag in sorted(entries):
        kind, values = entries[tag]
        data = struct.pack(f"{order}{len(values)}{codes[kind]}", *values)
        count = len(data) // sizes[kind]
        table += struct.pack(order + "HH" + count_code, tag, kind, count)
        if len(data) <= room:
            table += data.ljust(room, b"\0")
        else:
            rest += b"\0" * (len(rest) % 2)
            table += struct.pack(order + place_code, start + directory_size + len(rest))
            rest += data
    return head + table + b"\0" * room + rest, start + directory_size + len(rest)


def tiff(width, height, channels, bits, order="<", big=False, compression=1, tile=None, planar=False, predictor=1,
         more=None, pages=1):
    """Strips of 16 rows or tiles; floats for 32 bits, without a predictor."""
    top = 65535 if bits == 32 else (1 << bits) - 1
    values = samples(width, height, channels, top)
    if bits == 32:
        values = [v / 50000 for v in values]

    def block(left, above, across, down, plane):
        data = []
        for y in range(above, above + down):
            row = []
            for x in range(left, left + across):
                inside = (min(y, height - 1) * width + min(x, width - 1)) * channels
                row += values[inside:inside + channels] if plane is None else [values[inside + plane]]
            if predictor == 2:
                step = channels if plane is None else 1
                row = row[:step] + [(b - a) % (top + 1) for a, b in zip(row, row[step:])]
            data += row
        code = {8: "B", 16: "H", 32: "f"}[bits]
        raw = struct.pack(f"{order}{len(data)}{code}", *data)
        if compression == 8:
            return zlib.compress(raw)
        if compression == 32773:
            return b"".join(bytes([len(part) - 1]) + part for part in (raw[i:i + 128] for i in range(0, len(raw), 128)))
        return raw
    planes = range(channels) if planar else [None]
    if tile:
        blocks = [block(x, y, tile, tile, p) for p in planes for y in range(0, height, tile) for x in range(0, width, tile)]
    else:
        blocks = [block(0, y, width, min(16, height - y), p) for p in planes for y in range(0, height, 16)]
    entries = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * channels), 259: (3, [compression]),
               262: (3, [1 if channels < 3 else 2]), 277: (3, [channels]), 284: (3, [2 if planar else 1])}
    if channels in (2, 4):
        entries[338] = (3, [2])
    if bits == 32:
        entries[339] = (3, [3] * channels)
    if predictor == 2:
        entries[317] = (3, [2])
    if tile:
        entries |= {322: (4, [tile]), 323: (4, [tile])}
    else:
        entries[278] = (4, [16])
    entries |= more or {}
    places, lengths = (324, 325) if tile else (273, 279)
    kind = 16 if big else 4
    entries[lengths] = (kind, [len(b) for b in blocks])
    entries[places] = (kind, [0] * len(blocks))
    _, end = tiff_directory(entries, order, big)
    at = []
    for data in blocks:
        at.append(end)
        end += len(data)
    entries[places] = (kind, at)
    return tiff_directory(entries, order, big)[0] + b"".join(blocks)


def bmp(width, height, bits, upside_down=False):
    row_bytes = (width * bits + 31) // 32 * 4
    colours = b"".join(bytes((i * 7 & 255, i * 31 & 255, i * 3 & 255, 0)) for i in range(256)) if bits == 8 else b""
    values = samples(width, height, bits // 8, 255)
    rows = [bytes(values[y * width * bits // 8:(y + 1) * width * bits // 8]).ljust(row_bytes, b"\0") for y in range(height)]
    data = b"".join(rows if upside_down else reversed(rows))
    start = 54 + len(colours)
    head = struct.pack("<IiiHHIIiiII", 40, width, -height if upside_down else height, 1, bits, 0, len(data), 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + head + colours + data


def gif(width, height, clear=None, pictures=1):
    """Codes of 9 bits, with a clear code before the table grows."""
    colours = bytes((i * 5 + c * 80) & 255 for i in range(256) for c in range(3))
    pixels = samples(width, height, 1, 255)
    bits, number, place = [], 0, 0
    for i, value in enumerate(pixels):
        if i % 250 == 0:
            bits.append(256)
        bits.append(value)
    bits.append(257)
    for code in bits:
        number |= code << place
        place += 9
    data = number.to_bytes((place + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"
    control = b"" if clear is None else b"\x21\xF9\x04\x01\0\0" + bytes([clear]) + b"\0"
    one = control + b"\x2C" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x08" + blocks
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + colours + one * pictures + b"\x3B"


def exif(orientation, order="<"):
    """Orientation, resolution, a maker and a thumbnail's directory."""
    entries = {271: (2, list(b"Maker\0")), 274: (3, [orientation]), 282: (5, [300, 1]), 283: (5, [150, 1]), 296: (3, [2]),
               306: (2, list(b"2020:02:02 02:02:02\0"))}
    return tiff_directory(entries, order)[0]


XMP = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
       b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>')


def icc(colours=b"RGB ", gamma=1.8):
    """A small matrix profile, or one of a single grey curve."""
    curve = b"curv" + struct.pack(">IIH", 0, 1, int(gamma * 256)) + b"\0\0"

    def xyz(x, y, z):
        return b"XYZ \0\0\0\0" + struct.pack(">iii", *(round(v * 65536) for v in (x, y, z)))
    text = b"desc" + struct.pack(">II", 0, 5) + b"test\0" + b"\0" * 78 + b"\0"
    tags = [(b"desc", text), (b"wtpt", xyz(0.9642, 1, 0.8249))]
    if colours == b"GRAY":
        tags += [(b"kTRC", curve)]
    else:
        tags += [(b"rXYZ", xyz(0.4361, 0.2225, 0.0139)), (b"gXYZ", xyz(0.3851, 0.7169, 0.0971)),
                 (b"bXYZ", xyz(0.1431, 0.0606, 0.7141)), (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve)]
    at, table, body = 132 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, data in tags:
        data += b"\0" * (-len(data) % 4)
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    size = at + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"\0" * 4, 0x02100000, b"mntr", colours, b"XYZ ")
    head += struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28 + struct.pack(">iii", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body


def with_jpeg_segments(data, *segments):
    more = b"".join(b"\xFF" + bytes([marker]) + struct.pack(">H", len(content) + 2) + content for marker, content in segments)
    at = 2 if data[2:4] != b"\xFF\xE0" else 4 + struct.unpack_from(">H", data, 4)[0]
    return data[:at] + more + data[at:]


def riff(chunks):
    body = b"WEBP" + b"".join(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def extended_webp(data, width, height, flags, before=(), after=()):
    size = struct.unpack_from("<I", data, 16)[0]
    picture = (data[12:16], data[20:20 + size])
    head = bytes([flags, 0, 0, 0]) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return riff([(b"VP8X", head), *before, picture, *after])


class Pictures:
    """Inputs by name, in a folder. Formats whose encoders are in the program are written by it."""

    def __init__(self, folder, program):
        self.folder, self.program, self.missing = folder, program, []
        os.makedirs(folder)

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def encoded(self, name, source, *options):
        """Writes NAME by the program, and returns its bytes; None where the program has no such encoder."""
        command = [self.program, "apply", "identity", source, name, "-q", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False, env=environment())
        if done.returncode:
            self.missing.append(f"{name}: {done.stderr.decode(errors='replace').strip()}")
            return None
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def make(self):
        width, height = 45, 33
        for depth in (8, 16):
            for channels, name in ((1, "grey"), (2, "greya"), (3, "rgb"), (4, "rgba")):
                self.write(f"{name}{depth}.pam", pam(width, height, channels, depth))
        for channels, name in ((1, "grey"), (3, "rgb")):
            self.write(f"{name}32.pfm", pfm(width, height, channels))
            self.write(f"{name}32be.pfm", pfm(width, height, channels, ">"))
        for sizes, name in (((1, 1), "dot"), ((1, 29), "column"), ((53, 1), "row"), ((150, 101), "large"), ((16, 16), "even")):
            self.write(f"{name}-rgba8.pam", pam(*sizes, 4, 8))
            self.write(f"{name}-rgb8.pam", pam(*sizes, 3, 8))
            self.write(f"{name}-grey16.pam", pam(*sizes, 1, 16))
            self.write(f"{name}-grey32.pfm", pfm(*sizes, 1))
            self.write(f"{name}-rgba32.tif", tiff(*sizes, 4, 32))
        self.make_pnm(width, height)
        self.make_png(width, height)
        self.make_tiff(width, height)
        for bits in (8, 24, 32):
            self.write(f"bits{bits}.bmp", bmp(width, height, bits))
        self.write("upside-down.bmp", bmp(width, height, 24, True))
        self.write("plain.gif", gif(width, height))
        self.write("clear.gif", gif(width, height, 30))
        self.write("moving.gif", gif(width, height, 30, 3))
        self.make_jpeg()
        self.make_webp(width, height)
        for name, source in (("a", "rgb8.pam"), ("alpha", "rgba8.pam"), ("grey", "grey8.pam"), ("deep", "rgb16.pam")):
            for end in ("heic", "avif", "jxl"):
                self.encoded(f"{name}.{end}", source)
        for name, source in (("a", "large-rgb8.pam"), ("alpha", "large-rgba8.pam"), ("deep", "large-grey16.pam")):
            self.encoded(f"{name}.jp2", source)
        for name, source in (("float", "rgb32.pfm"), ("grey-float", "grey32.pfm"), ("alpha-float", "rgba32.tif")):
            for end in ("exr", "jxl"):
                self.encoded(f"{name}.{end}", source)
        self.encoded("float.hdr", "rgb32.pfm")
        for end in ("heic", "avif", "jxl"):
            self.encoded(f"tagged.{end}", "tagged.png")
            self.encoded(f"lossy.{end}", "rgb8.pam", "--quality", "60")
        self.write("empty.png", b"")
        self.write("text.jpg", b"no picture\n")
        self.write("mask.txt", b"scale: 7\n1 2.5 -1\n0 3 0.25\n-2 1 4\n1 1 0\n")
        self.write("bad-mask.txt", b"1 2\n3\n")

    def make_pnm(self, width, height):
        self.write("grey8.pgm", pnm(width, height, 1))
        self.write("rgb8.ppm", pnm(width, height, 3))
        self.write("rgb16.ppm", pnm(width, height, 3, 65535))
        self.write("top100.pgm", pnm(width, height, 1, 100))
        self.write("top1000.ppm", pnm(width, height, 3, 1000))
        self.write("plain.pgm", pnm(width, height, 1, plain=True))
        self.write("plain.ppm", pnm(width, height, 3, 65535, plain=True))
        self.write("bits.pbm", pbm(width, height))
        self.write("plain.pbm", pbm(width, height, True))

    def make_png(self, width, height):
        for colour, name in ((0, "grey"), (2, "rgb"), (4, "greya"), (6, "rgba")):
            for bits in (8, 16):
                self.write(f"{name}{bits}.png", png(width, height, bits, colour))
        for bits in (1, 2, 4):
            self.write(f"grey{bits}.png", png(width, height, bits, 0))
            self.write(f"palette{bits}.png", png(width, height, bits, 3, palette(1 << bits)))
        self.write("palette8.png", png(width, height, 8, 3, palette(256) + png_chunk(b"tRNS", bytes(range(0, 250, 5)))))
        self.write("interlaced.png", png(width, height, 8, 6, interlaced=True))
        self.write("interlaced16.png", png(width, height, 16, 0, interlaced=True))
        self.write("key.png", png(width, height, 8, 2, png_chunk(b"tRNS", struct.pack(">HHH", 90, 90, 90))))
        self.write("greykey.png", png(width, height, 8, 0, png_chunk(b"tRNS", struct.pack(">H", 90))))
        profile = png_chunk(b"iCCP", b"test\0\0" + zlib.compress(icc()))
        text = png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)
        size = png_chunk(b"pHYs", struct.pack(">IIB", 11811, 5905, 1))
        note = png_chunk(b"tEXt", b"Title\0waves")
        self.write("tagged.png", png(width, height, 8, 2, profile + size + png_chunk(b"eXIf", exif(6)) + text, note))
        self.write("gamma.png", png(width, height, 8, 2, png_chunk(b"gAMA", struct.pack(">I", 100000))))
        self.write("srgb.png", png(width, height, 8, 0, png_chunk(b"sRGB", b"\0") + note, png_chunk(b"eXIf", exif(3, ">"))))
        self.write("greyicc.png", png(width, height, 16, 0, png_chunk(b"iCCP", b"g\0\0" + zlib.compress(icc(b"GRAY")))))
        self.write("moving.png", png(width, height, 8, 2, png_chunk(b"acTL", struct.pack(">II", 2, 0))))
        self.write("colours.png", png(width, height, 8, 2, png_chunk(b"cICP", bytes((9, 16, 0, 1)))))

    def make_tiff(self, width, height):
        self.write("rgba32.tif", tiff(width, height, 4, 32))
        for channels, name in ((1, "grey"), (2, "greya"), (3, "rgb"), (4, "rgba")):
            for bits in (8, 16, 32):
                self.write(f"{name}{bits}.tif", tiff(width, height, channels, bits))
        self.write("big.tif", tiff(width, height, 3, 16, big=True, order=">"))
        self.write("motorola.tif", tiff(width, height, 3, 16, order=">", compression=8, predictor=2))
        self.write("packed.tif", tiff(width, height, 1, 8, compression=32773))
        self.write("deflate.tif", tiff(width, height, 4, 8, compression=8, predictor=2))
        self.write("tiles.tif", tiff(width, height, 3, 8, tile=16, compression=8))
        self.write("tiles16.tif", tiff(width, height, 1, 16, tile=32))
        self.write("planes.tif", tiff(width, height, 3, 8, planar=True))
        self.write("plane-tiles.tif", tiff(width, height, 4, 16, planar=True, tile=16, compression=8))
        self.write("white.tif", tiff(width, height, 1, 8, more={262: (3, [0])}))
        self.write("premultiplied.tif", tiff(width, height, 4, 8, more={338: (3, [1])}))
        self.write("extra.tif", tiff(width, height, 4, 8, more={338: (3, [0])}))
        self.write("colourmap.tif", tiff(width, height, 1, 8, more={262: (3, [3]), 320: (3, [i * 83 % 65536 for i in range(768)])}))
        tags = {271: (2, list(b"Maker\0")), 282: (5, [300, 1]), 283: (5, [72, 1]), 296: (3, [2]), 700: (1, list(XMP)),
                34675: (7, list(icc())), 305: (2, list(b"a program\0"))}
        for orientation in (2, 3, 5, 6, 8):
            self.write(f"turned{orientation}.tif", tiff(width, height, 3, 8, more=tags | {274: (3, [orientation])}))

    def make_jpeg(self):
        for name, source, options in (
                ("a", "rgb8.pam", ["--subsampling", "444", "--quality", "85"]), ("half", "rgb8.pam", ["--subsampling", "422"]),
                ("quarter", "rgb8.pam", ["--quality", "70"]), ("grey", "grey8.pam", []), ("even", "even-rgb8.pam", []),
                ("progressive", "rgb8.pam", ["--progressive"]), ("large", "large-rgb8.pam", ["--quality", "60"])):
            self.encoded(f"{name}.jpg", source, *options)
        with open(os.path.join(self.folder, "half.jpg"), "rb") as file:
            data = file.read()
        mark = b"http://ns.adobe.com/xap/1.0/\0"
        profile = b"ICC_PROFILE\0"
        for orientation in range(1, 9):
            self.write(f"turned{orientation}.jpg", with_jpeg_segments(
                data, (0xE1, b"Exif\0\0" + exif(orientation, "<>"[orientation % 2])), (0xE1, mark + XMP),
                (0xE2, profile + b"\1\1" + icc()), (0xFE, b"a comment")))
        whole = icc()
        self.write("parts.jpg", with_jpeg_segments(
            data, (0xE2, profile + b"\1\2" + whole[:200]), (0xE2, profile + b"\2\2" + whole[200:]),
            (0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x05\x1c\x02\0\0\0\0")))
        self.write("lost-part.jpg", with_jpeg_segments(data, (0xE2, profile + b"\2\2" + whole)))
        self.write("two.jpg", with_jpeg_segments(data, (0xE2, b"MPF\0" + tiff_directory({0xB001: (4, [2])})[0])) + data)
        self.write("rest.jpg", data + b"something behind")

    def make_webp(self, width, height):
        for name, source, options in (("lossless", "rgb8.pam", []), ("lossy", "rgb8.pam", ["--quality", "70"]),
                                      ("alpha", "rgba8.pam", []), ("lossy-alpha", "rgba8.pam", ["--quality", "40"])):
            self.encoded(f"{name}.webp", source, *options)
        with open(os.path.join(self.folder, "lossless.webp"), "rb") as file:
            data = file.read()
        self.write("tagged.webp", extended_webp(data, width, height, 0x2C, [(b"ICCP", icc())], [(b"EXIF", exif(8)), (b"XMP ", XMP)]))
        self.write("tagged-odd.webp", extended_webp(data, width, height, 0x08, [], [(b"EXIF", b"Exif\0\0" + exif(5, ">"))]))


# ---- Cases ----------------------------------------------------------------------------------------

class Factors:
    """Factors with their values, each a list of words, and which values do not go together."""

    def __init__(self, factors, refused=lambda case: False):
        self.factors, self.refused = factors, refused
        self.names = list(factors)

    def cover(self, strength_of, chance):
        """Cases so that each set of values of each set of factors that strength_of names is in one."""
        wanted = {}
        for names in strength_of:
            for values in itertools.product(*(range(len(self.factors[name])) for name in names)):
                if not self.refused({n: self.factors[n][v] for n, v in zip(names, values)}):
                    wanted.setdefault(names, set()).add(values)
        sets_with = {name: [names for names in wanted if name in names] for name in self.names}
        cases = []
        for names in list(wanted):
            while wanted[names]:
                first = min(wanted[names])
                best, best_gain = None, -1
                for _ in range(3):
                    case = self.filled(dict(zip(names, first)), wanted, sets_with, chance)
                    if case is None:
                        continue
                    gain = sum(tuple(case[n] for n in other) in left for other, left in wanted.items())
                    if gain > best_gain:
                        best, best_gain = case, gain
                if best is None:  # no whole case has these values
                    wanted[names].discard(first)
                    continue
                for other, left in wanted.items():
                    left.discard(tuple(best[n] for n in other))
                cases.append({name: self.factors[name][best[name]] for name in self.names})
        return cases

    def filled(self, case, wanted, sets_with, chance):
        """The case with all other factors, each value one that covers most; None where nothing goes together."""
        rest = [name for name in self.names if name not in case]
        chance.shuffle(rest)
        for name in rest:
            best, best_gain = None, -1
            count = len(self.factors[name])
            start = chance.randrange(count)
            complete = [names for names in sets_with[name] if all(n == name or n in case for n in names)]
            for step in range(count):
                case[name] = (start + step) % count
                if self.refused({n: self.factors[n][v] for n, v in case.items()}):
                    continue
                gain = sum(tuple(case[n] for n in names) in wanted[names] for names in complete)
                if gain > best_gain:
                    best, best_gain = case[name], gain
            if best is None:
                return None
            case[name] = best
        return case


COMMANDS = [
    ["blur"], ["blur", "--sigma", "0.6"], ["blur", "--sigma", "9"], ["blur", "--sigma", "30"], ["blur", "--box", "4"],
    ["sharpen"], ["sharpen", "--amount", "0.4", "--sigma", "2.5"],
    ["edge"], ["edge", "--direction", "x"], ["edge", "--method", "scharr", "--direction", "y"], ["edge", "--method", "prewitt"],
    ["edge", "--method", "laplacian"], ["edge", "--method", "log", "--sigma", "1"],
    ["apply", "identity"], ["apply", "emboss3"], ["apply", "gaussian5"], ["apply", "motion9"], ["apply", "mask.txt"]]

STRATEGIES = [[], ["--strategy", "cpu"], ["--strategy", "basic", "--device", "emulator"],
              ["--strategy", "tiled-in", "--device", "emulator"], ["--strategy", "separable"], ["--strategy", "two-pass"],
              ["--strategy", "coarse"], ["--strategy", "fft"], ["--strategy", "overlap-save"], ["--strategy", "overlap-add"],
              ["--strategy", "in-parts"], ["--strategy", "im2col"], ["--strategy", "winograd"], ["--device", "cpu"]]

# Where results go, and how many: words with IN and OUT.
ONE, PIPE, FOLDER, LIST = "one", "pipe", "folder", "list"
MANY = [[ONE], [PIPE], [ONE, "--max-memory", "2G"], [PIPE, "--max-memory", "80M"], [FOLDER, "--json"], [FOLDER, "--threads", "1"],
        [FOLDER, "--threads", "3", "--json"], [FOLDER, "--max-memory", "60M", "--json"], [LIST, "--json", "--name", "{stem}_{ext}"],
        [FOLDER, "--shard", "2/2", "--json"], [ONE, "-v"]]


def filters_refused(case):
    words = {word for values in case.values() for word in values}
    command, mode, strategy = case.get("command", ["none"]), case.get("mode", []), case.get("strategy", [])
    if "full" in mode and case.get("border"):
        return True
    if ("--luma" in words or "--region" in words) and mode:
        return True
    if words & {"--luma", "--output"} and "a" in case.get("picture", ["x"])[0].partition(".")[0].replace("grey", ""):
        return True
    if case.get("size", [""])[0] in ("dot", "column", "row") and ("valid" in mode or "--region" in words):
        return True
    if "strategy" in case and "command" in case:
        way = (strategy + ["", ""])[1]
        if way in ("separable", "coarse", "two-pass") and command[0] in ("edge", "apply", "sharpen"):
            return True
        if way in ("winograd",) and command[-1] not in ("emboss3",):
            return True
        if way == "coarse" and command[-1] not in ("9", "30"):
            return True
        if command[0] == "edge" and "--normalize" in words:
            return True
    if "valid" in mode and "size" in case and (command[-1] in ("30", "9") or case["size"][0] == "even" and command[-1] not in ("emboss3", "4")):
        return True
    if command[-1] == "30" and ("emulator" in strategy or "im2col" in strategy or case.get("size", [""])[0] == "large"):
        return True
    return False


def filter_cases(chance, full):
    pictures = [["grey8.pam"], ["greya8.pam"], ["rgb8.pam"], ["rgba8.pam"], ["grey16.pam"], ["greya16.pam"], ["rgb16.pam"],
                ["rgba16.pam"], ["grey32.pfm"], ["rgb32.pfm"], ["rgba32.tif"]]
    sizes = [[""], ["dot"], ["column"], ["row"], ["large"], ["even"]]
    borders = [[], ["--border", "reflect"], ["--border", "reflect101"], ["--border", "wrap"], ["--border", "constant"],
               ["--border-value", "1"], ["--border-value", "120"]]
    modes = [[], ["--mode", "valid"], ["--mode", "full"]]
    mappings = [[], ["--linear"], ["--luma"], ["--linear", "--luma"]]
    regions = [[], ["--region", "3,2,9,7"]]
    outputs = [[], ["--output", "abs"], ["--output", "signed"]]
    turns = [[], ["--flip"], ["--normalize"]]
    factors = Factors({
        "command": COMMANDS, "picture": pictures, "size": sizes, "border": borders, "mode": modes, "mapping": mappings,
        "region": regions, "output": outputs, "turn": turns, "strategy": STRATEGIES, "many": MANY}, filters_refused)
    sets = list(itertools.combinations(factors.names, 2))
    if full:
        sets += itertools.combinations(factors.names, 3)
    else:
        sets += itertools.combinations(["command", "picture", "border", "mode", "mapping", "region", "output"], 3)
        sets += itertools.combinations(["picture", "size", "mode", "mapping", "many"], 3)
    for case in factors.cover(sets, chance):
        kind, size = case["picture"][0], case["size"][0]
        if size:
            sized = {"grey8": "grey16.pam", "greya8": "rgba8.pam", "rgb8": "rgb8.pam", "rgba8": "rgba8.pam", "grey16": "grey16.pam",
                     "greya16": "rgba8.pam", "rgb16": "rgb8.pam", "rgba16": "rgba32.tif", "grey32": "grey32.pfm",
                     "rgb32": "rgba32.tif", "rgba32": "rgba32.tif"}[kind.partition(".")[0]]
            if {"--luma", "--output"} & {*case["mapping"], *case["output"]}:
                sized = sized.replace("rgba8.pam", "rgb8.pam").replace("rgba32.tif", "rgb8.pam")
            kind = f"{size}-{sized}"
        end = "tif" if kind.endswith("tif") or "grey" not in kind and kind.endswith("pfm") else kind.rpartition(".")[2]
        turn = case["turn"]
        words = case["border"] + case["mode"] + case["mapping"] + case["region"] + case["output"] + turn + case["strategy"]
        yield Case(case["command"], [kind], end, words, case["many"])


WRITTEN = ["jpg", "png", "tif", "webp", "bmp", "pnm", "pgm", "ppm", "pam", "pfm", "hdr", "jp2", "exr", "heic", "avif", "jxl"]


def file_cases(chance, full, names):
    inputs = [[name] for name in names if not name.startswith(("empty", "text", "mask", "bad-mask"))]
    outputs = [[end] for end in WRITTEN]
    settings = [[], ["--quality", "55"], ["--quality", "100", "--subsampling", "444"], ["--subsampling", "422"], ["--progressive"],
                ["--compression", "0"], ["--compression", "9"], ["--strip"]]
    reading = [[], ["--on-damage", "warn"], ["--threads", "1"]]
    commands = [["apply", "identity"], ["blur", "--sigma", "1"], ["edge"], ["blur", "--linear"]]
    many = [[ONE], [PIPE], [FOLDER, "--json"], [FOLDER, "--max-memory", "100M", "--json"], [ONE, "-v"]]

    def refused(case):
        end, name = case.get("out", ["png"])[0], case.get("in", ["grey"])[0]
        return end == "pgm" and not re.match("(.*grey|gif|plain.pgm|plain.pbm|bits|top100|packed|tiles16|white|srgb)", name)
    factors = Factors({"in": inputs, "out": outputs, "settings": settings, "reading": reading, "command": commands, "many": many},
                      refused)
    sets = list(itertools.combinations(factors.names, 2))
    if full:
        sets += [names for names in itertools.combinations(factors.names, 3) if "in" not in names or "out" not in names]
    for case in factors.cover(sets, chance):
        yield Case(case["command"], case["in"], case["out"][0], case["settings"] + case["reading"], case["many"])


def damage_cases(chance, full, names, sizes):
    """(name of a picture, change) as one input: the change is made where the case runs."""
    for name in names:
        size = sizes[name]
        if name.startswith(("mask", "bad-mask", "empty", "text", "large", "even", "dot", "row", "column")) or size < 4:
            continue
        changes = ["+0000", "+53fe91"]
        count = 24 if full else 3
        for part in range(1, count + 1):
            changes.append(f"<{max(1, size * part // (count + 1))}")
        changes += [f"<{size - 1}", f"<{min(size - 1, 20)}"]
        head = min(size, 400)
        for _ in range(60 if full else 4):
            changes.append(f"^{chance.randrange(8 * head)}")
        for _ in range(60 if full else 4):
            changes.append(f"^{chance.randrange(8 * size)}")
        for i, change in enumerate(changes):
            how = ["--on-damage", "warn"] if i % 2 or change[0] == "<" else []
            yield Case(["apply", "identity"], [name], "tif", how + ["--max-pixels", "4000000"], [ONE], change)
            if change[0] == "<" and i % 3 == 0:
                yield Case(["apply", "identity"], [name], "pam", ["--max-pixels", "4000000"], [FOLDER, "--json"], change)


def option_cases(names):
    for words in (["list", "strategies"], ["list", "filters"], ["list", "devices"], ["--help"], ["--version"], ["blur", "--help"],
                  ["edge", "--help"], ["apply", "--help"], ["sharpen", "--help"], ["mask", "mask.txt"], ["mask", "gaussian5"],
                  ["mask", "log5", "--flip"], ["generate", "man"], ["generate", "bash"], ["nothing"], [], ["blur"], ["blur", "in/grey8.pam"]):
        yield Case(words, [], "", [], [])
    for words in (["--border", "nothing"], ["--border-value", "x"], ["--mode", "full", "--border", "wrap"], ["--luma", "--mode", "valid"],
                  ["--region", "0,0,999,3"], ["--region", "1,2"], ["--strategy", "nothing"], ["--sigma", "0"], ["--sigma", "999"],
                  ["--box", "3", "--sigma", "2"], ["--quality", "101"], ["--compression", "12"], ["--format", "gif"],
                  ["--format", "xyz"], ["--page", "9"], ["--page", "-1"], ["--max-pixels", "10"], ["--max-memory", "1"],
                  ["--max-memory", "1M"], ["--threads", "0"], ["--device", "cuda"], ["--device", "cuda:3"], ["--loader", "nobody"],
                  ["--quiet", "--verbose"], ["--shard", "0/3"], ["--if-exists", "skip"], ["--in-place"], ["--on-damage", "no"]):
        for out in ("tif", "pam", "gif", "xyz", ""):
            yield Case(["blur"], ["rgb8.png"], out, words, [ONE])
    for name in names:
        yield Case(["blur"], [name], "tif", ["--page", "1"], [ONE])
        yield Case(["blur"], [name], "png", ["--max-pixels", "1000"], [ONE])
        yield Case(["sharpen", "--luma"], [name], "tif", [], [ONE])
    for name in ("empty.png", "text.jpg", "missing.png", "mask.txt"):
        yield Case(["blur"], [name], "png", [], [ONE])
        yield Case(["blur"], [name, "rgb8.png"], "png", ["--json"], [FOLDER])
        yield Case(["blur"], [name, "rgb8.png", "rgba8.pam"], "png", ["--json", "--dry-run"], [FOLDER])
    yield Case(["apply", "bad-mask.txt"], ["rgb8.png"], "png", [], [ONE])
    yield Case(["apply", "missing"], ["rgb8.png"], "png", [], [ONE])


class Case:
    def __init__(self, command, pictures, end, words, many, change=""):
        self.command, self.pictures, self.end, self.words, self.many, self.change = command, pictures, end, words, many, change

    def args(self):
        """The words of the command line; pictures lie in in/, results go to out/."""
        words = self.command + self.words
        if not self.many:
            return words
        kind, more = self.many[0], self.many[1:]
        name = f"in/{self.pictures[0]}"
        if kind == ONE:
            return words + more + [name, f"out/result{'.' if self.end else ''}{self.end}"]
        if kind == PIPE:
            return words + more + ["-", "-", "--format", self.end]
        if kind == LIST:
            return words + more + [name, "in/second.pam", "-o", "out", "--format", self.end]
        return words + more + ["in", "-o", "out", "-r", "--glob", "*", "--format", self.end]

    def text(self):
        return " ".join(["convfilt", *(word if re.fullmatch(r"[\w./,:=-]+", word) else f"'{word}'" for word in self.args())]) + (
            f"   ({self.pictures[0]}{' ' + self.change if self.change else ''})" if self.pictures else "")

    def as_list(self):
        return [self.command, self.pictures, self.end, self.words, self.many, self.change]


def changed(data, change):
    if not change:
        return data
    if change[0] == "<":
        return data[:int(change[1:])]
    if change[0] == "+":
        return data + bytes.fromhex(change[1:])
    at = int(change[1:])
    return data[:at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1:]


# ---- Running --------------------------------------------------------------------------------------

def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONVFILT_") or name == "CONVFILT_MODULES"}
    return kept | {"LC_ALL": "C", "TZ": "UTC", "COLUMNS": "1000", "XDG_CONFIG_HOME": "/nonexistent",
                   "CONVFILT_FILTERS": os.path.join(REPOSITORY, "filters"),
                   "CONVFILT_PROFILES": os.path.join(REPOSITORY, "src/auto/profiles")}


def plain(text, program, sort):
    """Messages without what differs from run to run."""
    text = text.replace(program, "convfilt")
    text = re.sub(r"\d+(\.\d+)? (ms|us|s|MP/s|MB/s)\b", "TIME", text)
    text = re.sub(r"\d+(\.\d+)?( Mpx)?/s", "RATE", text)
    lines = text.splitlines()
    return "\n".join(sorted(lines) if sort else lines)


def plain_json(text):
    """Lines of --json, in the order of their inputs, without times."""
    def without_times(value):
        if isinstance(value, dict):
            return {k: without_times(v) for k, v in value.items() if not re.search(r"(^|_)(ms|seconds|time|bytes_per)", k)}
        return [without_times(v) for v in value] if isinstance(value, list) else value
    lines = []
    for line in text.splitlines():
        try:
            lines.append(json.dumps(without_times(json.loads(line))))
        except ValueError:
            lines.append(plain(line, "\0", False))
    return "\n".join(sorted(lines))


def hashed(data):
    return hashlib.sha256(data).hexdigest()[:20]


def run(program, case, pictures, ignored, folder):
    """What comes of a case, as a dictionary of texts."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "out"))
    source, kind = os.path.join(folder, "in"), case.many[0] if case.many else ""
    os.makedirs(os.path.join(source, "nested"))
    for name in ("mask.txt", "bad-mask.txt"):
        os.symlink(os.path.join(pictures, name), os.path.join(folder, name))
    for name in case.pictures:
        if os.path.exists(os.path.join(pictures, name)):
            with open(os.path.join(pictures, name), "rb") as file, open(os.path.join(source, name), "wb") as copy:
                copy.write(changed(file.read(), case.change))
    if kind in (FOLDER, LIST):
        os.link(os.path.join(pictures, "large-grey16.pam"), os.path.join(source, "second.pam"))
    if kind == FOLDER:
        others = ["tiles16.tif"] if case.change else ["srgb.png", "large.jpg", "premultiplied.tif"]
        if {"--luma", "--output"} & {*case.words}:
            others = others[:2]
        for name in others:
            os.link(os.path.join(pictures, name), os.path.join(source, "nested", f"nested-{name}"))
    given = b""
    if kind == PIPE:
        with open(os.path.join(source, case.pictures[0]), "rb") as file:
            given = file.read()
    try:
        done = subprocess.run([program, *case.args()], cwd=folder, input=given, capture_output=True, check=False,
                              env=environment(), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {LATE: f"no result after {SECONDS} s"}
    result = {"exit code": str(done.returncode)}
    sort = kind in (FOLDER, LIST)
    if "messages" not in ignored:
        result["messages"] = plain(done.stderr.decode(errors="replace"), program, sort)
    if "--json" in case.args():
        if "json" not in ignored:
            result["json"] = plain_json(done.stdout.decode(errors="replace"))
    elif kind == PIPE:
        result["standard output"] = hashed(done.stdout)
    elif case.many or "help" not in ignored:
        result["standard output"] = plain(done.stdout.decode(errors="replace"), program, False)
    for root, _, files in sorted(os.walk(os.path.join(folder, "out"))):
        for name in sorted(files):
            path = os.path.join(root, name)
            if not name.startswith(".convfilt-journal"):
                with open(path, "rb") as file:
                    result[os.path.relpath(path, folder)] = hashed(file.read())
    return result


def differences(old, new):
    """A program that was stopped is a failure, even where both were; its other results say nothing."""
    if LATE in old or LATE in new:
        yield LATE, old.get(LATE, "a result"), new.get(LATE, "a result")
        return
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def shown(old, new):
    """The lines that differ."""
    lines = difflib.unified_diff((old or "nothing").splitlines(), (new or "nothing").splitlines(), n=0, lineterm="")
    return [f"    {line[:300]}" for line in lines if not line.startswith(("---", "+++", "@@"))][:20]


class Record:
    """Pictures, cases and results in one file."""

    def __init__(self, path):
        self.path = path

    def write(self, pictures, cases, results):
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as file:
            for name in sorted(os.listdir(pictures)):
                file.write(os.path.join(pictures, name), f"in/{name}")
            file.writestr("cases.json", json.dumps([case.as_list() + [result] for case, result in zip(cases, results)]))

    def read(self, pictures):
        with zipfile.ZipFile(self.path) as file:
            os.makedirs(pictures)
            for name in file.namelist():
                if name.startswith("in/"):
                    with open(os.path.join(pictures, os.path.basename(name)), "wb") as out:
                        out.write(file.read(name))
            kept = json.loads(file.read("cases.json"))
        return [Case(*line[:6]) for line in kept], [line[6] for line in kept]


def make_cases(groups, seed, full, pictures):
    names = sorted(os.listdir(pictures))
    sizes = {name: os.path.getsize(os.path.join(pictures, name)) for name in names}
    makers = {"filters": lambda chance: filter_cases(chance, full), "files": lambda chance: file_cases(chance, full, names),
              "damage": lambda chance: damage_cases(chance, full, names, sizes), "options": lambda chance: option_cases(names)}
    return [case for group in groups for case in makers[group](random.Random(f"{seed} {group}"))]


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--record")
    parser.add_argument("--against")
    parser.add_argument("--groups", default="options,filters,files,damage")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--ignore", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if options.help:
        print(__doc__.strip())
        return 0
    full = "full" in options.words
    programs = [os.path.abspath(word) for word in options.words if word != "full"]
    if len(programs) != (1 if options.record or options.against else 2) or not all(os.access(p, os.X_OK) for p in programs):
        print("same_results: names no programs that can run; -h says how", file=sys.stderr)
        return 2
    memory = "/dev/shm"  # where fsync() costs nothing
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as work:
        return compare(options, programs, full, work)


def compare(options, programs, full, work):
    pictures = os.path.join(work, "pictures")
    ignored = options.ignore.split(",")
    known = None
    if options.against:
        cases, known = Record(options.against).read(pictures)
    else:
        made = Pictures(pictures, programs[0])
        made.make()
        for line in made.missing:
            print(f"left out: {line}")
        cases = make_cases(options.groups.split(","), options.seed, full, pictures)
    part, parts = map(int, options.part.split("/"))
    pairs = [(i, case) for i, case in enumerate(cases) if options.only in case.text() and i % parts == part - 1]
    if options.list:
        print("\n".join(case.text() for _, case in pairs))
        return 0
    counts = {"different": 0, "refused": 0}
    results = [None] * len(cases)

    def one(pair):
        i, case = pair
        folders = [os.path.join(work, f"{i}-{k}") for k in range(len(programs))]
        outcomes = [run(program, case, pictures, ignored, folder) for program, folder in zip(programs, folders)]
        old = {k: v for k, v in known[i].items() if k not in ignored} if known else outcomes[0]
        found = list(differences(old, outcomes[-1]))
        if found and options.keep:
            for folder, side in zip(folders, ("old", "new")):
                shutil.copytree(folder, os.path.join(options.keep, str(i), side), symlinks=True, dirs_exist_ok=True)
        for folder in folders:
            shutil.rmtree(folder)
        return i, case, outcomes[0], found
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for i, case, result, found in pool.map(one, pairs):
            results[i] = result
            counts["refused"] += result.get("exit code") != "0"
            if not found:
                continue
            counts["different"] += 1
            print(f"case {i}: {case.text()}")
            for key, old, new in found:
                print("\n".join([f"  {key}:", *shown(old, new)]), flush=True)
    if options.record:
        Record(options.record).write(pictures, cases, results)
        print(f"same_results: {len(pairs)} cases kept in {options.record}, {counts['refused']} of them refusals")
        return 0
    print(f"same_results: {len(pairs)} cases, {counts['refused']} of them refusals, {counts['different']} differences")
    return counts["different"] > 0


if __name__ == "__main__":
    sys.exit(main())
