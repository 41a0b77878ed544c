"""The dissectors of memcached's protocols and of Redis': against Wireshark's, and against the
servers' own counts of commands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from beds import started
from caches_bed import CACHE, STORE, CachesBed, array, binary, until
from tracer_bed import dissect, messages, table
from tshark import Connection, Frame, frames
from wire import Said, check_lossy, told

from tests.figures import figure
from tierlab.servers.resp import Resp, RespError

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

MOST_MISSED = 1e-4
OPCODES = {
    **{"0": "get", "1": "set", "2": "add", "4": "delete", "10": "noop", "11": "version"},
    **{"13": "getkq", "14": "append", "16": "stats", "17": "setq", "20": "deleteq"},
}
PARTS = ("resp.partial", "resp.reassembled_in_next_frame")
WHOLE = (
    "resp.string",
    "resp.error",
    "resp.integer",
    "resp.bulk_string.length",
    "resp.array.length",
)
SPOKEN = {*OPCODES.values(), "gets", "gat", "cas", "touch", "incr", "STORED", "NOT_FOUND", "ERROR"}
SPOKEN |= {"VA", "HD", "EN", "NS", "MN", "ME", "command", "inline command", "array", "error"}
"""What must have been said, or less is checked than it seems."""


@pytest.fixture(scope="module")
def bed() -> Iterator[CachesBed]:
    with started(CachesBed) as made:
        yield made


@pytest.fixture(scope="module")
def capture(bed: CachesBed) -> Path:
    """Everything that clients and servers can say."""
    with bed.dumped("spoken") as path:
        bed.speak()
    return path


CUT = ("cut",)
"""The kind of a command whose end was lost: it ends for the agent where it was seen last."""


def of_agent(capture: Path, out: Path) -> dict[Connection, list[Said]]:
    dissect(capture, out, servers=(CACHE, STORE))
    said = messages(out)
    return told(said, CACHE, CUT) | told(said, STORE, CUT)


def of_wireshark(capture: Path, _out: Path) -> dict[Connection, list[Said]]:
    """Of the binary protocol every message; of the others only where some end, as it names few of
    the text protocol's and none of RESP's.
    """
    cache, store = int(str(CACHE["port"])), int(str(STORE["port"]))
    of_cache = frames(capture, {cache: "memcache"}, "memcache", ["memcache.opcode"])
    of_store = frames(capture, {store: "resp"}, "resp", [*PARTS, *WHOLE])
    found = {connection: _of_cache(seen) for connection, seen in of_cache.items()}
    for connection, seen in of_store.items():
        ending = (frame for frame in seen if _ends_value(frame))
        found[connection] = [(frame.sender, frame.end_ns, "") for frame in ending]
    return found


def _ends_value(frame: Frame) -> bool:
    """Whether a frame has a whole value; a line of words from a client has none of Wireshark's."""
    parts, values = frame.values[: len(PARTS)], frame.values[len(PARTS) :]
    return not any(parts) and (any(values) or frame.sender == "client")


def _of_cache(seen: list[Frame]) -> list[Said]:
    said = []
    for frame in seen:
        names = [OPCODES[value] for value in frame.values[0]] or [""]
        said += [(frame.sender, frame.end_ns, name) for name in names]
    return said


def as_far_as_wireshark_sees(mine: list[Said], oracle: list[Said]) -> list[Said]:
    """Where messages end, once each, if it does not name them."""
    if any(name for _, _, name in oracle):
        return mine
    return list(dict.fromkeys((sender, end_ns, "") for sender, end_ns, _ in mine))


def test_messages_end_where_wireshark_sees_them_end(capture: Path, tmp_path: Path) -> None:
    mine, oracle = of_agent(capture, tmp_path / "out"), of_wireshark(capture, tmp_path)
    spoken = {kind for said in mine.values() for _, _, kind in said}
    assert spoken >= SPOKEN, SPOKEN - spoken
    assert mine.keys() == oracle.keys()
    for connection, said in oracle.items():
        assert as_far_as_wireshark_sees(mine[connection], said) == said, connection
    figure(f"{sum(map(len, mine.values()))} messages of {len(mine)} connections")


