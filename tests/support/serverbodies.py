"""Bodies of requests that Hypothesis makes: nearly right ones, odd ones, and no JSON at all."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.support.serverbuild import node_json, pod_json

NAMES = st.sampled_from(["a", "b", "c", "z", "", "uid-low", "w", "default"])
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    NAMES,
    st.sampled_from(["100m", "1e400", "-1", "9999999999Gi", "NoSchedule", "In", "2020-01-01T00:00:00Z", "\ud800", "\x00"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=6), inner, max_size=3), max_leaves=6
)
TERM = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
RICH: dict[str, Any] = {
    "affinity": {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
            }
        },
    },
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}
    ],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "d", "gcePersistentDisk": {"pdName": "p"}}],
    "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}],
    "nodeSelector": {"zone": "z"}, "preemptionPolicy": "Never", "schedulingGates": [{"name": "g"}], "overhead": {"cpu": "1"},
}  # fmt: skip
"""Fields of a pod's spec that rules read."""


@st.composite
def changed(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """*value* with a few parts replaced by odd ones, or left out."""
    # Hypothesis likes the ends of a range, so a number in the middle is seldom.
    if draw(st.integers(0, 99)) == 37:
        return draw(VALUES)
    if isinstance(value, dict):
        kept = {key: draw(changed(item, depth + 1)) for key, item in value.items() if draw(st.integers(0, 99)) != 37}
        return {draw(st.sampled_from([key, key, key, key.lower(), key.upper()])) if depth == 0 else key: item for key, item in kept.items()}
    return [draw(changed(item, depth + 1)) for item in value] if isinstance(value, list) else value


@st.composite
def pods(draw: st.DrawFn) -> Any:
    """A pod, with some of the fields that rules read."""
    chosen = draw(st.lists(st.sampled_from(sorted(RICH)), unique=True, max_size=4))
    return pod_json(
        draw(st.sampled_from(["x", "w", "low"])),
        cpu=draw(st.sampled_from(["1", "100m", "64"])),
        priority=draw(st.sampled_from([None, 0, 9])),
        **{name: RICH[name] for name in chosen},
    )


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, bytes]:
    """The path and the body of a request."""
    verb, pod = draw(st.sampled_from(["filter", "prioritize", "preemption", "bind"])), draw(pods())
    names = draw(st.lists(st.sampled_from("abc"), max_size=3))
    nodes = {"metadata": {}, "items": [node_json(name, labels={"zone": "z"}) for name in names]}
    victims = {name: {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 0} for name in names}
    asked = draw(st.sampled_from([{"NodeNames": names, "Nodes": None}, {"Nodes": nodes, "NodeNames": None}, {"Nodes": nodes}, {}]))
    forms: dict[str, list[Any]] = {
        "preemption": [{"NodeNameToMetaVictims": victims}, {"NodeNameToVictims": {name: {"Pods": [pod]} for name in names}}],
        "bind": [{"PodName": "w", "PodNamespace": "default", "PodUID": "uid-w", "Node": "a"}],
    }
    body = draw(changed({"Pod": pod, **draw(st.sampled_from(forms.get(verb, [asked])))}))
    text = json.dumps(body).encode()
    if draw(st.integers(0, 19)) == 0:
        text = draw(st.binary(max_size=20) | st.just(text[: len(text) // 2]))
    return f"/{verb}", text
