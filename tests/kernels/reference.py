"""What kernels compute, once more and in Python: their checksums must be these, to the last bit."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable
from math import isqrt

MASK = (1 << 64) - 1


def mix(number: int) -> int:
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def at(seed: int, place: int) -> int:
    return mix((mix(seed) + (place + 1) * 0x9E3779B97F4A7C15) & MASK)


def share(seed: int, place: int) -> float:
    return (at(seed, place) >> 11) / (1 << 53)


def below(seed: int, place: int, bound: int) -> int:
    return at(seed, place) * bound >> 64


def checksum(values: Iterable[int]) -> str:
    total = sum(mix(value ^ mix(place)) for place, value in enumerate(values))
    return f"{total & MASK:016x}"


def bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def barriers(size: int, seed: int) -> str:
    side = size + 2
    cells = [share(seed, place) for place in range(side * side)]
    inner = range(1, side - 1)
    for colour in [0, 1] * 50:
        # Red cells are those of an even sum of row and column.
        for here in (r * side + c for r in inner for c in inner if (r + c) % 2 == colour):
            around = cells[here - side] + cells[here + side] + cells[here - 1] + cells[here + 1]
            cells[here] += 1.5 * (around / 4 - cells[here])
    return checksum(map(bits, cells))


def memory_streams(size: int, seed: int) -> str:
    a = [share(seed, place) for place in range(size)]
    b: list[float] = []
    for _ in range(3):
        c = list(a)
        b = [3 * value for value in c]
        c = [x + y for x, y in zip(a, b, strict=True)]
        a = [x + 3 * y for x, y in zip(b, c, strict=True)]
        b = [a[below(~seed & MASK, place, size)] for place in range(size)]
    return checksum(map(bits, a + b))


def many_locks(size: int, seed: int) -> str:
    width = max(1, isqrt(size // 8)) * 256
    places = [(below(seed, 2 * n, width), below(seed, 2 * n + 1, width)) for n in range(size)]
    for _ in range(4):
        pressure: defaultdict[int, int] = defaultdict(int)
        for one, (x, y) in enumerate(places):
            for other, (right, down) in enumerate(places[:one]):
                near = 256**2 - (x - right) ** 2 - (y - down) ** 2
                if near > 0:
                    pressure[one] += near**3 >> 16
                    pressure[other] += near**3 >> 16
        places = [
            tuple(  # type: ignore[misc]
                min(max(0, at + ((pressure[n] & MASK) >> shift) % 65 - 32), width - 1)
                for at, shift in zip(place, (8, 24), strict=True)
            )
            for n, place in enumerate(places)
        ]
    return checksum(x << 32 | y for x, y in places)
