"""What a page asks about one pod or node: why the pod goes where it goes, what the fields of a form are, and what helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.load import Loaded
from ...api.objects import Node, Pod, PodStatus, Toleration
from ...api.record import plain
from ...api.wire.ownfields import current_manifest
from ...api.words import count_of
from ...core.engine import Engine
from ...core.pods.requests import CPU, MEMORY, PODS
from ...exceptions import KubeclassicError, UnknownNameError, did_you_mean
from ...framework.releases import ALL_RELEASES
from ...simulation.explain.clusterfacts import taint_text
from ...simulation.explain.explain import explain, explain_in, freed
from ...simulation.explain.explanation import Explanation, PodQuestion
from ...simulation.explain.values import NodeReport, by_subject
from ...simulation.scenario import Scenario
from ..capacity.answer import count_copies
from ..capacity.question import asked
from ..whatif.whatif import ScheduledPod, what_would_help
from .actions import with_release
from .labconfiguration import LabError
from .labinput import check_node
from .workbench import LabState, Workbench

MOST_ROWS = 200


def why(bench: Workbench, state: LabState, key: str, node: str | None = None) -> dict[str, Any]:
    """Why the pod *key* goes where it goes in *state*, and all about *node*, as plain data with sentences.

    A pod that waits is asked about when the pods before it have been tried; one with a node as if it had none. Raises
    :class:`~.labconfiguration.LabError` for names that nothing has.
    """
    pod = found_pod(bench.scenario(state), key)
    try:
        with bench.simulation(state) as simulation:
            if pod.spec.node_name:
                engine = simulation.begin_without(pod).engine
                moment = f"as if it were not on {pod.spec.node_name} yet"
                found = explained(explain(engine, freed(pod), node=node), engine, node)
            else:
                found = explained(explain_in(simulation, pod, node=node), simulation.engine, node)
                before = [one.key for one in simulation.pods()].index(pod.key)
                moment = f"when {before} {'pod was' if before == 1 else 'pods were'} tried before it"
    except UnknownNameError as error:
        raise LabError(str(error), "why") from None
    answer = bench.answer(state)
    last, text = answer.host_of(pod.key), answer.texts.texts[int(answer.whys[answer.layout.pod_at[pod.key]])]
    if last != (pod.spec.node_name or found["host"]):
        found["words"] += f". In the end it {f'is on {last}, where it has made room' if last else f'has no node: {text}'}"
    return {"moment": moment, **found}


def found_pod(scenario: Scenario, key: str) -> Pod:
    """The pod *key*. Raises :class:`~.labconfiguration.LabError`."""
    everyone = {item.key: item for item in (*scenario.objects, *scenario.pending) if isinstance(item, Pod)}
    if key not in everyone:
        raise LabError(f'pod: expected a pod of the cluster, got "{key}"{did_you_mean(key, everyone)}', "why")
    return everyone[key]


def explained(found: Explanation, engine: Engine, node: str | None) -> dict[str, Any]:
    """An explanation by *engine* as plain data for a page; with *node* also about that one."""
    algorithm = engine.algorithm_of(found.decision.pod) or engine.algorithm
    return {
        "pod": found.decision.pod.key,
        "host": found.decision.host,
        "message": found.decision.error,
        "words": sentence(found),
        "nodeWords": None if node is None else about(found, node),
        "counts": plain(found.counts),
        "choice": plain(found.choice),
        "reasons": [{name: value for name, value in plain(group).items() if name != "nodes"} for group in found.groups],
        "eviction": plain(found.eviction),
        "closeUp": plain(found.close_up),
        "matrix": {
            "filters": [predicate.name for predicate in algorithm.predicates],
            "scorers": [{"name": priority.name, "weight": weight} for priority, weight in algorithm.priorities],
            "rows": [_row(report) for report in _shown(found.nodes, found.decision.host, node)],
            "nodes": len(found.nodes),
        },
    }


def _shown(nodes: Sequence[NodeReport], host: str | None, node: str | None) -> list[NodeReport]:
    """The rows of the matrix: host and asked node first, then the best and the nearest, half and half where there are too many."""
    first = [report for report in nodes if report.name == host] + [r for r in nodes if r.name == node and r.name != host]
    others = [report for report in nodes if report not in first]
    if len(others) <= MOST_ROWS:
        return [*first, *others]
    fitting = [report for report in others if report.fits]
    failing = [report for report in others if not report.fits]
    half = max(MOST_ROWS // 2, MOST_ROWS - len(failing))
    best = fitting[:half]
    return [*first, *best, *failing[: MOST_ROWS - len(best)]]


def _row(report: NodeReport) -> list[Any]:
    """[node, fits, visited, {rule: reasons}, {rule: [score, weight]}, total]."""
    objections = {one.rule: list(one.reasons) for one in report.objections} or {rule: list(report.reasons) for rule in report.rules}
    scores = {name: [score.reduced, score.weight, score.raw] for name, score in report.scores.items()}
    return [report.name, report.fits, report.visited, objections, scores, report.total]


# --- in words -------------------------------------------------------------------------------------------------------


def sentence(found: Explanation) -> str:
    """Where the pod goes and what decided, in a sentence."""
    host, choice, counts = found.decision.host, found.choice, found.counts
    pod = found.decision.pod.key
    if host is None:
        if found.room is not None:
            return f"{pod} makes room on {found.room}, and others have to leave"
        against = ", ".join(f"{what} on {count_of(count, 'node')}" for what, count in by_subject(found.groups).items())
        return f"{pod} finds no node: {against or found.decision.error or 'it is not tried'}"
    if choice is None:
        return f"{pod} goes to {host}, the only one of {counts.visited} nodes that fits"
    if choice.decided is None:
        return f"{pod} goes to {host}; all {len(choice.ties)} nodes that fit have {choice.best} points: {choice.tie_break}"
    decided = f"{choice.decided} puts it before {choice.against}"
    if len(choice.ties) < 2:
        return f"{pod} goes to {host} with {choice.best} points; {decided}"
    return f"{pod} goes to {host} with {choice.best} points; {decided}. {len(choice.ties)} nodes have as many: {choice.tie_break}"


def about(found: Explanation, node: str) -> str:
    """Why the pod goes to *node*, or why not, in a sentence."""
    close, report, host = found.close_up, found.report_of(node), found.decision.host
    if close is None or report is None:
        return f"{node} was not looked at"
    if node == host:
        return f"{node} is the one"
    if not report.fits:
        rules = ", ".join(report.rules) or ", ".join(one.rule for one in report.objections)
        return f"{node} does not fit: {'; '.join(report.reasons) or 'it was left out'}{f' ({rules})' if rules else ''}"
    if not report.visited:
        return f"{node} would fit, but the search had found enough nodes before it came there"
    if close.leads and close.total is not None:
        lead = min(close.leads, key=lambda one: one.ahead)
        if lead.ahead < 0:
            return f"{node} fits with {close.total} points; {host} has {-lead.ahead} more by {lead.rule}"
    return f"{node} fits with {close.total} points, as many as {host}, which was taken among equals"


# --- forms ----------------------------------------------------------------------------------------------------------


def form_of(scenario: Scenario, kind: str, name: str) -> dict[str, Any]:
    """The fields of the pod or node *name* as plain data. Raises :class:`~.labconfiguration.LabError` for a name that nothing has."""
    if kind == "pod":
        return {"kind": kind, "name": name, **_of_pod(found_pod(scenario, name))}
    return {"kind": "node", "name": name, **_of_node(check_node(name, scenario, "node"))}


def _of_pod(pod: Pod) -> dict[str, Any]:
    containers = current_manifest(pod).get("spec", {}).get("containers") or [{}]
    first = containers[0].get("resources", {}).get("requests", {})
    spread = [f"{one.topology_key}:{one.max_skew}:{one.when_unsatisfiable}" for one in pod.spec.topology_spread_constraints]
    return {
        "containers": len(containers), "labels": dict(pod.labels),
        "fields": {
            "requests.cpu": str(first.get("cpu", "")), "requests.memory": str(first.get("memory", "")), "priority": str(pod.priority),
            "nodeSelector": _pairs(pod.spec.node_selector or {}), "tolerations": [_toleration(one) for one in pod.spec.tolerations],
            "topologySpreadConstraints": spread,
        },
    }  # fmt: skip


def _of_node(node: Node) -> dict[str, Any]:
    had = current_manifest(node).get("status", {}).get("allocatable", {})
    return {
        "fields": {
            **{f"allocatable.{name}": str(had.get(name, "")) for name in (CPU, MEMORY, PODS)},
            "taints": [taint_text(one) for one in node.spec.taints], "labels": _pairs(node.labels),
        }
    }  # fmt: skip


def _pairs(found: Any) -> list[str]:
    return [f"{key}={value}" for key, value in found.items()]


def _toleration(found: Toleration) -> str:
    if not found.key:
        return "*"
    value = f"={found.value}" if found.operator != "Exists" else ""
    return f"{found.key}{value}{f':{found.effect}' if found.effect else ''}"


# --- what helps -----------------------------------------------------------------------------------------------------


MOST_COPIES_COUNTED = 1000


def what_helps(bench: Workbench, state: LabState, key: str) -> dict[str, Any]:
    """The smallest changes after which the pod *key*, which waits, gets a node, as plain data; ``edits`` is None where no edit says it.

    Raises :class:`~.labconfiguration.LabError` for a name that nothing has.
    """
    scenario, spec, order = bench.scenario(state), state.configuration.spec(), state.configuration.order
    pod = _waiting_pod(scenario, key)
    question = ScheduledPod(scenario, spec, PodQuestion(), order, defaults=bench.input.files.defaults)
    with bench.simulation(state) as simulation:
        explanation, found, tried = what_would_help(question, pod, simulation)
    suggestions = [
        {
            "change": one.change, "host": one.host, "victims": list(one.leaving), "evictedBy": one.evicted_by,
            "effect": one.effect.words if one.effect else "", "isCostly": one.is_costly,
            "edits": list(one.patch) if one.is_edit else None, "words": list(one.patch),
        }
        for one in found
    ]  # fmt: skip
    return {"pod": key, "host": explanation.decision.host, "tried": tried, "suggestions": suggestions}


def _waiting_pod(scenario: Scenario, key: str) -> Pod:
    pod = found_pod(scenario, key)
    if pod.spec.node_name:
        raise LabError(f"{key}: it is on {pod.spec.node_name}, expected a pod that waits", "why")
    return pod


def how_many_more(bench: Workbench, state: LabState, key: str) -> dict[str, Any]:
    """How many more pods like *key* fit when all that wait had their turn, and what stops the next one, as plain data.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a pod that cannot be copied.
    """
    scenario, spec = bench.scenario(state), state.configuration.spec()
    pod = freed(found_pod(scenario, key))
    pod = replace(pod, metadata=replace(pod.metadata, uid="", name=f"{pod.name}-more"), status=PodStatus())
    question = asked(
        scenario, [(key, Loaded((pod,)))], spec, limit=MOST_COPIES_COUNTED, pending_first=True, order=state.configuration.order,
        defaults=bench.input.files.defaults,
    )  # fmt: skip
    counted = count_copies(question, spec.engine(scenario.config_maps))
    fits = sum(placed.fits for placed in counted.placed)
    nodes = sorted(((name, count) for placed in counted.placed for name, count in placed.nodes.items() if count), key=lambda one: -one[1])
    return {"pod": key, "fits": fits, "most": MOST_COPIES_COUNTED, "stop": counted.stop.message, "nodes": nodes}


def by_release(bench: Workbench, state: LabState, key: str) -> list[dict[str, Any]]:
    """Where each release puts the pod *key*: neighbours with the same node, or with none, are one, as plain data.

    Raises :class:`~.labconfiguration.LabError` for a name that nothing has.
    """
    pod = _waiting_pod(bench.scenario(state), key)
    found: list[dict[str, Any]] = []
    for version in ALL_RELEASES:
        host, message = _in_release(bench, state, version, pod)
        latest = found[-1] if found else None
        if latest is not None and latest["host"] == host:
            latest["releases"].append(version)
        else:
            found.append({"releases": [version], "host": host, "message": message})
    return found


def _in_release(bench: Workbench, state: LabState, version: str, pod: Pod) -> tuple[str | None, str]:
    try:
        answer = bench.computed(attrs.evolve(state, configuration=with_release(state.configuration, version)))
    except KubeclassicError as error:
        return None, str(error)
    return answer.host_of(pod.key), answer.texts.texts[int(answer.whys[answer.layout.pod_at[pod.key]])]
