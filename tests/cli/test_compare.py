"""`tierlab compare`: groups of run folders, the verdict, the JSON, what cannot be compared."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tierlab.cli.main import app
from tierlab.errors import UserError

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

RUNNER = CliRunner(env={"COLUMNS": "100"})
SECOND_NS = 1_000_000_000
SECONDS = 20


def run_folder(
    folder: Path,
    response_ns: int,
    seconds: int = SECONDS,
    status: int = 200,
    start_s: int = 0,
    **changes: object,
) -> Path:
    """A trial in which 50 requests a second take about so long each."""
    folder.mkdir(parents=True)
    start_ns = start_s * SECOND_NS
    requests = [
        {
            "user": index % 7,
            "session": 0,
            "interaction": "home",
            "request_id": str(index),
            "intended_ns": start_ns + index * SECOND_NS // 50,
            "end_ns": start_ns + index * SECOND_NS // 50 + response_ns + index * 7919 % 1_000_000,
            "status": status,
        }
        for index in range(50 * seconds)
    ]
    phase = {"name": "runtime", "start_ns": start_ns, "end_ns": start_ns + seconds * SECOND_NS}
    made_run.write_tables(folder, {"requests": requests})
    made_run.manifest(**{"phases": [phase], "servers": {}, **changes}).write(folder)
    return folder


def test_a_slower_trial_is_said_to_be(tmp_path: Path) -> None:
    """What alike trials differ by is seen in others in the same folder of runs."""
    first = run_folder(tmp_path / "a/001", 4_000_000)
    second = run_folder(tmp_path / "b/001", 6_000_000)
    for number in range(1, 7):
        run_folder(tmp_path / f"c/00{number}", 4_000_000 + 20_000 * number)

    result = RUNNER.invoke(app, ["compare", str(first), str(second)])

    assert result.exit_code == 0, result.output
    assert "response time, by page is worse by" in result.stdout
    assert "throughput is" not in result.stdout


@pytest.mark.parametrize(
    "other",
    [
        {"environment": "podman"},
        {"load": {"users": 7}},
        {"host": {"cpu": {"model": "another"}}},
        {"exit": {"state": "failed"}},
        {"plan": {"system": {"front": {"command": "python noisy.py"}}}},
    ],
)
def test_what_varies_otherwise_says_nothing_of_alike_trials(
    tmp_path: Path, other: dict[str, object]
) -> None:
    """Another environment, load, machine or application, or trials that failed."""
    own = {"plan": {"system": {"front": {"command": "node server.js"}}}}
    folders = [str(run_folder(tmp_path / f"{name}/001", 4_000_000, **own)) for name in ("a", "b")]
    for number in (1, 2, 3):
        run_folder(tmp_path / f"c/00{number}", 4_000_000, **other)

    plain = RUNNER.invoke(app, ["compare", *folders]).stdout
    (told,) = RUNNER.invoke(app, ["compare", *folders, "--json"]).stdout.splitlines()

    assert f"Whether {folders[1]} differs from {folders[0]} is not known." in plain
    assert "repeat each trial once at least (factors.repeat = 2)" in plain
    assert {each["verdict"] for each in json.loads(told)["differences"]} == {"not known"}


def test_how_many_repetitions_would_do_is_said(tmp_path: Path) -> None:
    for number, response_ns in enumerate((3_000_000, 4_000_000, 3_500_000), 1):
        run_folder(tmp_path / f"a/00{number}", response_ns)
        run_folder(tmp_path / f"b/00{number}", response_ns + 100_000)

    folders = [str(tmp_path / name) for name in ("a", "b")]
    (told,) = RUNNER.invoke(app, ["compare", *folders, "--json"]).stdout.splitlines()

    by_page = json.loads(told)["differences"][0]
    assert by_page["freedom"] == 4
    assert 3 < by_page["repetitions"] < 200


def test_levels_that_were_run_in_turns_are_compared_as_neighbours(tmp_path: Path) -> None:
    """A machine that gets slower from block to block, by more than one level is than the other."""
    for block in range(5):
        for which in (0, 1):
            run_folder(
                tmp_path / f"x/0{block}{which}",
                round(4_000_000 * 1.2**block * 1.1**which) + 10_000 * (block * 3 % 5),
                start_s=(2 * block + which) * 40,
                factors={"system.app.soft.threads": 50 - which},
            )

    result = RUNNER.invoke(app, ["compare", str(tmp_path / "x")])

    assert "made in turns: 5 pairs of neighbours in time are compared" in result.stdout
    assert "response time, by page is worse by" in result.stdout


def test_an_experiment_s_levels_are_compared_with_the_first(tmp_path: Path) -> None:
    for number, threads, response_ns in (
        (1, 10, 4_000_000),
        (2, 50, 2_000_000),
        (3, 10, 4_000_000),
    ):
        levels = {"system.app.soft.threads": threads}
        run_folder(tmp_path / f"x/00{number}", response_ns, factors=levels)

    result = RUNNER.invoke(app, ["compare", str(tmp_path / "x"), "--json"])

    (only,) = map(json.loads, result.stdout.splitlines())
    assert only["groups"] == ["system.app.soft.threads = 10", "system.app.soft.threads = 50"]
    verdicts = {each["measure"]: each["verdict"] for each in only["differences"]}
    assert verdicts["response time, by page"] == "better"
    assert verdicts["throughput"] == "within noise"


def test_repetitions_show_their_instability(tmp_path: Path) -> None:
    for number in (1, 2):
        run_folder(tmp_path / f"a/00{number}", 4_000_000)
    run_folder(tmp_path / "b/001", 4_000_000)

    said = RUNNER.invoke(app, ["compare", str(tmp_path / "a"), str(tmp_path / "b/001")]).stdout

    assert "all is within noise" in said
    assert "1.00/1" in said


@pytest.mark.parametrize(
    ("levels", "folders", "sentence"),
    [
        ([{}], ["x"], "has one combination of levels; name another run folder"),
        ([{"load.users": 1}, {"load.users": 2}], ["x", "y"], "has trials of 2 combinations"),
        ([], ["x", "y"], "there is no run folder of a trial that came to its end"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    tmp_path: Path, levels: list[dict[str, int]], folders: list[str], sentence: str
) -> None:
    (tmp_path / "x").mkdir()
    for number, factors in enumerate(levels, 1):
        run_folder(tmp_path / f"x/00{number}", 4_000_000, factors=factors)

    result = RUNNER.invoke(app, ["compare", *(str(tmp_path / name) for name in folders)])

    assert isinstance(result.exception, UserError)
    assert sentence in str(result.exception)


@pytest.mark.parametrize(
    ("trial", "sentence"),
    [
        ({"status": 500}, "not one request ended well"),
        ({"seconds": 3}, r"was measured for 3.0 s, and a comparison needs 5 s"),
    ],
)
def test_a_trial_that_shows_nothing_is_one_sentence(
    tmp_path: Path, trial: dict[str, int], sentence: str
) -> None:
    good = run_folder(tmp_path / "a/001", 4_000_000)
    poor = run_folder(tmp_path / "b/001", 4_000_000, **trial)

    result = RUNNER.invoke(app, ["compare", str(good), str(poor)])

    assert isinstance(result.exception, UserError)
    assert sentence in str(result.exception)


def test_a_trial_that_did_not_come_to_its_end_is_not_compared(tmp_path: Path) -> None:
    """One that was killed was, ramp-up and all, without a word."""
    good = run_folder(tmp_path / "a/001", 4_000_000)
    killed = run_folder(tmp_path / "b/001", 4_000_000, exit={"state": "failed"}, phases=[])

    result = RUNNER.invoke(app, ["compare", str(good), str(killed)])

    assert isinstance(result.exception, UserError)
    assert f"{killed}: did not come to its end" in str(result.exception)


def shared(folder: Path, users: dict[str, int], home_ms: dict[str, int]) -> Path:
    """A trial of two systems whose users each ask for `home` every second."""
    made = run_folder(folder, 4_000_000)
    rows = [
        {"user": user, "session": 0, "interaction": "home", "request_id": f"{name}{second}-{user}"}
        | {"intended_ns": second * SECOND_NS + user * 1_000_000, "status": 200, "system": name}
        | {"end_ns": second * SECOND_NS + user * 1_000_000 + home_ms[name] * 1_000_000}
        for name, count in users.items()
        for second in range(SECONDS - 1)
        for user in range(count)
    ]
    spent = {"kind": "driver_lag", "subject": "driver", "detail": json.dumps({"cpu_ns": 10**7})}
    lags = [{"t_ns": n * SECOND_NS, "duration_ns": SECOND_NS} | spent for n in range(SECONDS)]
    made_run.write_tables(made, {"requests": rows, "events": lags})
    systems = {name: {"workload": "rubis", "load": {"users": n}} for name, n in users.items()}
    whole = {"load": {"users": sum(users.values())}, "systems": systems, "servers": {}}
    phase = {"name": "runtime", "start_ns": 0, "end_ns": SECONDS * SECOND_NS}
    made_run.manifest(**whole, phases=[phase]).write(made)
    return made


def test_systems_that_share_pages_and_users_are_compared_each_with_itself(tmp_path: Path) -> None:
    """Users moved from a quick system to a slow one: by page nothing is slower, and what the driver
    did is another load's, though all users together are as many.
    """
    home_ms = {"quick": 10, "slow": 100}
    for number in range(1, 5):
        shared(tmp_path / f"a/00{number}", {"quick": 60, "slow": 40}, home_ms)
        shared(tmp_path / f"b/00{number}", {"quick": 40, "slow": 60}, home_ms)

    folders = [str(tmp_path / name) for name in ("a", "b")]
    (told,) = RUNNER.invoke(app, ["compare", *folders, "--json"]).stdout.splitlines()

    verdicts = {each["measure"]: each["verdict"] for each in json.loads(told)["differences"]}
    assert verdicts["response time, by page"] == "within noise"
    assert not any("per driver CPU" in measure for measure in verdicts)


def test_trials_that_did_not_come_to_their_end_are_left_out(tmp_path: Path) -> None:
    for number, state in ((1, "done"), (2, "failed")):
        levels = {"load.users": number}
        run_folder(tmp_path / f"x/00{number}", 4_000_000, factors=levels, exit={"state": state})

    result = RUNNER.invoke(app, ["compare", str(tmp_path / "x")])

    assert "has one combination of levels" in str(result.exception)


def host(kernel: str) -> dict[str, object]:
    """A manifest's, as far as the ground is told by it."""
    return {"kernel": {"release": kernel}, "cpu": {"model": "X", "pus": 2, "governor": None}}


