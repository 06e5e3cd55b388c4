"""Trials by sums: rows as they would be with more pods, as far as sums tell."""

import numpy as np

from kubeclassic.core.arrays.batch import SumsTrial
from kubeclassic.predicates.podfitsresources import pod_fits_resources
from tests.support.build import answers, engine, node, pod

LARGE = {"cpu": "3", "memory": "1Gi", "example.com/gpu": "1"}


def cycle():
    """A cycle for a large pod, with a node that is empty, one that holds two cpus, and one that has no
    gpu."""
    gpu = {"example.com/gpu": "2"}
    nodes = [node("empty", allocatable=gpu), node("used", allocatable=gpu), node("plain")]
    return engine(*nodes, pod("p", on="used", cpu="2")).begin(pod("new", requests=LARGE))


def test_sums_grow_by_what_the_pods_request():
    """The given number of pods of a template is added on each row."""
    made = cycle()
    trial = SumsTrial.of(made.table, np.array([0, 1]))
    trial.add(made.template, np.array([1, 2]))
    assert trial.requested("cpu").tolist() == [3000, 8000]
    assert trial.requested("example.com/gpu").tolist() == [1, 2]
    assert trial.pod_count.tolist() == [1, 3]


def test_a_rule_sees_the_sums_of_the_trial():
    """A rule rejects the row that the trial has filled, for the resource that is missing there."""
    made = cycle()
    trial = SumsTrial.of(made.table, np.array([0, 1, 2]))
    trial.add(made.template, np.array([1, 0, 0]))
    found = answers(pod_fits_resources, made, trial)
    assert found == {
        "empty": ["Insufficient cpu"],
        "used": ["Insufficient cpu"],
        "plain": ["Insufficient example.com/gpu"],
    }
    trial.add(made.template, np.array([-1, 0, 0]))
    assert answers(pod_fits_resources, made, trial)["empty"] == []
