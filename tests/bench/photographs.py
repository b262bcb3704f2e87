#!/usr/bin/env python3
"""Photographs as cameras make them, for the benchmarks: JPEGs with the detail of each of their pixels, every one another
picture, of several qualities, chroma subsamplings, Huffman tables (the standard's or the picture's own) and restart intervals.

  tests/bench/photographs.py FOLDER WIDTHxHEIGHT COUNT [CHROMA...]    makes FOLDER/000.jpg and on, and says how many bytes they
                                                                    have; CHROMA, by default 2x2 2x1, as cjpeg takes it

They are mosaics of pieces of larger photographs, none enlarged; below 4 megapixels these are halved first, as small pictures
have more detail in a pixel. SOURCES names a folder of JPEGs to take; by default it is that of Debian's package mate-backgrounds,
and where that is missing, samples/. PHOTOGRAPHS names a folder of finished ones: those in its WIDTHxHEIGHT/ are taken, over
and over if they are too few. cjpeg and djpeg come with libjpeg-turbo-progs; CONVFILT reads the PNGs of samples/.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys

QUALITIES = 92, 90, 93, 91, 95  # and 3 more for small ones, which brings both near cameras' bytes
SMALL = 4e6
WRITERS = [], ["-optimize"], ["-restart", "1"], ["-optimize", "-restart", "8B"], []
DEBIAN = pathlib.Path("/usr/share/backgrounds/mate")
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


def die(what):
    sys.exit(f"tests/bench/photographs.py: {what}")


def pieces_of(halved):
    """The larger photographs: width, height and samples of each."""
    folder = pathlib.Path(os.environ.get("SOURCES", DEBIAN))
    files = sorted(folder.rglob("*.jpg"))
    if not files:
        print(f"photographs.py: no JPEG in {folder} (Debian's package mate-backgrounds, or SOURCES); samples/ serves", file=sys.stderr)
        files, halved = [SAMPLES / name for name in ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg")], False
    for file in files:
        command = ["djpeg", "-ppm", *(["-scale", "1/2"] if halved else []), str(file)]
        if file.suffix == ".png":
            command = [os.environ.get("CONVFILT", "build/release/bin/convfilt"), "apply", "identity", str(file), "-", "--format", "ppm", "-q"]
        try:
            ppm = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            die(f"{file} cannot be read: {error}")
        _, width, height, rest = ppm.split(maxsplit=3)
        width, height = int(width), int(height)
        if file.suffix == ".jpg" and file.stat().st_size < 0.1 * width * height * (4 if halved else 1) and file.parent != SAMPLES:
            continue  # so little is left of its detail
        yield width, height, memoryview(ppm)[len(ppm) - 3 * width * height:]


def make(file, width, height, number, chroma, pieces):
    chance = random.Random(number)
    tile_width, tile_height = min(p[0] for p in pieces), min(p[1] for p in pieces)
    quality = QUALITIES[number % len(QUALITIES)] + (3 if width * height < SMALL else 0)
    command = ["cjpeg", "-quality", str(quality), "-sample", chroma[number % len(chroma)],
               *WRITERS[number // 2 % len(WRITERS)], "-outfile", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as cjpeg:
        cjpeg.stdin.write(b"P6\n%d %d\n255\n" % (width, height))
        for y in range(height):
            if y % tile_height == 0:
                tiles = [(chance.choice(pieces), chance.random(), chance.random()) for _ in range(0, width, tile_width)]
                tiles = [(samples, across, int(x * (across - tile_width)), int(top * (down - tile_height)))
                         for (across, down, samples), x, top in tiles]
            row = b"".join(samples[3 * ((top + y % tile_height) * across + x):][:3 * tile_width] for samples, across, x, top in tiles)
            cjpeg.stdin.write(row[:3 * width])
        cjpeg.stdin.close()
        if cjpeg.wait():
            die(f"cjpeg cannot make {file}")


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    folder, size, count, chroma = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:] or ["2x2", "2x1"]
    width, height = map(int, size.split("x"))
    finished = sorted((pathlib.Path(os.environ["PHOTOGRAPHS"]) / size).glob("*.jpg")) if "PHOTOGRAPHS" in os.environ else []
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{number:03}.jpg" for number in range(count)]
    if not finished:
        for program in "cjpeg", "djpeg":
            shutil.which(program) or die(f"there is no {program}; it comes with libjpeg-turbo-progs")
        pieces = list(pieces_of(width * height < SMALL))
    for number, file in enumerate(files):
        if finished:
            shutil.copy(finished[number % len(finished)], file)
        else:
            make(file, width, height, number, chroma, pieces)
    sizes = [file.stat().st_size for file in files]
    print(f"{count} photographs of {size}: {sum(sizes) / count / 1e6:.2f} MB in the mean, {min(sizes) / 1e6:.2f} to {max(sizes) / 1e6:.2f}")


main()