def test_emulated_processors_are_told_from_a_machine_s_own_beside_the_verdict(
    tmp_path: Path,
) -> None:
    for number in (1, 2):
        run_folder(tmp_path / f"a/00{number}", 4_000_000 + number, environment="native")
    run_folder(tmp_path / "b/001", 90_000_000, environment="qemu", accelerator="tcg")
    folders = [str(tmp_path / name) for name in ("a", "b")]
    sentence = (
        "Not on the same ground, which may be all the difference:"
        " processors a machine's own (first), emulated (second)."
    )

    said = RUNNER.invoke(app, ["compare", *folders]).stdout
    found = json.loads(RUNNER.invoke(app, ["compare", *folders, "--json"]).stdout)

    lines = said.splitlines()
    assert "response time, by page is worse" in lines[lines.index(sentence) - 1]
    assert found["warning"] == sentence
    assert found["ground"] == [
        {
            "trait": "processors",
            "groups": {"a machine's own": ["first"], "emulated": ["second"]},
        }
    ]


def test_guests_by_kvm_run_on_the_machine_s_own_processors(tmp_path: Path) -> None:
    first = run_folder(tmp_path / "a/001", 4_000_000, host=host("6.1"))
    second = run_folder(
        tmp_path / "b/001", 4_000_000, host=host("6.1"), environment="qemu", accelerator="kvm"
    )

    result = RUNNER.invoke(app, ["compare", str(first), str(second), "--json"])

    found = json.loads(result.stdout)
    assert found["ground"] == []
    assert found["warning"] is None


def test_a_repetition_on_another_kernel_is_named_and_what_is_not_told_is_not(
    tmp_path: Path,
) -> None:
    for number, kernel in ((1, "6.1"), (2, "6.18")):
        run_folder(tmp_path / f"a/00{number}", 4_000_000, host=host(kernel))
    run_folder(tmp_path / "b/001", 4_000_000, host={"kernel": {"release": "6.18"}})

    said = RUNNER.invoke(app, ["compare", str(tmp_path / "a"), str(tmp_path / "b/001")]).stdout

    assert "difference: kernel 6.1 (first), 6.18 (first, second)." in said
