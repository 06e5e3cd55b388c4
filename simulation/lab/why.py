"""Why a pod goes there, and why not to another node: the explanation of the very moment of a state at which the pod is tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...api.objects import Pod
from ...api.record import plain
from ...core.engine import Engine
from ...exceptions import UnknownNameError, did_you_mean
from ..explain.explain import explain, explain_in, freed
from ..explain.explanation import Explanation
from ..explain.values import NodeReport
from ..scenario import Scenario
from .source import LabError
from .workbench import LabState, Workbench

MOST_ROWS = 200


def why(bench: Workbench, state: LabState, key: str, node: str | None = None) -> dict[str, Any]:
    """Why the pod *key* goes where it goes in *state*, and all about *node*, as plain data with sentences.

    A pod that waits is asked about when the pods before it have been tried; one with a node as if it had none. Raises
    :class:`~.source.LabError` for names that nothing has.
    """
    pod = found_pod(bench.scenario(state), key)
    try:
        with bench.simulation(state) as simulation:
            if pod.spec.node_name:
                engine = simulation.begin_without(pod).engine
                moment = f"as if it were not on {pod.spec.node_name} yet"
                return {"moment": moment, **explained(explain(engine, freed(pod), node=node), engine, node)}
            explanation = explain_in(simulation, pod, node=node)
            before = [one.key for one in simulation.pods()].index(pod.key)
            moment = f"when {before} {'pod was' if before == 1 else 'pods were'} tried before it"
            return {"moment": moment, **explained(explanation, simulation.engine, node)}
    except UnknownNameError as error:
        raise LabError(str(error), "why") from None


def found_pod(scenario: Scenario, key: str) -> Pod:
    """The pod *key*. Raises :class:`~.source.LabError`."""
    everyone = {item.key: item for item in (*scenario.objects, *scenario.pending) if isinstance(item, Pod)}
    if key not in everyone:
        raise LabError(f'pod: got "{key}", wanted a pod of the cluster{did_you_mean(key, everyone)}', "why")
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
        return f"{pod} finds no node: {found.decision.error or 'it is not tried'}"
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
