"""Schedulers of different releases, gates and policies in one process do not touch each other."""

import random

from kubeclassic.core.run import Run
from kubeclassic.simulation.conform import build, differences, play, read_answers, read_cases
from tests.conftest import ROOT
from tests.support.examples import ENDS

FEW = ROOT / "tests" / "conformance"
FAMILIES = ("policy", "provider", "mixed", "preemption", "nodeconditions", "profile")


def cases():
    """(case, answer) of some families of releases of each kind."""
    found = []
    for release in ENDS:
        for family in (name for name in FAMILIES if (FEW / release / f"{name}.cases.jsonl.gz").exists()):
            asked = read_cases(FEW / release / f"{family}.cases.jsonl.gz")
            told = read_answers(FEW / release / f"{family}.answers.jsonl.gz")
            pairs = zip(asked, told, strict=True)
            found += [(case, answer) for case, answer in pairs if "error" not in answer][:2]
    return found


def test_interleaved_schedulers_answer_as_if_alone():
    """All schedulers are built first, in shuffled order, and then take turns cycle by cycle: every answer
    stays the original's."""
    pairs = cases()
    random.Random(7).shuffle(pairs)
    running = []
    for case, answer in pairs:
        running.append((case, answer, play(Run(build(case, {})), case), []))
    waiting = list(running)
    while waiting:
        still = []
        for item in waiting:
            cycle = next(item[2], None)
            if cycle is not None:
                item[3].append(cycle)
                still.append(item)
        waiting = still
    assert len(running) > 30
    different = {
        case["name"]: found
        for case, answer, _, cycles in running
        if (found := differences({"cycles": cycles}, answer))
    }
    assert different == {}
