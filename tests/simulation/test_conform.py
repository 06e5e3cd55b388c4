"""The comparison with the original's answers: what is the same counts as identical, and whatever is not is
found."""

import copy
import gzip
import json

import pytest
import yaml

import kubeclassic
from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.conform import (
    Family,
    check_family,
    differences,
    find_families,
    read_answers,
    read_cases,
)
from tests.conftest import ROOT
from tests.support.program import ran
from tests.support.refusals import refusal_text

FEW = ROOT / "tests" / "conformance" / "1.16"


def changed_host(cycle):
    """Another node."""
    cycle["host"] = "elsewhere"


def swapped_feasible(cycle):
    """The feasible nodes in another order."""
    cycle["feasible"].reverse()


def swapped_reasons(cycle):
    """The reasons of one node in another order."""
    next(reasons for reasons in cycle["failed"].values() if len(set(reasons)) > 1).reverse()


def changed_score(cycle):
    """One score one more."""
    scores = next(iter(cycle["priorities"].values()))
    scores[next(iter(scores))] += 1


def changed_error(cycle):
    """An error's text one character longer."""
    cycle["error"] += " "


ALTERATIONS = {
    "host": (changed_host, lambda c: c["host"] is not None),
    "feasible": (swapped_feasible, lambda c: len(set(c["feasible"])) > 1),
    "reasons": (swapped_reasons, lambda c: any(len(set(r)) > 1 for r in c["failed"].values())),
    "score": (changed_score, lambda c: bool(c["priorities"])),
    "error": (changed_error, lambda c: c["error"] is not None),
}
"""Altered field -> the function that alters it, and the cycles in which it can be."""


def family_with(tmp_path, alter, fits):
    """A copy of the resources family of 1.16 with one altered cycle; answers the name of its case."""
    answers = list(read_answers(FEW / "resources.answers.jsonl.gz"))
    name, cycle = next(
        (answer["name"], cycle) for answer in answers for cycle in answer["cycles"] if fits(cycle)
    )
    alter(cycle)
    (tmp_path / "1.16").mkdir()
    (tmp_path / "1.16" / "resources.cases.jsonl.gz").write_bytes(
        (FEW / "resources.cases.jsonl.gz").read_bytes()
    )
    with gzip.open(tmp_path / "1.16" / "resources.answers.jsonl.gz", "wt") as out:
        out.write("".join(json.dumps(answer) + "\n" for answer in answers))
    return str(name)


# --- Check family -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ALTERATIONS)
def test_an_altered_answer_is_reported_and_no_other(tmp_path, what):
    """One field of one cycle of the answers is altered: exactly that case differs."""
    name = family_with(tmp_path, *ALTERATIONS[what])
    (family,) = find_families([tmp_path])
    assert list(check_family(family).different) == [name]


def test_a_missing_answer_is_a_difference(tmp_path):
    """A case without an answer is different, never identical."""
    answers = list(read_answers(FEW / "taints.answers.jsonl.gz"))
    (tmp_path / "taints.cases.jsonl.gz").write_bytes((FEW / "taints.cases.jsonl.gz").read_bytes())
    (tmp_path / "taints.answers.jsonl").write_text(
        "".join(json.dumps(answer) + "\n" for answer in answers[1:])
    )
    (family,) = find_families([tmp_path])
    report = check_family(family)
    assert list(report.different) == [answers[0]["name"]]
    assert report.counts.identical == report.counts.cases - 1


SCRIPT = yaml.safe_load("""
name: a script
version: '1.16'
podPriority: true
script:
- op: add
  pod:
    metadata: {name: a, namespace: ns}
- {op: pop}
""")
PROBLEM = {"name": "a", "version": "1.16", "pending": []}
EMPTY = {"active": [], "backoff": [], "unschedulable": [], "nominated": {}}
STEPS = {"name": "a script", "steps": [EMPTY | {"active": ["ns/a"]}, EMPTY | {"popped": "ns/a"}]}


def family_of(tmp_path, case, answer):
    """A family of one case and its answer, after an empty line each."""
    for what, item in (("cases", case), ("answers", answer)):
        (tmp_path / f"x.{what}.jsonl").write_text(f"\n{json.dumps(item)}\n")
    (family,) = find_families([tmp_path])
    return family


def test_cases_of_one_name_in_two_families_count_each(tmp_path):
    """Each of them differs."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        family_of(tmp_path / name, SCRIPT, STEPS | {"steps": STEPS["steps"][:1]})
    facts = kubeclassic.conform(tmp_path).view().facts
    assert (facts["cases"], facts["identical"], facts["different"]) == (2, 0, 2)
    assert "2 cases: 0 identical, 2 different\n" in ran("conform", str(tmp_path), status=1).out


# --- Scripts ------------------------------------------------------------------------------------------------


def test_a_script_is_played(tmp_path):
    """The queue after every step is compared with upstream's, and the steps are counted."""
    report = check_family(family_of(tmp_path, SCRIPT, STEPS))
    assert (report.counts.identical, report.counts.steps, report.counts.decisions, report.different) == (
        1,
        2,
        0,
        {},
    )


@pytest.mark.parametrize(
    "field, value, line",
    [
        ("popped", None, 'steps[1] (pop).popped: expected null, got "ns/a"'),
        ("error", "no", 'steps[1] (pop).error: expected "no", got null'),
        ("active", ["ns/b"], 'steps[1] (pop).active: expected ["ns/b"], got []'),
        ("backoff", ["ns/b"], 'steps[1] (pop).backoff: expected ["ns/b"], got []'),
        ("unschedulable", ["ns/b"], 'steps[1] (pop).unschedulable: expected ["ns/b"], got []'),
        ("nominated", {"n": ["ns/b"]}, 'steps[1] (pop).nominated[n]: expected ["ns/b"], got null'),
    ],
)
def test_each_field_of_a_step_counts(tmp_path, field, value, line):
    """A step that differs in one field is shown with its number, its operation and that field."""
    answer = copy.deepcopy(STEPS)
    answer["steps"][1][field] = value
    assert check_family(family_of(tmp_path, SCRIPT, answer)).different == {"a script": [line]}