def test_with_packets_lost_nothing_is_invented(capture: Path, tmp_path: Path) -> None:
    check_lossy(capture, (0.05, 3), tmp_path, of_agent, of_wireshark)


BATCHES = 100
OF_BATCH = {"set": 20, "get": 30, "delete": 5, "incr": 5, "touch": 5}


def text_batch(number: int) -> bytes:
    """Commands of the text protocol that are sent in one go, of which a third asks in vain."""
    words = []
    for command, count in OF_BATCH.items():
        for at in range(count):
            key = f"key:{(number + at) % 15}"
            words.append(
                {
                    "set": f"set {key} 0 0 10\r\n{'v' * 10}\r\n",
                    "get": f"get {key}\r\n" if at % 3 else "get nothing\r\n",
                    "delete": f"delete {key}\r\n",
                    "incr": f"incr {key} 1\r\n",
                    "touch": f"touch {key} 100\r\n",
                }[command]
            )
    return "".join(words).encode() + b"mn\r\n"


def binary_batch() -> bytes:
    """The same of the binary protocol, with quiet commands."""
    asked = [binary(0x0D, b"key:%d" % number, b"", 0, number) for number in range(30)]
    stored = [binary(0x11, b"key:%d" % number, b"v", 8, number) for number in range(10)]
    return b"".join([*stored, *asked, binary(0x0A, b"", b"", 0, 77)])


def load_cache(bed: CachesBed, batch: bytes, end: bytes) -> None:
    """Ask for the batch time and again on a connection."""
    with bed.connect(CACHE) as link:
        for _ in range(BATCHES):
            link.sendall(batch)
            until(link, end)


def test_visits_are_as_many_as_memcached_counts_commands(bed: CachesBed) -> None:
    noop = binary(0x0A, b"", b"", 0, 77).replace(b"\x80", b"\x81", 1)
    loads = [(text_batch(number), b"MN\r\n") for number in range(3)] + [(binary_batch(), noop)]
    with bed.capturing("cached") as summary:
        before = bed.statistics()
        with ThreadPoolExecutor(len(loads)) as pool:
            list(pool.map(lambda load: load_cache(bed, *load), loads))
        after = bed.statistics()
    assert summary["drops"] == 0
    grown = {name: after[name] - before.get(name, 0) for name in after}
    visits = table(bed.folder / "cached" / "raw_visits.arrows")
    assert visits["departure_ns"].null_count == 0
    seen = Counter(zip(visits["label"].to_pylist(), visits["status"].to_pylist(), strict=True))
    of = {label: sum(seen[each] for each in seen if each[0] == label) for label, _ in seen}
    mine = {
        "cmd_get": of["get"] + of["getkq"],
        "get_hits": seen["get", 0] + seen["getkq", 0],
        "get_misses": seen["get", 1] + seen["getkq", 1],
        "cmd_set": of["set"] + of["setq"],
        "delete_hits": seen["delete", 0],
        "delete_misses": seen["delete", 1],
        "incr_misses": seen["incr", 1],
        "touch_hits": seen["touch", 0],
        "touch_misses": seen["touch", 1],
    }
    figure(f"memcached: {mine}, {summary}")
    assert mine["cmd_get"] + mine["cmd_set"] >= 100 * 3 * 50
    for name, count in mine.items():
        assert abs(count - grown[name]) <= MOST_MISSED * grown[name], (name, count, grown[name])


def test_visits_are_as_many_as_redis_counts_commands(bed: CachesBed) -> None:
    load = ["redis-benchmark", "-h", str(STORE["address"]), "-p", str(STORE["port"]), "-q"]
    load += ["-t", "set,get,incr,lpush,hset,mset,lrange_100", "-r", "1000"]
    with bed.capturing("stored") as summary:
        before = bed.commands()
        bed.run([*load, "-n", "4000", "-c", "16", "-P", "16"])
        bed.run([*load, "-n", "1000", "-c", "8", "-d", "3000"])
        with Resp(bed.connect(STORE)) as link:
            for _ in range(200):
                for words in (("MULTI",), ("INCR", "n"), ("GET", "n"), ("EXEC",)):
                    link.ask(*words)
        after = bed.commands()
    assert summary["drops"] == 0
    visits = table(bed.folder / "stored" / "raw_visits.arrows")
    assert visits["departure_ns"].null_count == 0
    seen = Counter(label.lower().replace(" ", "|") for label in visits["label"].to_pylist())
    grown = {name: after[name] - before.get(name, 0) for name in after}
    # Of the two questions the first is counted once it is answered, the second after that.
    grown["info"] = seen["info"]
    figure(f"Redis: {sum(seen.values())} visits of {sum(grown.values())} commands, {summary}")
    assert sum(grown.values()) > 30_000
    assert {name for name, count in grown.items() if count} == seen.keys()
    missed = sum(abs(seen[name] - count) for name, count in grown.items())
    assert missed <= MOST_MISSED * sum(grown.values()), (seen, grown)


