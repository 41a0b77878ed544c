"""What is known of protocols here, beside the agent's own table of them."""

from __future__ import annotations

import re
from pathlib import Path

from tierlab.topology import PROTOCOLS, UNREAD, wire

TABLE = Path(__file__).parents[2] / "agent/crates/dissect/src/protocol.rs"


def test_every_protocol_that_the_agent_dissects_has_a_name_in_files_and_no_other_has() -> None:
    dissected = re.findall(r'^    \w+ = "(\w+)": About::', TABLE.read_text(), re.MULTILINE)
    assert UNREAD in dissected
    assert sorted([*(wire(name) for name in PROTOCOLS), UNREAD]) == sorted(dissected)


def test_of_one_that_is_not_read_the_turns_are_told() -> None:
    assert wire("gopher") == UNREAD