def test_a_step_too_few_is_a_difference(tmp_path):
    """An answer that ends before the script differs, though all its steps agree."""
    report = check_family(family_of(tmp_path, SCRIPT, STEPS | {"steps": STEPS["steps"][:1]}))
    assert report.different == {"a script": ["steps: expected 1, got 2"]}


def test_an_answer_of_cycles_is_a_difference(tmp_path):
    """An answer to another kind of case agrees with no script."""
    report = check_family(family_of(tmp_path, SCRIPT, {"name": "a script", "cycles": [{"pod": "ns/a"}]}))
    assert report.different == {"a script": ["steps: none to compare with"]}


@pytest.mark.parametrize(
    "case, text",
    [
        ([], "expected object, got array"),
        ({"version": "1.16"}, "object missing required field name"),
        ({"name": "a", "pending": []}, "object missing required field version"),
        ({"name": "a", "version": "1.16"}, "object missing required field pending"),
        (PROBLEM | {"extender": {}}, "object contains unknown field extender"),
        (
            PROBLEM | yaml.safe_load("{extenders: {'http://x': {filter: []}}}"),
            "extenders[...][...]: expected object, got array",
        ),
        (SCRIPT | {"pending": []}, "object contains unknown field pending"),
        (SCRIPT | {"podPriority": None}, "podPriority: expected bool, got null"),
        (SCRIPT | {"script": []}, "script: expected array of length >= 1"),
        (SCRIPT | {"script": [{"op": "pop"}, {"op": "peek"}]}, "script[1]: op: expected one of add, "),
        (SCRIPT | {"script": ["pop"]}, "script[0]: expected object, got str"),
    ],
)
def test_a_case_of_another_form_is_refused(tmp_path, case, text):
    """A case that conform does not know ends the run, with its file and line."""
    told = refusal_text(ManifestError, check_family, family_of(tmp_path, case, STEPS))
    assert told.startswith(f"{tmp_path / 'x.cases.jsonl'}, line 2: {text}")


@pytest.mark.parametrize(
    "answer, text",
    [
        (None, "expected object, got null"),
        ({"name": "a"}, "expected one of error, cycles and steps, got several or none"),
        (
            {"name": "a", "error": "x", "steps": [EMPTY]},
            "expected one of error, cycles and steps, got several or none",
        ),
        ({"name": "a", "cycles": []}, "cycles: expected array of length >= 1"),
        ({"name": "a", "steps": [EMPTY | {"cycle": 1}]}, "steps[0]: object contains unknown field cycle"),
        ({"name": "a", "cycles": [{"https": []}]}, "cycles[0]: object contains unknown field https"),
        ({"name": "a", "results": []}, "object contains unknown field results"),
    ],
)
def test_an_answer_of_another_form_is_refused(tmp_path, answer, text):
    """An answer that conform does not know, or in which there is nothing to compare, ends the run, with
    its file and line."""
    told = refusal_text(ManifestError, check_family, family_of(tmp_path, SCRIPT, answer))
    assert told.startswith(f"{tmp_path / 'x.answers.jsonl'}, line 2: {text}")


# --- Differences --------------------------------------------------------------------------------------------


def test_nothing_is_never_identical():
    """An answer without any cycle agrees with no other."""
    assert differences({"cycles": []}, {"cycles": []}) == ["cycles: none to compare with"]


def test_a_cycle_too_many_is_a_difference():
    """An answer with one more cycle differs, though all the others agree."""
    cycle = {
        "pod": "default/a",
        "host": "n",
        "error": None,
        "feasible": ["n"],
        "failed": {},
        "preemption": None,
    }
    assert differences({"cycles": [cycle]}, {"cycles": [cycle, copy.deepcopy(cycle)]}) == [
        "cycles: expected 2, got 1"
    ]


def test_the_nominations_to_clear_are_a_set():
    """The original's order of them hangs on its queue, which cases do not run; who is among them does
    count."""
    plans = ({"node": "n", "clearNominations": pods} for pods in (["a", "b"], ["b", "a"], ["a"]))
    one, other, fewer = ({"cycles": [{"preemption": plan}]} for plan in plans)
    assert differences(one, other) == []
    assert differences(fewer, other) == [
        'cycles[0] (None).preemption[clearNominations]: expected ["a", "b"], got ["a"]'
    ]


def test_how_a_refusal_begins_does_not_count():
    """The three beginnings of a refusal are stripped, the rest is compared."""
    assert differences({"error": "x"}, {"error": "couldn't create scheduler from policy: x"}) == []
    assert differences({"error": "x"}, {"error": "fatal: y"}) != []


@pytest.mark.parametrize("reply", [{"drop": "x"}, {"raw": 5}, {"extra": 5}])
def test_a_script_that_makes_no_sense(tmp_path, reply):
    """A script that makes no sense counts as a difference."""
    lines = []
    for case in read_cases(FEW / "extenders.cases.jsonl.gz"):
        scripts = {url: {**script, "filter": {"default": reply}} for url, script in case["extenders"].items()}
        lines.append(json.dumps({**case, "extenders": scripts}))
    cases = tmp_path / "extenders.cases.jsonl"
    cases.write_text("\n".join(lines))
    found = check_family(Family("1.16", "extenders", cases, FEW / "extenders.answers.jsonl.gz"))
    assert found.different != {}