def test_what_is_pushed_is_no_visit(bed: CachesBed) -> None:
    with (
        bed.capturing("pushed", messages=True) as summary,
        Resp(bed.connect(STORE)) as publisher,
        bed.connect(STORE) as subscriber,
    ):
        subscriber.sendall(array(b"SUBSCRIBE", b"news"))
        until(subscriber, b":1\r\n")
        for _ in range(100):
            publisher.ask("PUBLISH", "news", "it")
        subscriber.sendall(array(b"UNSUBSCRIBE", b"news"))
        until(subscriber, b":0\r\n")
    assert summary["drops"] == 0
    visits = table(bed.folder / "pushed" / "raw_visits.arrows")
    assert visits["departure_ns"].null_count == 0
    labels = Counter(visits["label"].to_pylist())
    assert labels == {"SUBSCRIBE": 1, "PUBLISH": 100, "UNSUBSCRIBE": 1}
    sent = [each for each in messages(bed.folder / "pushed") if each["kind"] == "array"]
    assert len(sent) == 102


TIMEOUT_S = 0.15
PACE_NS = 100_000_000
"""Redis looks so often whose time is over, unless its `hz` says otherwise."""
WAITS = {
    "BLMOVE": "none other LEFT RIGHT 0.15",
    "BLMPOP": "0.15 1 none LEFT",
    "BLPOP": "none other 0.15",
    "BRPOP": "none 0.15",
    "BRPOPLPUSH": "none other 0.15",
    "BZMPOP": "0.15 1 none MIN",
    "BZPOPMAX": "none 0.15",
    "BZPOPMIN": "none 0.15",
    "WAIT": "1 150",
    "XREAD": "COUNT 1 BLOCK 150 STREAMS stream $",
    "XREADGROUP": "GROUP group me BLOCK 150 STREAMS stream >",
}


def test_what_clients_would_wait_is_known_of_all_commands_that_redis_calls_blocking(
    bed: CachesBed,
) -> None:
    with bed.capturing("waiting") as summary, Resp(bed.connect(STORE)) as link:
        commands = link.ask("COMMAND")
        link.ask("XGROUP", "CREATE", "stream", "group", "$", "MKSTREAM")
        for name, rest in WAITS.items():
            assert link.ask(name, *rest.split()) in (None, 0)
        for words in ("SET none 0.15", "XREAD STREAMS stream $", "BLPOP none 0.15"):
            with suppress(RespError):  # of the last: it is no list
                link.ask(*words.split())
    assert summary["drops"] == 0
    assert isinstance(commands, list)
    told = [each for each in commands if isinstance(each, list)]
    blocking = {str(name).upper() for name, _, flags, *_ in told if "blocking" in (flags or ())}
    assert len(blocking) >= 10
    assert blocking <= WAITS.keys()
    visits = table(bed.folder / "waiting" / "raw_visits.arrows").to_pylist()
    waited = [each for each in visits if each["may_wait_ns"] is not None]
    assert [each["label"] for each in waited] == [*WAITS, "BLPOP"]
    took = sorted(each["reply_start_ns"] - each["request_end_ns"] for each in waited)
    figure(f"waits of {TIMEOUT_S} s took {took[0] / 1e9:.3f} to {took[-1] / 1e9:.3f} s")
    may_wait = round(TIMEOUT_S * 1e9) + PACE_NS
    assert {each["may_wait_ns"] for each in waited} == {may_wait}
    # A busy machine is late with some.
    assert took[len(took) // 2] < may_wait
