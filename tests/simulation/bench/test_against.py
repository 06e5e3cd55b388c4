"""Another scheduler's command: how it is called, what is read of it, and what is refused."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from kubeclassic.api.record import plain
from kubeclassic.simulation.bench.against import Opponent, OpponentError, as_file
from kubeclassic.simulation.bench.bench import time_once
from kubeclassic.simulation.bench.cases import CaseSize, read_case
from tests.support.refusals import refusal_text


def opponent(command: str) -> Opponent:
    """The opponent that *command* is, on a case at p.yaml."""
    return Opponent(command, "p.yaml", "A/5Nodes", "1.27")


def printing(*lines: str, status: int = 0) -> str:
    """A command that prints *lines* and ends with *status*."""
    text = "\n".join(lines)
    program = f"import sys; print({text!r}); sys.exit({status})" if lines else f"raise SystemExit({status})"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("go run", ["go", "run", "p.yaml"]),
        ("go run '{case}' -v", ["go", "run", "p.yaml", "-v"]),
        ("go --in={case} {workload} v{release}", ["go", "--in=p.yaml", "A/5Nodes", "v1.27"]),
        ("go {workload}", ["go", "A/5Nodes", "p.yaml"]),
    ],
)
def test_how_it_is_called(command: str, arguments: list[str]) -> None:
    """What stands in braces is filled in; without {case} the path is the last argument."""
    assert opponent(command).arguments() == arguments


def test_what_it_says() -> None:
    """The line about the same case counts, else the last one; other lines do not matter."""
    found = opponent(printing("begin", '{"case": "A/5Nodes", "pods_per_s": 50, "scheduled": 7}', '{"pods_per_s": 70}'))
    found.run()
    found.run()
    assert plain(found.beside([100.0, 200.0, 110.0])) == {
        "command": found.command, "runs": [50.0, 50.0], "pods_per_s": 50.0, "ratio": 2.2, "scheduled": 7,
    }  # fmt: skip
    other = opponent(printing('{"case": "B", "pods_per_s": 50}', '{"case": "C", "pods_per_s": 20}'))
    other.run()
    assert plain(other.beside([10.0])) == {"command": other.command, "runs": [20.0], "pods_per_s": 20.0, "ratio": 0.5}


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", "--against: got an empty text, wanted a command"),
        ("go 'run", "no closing quotation"),
        ("no-such-program-here", "--against: no-such-program-here: no such file or directory"),
        (printing("a", status=3), "ended with status 3, wanted 0"),
        (printing(), 'got "", wanted a line of JSON with pods_per_s'),
        (printing("fast"), 'got "fast", wanted a line of JSON with pods_per_s'),
        (printing("{}"), "pods_per_s: got null, wanted a number above 0"),
        (printing('{"pods_per_s": 0}'), "pods_per_s: got 0, wanted a number above 0"),
        (printing('{"pods_per_s": true}'), "pods_per_s: got true, wanted a number above 0"),
        (printing('{"pods_per_s": NaN}'), "pods_per_s: got NaN, wanted a number above 0"),
    ],
)
def test_what_is_refused(command: str, says: str) -> None:
    """A command that cannot be run, fails or does not say how fast it was is an error."""
    assert says in refusal_text(OpponentError, lambda: opponent(command).run())


def test_a_generated_case_is_written(tmp_path: Path) -> None:
    """The other scheduler gets a generated case as a file, which holds the same, and a file that there is as it is."""
    case = CaseSize(nodes=5, existing=3, pods=4).case("1.16")
    with as_file(case, None) as place:
        again = read_case(place, "1.12")
    assert not place.exists()
    assert again == json.loads(json.dumps({name: list(value) if name in ("objects", "pending") else value for name, value in case.items()}))
    assert time_once(again, {}).hosts == time_once(case, {}).hosts
    with as_file(case, tmp_path / "given.jsonl") as given:
        assert given == tmp_path / "given.jsonl"
