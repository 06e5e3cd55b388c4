"""Affinity between pods for tests: terms, nodes in zones, random pods, and trials that books follow step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.overlay import Overlay
from kubeclassic.core.cycle import Cycle
from tests.support.build import node, pod

Json = dict[str, Any]
A, B, C = (node(name, labels={"zone": zone, "host": name}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y")))
BARE = node("bare")


def term(app: str | None = "a", key: str = "zone", **more: Any) -> Json:
    """A term about pods with ``app: a``, by zone; any pod with *app* None."""
    return {"labelSelector": {"matchLabels": {"app": app}} if app else {}, "topologyKey": key, **more}


def affinity(want: Iterable[Any] = (), refuse: Iterable[Any] = (), like: Iterable[Any] = (), dislike: Iterable[Any] = ()) -> Json:
    """Terms, as the field ``affinity`` of a pod's spec; *like* and *dislike*: (weight, term)."""

    def part(required: Iterable[Any], preferred: Iterable[Any]) -> Json:
        weighted = [{"weight": weight, "podAffinityTerm": found} for weight, found in preferred]
        given = {"required": list(required), "preferred": weighted}
        return {f"{name}DuringSchedulingIgnoredDuringExecution": terms for name, terms in given.items() if terms}

    parts = {"podAffinity": part(want, like), "podAntiAffinity": part(refuse, dislike)}
    return {name: found for name, found in parts.items() if found}


def peer(name: str = "f", on: str = "a", app: str = "a", namespace: str = "default", **terms: Any) -> Pod:
    """A pod that is there, with these terms."""
    return pod(name, on=on, labels={"app": app}, namespace=namespace, affinity=affinity(**terms))


# --- at random ------------------------------------------------------------------------------------------------------

LABELS = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("xy"), "rack": st.sampled_from(["", "1", "2"])})
NODES = st.lists(LABELS, min_size=1, max_size=5)
SELECTORS = st.sampled_from([
    {}, None, {"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}}, {"matchLabels": {"app": "a", "tier": "t"}},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
])  # fmt: skip
TERM = {
    "labelSelector": SELECTORS, "topologyKey": st.sampled_from(["zone", "rack"]),
    "namespaces": st.sampled_from([[], ["far"], ["default", "far"]]),
}  # fmt: skip
"""What a term has in every release."""
POD_LABELS = st.sampled_from([{}, {"app": "a"}, {"app": "b"}, {"app": "a", "tier": "t"}])


def made(name: str, kind: Any, on: str = "") -> Pod:
    """A pod of a random kind: labels, namespace and affinity."""
    labels, space, terms = kind
    return pod(name, on=on, labels=labels, namespace=space, affinity=terms)


def made_nodes(labels: Iterable[Json]) -> dict[str, Node]:
    """Name -> node with these labels."""
    return {f"n{i}": node(f"n{i}", labels=found) for i, found in enumerate(labels)}


def bound_to(nodes: Mapping[str, Node], pods: Iterable[tuple[int, Any]]) -> list[Pod]:
    """Random pods on the nodes."""
    return [made(f"p{i}", kind, f"n{at % len(nodes)}") for i, (at, kind) in enumerate(pods)]


def placed(nodes: Mapping[str, Node], bound: Sequence[Pod]) -> list[tuple[Node, Sequence[Pod]]]:
    """Each node with the pods on it."""
    return [(found, [each for each in bound if each.spec.node_name == name]) for name, found in nodes.items()]


class Books(Protocol):
    """What follows pods that come and go."""

    def add(self, pod: Pod, node: Node, *, nominated: bool) -> None:
        """A pod comes to *node*."""

    def remove(self, pod: Pod, node: Node) -> None:
        """A pod leaves *node*."""


def edit(cycle: Cycle, trial: Overlay, at: int, what: str, extra: Pod, nodes: Mapping[str, Node], books: Mapping[str, Books]) -> None:
    """Take the first of a node's bound pods off, put back the first that is off, or nominate *extra*."""
    name = trial.name(at)
    there = [entry for entry in trial.pods(at) if not entry.nominated]
    away = [entry for entry in cycle.table.pods[trial.row(at)] if entry not in there]
    if what == "remove" and there:
        trial.remove(there[0], at)
        books[name].remove(there[0].pod, nodes[name])
    elif what == "put back" and away:
        trial.add(away[0], at)
        books[name].add(away[0].pod, nodes[name], nominated=False)
    elif what.startswith("nominate"):
        trial.add(cycle.nominated_entry(extra), at)
        books[name].add(extra, nodes[name], nominated=True)
