"""Python answers what the command answers: the same document, and ``ok`` where the command ends with status 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import kubeclassic
from kubeclassic import Classic, Framework
from tests.conftest import ROOT
from tests.support.golden import COMMANDS, kept, printed

CLUSTER, DRAIN = "examples/cluster", "examples/drain/cluster.yaml"
SMALL, WEB, BIG, QUOTA = (f"examples/capacity/{name}.yaml" for name in ("small-pod", "web", "big-node", "quota"))
TWO, PACKING = "examples/profiles/two-profiles.yaml", "examples/policies/bin-packing.yaml"
CURVE = "cpu=500m..4:4,memory=1Gi..8Gi:4:log"
OLD = Classic(release="1.12", gates="PodPriority=false")

OF_GOLDEN: Mapping[str, Callable[[], Any]] = {
    "explain-placed": lambda: kubeclassic.explain(CLUSTER, "shop/orders-1"),
    "explain-unschedulable": lambda: kubeclassic.explain(CLUSTER, "analytics/yearly-report"),
    "conform": lambda: kubeclassic.conform("tests/conformance/1.16/preemption.cases.jsonl.gz"),
    "capacity": lambda: kubeclassic.capacity(CLUSTER, [SMALL, WEB], ratio=(5, 1)),
    "capacity-quota": lambda: kubeclassic.capacity([CLUSTER, QUOTA], SMALL),
    "curve": lambda: kubeclassic.capacity_curve(CLUSTER, CURVE),
    "add-node": lambda: kubeclassic.add_nodes(CLUSTER, "like:general-a1", pod=SMALL, pods=200),
    "add-node-mix": lambda: kubeclassic.add_nodes(CLUSTER, ["like:gpu-b1", BIG], costs={"gpu-b1": 5, "big": 2}),
    "drain": lambda: kubeclassic.drain(DRAIN, ["worker-2", "worker-3"], ignore_daemonsets=True),
    "drain-cluster": lambda: kubeclassic.drain(CLUSTER, "general-a1", ignore_daemonsets=True, delete_emptydir_data=True),
    "drain-auto": lambda: kubeclassic.drain(DRAIN, auto=True, ignore_daemonsets=True, delete_emptydir_data=True, force=True),
    "compare": lambda: kubeclassic.compare(CLUSTER, "1.12", "1.16"),
    "compare-free": lambda: kubeclassic.compare(
        CLUSTER, "1.16", Framework(release="1.34", percentage_of_nodes_to_score=100), mode="free"
    ),
}  # fmt: skip
"""Golden file -> the same from Python."""
OTHERS: Mapping[str, Callable[[], Any]] = {
    f"explain {CLUSTER} shop/orders-1 --alone": lambda: kubeclassic.explain(CLUSTER, "shop/orders-1", alone=True),
    f"compare {CLUSTER} --a 1.12 --b 'release=1.16 policy={PACKING}' --mode free":
        lambda: kubeclassic.compare(CLUSTER, "1.12", Classic(release="1.16", policy=PACKING), mode="free"),
    f"capacity {CLUSTER} --pod {WEB} --pods 2000": lambda: kubeclassic.capacity(CLUSTER, WEB, pods=2000),
    f"capacity {CLUSTER} --pod {WEB} --max-limit 3 --pending-first --order queue --exclude-nodes general-a1 --release auto":
        lambda: kubeclassic.capacity(
            CLUSTER, WEB, "auto", max_limit=3, pending_first=True, order="queue", exclude_nodes="general-a1"
        ),
    f"capacity {CLUSTER} --pod {WEB} --release 1.12 --feature-gates PodPriority=false": lambda: kubeclassic.capacity(CLUSTER, WEB, OLD),
    f"capacity {CLUSTER} --curve cpu=500..600:2 --pod {WEB}": lambda: kubeclassic.capacity_curve(CLUSTER, "cpu=500..600:2", WEB),
    f"capacity {CLUSTER} --curve cpu=500m..4:2 --pod {WEB} --order priority --pending-first --max-limit 0":
        lambda: kubeclassic.capacity_curve(CLUSTER, "cpu=500m..4:2", WEB, pending_first=True, order="priority", max_limit=0),
    f"capacity {CLUSTER} --pod {SMALL} --pods 300 --add-node like:general-a1 --most-nodes 2 --release 1.31":
        lambda: kubeclassic.add_nodes(CLUSTER, "like:general-a1", "1.31", pod=SMALL, pods=300, most_nodes=2),
    f"capacity {CLUSTER} --add-node like:gpu-b1 --release 1.12 --feature-gates PodPriority=false":
        lambda: kubeclassic.add_nodes(CLUSTER, "like:gpu-b1", OLD),
    f"drain {CLUSTER} general-a1 --release auto": lambda: kubeclassic.drain(CLUSTER, "general-a1", "auto"),
    f"compare {CLUSTER} --a 1.16 --b release=1.16": lambda: kubeclassic.compare(CLUSTER, "1.16", Classic(release="1.16")),
    f"compare {CLUSTER} --a auto --b 'profile={TWO}' --c 'release=1.31 tie-break=random' --newer-labels --order queue":
        lambda: kubeclassic.compare(
            CLUSTER, "auto", Framework(profile=TWO), Framework(release="1.31", tie_break="random"), newer_labels=True, order="queue"
        ),
    f"upgrade {CLUSTER} --from 1.27 --to 1.29 --mode free": lambda: kubeclassic.upgrade(CLUSTER, "1.27", "1.29", mode="free"),
    f"upgrade {CLUSTER} --steps 1.16,1.22": lambda: kubeclassic.upgrade(CLUSTER, "1.16", "1.22", steps=("1.16", "1.22")),
    f"compare {CLUSTER} --a 'profile={TWO}' --b v1.31.2": lambda: kubeclassic.compare(CLUSTER, Framework(profile=TWO), "v1.31.2"),
}  # fmt: skip
"""Command -> the same from Python."""


def check(whole: str, ask: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold what Python answers against *whole*: the exit status and what the command printed."""
    status, _, text = whole.partition("\n")
    monkeypatch.chdir(ROOT)
    found, told = ask(), json.loads(text)
    assert found.record() == {name: value for name, value in told.items() if name not in ("apiVersion", "kind")}
    assert found.ok == (status == "0")


@pytest.mark.parametrize("name", OF_GOLDEN)
def test_python_answers_what_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result is the document in the golden file of the command, and ok says its exit status."""
    assert name in COMMANDS
    check(kept(name), OF_GOLDEN[name], monkeypatch)


@pytest.mark.parametrize("command", OTHERS)
def test_python_answers_what_the_command_prints(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other options, too, a result is the document that the command prints, and ok says its exit status."""
    check(printed(f"{command} -o json"), OTHERS[command], monkeypatch)


@pytest.mark.parametrize("limits", [{"pods": 5, "max_limit": 3}, {"max_limit": -1}, {"pods": 0}])
def test_limits_that_the_command_refuses_are_refused(limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python takes no limits that the command line does not take."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(kubeclassic.KubeclassicError, match="wanted"):
        kubeclassic.capacity(CLUSTER, SMALL, **limits)
