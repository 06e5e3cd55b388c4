"""The objects of small towns: nodes in racks, pods with rules about hosts and racks, and budgets, each by its
number and variant."""

from functools import cache
from pathlib import Path

import yaml

from tests.support.build import node, obj, pod

NODES = 24
HOST = "kubernetes.io/hostname"
RACK = "rack"
ZONE = "failure-domain.beta.kubernetes.io/zone"


@cache
def machine(number, variant):
    """Node *number*, with rack, labels, size and taints by *variant*."""
    rack = (f"r{number // 2}", f"r{number // 2}", f"r{(number + variant) % NODES // 2}", None)[variant % 4]
    labels = {HOST: f"n{number}", RACK: rack, ZONE: f"z{number % 2}", "disk": ("ssd", None)[variant % 2]}
    taints = [{"key": "k", "effect": "NoSchedule"}] if variant % 7 == 6 else []
    more = {"example.com/gpu": "2"} if variant % 3 == 1 else {}
    return node(
        f"n{number}",
        labels={key: value for key, value in labels.items() if value},
        cpu=("2", "4", "3")[variant % 3],
        memory="4Gi",
        pods=("4", "8")[variant % 2],
        taints=taints,
        allocatable=more,
    )


GIVEN = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
PLAIN = GIVEN["plain"]
"""The forms of pods that depend only on sums of requests."""
FORMS = [*PLAIN, *GIVEN["near"]]
"""All forms: those of :data:`PLAIN`, and those with rules about which pods are near."""


@cache
def person(variant, name, on="", plain=False):
    """A pod of app a or b, of priority 0, 5 or 10; some bound pods request a resource that no pod has
    requested before."""
    forms = PLAIN if plain else FORMS
    form = dict(forms[variant % len(forms)])
    if on and variant % 8 == 7:
        form["requests"] = {**form.get("requests", {}), f"example.com/x{variant}": "1"}
    return pod(
        name,
        on=on,
        app="ab"[variant // 3 % 2],
        priority=(0, 0, 5, 10)[variant // 5 % 4],
        uid=f"uid-{name}",
        status={"startTime": f"2026-01-01T00:{variant % 60:02}:00Z"} if on else {},
        **form,
    )


IMPORTANT = pod("important", cpu="3", priority=10, uid="uid-important")
"""A pod that mostly fits nowhere without evictions."""


def budget(number, allowed):
    """A disruption budget for app a or b."""
    spec = {"selector": {"matchLabels": {"app": "ab"[number % 2]}}}
    meta = {"name": f"b{number}", "namespace": "default"}
    return obj(
        {
            "kind": "PodDisruptionBudget",
            "metadata": meta,
            "spec": spec,
            "status": {"disruptionsAllowed": allowed},
        }
    )
