"""Draw the daily temperatures as a PNG, with nothing but the standard library.

    python chart.py temperatures.png

Each day is a bar from its minimum to its maximum. Bars that reach below zero are blue.
"""

import struct
import sys
import zlib

from summary import READINGS, read

WIDTH, HEIGHT = 560, 280
LEFT, TOP, RIGHT, BOTTOM = 40, 14, 10, 14
LOWEST, HIGHEST = -5, 30

PAPER, GRID, INK, WARM, FROST = range(5)
PALETTE = [(252, 251, 247), (222, 219, 209), (84, 80, 72), (217, 119, 62), (58, 110, 165)]

# Three dots wide, five dots high; one number per row, read as three bits.
DIGITS = {
    "0": (7, 5, 5, 5, 7), "1": (2, 6, 2, 2, 7), "2": (7, 1, 7, 4, 7), "3": (7, 1, 7, 1, 7),
    "4": (5, 5, 7, 1, 1), "5": (7, 4, 7, 1, 7), "6": (7, 4, 7, 5, 7), "7": (7, 1, 1, 1, 1),
    "8": (7, 5, 7, 5, 7), "9": (7, 5, 7, 1, 7), "-": (0, 0, 7, 0, 0),
}  # fmt: skip


def fill(canvas, x, y, width, height, colour):
    for row in canvas[y : y + height]:
        row[x : x + width] = bytes([colour]) * width


def write(canvas, x, y, text):
    for number, character in enumerate(text):
        for down, bits in enumerate(DIGITS[character]):
            for across in range(3):
                if bits & (4 >> across):
                    fill(canvas, x + 8 * number + 2 * across, y + 2 * down, 2, 2, INK)


def height_of(celsius):
    room = HEIGHT - TOP - BOTTOM
    return TOP + round((HIGHEST - celsius) / (HIGHEST - LOWEST) * room)


def draw(days):
    canvas = [bytearray([PAPER]) * WIDTH for _ in range(HEIGHT)]
    for celsius in range(LOWEST, HIGHEST + 1, 5):
        y = height_of(celsius)
        fill(canvas, LEFT, y, WIDTH - LEFT - RIGHT, 1, INK if celsius == 0 else GRID)
        write(canvas, LEFT - 6 - 8 * len(str(celsius)), y - 5, str(celsius))
    step = (WIDTH - LEFT - RIGHT) / len(days)
    for number, day in enumerate(days):
        x, y = LEFT + round(number * step), height_of(day.high)
        if day.date.day == 1:
            fill(canvas, x - 2, TOP, 1, HEIGHT - TOP - BOTTOM, GRID)
        fill(canvas, x, y, 6, height_of(day.low) - y, FROST if day.low < 0 else WARM)
    return canvas


def png(canvas):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", len(canvas[0]), len(canvas), 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in PALETTE)
    pixels = b"".join(b"\0" + row for row in canvas)
    return b"".join([
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", header),
        chunk(b"PLTE", palette),
        chunk(b"IDAT", zlib.compress(pixels, 9)),
        chunk(b"IEND", b""),
    ])  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python chart.py OUTPUT.png")
    with open(sys.argv[1], "wb") as file:
        file.write(png(draw(read(READINGS))))
