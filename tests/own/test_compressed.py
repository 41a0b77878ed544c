"""Compressed files: what they have is read, damage is noted, and other forms are named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.exchange.access_log import read_log
from tierlab.exchange.compressed import READ_ERRORS, damage, is_compressed, unpacked
from tierlab.exchange.har import read_har
from tierlab.exchange.perf_file import MAGICS, recording_in

Pack = Callable[[bytes], bytes]
PACKS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
WHOLE = "".join(f"{each * 7919:x} line\n" for each in range(200_000)).encode()


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS.keys())
def test_a_file_is_unpacked_and_one_that_is_cut_as_far_as_it_goes(pack: Pack) -> None:
    packed = pack(WHOLE)
    assert is_compressed(packed)
    content = unpacked(io.BytesIO(packed))
    assert content is not None
    assert content.read() == WHOLE

    content = unpacked(io.BytesIO(packed[: len(packed) // 2]))
    assert content is not None
    found, reason = b"", None
    try:
        while part := content.read1(1 << 16):
            found += part
    except READ_ERRORS as error:
        reason = damage(error)
    assert reason
    assert len(found) > len(WHOLE) // 10
    assert WHOLE.startswith(found)


def test_a_file_that_is_not_compressed_stays_at_its_start() -> None:
    raw = io.BytesIO(b"plain")
    assert unpacked(raw) is None
    assert raw.read() == b"plain"


def test_that_the_machine_cannot_read_a_file_is_no_damage_of_it() -> None:
    assert damage(OSError(5, "Input/output error")) is None
    assert damage(EOFError()) == "it ends too early"


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS.keys())
def test_a_damaged_recording_of_perf_is_named_as_one_in_each_compression(
    tmp_path: Path, pack: Pack
) -> None:
    packed = bytearray(pack(MAGICS[0] + WHOLE))
    packed[len(packed) // 2 : len(packed) // 2 + 64] = bytes(64)
    file = tmp_path / "perf.data"
    file.write_bytes(packed)
    with pytest.raises(UserError, match="compressed recording that is cut or damaged"):
        recording_in(file, tmp_path)


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
        (b"\x04\x22\x4d\x18", "compressed by lz4"),
        (b"\x1f\x9d", "compressed by compress"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"Rar!\x1a\x07", "a rar archive"),
    ],
)
def test_logs_and_recordings_in_other_forms_are_named_alike(
    tmp_path: Path, start: bytes, what: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(start + b"rest" * 100)
    with pytest.raises(UserError, match=f"is {what}; unpack it"):
        read_log(file)
    with pytest.raises(UserError, match=f"it is {what}; unpack it"):
        read_har(file)
