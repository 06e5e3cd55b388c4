"""The checks of a Policy, and the descriptions of releases."""

import pytest
import yaml

from kubeclassic.algorithmprovider import RELEASES
from kubeclassic.algorithmprovider.check import check
from kubeclassic.api.record import plain
from kubeclassic.exceptions import PolicyError

LAST = RELEASES["1.16"]
HEAD = {"kind": "Policy", "apiVersion": "v1"}
GENERAL = {"name": "GeneralPredicates"}


def warnings(release=LAST, **policy):
    """The warnings about a Policy."""
    return check({**HEAD, **policy}, release).warnings


# --- Check --------------------------------------------------------------------------------------------------


def test_what_runs():
    """Predicates are shown in running order with where they come from."""
    report = check({**HEAD, "predicates": [{"name": "MatchInterPodAffinity"}, GENERAL]}, LAST)
    assert [(found.name, found.origin) for found in report.predicates] == [
        ("CheckNodeUnschedulable", "mandatory"),
        ("GeneralPredicates", "Policy"),
        ("PodToleratesNodeTaints", "mandatory"),
        ("MatchInterPodAffinity", "Policy"),
    ]
    assert report.warnings == ()


def test_refused():
    """A refusal is part of the report, with the gate that is behind it."""
    report = check({**HEAD, "predicates": [{"name": "CheckNodeDiskPressure"}]}, LAST)
    assert report.refused == "Invalid configuration: Predicate type not found for CheckNodeDiskPressure"
    (hint,) = report.warnings
    assert hint.startswith(
        "CheckNodeDiskPressure is not registered while gate TaintNodesByCondition is on: --feature-gates"
    )
    assert (
        check(
            {**HEAD, "predicates": [{"name": "CheckNodeDiskPressure"}]}, LAST, "TaintNodesByCondition=false"
        ).refused
        is None
    )


def test_priority_of_a_gate():
    """A priority that a gate brings is hinted at too."""
    report = check({**HEAD, "priorities": [{"name": "ResourceLimitsPriority", "weight": 1}]}, LAST)
    switch = "--feature-gates ResourceLimitsPriorityFunction=true registers it"
    assert report.warnings == (
        f"ResourceLimitsPriority is not registered while gate ResourceLimitsPriorityFunction is off: {switch}",
    )


def test_bad_gate():
    """A gate that there is not is not the Policy's fault."""
    with pytest.raises(PolicyError, match="unrecognized feature gate"):
        check(HEAD, LAST, "Nope=true")


def test_record():
    """The report as JSON has what the table shows."""
    record = plain(
        check({**HEAD, "extenders": [{"urlPrefix": "http://a"}], "hardPodAffinitySymmetricWeight": 3}, LAST)
    )
    assert record["extenders"] == ["http://a"]
    assert record["hardPodAffinitySymmetricWeight"] == 3
    assert record["priorities"][0] == {"name": "BalancedResourceAllocation", "weight": 1}


# --- Warnings -----------------------------------------------------------------------------------------------


def test_names_that_speak_of_weights():
    """A faulty weight is shown, and no other one where the name of an unknown rule has the word."""
    priorities = [{"name": "Overweight", "weight": 1}, {"name": "LeastRequestedPriority", "weight": 0}]
    faults = check({**HEAD, "predicates": [{"name": "Lightweight"}], "priorities": priorities}, LAST).faults
    assert [(fault.where, fault.got) for fault in faults] == [
        ("predicates[0]", None),
        ("priorities[0]", None),
        ("priorities[1]", "weight 0"),
    ]


def test_alias():
    """PodFitsPorts never runs."""
    report = check({**HEAD, "predicates": [GENERAL, {"name": "PodFitsPorts"}]}, LAST)
    assert report.never_run == ("PodFitsPorts",)
    assert report.warnings == (
        "predicate PodFitsPorts: accepted, but never runs: it is an old name; use PodFitsHostPorts",
    )


def test_invented_name():
    """An argument under an invented name never runs."""
    written = [GENERAL, yaml.safe_load("{name: Region, argument: {serviceAffinity: {labels: [r]}}}")]
    assert warnings(predicates=written) == (
        "predicate Region: accepted, but never runs: only names of the release's ordering do; call it CheckServiceAffinity",
    )


def test_replaced():
    """An argument under a name of upstream's replaces it."""
    written = [yaml.safe_load("{name: NoDiskConflict, argument: {labelsPresence: {labels: [r]}}}"), GENERAL]
    assert warnings(predicates=written) == (
        "predicate NoDiskConflict: its argument replaces upstream's predicate of that name",
    )


def test_requests():
    """Without GeneralPredicates and PodFitsResources nobody looks at requests."""
    assert warnings(predicates=[]) == (
        "neither GeneralPredicates nor PodFitsResources runs: no predicate checks what pods request",
    )


def test_duplicates():
    """Names given twice are pointed out."""
    found = warnings(predicates=[GENERAL, GENERAL], priorities=[{"name": "EqualPriority", "weight": 1}] * 2)
    assert found == (
        "predicate GeneralPredicates: named 2 times; the last one with an argument counts, and it runs once",
        "priority EqualPriority: named 2 times; the last weight counts",
    )


def test_resources_of_a_ratio():
    """Resources that the release ignores, and weights that it only logs, are pointed out."""
    ratio = yaml.safe_load("{shape: [{utilization: 0, score: 0}], resources: [{name: cpu, weight: -1}]}")
    written = [{"name": "Ratio", "weight": 1, "argument": {"requestedToCapacityRatioArguments": ratio}}]
    assert warnings(RELEASES["1.15"], priorities=written) == (
        "priority Ratio: this release ignores its resources and looks at cpu and memory",
    )
    assert warnings(priorities=written) == (
        "priority Ratio: resource cpu: expected 1 or more, got weight -1; upstream only logs it",
    )


def test_the_rest():
    """Unknown keys, no priorities at all, a timeout in seconds, no name."""
    assert warnings(Predicates=[]) == (
        "Predicates of the Policy does not count: 1.16 does not read the field",
    )
    assert warnings(priorities=[]) == ("no priorities and no extenders: every node scores 1",)
    assert warnings(extenders=[{"urlPrefix": "http://a", "httpTimeout": 5}]) == (
        "extender http://a: httpTimeout is 0.000000005 s: it is a whole number of nanoseconds",
    )
    assert warnings(predicates=[None]) == (
        "an entry of the Policy has no name, expected that of a predicate",
    )
