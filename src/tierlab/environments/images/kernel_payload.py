"""Linux unpacked: the ELF file that is compressed in a kernel image.

Source: Documentation/arch/x86/boot.rst of the Linux kernel, "The Real-Mode Kernel Header" (fields
``setup_sects``, ``payload_offset`` and ``payload_length``).
"""

from __future__ import annotations

import lzma
import struct

from tierlab.errors import UserError

SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248
"""Where in the file the fields are."""
SECTOR = 512
XZ = b"\xfd7zXZ"


def unpacked(image: bytes) -> bytes:
    """Unpack an x86 kernel image; `UserError` for one that is not packed by xz, as Debian's are."""
    offset, length = struct.unpack_from("<II", image, PAYLOAD)
    # The boot sector itself is not counted, and the offset is that from the code behind them.
    start = (image[SETUP_SECTORS] + 1) * SECTOR + offset
    packed = image[start : start + length]
    if not packed.startswith(XZ):
        raise UserError(
            f"the guests' kernel is packed in a way that Tierlab does not know"
            f" ({packed[:4].hex()}); use Debian's."
        )
    # Behind the stream stands the size of what was packed, which is no part of it.
    return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(packed)
