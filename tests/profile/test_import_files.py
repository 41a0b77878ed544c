"""Files and folders that `tierlab import` is given: whole, cut, compressed, of another time; and
what it says of them, on the terminal, in the manifest and in the report.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

import tierlab
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.exchange.perf_data import read_perf
from tierlab.exchange.perf_script import Damage, Sample
from tierlab.observe.profiler import OWNERS, RECORDING, bring_in_profile
from tierlab.report import build
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import read

HEADER = (
    "# reference time: 2026-09-21 14:13:20.000000 = 1790000000.000000 (TOD)"
    " = 1000.000000000 (monotonic)\n#\n"
)
"""A run that is made begins at this time of day; its runtime from second 1005 to 1065."""
STACK = "\t  40beef main+0x10 (/srv/app/server)\n\t  40bef0 start+0x1 (/srv/app/server)\n\n"
IN_RUNTIME = "2026-09-21T14:13:30"
WORK = "import time\nwhile time.process_time() < 0.2: pass"


def text(*seconds: float, header: str = HEADER) -> str:
    heads = (f"app 40/40 [001] {second:.9f}: 1000 cycles: \n{STACK}" for second in seconds)
    return header + "".join(heads)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    made_run.manifest().write(folder)
    return folder


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording that several threads have written."""
    folder = tmp_path_factory.mktemp("perf") / "threads.data"
    options = ["--threads", "-a", "-g", "-F", "499", "-k", "CLOCK_MONOTONIC", "-o", str(folder)]
    argv = ["perf", "record", "-q", *options, "--", sys.executable, "-c", WORK]
    subprocess.run(argv, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("perf") / "perf.data"
    argv = ["perf", "record", "-q", "-F", "499", "-e", "cpu-clock", "-o", str(file)]
    subprocess.run([*argv, "--", sys.executable, "-c", WORK], check=True, capture_output=True)
    return file


def imported(*arguments: object, kind: str = "perf") -> str:
    """Return what an import says."""
    result = CliRunner().invoke(app, ["import", kind, *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def count(run: Path) -> int:
    with closing(tierlab.open(run).connect()) as db:
        ((found,),) = db.execute("SELECT count(*) FROM counters").fetchall()
    return int(found)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("node 31912 cpu-clock: \n" + STACK, "has no times: line 1 is 'node 31912 cpu-clock:'"),
        ("node 31912/31912 [000] 25000 cycles:u: \n" + STACK, "has no times"),
        ("    node 31912 \n" + STACK, "has no times"),
        ("node 31912 cpu-clock: 40beef main (/x)\n" + STACK, "has no times"),
        ("node 31912 1001.000000: 40beef main (/x)\n", "process, time and event"),
        ("java;main;work_0 1\njava;main;work 2\n", "has folded stacks, which have no times"),
        ("# Samples: 3 of event 'cycles'\n# Overhead  Command\n 90.0%  app\n", "`perf report`"),
        ("", "it is empty"),
        ("nothing of perf's\n", "it begins with 'nothing of perf's'"),
    ],
)
def test_text_that_is_not_what_is_needed_is_refused_with_what_it_is(
    content: str, sentence: str, run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "perf.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=sentence) as refused:
        imported(file, "--into", run, "--first-at", IN_RUNTIME)
    assert "perf script --header --ns" in str(refused.value)
    assert not (run / "counters.parquet").exists()


@pytest.mark.parametrize(
    "pack",
    [
        *(gzip.compress, bz2.compress, lzma.compress),
        lambda plain: plain.decode().encode("utf-16"),
        lambda plain: b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
    ],
    ids=["gzip", "bzip2", "xz", "UTF-16", "BOM and CRLF"],
)
def test_text_that_is_compressed_or_of_another_editor_is_read(
    pack: Callable[[bytes], bytes], run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "perf.txt"
    file.write_bytes(pack(text(1010, 1011).encode()))
    assert imported(file, "--into", run) == f"2 samples: tierlab profile {run}\n"


def test_a_cut_text_is_taken_to_its_cut_and_said(run: Path, tmp_path: Path) -> None:
    file, whole = tmp_path / "perf.txt", text(1010, 1011, 1012)
    file.write_text(whole[: whole.rindex("(/srv") - 8])
    said = imported(file, "--into", run)
    assert "perf.txt ends within a line, as a file that was cut: the samples before" in said
    assert "3 samples" in said
    (note,) = read(run).inputs
    assert note in said

    packed = gzip.compress(text(*(1010 + each / 500 for each in range(5000))).encode())
    file.write_bytes(packed[: len(packed) * 2 // 3])
    assert "cannot be read to its end" in imported(file, "--into", run)
    assert 1000 < count(run) < 5000
    file.write_bytes(packed[:20])
    with pytest.raises(UserError, match="copy it again"):
        imported(file, "--into", run)


def test_a_folder_of_several_threads_is_read(threads: Path, run: Path, tmp_path: Path) -> None:
    script = ["perf", "script", "-i", str(threads), "-G", "-F", "comm,time,event"]
    printed = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    assert (threads / "data.0").stat().st_size > 0

    said = imported(threads, "--into", run, "--first-at", IN_RUNTIME)

    assert count(run) == len(printed.splitlines()) > 10
    assert "samples: tierlab profile" in said
    with pytest.raises(UserError, match=r"one file of a recording by several threads: name its f"):
        imported(threads / "data", "--into", run)
    lacking = tmp_path / "lacking.data"
    shutil.copytree(threads, lacking)
    (lacking / "data.0").unlink()
    with pytest.raises(UserError, match=r"lacks data.0 of its \d+ files"):
        imported(lacking, "--into", run)
    with pytest.raises(UserError, match="none that perf has written"):
        imported(tmp_path, "--into", run)


def test_a_recording_may_be_compressed(recording: Path, run: Path, tmp_path: Path) -> None:
    imported(recording, "--into", run, "--first-at", IN_RUNTIME)
    expected = count(run)
    file = tmp_path / "perf.data.gz"
    file.write_bytes(gzip.compress(recording.read_bytes()))

    imported(file, "--into", run, "--first-at", IN_RUNTIME)

    assert count(run) == expected > 10
    file.write_bytes(file.read_bytes()[:-500])
    with pytest.raises(UserError, match="compressed recording that is cut or damaged"):
        imported(file, "--into", run)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.98])
def test_a_cut_recording_is_refused_as_one(
    share: float, recording: Path, run: Path, tmp_path: Path
) -> None:
    """Of one that lacks a little at its end perf says nothing, but that it has no time of day."""
    file, whole = tmp_path / "perf.data", recording.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(UserError, match=r"is cut: it has .* bytes, and its header promises"):
        imported(file, "--into", run)


def test_a_recording_whose_perf_was_killed_is_refused_as_one(
    recording: Path, run: Path, tmp_path: Path
) -> None:
    file, content = tmp_path / "perf.data", bytearray(recording.read_bytes())
    content[48:56] = bytes(8)
    file.write_bytes(content)
    with pytest.raises(UserError, match="has no end: perf was killed while it recorded"):
        imported(file, "--into", run)


def test_a_cut_stream_of_perf_is_taken_to_its_cut(tmp_path: Path) -> None:
    argv = ["perf", "record", "-q", "-F", "499", "-e", "cpu-clock", "-o", "-", "--"]
    made = subprocess.run([*argv, sys.executable, "-c", WORK], check=True, capture_output=True)
    file = tmp_path / "perf.data"
    file.write_bytes(made.stdout[:-20])
    found = list(read_perf(file))
    assert sum(isinstance(each, Sample) for each in found) > 10
    assert sum(isinstance(each, Damage) for each in found) == 1


@pytest.mark.parametrize(
    ("seconds", "where", "spans"),
    [
        ((5000.0, 5001.5), "none of its 2 samples lies in the run,", "the run ran from"),
        ((1001.0, 1001.5), "none of its 2 samples lies in the runtime,", "had its runtime from"),
        ((1004.0, 1010.0), "1 of its 2 samples lie outside of the runtime,", "had its runtime"),
    ],
)
def test_times_that_do_not_fit_the_run_are_said_with_both_spans(
    seconds: tuple[float, ...], where: str, spans: str, run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "perf.txt"
    file.write_text(text(*seconds))
    said = imported(file, "--into", run)
    assert where in said
    assert "it was recorded from 2026-09-21T1" in said
    assert f"{spans} " in said
    if where.startswith("none"):
        assert "--first-at" in said
        with pytest.raises(UserError, match="has 2 samples, and none in its runtime: import them"):
            app(["profile", str(run)], standalone_mode=False)
    # Said in its place when it is imported anew.
    file.write_text(text(1010))
    imported(file, "--into", run)
    assert read(run).inputs == []


def test_first_at_overrules_the_clock_of_the_file(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "perf.txt"
    file.write_text(text(5000, 5001))
    said = imported(file, "--into", run, "--first-at", f"{IN_RUNTIME}.25")
    assert "first sample was taken at 2026-09-21T15:20:00.000 UTC by its own clock" in said
    with closing(tierlab.open(run).connect()) as db:
        times = db.execute("SELECT t_ns FROM counters ORDER BY t_ns").fetchall()
    assert times == [(1790000010_250_000_000,), (1790000011_250_000_000,)]


def test_what_was_not_understood_is_in_the_manifest_and_in_the_report(
    run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "perf.txt"
    file.write_text(text(*range(1010, 1030)) + "app 1 form:\n" + STACK)
    said = imported(file, "--into", run)
    (note,) = read(run).inputs
    assert note in said
    assert "1 of 21 samples were not understood and are left out, such as line 83" in note
    assert read(run).observation.summaries["import perf.txt"] == {
        "samples": 20,
        "lost": 0,
        "samples_not_understood": 1,
        "lines_not_understood": 0,
    }
    build(run)
    assert note in tierlab.open(run).summary.caveats


def test_what_was_not_understood_of_a_trials_own_profile_is_in_its_manifest(run: Path) -> None:
    folder, manifest = RunFolder(run), made_run.manifest()
    folder.streams.mkdir(parents=True, exist_ok=True)
    unread = "app 1 form:\n" + STACK
    (folder.streams / RECORDING).write_text(text(*range(1010, 1030)) + unread)
    (folder.streams / OWNERS).write_text("{}")
    bring_in_profile(folder, manifest)
    (note,) = manifest.inputs
    assert note.startswith("the profile by perf: 1 of 21 samples were not understood")


TABLE = """CPU: P4, speed 2992.78 MHz (estimated)
Counted CYCLES events (time) with a unit mask of 0x01 (mandatory) count 1000
samples  %        image name               app name                 symbol name
"""


def test_a_table_of_oprofiles_says_what_of_it_was_not_understood(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "op.txt"
    rows = [f"{each}  1.0000   /opt/my app/x   my app   f(int, {each})" for each in range(1, 11)]
    file.write_text(TABLE + "\n".join([*rows, "a line", ""]))
    said = imported(file, "--into", run, kind="opreport")
    assert "1 of 11 lines of its table were not understood" in said
    with closing(tierlab.open(run).connect()) as db:
        found = db.execute('SELECT DISTINCT "binary" FROM counters').fetchall()
    assert found == [("/opt/my app/x",)]
    file.write_text(TABLE + "\n".join([*rows, *["  0001 12 3"] * 2]))
    with pytest.raises(UserError, match="2 of 12 lines of its table are not understood"):
        imported(file, "--into", run, kind="opreport")


OUTCOMES = {
    "imported": text(1010),
    "refused": "nothing of perf's\n",
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_no_verb_that_has_used_duckdb_says_more_than_its_own_words(
    outcome: str, run: Path, tmp_path: Path
) -> None:
    """DuckDB's binding reported its objects as leaked, over 48 lines at each import: they were
    kept from being freed by `gc.freeze`.
    """
    file = tmp_path / "perf.txt"
    file.write_text(OUTCOMES[outcome])
    argv = [sys.executable, "-c", "from tierlab.cli.main import main; main()", "import", "perf"]
    ended = subprocess.run(
        [*argv, str(file), "--into", str(run)], check=False, capture_output=True, text=True
    )
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert ended.stderr.startswith("1 samples" if outcome == "imported" else "tierlab: ")


@pytest.mark.parametrize("error", ["UserError('x')", "KeyboardInterrupt", "BrokenPipeError"])
def test_an_error_within_a_query_leaves_nothing_of_duckdbs_behind(error: str) -> None:
    code = f"""
import tierlab.cli.import_ as verb
from tierlab.cli import main, verbs
from tierlab.errors import UserError
real = verbs._module
def module(name):
    found = real(name)
    def complete(run):
        import duckdb
        db = duckdb.connect()
        kept = db.sql("SELECT 1 AS a")
        kept.types
        raise {error}
    found.complete = complete
    return found
verbs._module = module
main.main()
"""
    argv = [sys.executable, "-c", code, "import", "perf", "x", "--into", "y"]
    ended = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert ended.returncode != 0
    assert "nanobind" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1
