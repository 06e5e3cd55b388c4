"""The comparison with the original's answers: what is the same counts as identical, and whatever is not is found."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.simulation.conform import check_family, differences, find_families, needs, read_lines
from tests.conftest import ROOT

Json = dict[str, Any]
FEW = ROOT / "tests" / "conformance" / "1.16"


def changed_host(cycle: Json) -> None:
    """Another node."""
    cycle["host"] = "elsewhere"


def swapped_feasible(cycle: Json) -> None:
    """The feasible nodes in another order."""
    cycle["feasible"].reverse()


def swapped_reasons(cycle: Json) -> None:
    """The reasons of one node in another order."""
    next(reasons for reasons in cycle["failed"].values() if len(set(reasons)) > 1).reverse()


def changed_score(cycle: Json) -> None:
    """One score one more."""
    scores = next(iter(cycle["priorities"].values()))
    scores[next(iter(scores))] += 1


def changed_error(cycle: Json) -> None:
    """An error's text one character longer."""
    cycle["error"] += " "


ALTERATIONS: dict[str, tuple[Callable[[Json], None], Callable[[Json], bool]]] = {
    "host": (changed_host, lambda c: c["host"] is not None),
    "feasible": (swapped_feasible, lambda c: len(set(c["feasible"])) > 1),
    "reasons": (swapped_reasons, lambda c: any(len(set(r)) > 1 for r in c["failed"].values())),
    "score": (changed_score, lambda c: bool(c["priorities"])),
    "error": (changed_error, lambda c: c["error"] is not None),
}
"""What is altered -> how, and in which cycles it can be."""


def family_with(tmp_path: Path, alter: Callable[[Json], None], fits: Callable[[Json], bool]) -> str:
    """A copy of the resources family of 1.16 with one altered cycle; answers the name of its case."""
    answers = list(read_lines(FEW / "resources.answers.jsonl.gz"))
    name, cycle = next((answer["name"], cycle) for answer in answers for cycle in answer["cycles"] if fits(cycle))
    alter(cycle)
    (tmp_path / "1.16").mkdir()
    (tmp_path / "1.16" / "resources.cases.jsonl.gz").write_bytes((FEW / "resources.cases.jsonl.gz").read_bytes())
    with gzip.open(tmp_path / "1.16" / "resources.answers.jsonl.gz", "wt") as out:
        out.write("".join(json.dumps(answer) + "\n" for answer in answers))
    return str(name)


class TestCheckFamily:
    @pytest.mark.parametrize("what", ALTERATIONS)
    def test_an_altered_answer_is_reported_and_no_other(self, tmp_path: Path, what: str) -> None:
        """One field of one cycle of the answers is altered: exactly that case differs."""
        name = family_with(tmp_path, *ALTERATIONS[what])
        (family,) = find_families([tmp_path])
        assert list(check_family(family).different) == [name]

    def test_a_missing_answer_is_a_difference(self, tmp_path: Path) -> None:
        """A case without an answer is different, never identical."""
        answers = list(read_lines(FEW / "taints.answers.jsonl.gz"))
        (tmp_path / "taints.cases.jsonl.gz").write_bytes((FEW / "taints.cases.jsonl.gz").read_bytes())
        (tmp_path / "taints.answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers[1:]))
        (family,) = find_families([tmp_path])
        report = check_family(family)
        assert list(report.different) == [answers[0]["name"]]
        assert report.identical == report.cases - 1

    def test_what_is_left_out_is_not_identical(self) -> None:
        """Cases that need what is left out are counted as left out."""
        (family,) = (f for f in find_families([FEW]) if f.name == "policy")
        report = check_family(family, ["policy"])
        assert (report.identical, report.left_out) == (0, report.cases)


class TestDifferences:
    def test_a_cycle_too_many_is_a_difference(self) -> None:
        """An answer with one more cycle differs, though all the others agree."""
        cycle = {"pod": "default/a", "host": "n", "error": None, "feasible": ["n"], "failed": {}, "preemption": None}
        assert differences({"cycles": [cycle]}, {"cycles": [cycle, copy.deepcopy(cycle)]}) == ["cycles: got 1, wanted 2"]

    def test_the_nominations_to_clear_are_a_set(self) -> None:
        """The original's order of them hangs on its queue, which cases do not run; who is among them does count."""
        plans = ({"node": "n", "clearNominations": pods} for pods in (["a", "b"], ["b", "a"], ["a"]))
        one, other, fewer = ({"cycles": [{"preemption": plan}]} for plan in plans)
        assert differences(one, other) == []
        assert differences(fewer, other) == ['cycles[0] (None).preemption[clearNominations]: got ["a"], wanted ["a", "b"]']

    def test_how_a_refusal_begins_does_not_count(self) -> None:
        """The three beginnings of a refusal are stripped, the rest is compared."""
        assert differences({"error": "x"}, {"error": "couldn't create scheduler from policy: x"}) == []
        assert differences({"error": "x"}, {"error": "fatal: y"}) != []


class TestNeeds:
    def test_a_nomination_needs_preemption(self) -> None:
        """A case with nominated pods needs preemption, be there a plan in its answer or not."""
        assert needs({"nominated": {"default/a": "n"}, "config": {"policy": None}, "pending": []}, {"cycles": []}) == {"preemption"}

    def test_an_event_needs_events(self) -> None:
        """A case whose pods are mixed with events needs events."""
        assert needs({"pending": [{"event": "add"}], "config": {"policy": {}}}, None) == {"events", "policy"}
