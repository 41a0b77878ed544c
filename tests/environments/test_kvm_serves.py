"""What tells a KVM that runs guests from one that is only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.environments.qemu import kvm
from tierlab.machine.check import Verdict
from tierlab.machine.probes import hypervisor

HANGS = bytes.fromhex("ebfe")
"""A jump to itself."""


@pytest.mark.environments
@pytest.mark.usefixtures("guests_here")
def test_the_guest_comes_to_its_end_in_64_bit_mode() -> None:
    """Emulated: what it says is then the guest's own doing."""
    assert kvm.runs("tcg", "max")


@pytest.mark.environments
@pytest.mark.usefixtures("guests_here")
def test_a_guest_that_gets_no_further_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kvm, "SECONDS", 1.0)
    monkeypatch.setattr(kvm, "TO_LONG_MODE", HANGS)
    assert not kvm.runs("tcg", "max")


def test_a_paravirtual_kvm_is_told_to_be_none_for_ordinary_guests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It ran a guest's first, 16-bit instructions, and was taken for one that serves."""
    monkeypatch.setattr(kvm, "PARAVIRTUAL", tmp_path)
    monkeypatch.setattr(hypervisor, "PARAVIRTUAL", tmp_path)
    kvm.serves.cache_clear()
    try:
        assert not kvm.serves()
    finally:
        kvm.serves.cache_clear()
    (check,) = hypervisor.checks()
    assert check.verdict is Verdict.MISSING
