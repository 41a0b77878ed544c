"""Compose files as text: encodings, documents, keys given twice, and what is no YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.own.composed import WEB, have_images, of, read, refused
from tierlab.errors import UserError


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch)


@pytest.mark.parametrize(
    "content",
    [
        WEB.encode("utf-8-sig"),
        WEB.encode("utf-16"),
        WEB.encode("utf-16-be").join((b"\xfe\xff", b"")),
        WEB.encode("utf-16-le"),
        WEB.encode("utf-16-be"),
        WEB.encode("utf-32"),
        WEB.replace("\n", "\r\n").encode("utf-8-sig"),
        WEB.replace("\n", "\r").encode(),
        f"%YAML 1.2\n---\n{WEB}...\n".encode(),
    ],
)
def test_each_way_of_writing_a_text_is_read(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "compose.yaml"
    file.write_bytes(content)
    assert read(file).system["web"]["port"] == 3000


def test_other_encodings_are_named_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_bytes(f"{WEB}    command: café\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"is not UTF-8 text \(line 5, column 17: byte 0xe9\)"):
        read(file)


BROKEN = [
    (f"{WEB}---\n{WEB}", "has a second YAML document, which begins at line 5 (---)"),
    (f"---\n{WEB}---\n", "has a second YAML document, which begins at line 6 (---)"),
    ("services:\n\tweb: {}\n", "is not valid YAML (line 2): a tab, where YAML takes only blanks"),
    (f"{WEB}    command: *none\n", "is not valid YAML (line 5): found undefined alias 'none'"),
    (f"{WEB}    command: &a [*a]\n", "is not valid YAML (line 5): an anchor that is referred to"),
    (f"{WEB}    image: redis\n", "services.web.image is given twice, at lines 3 and 5; keep one."),
    (
        f"{WEB}    environment: {{A: '1'}}\n    environment:\n      B: '2'\n",
        "services.web.environment is given twice, at lines 5 and 6; keep one.",
    ),
    (f"{WEB}    environment: {{A: 1, A: 2}}\n", "services.web.environment.A is given twice, at"),
    (f"{WEB}services: {{}}\n", "services is given twice, at lines 1 and 5; keep one."),
    (f"{WEB}  web: {{image: redis}}\n", "services.web is given twice, at lines 2 and 5; keep one."),
    (f"x-a: &a {{}}\n{WEB}    <<: *a\n    <<: *a\n", "services.web.<< is given twice, at lines 6"),
    (f"{WEB}    ? [x]\n    : y\n", "is not valid YAML (line 5): a key that is no text"),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN, ids=[each[-20:] for each, _ in BROKEN])
def test_what_is_wrong_is_named_with_its_lines(tmp_path: Path, text: str, sentence: str) -> None:
    assert refused(tmp_path, text).startswith(sentence)


def test_anchors_and_merge_keys_are_read(tmp_path: Path) -> None:
    text = f"""\
x-a: &a {{ A: "1", B: "1" }}
x-b: &b {{ B: "2", C: "2" }}
{WEB}    environment:
      <<: [*a, *b]
      A: 3
      8080: port
"""
    found = of(tmp_path, text).system["web"]["environment"]
    assert found == {"A": "3", "B": "1", "C": "2", "8080": "port"}


def test_anchors_within_anchors_are_no_bomb(tmp_path: Path) -> None:
    lines = ["x-0: &a0 [x]"]
    lines += [f"x-{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 12)]
    assert "is not valid YAML" in refused(tmp_path, "\n".join([*lines, WEB]))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"service: {{}}\n{WEB}",
            "service is nothing that Tierlab knows of (did you mean services?)",
        ),
        (f"volume: {{}}\n{WEB}", "volume is nothing that Tierlab knows of (did you mean volumes?)"),
        (f"models: {{ m: }}\n{WEB}", "models asks for a model that Docker runs"),
    ],
)
def test_keys_beside_the_services_are_known_or_told(
    tmp_path: Path, text: str, sentence: str
) -> None:
    assert refused(tmp_path, text).startswith(sentence)


def test_the_file_s_name_its_version_and_its_own_keys_are_taken(tmp_path: Path) -> None:
    assert of(tmp_path, f"version: '3.8'\nname: x\nx-y: 1\n{WEB}").system["web"]["port"] == 3000
