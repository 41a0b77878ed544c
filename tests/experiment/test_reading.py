"""Files that cannot be read at all: one sentence each, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.experiment import load


def sentence(path: Path) -> str:
    with pytest.raises(UserError) as raised:
        load(path)
    text = str(raised.value)
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert sentence(path) == f"no such file; `tierlab init {path}` writes one."


def test_a_folder(tmp_path: Path) -> None:
    assert sentence(tmp_path) == "is a folder; name the experiment file in it."


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert sentence(path) == "is not a regular file."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty; `tierlab init` writes a file to start from."),
        (b" \n\t\n", "is empty; `tierlab init` writes a file to start from."),
        (b"name = '\xff'", "is not UTF-8 text (line 1, column 9: byte 0xff); save it as UTF-8."),
        ("a = 1\r\nb = 'é\udce9'".encode(errors="surrogateescape"),
         "is not UTF-8 text (line 2, column 7: byte 0xe9); save it as UTF-8."),
        ("[load]".encode("utf-16") + b"x", "is not UTF-16 text (line 1, column 7: byte 0x78); save"
         " it as UTF-8."),
        (b"\xef\xbb\xbf \n", "is empty; `tierlab init` writes a file to start from."),
        ("\ufeff[load]\na = “x”\n".encode(), "not valid TOML: invalid value (at line 2, column 5);"
         ' there is U+201C, write a plain quote (").'),
        ("[load]\na\u00a0= 1\n".encode(), "not valid TOML: expected '=' after a key in a key/value"
         " pair (at line 2, column 2); there is U+00A0, write a plain blank."),
        ("[load]\na = \u20131\n".encode(), "not valid TOML: invalid value (at line 2, column 5);"
         " there is U+2013, write a plain hyphen (-)."),
        ("[load]\n\ufeffa = 1\n".encode(), "not valid TOML: invalid statement (at line 2, column"
         " 1); there is U+FEFF, write nothing, for it is not visible."),
        (b"[load\nusers = 1", "not valid TOML: expected ']' at the end of a table declaration "
         "(at line 1, column 6)."),
        (b"[load]\nusers = \n", "not valid TOML: invalid value (at line 2, column 9)."),
        (b"[load]\nusers = 1\nusers = 2\n", "not valid TOML: cannot overwrite a value "
         "(at line 3, column 10)."),
        (b"a = " + b"9" * 5000, "not valid TOML: a number too long or nested too deep."),
        (b"a = " + b"[" * 5000, "not valid TOML: a number too long or nested too deep."),
        (b"#" * (1 << 20) + b"#", "is over 1 MiB; that is no experiment file."),
        (b"\x00", "not valid TOML: invalid statement (at line 1, column 1)."),
        (b"# only a comment\n", "3 mistakes:\n  experiment is missing.\n  system is missing.\n"
         "  load is missing."),
        (b"x = 2020-01-01\n", "4 mistakes:\n  x is not a known key; allowed here: experiment, "
         "system, load, observe, factors, objective, disturb, change.\n  experiment is missing.\n"
         "  system is missing.\n  load is missing."),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_content(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert sentence(path) == expected


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """Root may read anything; a file of /proc that refuses even root stands in for one."""
    path = tmp_path / "secret.toml"
    path.write_text("a = 1")
    path.chmod(0)
    if os.access(path, os.R_OK):
        path = Path("/proc/self/mem")
    assert sentence(path).startswith("cannot be read: ")


PLAIN = """\
[experiment]
name = "plain"
[system]
workload = "own"
\tweb = { command = "/bin/true", folder = "app", port = 8000 }
sessions = { start = "/" }
[load]
users\t= 20\t# é
think = "100ms"
"""


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_of_any_editor_is_read(tmp_path: Path, encoding: str, end: str) -> None:
    (tmp_path / "app").mkdir()
    path = tmp_path / "plain.toml"
    path.write_bytes(PLAIN.replace("\n", end).encode(encoding))
    assert load(path).trials()[0].as_file()["load"]["users"] == 20
