"""What makes one node win among those that fit: a nodeSelector, a preference, a taint that puts others off."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.meaning.labels import tolerates
from ..explain.taintfacts import taint_text
from .change import WhatIfChange
from .context import HOSTNAME, WhatIfContext
from .nodechanges import edit_of_node
from .patcher import written
from .podrules import edit_of_pod

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HIGHEST = 100
"""The highest weight of a preference."""


def selecting(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A nodeSelector that means the wanted node."""
    if context.pin is not None:
        told = f"select {context.want} by its hostname"
        yield from edit_of_pod(context, "nodeSelector", told, f"nodeSelector.{HOSTNAME}={context.pin}")


def preferring(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A preferred node affinity to the wanted node, with the smallest weight that is enough."""
    if context.pin is None:
        return
    low, high = 0, HIGHEST
    if not any(map(context.helpful, _preference(context, high))):
        return
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if any(map(context.helpful, _preference(context, middle))) else (middle, high)
    yield from _preference(context, high)


def _preference(context: WhatIfContext, weight: int) -> Iterator[WhatIfChange]:
    expression = {"key": HOSTNAME, "operator": "In", "values": [context.pin]}
    term = written({"weight": weight, "preference": {"matchExpressions": [expression]}})
    told = f"prefer {context.want} with weight {weight}"
    yield from edit_of_pod(context, "preference", told, f"affinity.nodeAffinity.{PREFERRED}+={term}", size=weight)


def dropped_preferences(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One preferred term of the pod's node affinity, pod affinity or anti-affinity removed."""
    affinity = context.pod.spec.affinity
    if affinity is None:
        return
    near, away, nodes = affinity.pod_affinity, affinity.pod_anti_affinity, affinity.node_affinity
    weights = {
        "nodeAffinity": [] if nodes is None else [term.weight for term in nodes.preferred],
        "podAffinity": [] if near is None else [term.weight for term in near.preferred],
        "podAntiAffinity": [] if away is None else [term.weight for term in away.preferred],
    }
    for name, found in weights.items():
        for at, weight in enumerate(found):
            told = f"remove preference {at + 1} of {name}, which has weight {weight}"
            yield from edit_of_pod(context, "preference", told, f"affinity.{name}.{PREFERRED}[{at}]-", size=weight)


def avoided(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """The taints of the wanted node that pods avoid if they can, tolerated or removed."""
    for _, node in context.targets():
        mild = [taint for taint in node.spec.taints if taint.effect == "PreferNoSchedule"]
        taints = [taint for taint in mild if not tolerates(context.pod.spec.tolerations, taint)]
        if taints:
            texts = [taint_text(taint) for taint in taints]
            together = " and ".join(texts)
            yield from edit_of_pod(context, "toleration", f"tolerate the taint {together}", *(f"tolerations+={text}" for text in texts))
            told = f"remove the taint {together} of node {node.name}"
            yield from edit_of_node(context, node, "taint", told, *(f"taints-={text}" for text in texts))
