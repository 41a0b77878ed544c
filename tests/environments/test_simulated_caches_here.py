"""Where caches can be simulated of guests, and whose PUs they may be on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tierlab.environments.qemu import kvm, simulated_caches
from tierlab.environments.qemu.guest_code import GuestCode
from tierlab.environments.qemu.simulated_caches import SimulatedCaches
from tierlab.errors import UserError
from tierlab.exchange.cache_counts import Block

MACHINE = "pack:2 l3:1(size=8MiB) l2:2(size=1MiB) l1d:1(size=32KiB) core:1 pu:1"
"""Its PUs 0 and 1 are on one package, 2 and 3 on the other."""


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kvm, "serves", lambda: False)
    simulated_caches.obstacle.cache_clear()
    yield
    simulated_caches.obstacle.cache_clear()


@pytest.mark.usefixtures("emulated")
def test_a_qemu_without_plugins_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "qemu-system-x86_64"
    program.write_text("#!/bin/sh\necho 'Plugin support is disabled' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert simulated_caches.obstacle() == ("its QEMU takes no plugins (TCG plugins, API version 1)")


def test_processors_that_are_not_emulated_have_caches_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kvm, "serves", lambda: True)
    simulated_caches.obstacle.cache_clear()
    assert "KVM runs guests" in (simulated_caches.obstacle() or "")
    simulated_caches.obstacle.cache_clear()


def test_a_guest_has_the_last_levels_of_its_pus(tmp_path: Path) -> None:
    made = SimulatedCaches(MACHINE, tmp_path)

    def packages(vcpus: int, pus: frozenset[int] | None, made: SimulatedCaches = made) -> str:
        words = made.plugin("app.1", vcpus, pus).split(",")
        return next(word for word in words if word.startswith("packages="))

    several = SimulatedCaches(MACHINE.replace("pack:2 l3:1", "pack:1 l3:2"), tmp_path)
    assert packages(2, frozenset({1, 2}), several) == "packages=0:1", "one package, two of them"
    assert packages(2, frozenset({0, 1})) == "packages=0:0"
    assert packages(2, frozenset({1, 2})) == "packages=0:1"
    assert packages(6, None) == "packages=0:0:1:1:0:0"
    spaces = [made.plugin(name, 1, None).partition("space=")[2][:1] for name in ("a", "b")]
    assert spaces == ["3", "4"], "no two guests have an address in common"
    with pytest.raises(UserError, match=r"simulated_caches: machine .* has no PU 4, on which db"):
        made.plugin("db.1", 1, frozenset({4}))


def test_code_of_a_guest_is_named_only_where_it_is_what_ran(tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    before = b"\x7fELF" + bytes(4096 + 60)
    library.write_bytes(before + b"code that ran there; " + b"twice the same twice the same ")
    mapped = (
        f"7f0000000000-7f0000002000 r-xp 00000000 00:01 1   {library}\n"
        "7e0000000000-7e0000001000 rwxp 00000000 00:00 0 \n"
    )
    said = {"kallsyms": "ffffffff81000000 T first\nffffffff81000040 t second\n", "maps": mapped}
    code = GuestCode(lambda script: next(text for key, text in said.items() if key in script))
    assert code.name(Block(0xFFFF_FFFF_8100_0048)) == ("[kernel.kallsyms]", "second")
    there = 0x7F00_0000_0000 + len(before)
    assert code.name(Block(there, code=b"code that ran")) == (str(library), None)
    assert code.name(Block(there, code=b"other code here, not that")) == (None, None)
    elsewhere = 0x55_0000_0000 + len(before) % 4096
    assert code.name(Block(elsewhere, code=b"code that ran there;")) == (str(library), None)
    assert code.name(Block(elsewhere, code=b"code that")) == (None, None), "may be anywhere"
    assert code.name(Block(elsewhere + 1, code=b"code that ran there;")) == (None, None)
    assert code.name(Block(0x7E00_0000_0010, code=b"made while it ran")) == ("[JIT]", None)
