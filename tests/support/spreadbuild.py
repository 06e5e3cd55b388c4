"""Small clusters for the tests of PodTopologySpread, and random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.overlay import Overlay
from kubeclassic.core.cycle import Cycle
from kubeclassic.framework.config.args import PodTopologySpreadArgs
from kubeclassic.framework.plugins.podtopologyspread import PodTopologySpread
from tests.support.asking import handle, refusals
from tests.support.build import node, pod

TEXT = "node(s) didn't match pod topology spread constraints"
SHORT = {TEXT: "skew", f"{TEXT} (missing required label)": "label", None: None}
NEAR = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}
LEAVING = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
A, B = node("a", labels={"zone": "x", "rack": "1"}), node("b", labels={"zone": "y", "rack": "1"})


def constraint(key: str = "zone", skew: int = 1, selector: Any = None, when: str = "DoNotSchedule", **more: Any) -> dict[str, Any]:
    """A constraint over pods with ``app: a``, if no other *selector* is given."""
    wanted = {"matchLabels": {"app": "a"}} if selector is None else selector
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": wanted, **more}


def soft(key: str = "zone", skew: int = 1, **more: Any) -> dict[str, Any]:
    """The same with ScheduleAnyway."""
    return constraint(key, skew, when="ScheduleAnyway", **more)


def incoming(*constraints: dict[str, Any], **more: Any) -> Pod:
    """The pod that is to be scheduled, one of ``app: a``."""
    return pod("new", labels={"app": "a"} | more.pop("labels", {}), topologySpreadConstraints=list(constraints), **more)


def peer(name: str, on: str, **more: Any) -> Pod:
    """A bound pod of ``app: a``."""
    return pod(name, on=on, labels={"app": "a"} | more.pop("labels", {}), **more)


def plugin(defaults: Any = None, release: str = "1.27", **gates: bool) -> PodTopologySpread:
    """The plugin of *release* with System defaults, or with List ones where *defaults* are given."""
    args = PodTopologySpreadArgs(defaulting_type="System") if defaults is None else PodTopologySpreadArgs(tuple(defaults), "List")
    return PodTopologySpread(args, handle(release, **gates))


def named(found: Mapping[str, str | None]) -> dict[str, str | None]:
    """Reasons by their short names."""
    return {name: SHORT[text] for name, text in found.items()}


def against(new: Pod, *objects: Any, by: PodTopologySpread | None = None) -> dict[str, str | None]:
    """Node -> skew, label or None."""
    return named(refusals(by or plugin(), new, *objects))


# --- random clusters --------------------------------------------------------------------------------------------------

KEYS = ["zone", "rack", "kubernetes.io/hostname"]
HOSTS = st.sampled_from("hij")
LABELS = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("xyz"), "rack": st.sampled_from(["", "1", "2"]), KEYS[2]: HOSTS})
TAINTS = st.sampled_from([[], *([{"key": "k", "value": "v", "effect": effect}] for effect in ("NoSchedule", "PreferNoSchedule"))])
NODES = st.lists(st.tuples(LABELS, TAINTS), min_size=1, max_size=6)
KINDS = st.tuples(st.sampled_from("ab"), st.sampled_from(["default", "far"]), st.booleans(), st.sampled_from(["", "1", "2"]))
PODS = st.lists(st.tuples(st.integers(0, 5), KINDS), max_size=12)
SELECTORS = st.sampled_from([{}, None, {"matchLabels": {"app": "a"}}, {"matchExpressions": [{"key": "app", "operator": "Exists"}]}])
MORE = st.fixed_dictionaries({}, optional={
    "minDomains": st.integers(1, 4), "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
    "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]), "matchLabelKeys": st.sampled_from([["rev"], ["app", "none"]]),
})  # fmt: skip
CONSTRAINT = st.builds(
    lambda key, skew, selector, more: {**constraint(key, skew, **more), "labelSelector": selector},
    st.sampled_from(KEYS), st.integers(0, 2), SELECTORS, MORE,
)  # fmt: skip
CONSTRAINTS = st.lists(CONSTRAINT, min_size=1, max_size=3)
CHOICE = st.sampled_from([None, {"rack": "1"}, {"zone": "x"}])


def made(name: str, kind: Any, on: str = "") -> Pod:
    """A pod of a random kind."""
    app, namespace, leaves, revision = kind
    labels = {"app": app} | ({"rev": revision} if revision else {})
    return pod(name, on=on, labels=labels, namespace=namespace, metadata=LEAVING if leaves else {})


def cluster(labels: Any, pods: Any) -> tuple[list[Node], list[tuple[Node, list[Pod]]], list[Pod]]:
    """Nodes, the same with their pods, and all pods."""
    nodes = [node(f"n{i}", labels=found, taints=taints) for i, (found, taints) in enumerate(labels)]
    bound = [made(f"p{i}", kind, f"n{at % len(nodes)}") for i, (at, kind) in enumerate(pods)]
    return nodes, [(n, [p for p in bound if p.spec.node_name == n.name]) for n in nodes], bound


class Followed(Protocol):
    """A plain loop's own account of the pods that count for one node."""

    def change(self, other: Pod, node: Node, sign: int) -> None:
        """A pod comes to *node* or leaves it."""
        ...


def edit(cycle: Cycle, trial: Overlay, at: int, extra: Pod | None, nodes: Sequence[Node], books: Mapping[str, Followed]) -> None:
    """Put *extra* on a node, or take the first of its pods off."""
    name = trial.name(at)
    target = next(n for n in nodes if n.name == name)
    if extra is not None:
        trial.add(cycle.nominated_entry(extra), at)
        books[name].change(extra, target, 1)
    elif trial.pods(at):
        entry = trial.pods(at)[0]
        trial.remove(entry, at)
        books[name].change(entry.pod, target, -1)
