"""What the pod itself demands, taken back or allowed: tolerations, selectors, affinity, spread, ports, gates."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.meaning.labels import tolerates
from ...api.objects import Node, Pod, Taint
from ..explain.faileddemands import node_terms, text_of
from ..explain.taintfacts import is_state, taint_text
from .change import ChangeKind, WhatIfChange
from .context import WhatIfContext

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NO_NEW_PODS = ("NoSchedule", "NoExecute")
UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def edit_of_pod(
    context: WhatIfContext, kind: ChangeKind, words: str, *edits: str, size: float = 0.0, evicts: bool = False
) -> Iterator[WhatIfChange]:
    """The change that *edits* make to the pod, if they are possible."""
    made = context.patcher.pod(context.pod, *edits)
    if made is not None:
        yield WhatIfChange(kind=kind, words=words, patch=(made[0],), pod=made[1], size=size, evicts=evicts)


def dropped_gates(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """All scheduling gates removed."""
    gates = context.pod.spec.scheduling_gates
    if gates:
        yield from edit_of_pod(context, "schedulingGates", f"remove the scheduling gate {' and '.join(gates)}", "schedulingGates-")


def tolerations(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """Tolerations for exactly the taints of a node that the pod does not tolerate, unless fewer of them are enough elsewhere.

    Taints that say how a node is are not tolerated: the pod would come to a node that cannot run it.
    """
    found = (frozenset(untolerated(context.pod, node)) for _, node in context.targets())
    sets = dict.fromkeys(taints for taints in found if taints and not any(is_state(taint) for taint in taints))
    enough: list[frozenset[Taint]] = []
    for taints in sorted(sets, key=len):
        if any(fewer < taints for fewer in enough):
            continue
        texts = sorted(map(taint_text, taints))
        edits = [f"tolerations+={text}" for text in texts]
        for change in edit_of_pod(context, "toleration", f"tolerate the taint {' and '.join(texts)}", *edits, size=len(taints)):
            yield change
            if any(taints < more for more in sets) and context.helpful(change) is not None:
                enough.append(taints)


def untolerated(pod: Pod, node: Node) -> tuple[Taint, ...]:
    """The taints of *node* that keep *pod* away, that of a cordon included."""
    cordon = (UNSCHEDULABLE,) if node.spec.unschedulable and UNSCHEDULABLE not in node.spec.taints else ()
    taints = (taint for taint in (*node.spec.taints, *cordon) if taint.effect in NO_NEW_PODS)
    return tuple(dict.fromkeys(taint for taint in taints if not tolerates(pod.spec.tolerations, taint)))


def dropped_node_selectors(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One key of the nodeSelector removed."""
    for key, value in (context.pod.spec.node_selector or {}).items():
        yield from edit_of_pod(context, "nodeSelector", f"remove the nodeSelector {key}={value}", f"nodeSelector.{key}-")


def dropped_node_affinity(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One expression of the required node affinity removed."""
    for at, term in enumerate(node_terms(context.pod)):
        for field, expressions in (("matchExpressions", term.match_expressions), ("matchFields", term.match_fields)):
            for number, expression in enumerate(expressions):
                path = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[{at}].{field}[{number}]-"
                yield from edit_of_pod(context, "nodeAffinity", f"remove the required node affinity {text_of(expression)}", path)


def dropped_pod_affinity(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One required term of the pod's affinity or anti-affinity to other pods removed."""
    affinity = context.pod.spec.affinity
    if affinity is None:
        return
    kinds: tuple[ChangeKind, ...] = ("podAffinity", "podAntiAffinity")
    for kind, word, part in zip(kinds, ("affinity", "anti-affinity"), (affinity.pod_affinity, affinity.pod_anti_affinity), strict=True):
        for at, term in enumerate(part.required if part is not None else ()):
            told = f"remove the required {word} to pods by {term.topology_key}"
            yield from edit_of_pod(context, kind, told, f"affinity.{kind}.{REQUIRED}[{at}]-")


def dropped_ports(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One host port removed."""
    spec = context.pod.spec
    sidecars = [container for container in spec.init_containers if container.is_sidecar]
    for place, container in [*(("containers", one) for one in spec.containers), *(("initContainers", one) for one in sidecars)]:
        for at, port in enumerate(container.ports):
            if port.host_port:
                told = f"remove the host port {port.host_port} of container {container.name}"
                yield from edit_of_pod(context, "hostPort", told, f"spec.{place}[{container.name}].ports[{at}].hostPort-")


def looser_spread(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A maxSkew raised as little as possible, or a constraint of the spread that is only wished for."""
    for at, constraint in enumerate(context.pod.spec.topology_spread_constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        place, key = f"topologySpreadConstraints[{at}]", constraint.topology_key
        skew = _smallest_skew(context, place, constraint.max_skew)
        if skew is not None:
            told = f"raise the maxSkew over {key} from {constraint.max_skew} to {skew}"
            yield from edit_of_pod(context, "spread", told, f"{place}.maxSkew={skew}", size=skew)
        told = f"make the spread over {key} a wish (ScheduleAnyway)"
        yield from edit_of_pod(context, "spread", told, f"{place}.whenUnsatisfiable=ScheduleAnyway", size=float("inf"))


def _smallest_skew(context: WhatIfContext, place: str, now: int) -> int | None:
    """The smallest maxSkew with which the pod fits; None if none is high enough."""

    def helps(skew: int) -> bool:
        return any(context.helpful(change) for change in edit_of_pod(context, "spread", "", f"{place}.maxSkew={skew}"))

    low, high = now, now + sum(len(context.on(node.name)) for node in context.nodes()) + 1
    if not helps(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if helps(middle) else (middle, high)
    return high
