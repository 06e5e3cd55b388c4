"""What nothing in the cluster is called, and what was probably meant: labels, topology keys, taints and resources, each one and all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import attrs

from ...api.objects import Container
from ...simulation.explain.clusterfacts import LabelFacts, have, idle_tolerations, is_meant, near_keys, taint_text, toleration_text
from ...simulation.explain.faileddemands import node_labels, node_terms, pod_terms, resources_of
from .context import WhatIfContext
from .podchanges import REQUIRED
from .suggestion import Change, ChangeKind


@attrs.frozen
class _Correction:
    kind: ChangeKind
    words: str
    edits: tuple[str, ...]


def corrected(context: WhatIfContext) -> Iterator[Change]:
    """The pod with everything put right that nothing in the cluster is called, and with each of these alone."""
    found = [*_labels(context), *_topology_keys(context), *_labels_of_pods(context), *_taints(context), *_resources(context)]
    edits = tuple(edit for one in found for edit in one.edits)
    together = [_Correction(found[0].kind, "; and ".join(one.words for one in found), edits)] if len(found) > 1 else []
    for one in [*together, *found]:
        yield attrs.evolve(context.of_pod(one.kind, one.words, *one.edits, size=-float(len(one.edits))), corrects=True)


def _instead(wanted: str, given: str, count: int, noun: str = "node") -> str:
    """What was probably meant by what none has."""
    return f"ask for {wanted}, not for {given}: no {noun} has that, and {have(count, noun)} {wanted}"


def _label(facts: LabelFacts, near: tuple[str, str], key: str, value: str) -> str:
    """The same of a label."""
    return _instead("=".join(near), f"{key}={value}", facts.having(*near), facts.noun)


def _of_pairs(facts: LabelFacts, kind: ChangeKind, path: str, pairs: Mapping[str, str] | None) -> Iterator[_Correction]:
    """Labels that are wanted at *path* of a pod."""
    for key, value in (pairs or {}).items():
        near = facts.near(key, value)
        if near is not None:
            old = [f"{path}.{key}-"] if near[0] != key else []
            yield _Correction(kind, _label(facts, near, key, value), (*old, f"{path}.{near[0]}={near[1]}"))


def _labels(context: WhatIfContext) -> Iterator[_Correction]:
    """Labels of nodes that are selected."""
    facts = node_labels(context.engine)
    yield from _of_pairs(facts, "nodeSelector", "nodeSelector", context.pod.spec.node_selector)
    for at, term in enumerate(node_terms(context.pod)):
        for number, expression in enumerate(term.match_expressions):
            path = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[{at}].matchExpressions[{number}]"
            for place, value in enumerate(expression.values if expression.operator == "In" else ()):
                near = facts.near(expression.key, value)
                if near is not None:
                    edit = f"{path}.values[{place}]={near[1]}" if near[0] == expression.key else f"{path}.key={near[0]}"
                    yield _Correction("nodeAffinity", _label(facts, near, expression.key, value), (edit,))


def _topology_keys(context: WhatIfContext) -> Iterator[_Correction]:
    """Keys of labels by which pods are spread or kept together."""
    facts, spread = node_labels(context.engine), context.pod.spec.topology_spread_constraints
    places: list[tuple[ChangeKind, str, str]] = [
        *(("spread", f"topologySpreadConstraints[{at}]", one.topology_key) for at, one in enumerate(spread)),
        *(("podAffinity", f"affinity.podAffinity.{REQUIRED}[{at}]", one.topology_key) for at, one in enumerate(pod_terms(context.pod))),
    ]
    for kind, path, key in places:
        for meant in near_keys(key, facts.counts)[:1] if key not in facts.counts else ():
            count = sum(facts.counts[meant].values())
            yield _Correction(kind, _instead(meant, key, count), (f"{path}.topologyKey={meant}",))


def _labels_of_pods(context: WhatIfContext) -> Iterator[_Correction]:
    """Labels of the pods that the pod wants to be near to."""
    for at, term in enumerate(pod_terms(context.pod)):
        namespaces = set(term.namespaces) or {context.pod.namespace}
        facts = LabelFacts.of((pod.labels for pod in context.engine.pods() if pod.namespace in namespaces), "pod")
        pairs = None if term.label_selector is None else term.label_selector.match_labels
        yield from _of_pairs(facts, "podAffinity", f"affinity.podAffinity.{REQUIRED}[{at}].labelSelector.matchLabels", pairs)


def _taints(context: WhatIfContext) -> Iterator[_Correction]:
    """Taints that a toleration misses by its key, its value or its effect."""
    taints = Counter(taint for node in context.nodes() for taint in node.spec.taints)
    for toleration in idle_tolerations(context.pod, taints):
        for taint in (one for one in taints if is_meant(toleration, one)):
            words = f"tolerate {_instead(taint_text(taint), toleration_text(toleration), taints[taint]).removeprefix('ask for ')}"
            yield _Correction("toleration", words.replace(", not for ", ", not ", 1), (f"tolerations+={taint_text(taint)}",))


def _resources(context: WhatIfContext) -> Iterator[_Correction]:
    """Resources that a container requests."""
    there, of_devices = resources_of(context.engine), context.engine.template_of(context.pod).device_resources
    for container in context.pod.spec.containers:
        for name in container.requests:
            is_unknown = "/" in name and not there[name] and name not in of_devices
            for meant in near_keys(name, there)[:1] if is_unknown else ():
                words = _instead(meant, name, there[meant])
                yield _Correction("request", words, tuple(_renamed(container, name, meant)))


def _renamed(container: Container, name: str, meant: str) -> Iterable[str]:
    for field, amounts in (("requests", container.requests), ("limits", container.limits)):
        if name in amounts:
            path = f"spec.containers[{container.name}].resources.{field}"
            yield from (f"{path}.{name}-", f"{path}.{meant}={amounts[name].value()}")
