"""The files and folders that perf writes: which of them hold a recording, and which are whole.

Source: tools/perf/Documentation/perf.data-file-format.txt of the kernel.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import NoReturn

from tierlab.errors import UserError
from tierlab.exchange.compressed import READ_ERRORS, Unpacked, damage, unpacked

MAGICS = (b"PERFILE2", b"2ELIFREP", b"PERFFILE")
"""The second is a machine's of the other byte order, the third perf's before 3.0."""
DATA = "data"
"""In a folder that `perf record --threads` or `--kcore` has written."""
_HEADER = struct.Struct("8s Q 8x 4Q 16x 4Q")
"""Magic, size of the header; offset and size of the attributes and of the data; features."""
_PIPE_HEADER_BYTES = 16
_SECTION = struct.Struct("QQ")


def recording_in(path: Path, room: Path) -> Path | None:
    """Return the file or folder that `perf script` reads; None if the path is no recording but may
    be text. A compressed recording is unpacked into the folder `room`.

    Raises :class:`UserError` when the path cannot be read, or its recording is not whole.
    """
    try:
        if path.is_dir():
            return _folder(path)
        with path.open("rb") as file:
            packed = unpacked(file)
            if packed is not None:
                return _unpacked(path, packed, room)
            start = file.read(8)
        if start not in MAGICS:
            return None
        _check_whole(path, path)
        _check_not_of_folder(path)
        return path
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{path} cannot be read ({reason}): name another file.") from error


def _folder(folder: Path) -> Path:
    data = folder / DATA
    if not data.is_file():
        raise UserError(
            f"{folder} is a folder, and none that perf has written (it has no file `{DATA}`): name"
            " a file, or a folder of `perf record --threads`."
        )
    numbers = {
        int(each.suffix[1:]) for each in folder.glob(f"{DATA}.*") if each.suffix[1:].isdigit()
    }
    if missing := set(range(max(numbers, default=0))) - numbers:
        raise UserError(
            f"{folder} lacks {DATA}.{min(missing)} of its {max(numbers) + 1} files: copy it again."
        )
    with data.open("rb") as file:
        if file.read(8) not in MAGICS:
            raise UserError(f"{data} is no recording of perf's: name another folder.")
    _check_whole(data, folder)
    return folder


def _check_not_of_folder(path: Path) -> None:
    # With --kcore, `data` has all samples; with --threads they are in files beside it.
    if path.name.partition(".")[0] == DATA and (path.parent / f"{DATA}.0").is_file():
        raise UserError(
            f"{path} is one file of a recording by several threads: name its folder, {path.parent}."
        )


def _unpacked(path: Path, packed: Unpacked, room: Path) -> Path | None:
    try:
        if packed.read(8) not in MAGICS:
            return None
        packed.seek(0)
        target = room / "perf.data"
        with target.open("wb") as file:
            shutil.copyfileobj(packed, file)
    except READ_ERRORS as error:
        reason = damage(error)
        if reason is None:
            raise
        raise UserError(
            f"{path} is a compressed recording that is cut or damaged ({reason}): copy it again."
        ) from error
    _check_whole(target, path)
    return target


def _check_whole(file: Path, named: Path) -> None:
    """Raise :class:`UserError` if the recording lacks its end, which perf may not notice."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = opened.read(_HEADER.size)
        if len(start) < _PIPE_HEADER_BYTES:
            return  # perf itself refuses it
        order = "<" if start.startswith(b"PERF") else ">"
        header_bytes = struct.unpack_from(f"{order}Q", start, 8)[0]
        if header_bytes == _PIPE_HEADER_BYTES:
            return  # of `perf record -o -`, which has no length
        if len(start) < _HEADER.size:
            _cut(named, size, _HEADER.size)
        header = struct.Struct(f"{order}{_HEADER.format}")
        _, _, *sections = header.unpack(start)
        attributes, data, features = sections[:2], sections[2:4], sections[4:]
        if data[1] == 0:
            raise UserError(
                f"{named} has no end: perf was killed while it recorded. Record anew, and end perf"
                " with Ctrl-C or SIGINT."
            )
        ends = [attributes[0] + attributes[1], data[0] + data[1]]
        table = struct.Struct(f"{order}{_SECTION.format}")
        count = sum(each.bit_count() for each in features)
        ends.append(ends[1] + count * table.size)
        opened.seek(ends[1])
        listed = opened.read(count * table.size)
        for at in range(0, len(listed) - table.size + 1, table.size):
            ends.append(sum(table.unpack_from(listed, at)))
    if max(ends) > size:
        _cut(named, size, max(ends))


def _cut(named: Path, size: int, expected: int) -> NoReturn:
    raise UserError(
        f"{named} is cut: it has {size:,} bytes, and its header promises {expected:,}. Copy it"
        " again; if perf could not write the rest, record anew."
    )
