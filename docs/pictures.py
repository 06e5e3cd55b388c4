"""The pictures of the documentation: ``python docs/pictures.py`` draws them again. What they show is decided when they are drawn.

A test draws them too and compares, so that no picture shows what the code does not do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from drawing.svg import (  # noqa: E402
    BEST,
    DIM,
    FAINT,
    INK,
    LINE,
    PALETTE,
    PAPER,
    WARN,
    arrow,
    box,
    document,
    rectangle,
    text,
)  # fmt: skip

from kubeclassic import Cluster, explain, simulate  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
EXAMPLE = ROOT / "examples" / "cluster"
DECIDED = "shop/storefront-bj5tsk7t55-5"
"""The pod whose cycle is drawn."""
ALIKE = ("NodePreferAvoidPodsPriority",)
"""Priorities left out of the bars: they are the same on each node, and by far the largest."""
ZONE = "failure-domain.beta.kubernetes.io/zone"
Json = dict[str, Any]


# --- one cycle ------------------------------------------------------------------------------------------------------

STEPS = (
    "Take the next pod",
    "Filter: does the node fit?",
    "Score: how well does it fit?",
    "Pick the best",
    "Assume, bind",
)


def cycle() -> str:
    """One scheduling cycle: the steps, and below each what it did for a pod of the example cluster."""
    found = explain(EXAMPLE, DECIDED, "1.16").record()
    nodes = sorted(found["nodes"], key=lambda node: (not node["fits"], node["node"]))
    height = 116 + 26 * len(nodes) + 96
    parts = [
        *_steps(),
        *_the_pod(found),
        *_verdicts(nodes),
        *_scores(nodes, found["host"]),
        *_way_out(height),
    ]
    return document(1060, height, "One scheduling cycle, step by step", _told(found), parts)


def _told(found: Json) -> str:
    fit, host = sum(node["fits"] for node in found["nodes"]), found["host"]
    return f"Of {len(found['nodes'])} nodes {fit} pass every predicate. Their scores are added up, and {host} has the best total."


COLUMNS = (10, 195, 500, 775, 920)
WIDTHS = (165, 285, 255, 125, 130)
RULES = 302
"""Where the names of predicates begin."""


def _steps() -> Iterator[str]:
    for number, (left, width, label) in enumerate(zip(COLUMNS, WIDTHS, STEPS, strict=True)):
        yield box(left, 14, width, 44, label, PALETTE[0] if number in (1, 2) else LINE)
        if number:
            yield arrow(left - 20, 36, left - 2, 36)


def _the_pod(found: Json) -> Iterator[str]:
    name = found["pod"].rpartition("/")[2]
    yield box(10, 92, 165, 50, "", BEST)
    yield text(92, 113, "pod", size=14, colour=DIM, middle=True)
    yield text(92, 131, name if len(name) < 18 else f"{name[:16]}…", size=14, bold=True, middle=True)


def _verdicts(nodes: list[Json]) -> Iterator[str]:
    for row, node in enumerate(nodes):
        top = 92 + 26 * row
        yield text(COLUMNS[1], top + 15, node["node"], size=14, colour=INK if node["fits"] else DIM)
        if node["fits"]:
            yield text(RULES, top + 15, "fits", size=14, colour=BEST, bold=True)
        else:
            yield text(RULES, top + 15, node["predicates"][0], size=14, colour=WARN)


def _scores(nodes: list[Json], host: str) -> Iterator[str]:
    """A bar of the scores of each node that fits, its total, and the winner."""
    rules = [rule for rule in (nodes[0]["scores"] or {}) if rule not in ALIKE and any((n["scores"] or {}).get(rule, {}).get("total")
                                                                                      for n in nodes if n["fits"])]  # fmt: skip
    most = max(sum(node["scores"][rule]["total"] for rule in rules) for node in nodes if node["fits"])
    for row, node in enumerate(node for node in nodes if node["fits"]):
        top, left = 92 + 26 * row, 500.0
        for number, rule in enumerate(rules):
            width = node["scores"][rule]["total"] / most * 215
            yield rectangle(left, top + 2, max(width - 1, 0), 17, PALETTE[number % len(PALETTE)])
            left += width
        total = sum(node["scores"][rule]["total"] for rule in rules)
        yield text(725, top + 15, str(total), size=14)
        if node["node"] == host:
            yield box(775, top - 2, 125, 25, node["node"], BEST)
            yield arrow(902, top + 10, 918, top + 10)
            yield text(924, top + 15, f"on {host}", size=14, bold=True)
    first = 92 + 26 * sum(node["fits"] for node in nodes) + 10
    for number, rule in enumerate(rules):
        yield rectangle(500, first + 20 * number, 12, 12, PALETTE[number % len(PALETTE)])
        yield text(518, first + 20 * number + 11, rule.removesuffix("Priority"), size=14, colour=DIM)


def _way_out(height: int) -> Iterator[str]:
    """What happens where no node fits."""
    top = height - 74
    yield arrow(325, top - 22, 325, top - 2)
    yield text(335, top - 8, "no node fits", size=14, colour=WARN)
    yield box(195, top, 285, 44, "Why? Who would have to leave?", WARN)
    yield arrow(480, top + 22, 498, top + 22)
    yield box(500, top, 255, 44, "Victims leave, the pod waits", LINE)
    yield text(775, top + 26, "and is tried again.", size=14)


# --- the example cluster --------------------------------------------------------------------------------------------


def cluster() -> str:
    """The example cluster by zone: the cpu of each node, used before and used after ``simulate``, and the pod without a node."""
    loaded, result = Cluster.load(str(EXAMPLE)), simulate(EXAMPLE)
    pods = {pod.key: pod for pod in loaded.pods}
    before = {
        node.name: _cpu(pod for pod in pods.values() if pod.spec.node_name == node.name)
        for node in loaded.nodes
    }
    after = {
        node.name: _cpu(pods[key] for key, host in result.hosts.items() if host == node.name)
        for node in loaded.nodes
    }
    zones = sorted({node.metadata.labels.get(ZONE, "") for node in loaded.nodes})
    parts: list[str] = []
    height = 0
    for column, zone in enumerate(zones):
        nodes = [node for node in loaded.nodes if node.metadata.labels.get(ZONE, "") == zone]
        parts += _zone(10 + column * 265, zone, nodes, before, after)
        height = max(height, 50 + 44 * len(nodes))
    lost = [key for key, host in result.hosts.items() if host is None]
    parts += _legend(height + 14, sum(host is not None for host in result.hosts.values()), lost)
    about = f"{len(result.hosts)} pods wait. {len(result.hosts) - len(lost)} get a node, {len(lost)} fits nowhere."
    return document(810, height + 62, "Where the waiting pods of the example go", about, parts)


def _cpu(pods: Any) -> float:
    """The cpu that *pods* request, in cores."""
    return float(sum(_millicores(container) for pod in pods for container in pod.spec.containers)) / 1000


def _millicores(container: Any) -> int:
    return container.requests["cpu"].milli_value() if "cpu" in container.requests else 0


def _zone(
    left: int, zone: str, nodes: list[Any], before: Mapping[str, float], after: Mapping[str, float]
) -> Iterator[str]:
    yield box(left, 10, 255, 36 + 44 * len(nodes), "", LINE)
    yield text(left + 12, 32, f"zone {zone}", size=14, bold=True)
    for row, node in enumerate(nodes):
        top, room = 44 + 44 * row, node.status.allocatable["cpu"].milli_value() / 1000
        used, new = before[node.name] / room * 231, after[node.name] / room * 231
        yield text(left + 12, top + 12, node.name, size=12)
        yield text(
            left + 243,
            top + 12,
            f"{before[node.name] + after[node.name]:g} of {room:g} cpu",
            size=12,
            colour=DIM,
            end=True,
        )
        yield rectangle(left + 12, top + 18, 231, 14, FAINT)
        yield rectangle(left + 12, top + 18, used, 14, DIM)
        yield rectangle(left + 12 + used, top + 18, new, 14, PALETTE[0])


def _legend(top: int, placed: int, lost: list[str]) -> Iterator[str]:
    yield rectangle(22, top, 14, 14, DIM)
    yield text(42, top + 12, "in use before", size=13)
    yield rectangle(150, top, 14, 14, PALETTE[0])
    yield text(170, top + 12, f"{placed} pods placed", size=13)
    yield rectangle(300, top, 14, 14, PAPER, line=WARN)
    yield text(320, top + 12, f"fits nowhere: {', '.join(lost)}", size=13, colour=WARN)


# --- the rooms ------------------------------------------------------------------------------------------------------

FLOORS = (
    ("cli", "one file a command, tables and pages"),
    ("live", "run, shadow, serve, snapshot"),
    ("questions", "simulate, explain, compare, replay, capacity, drain, sweep: ask, result, view"),
    ("simulation", "what questions run: scenarios, replay, sweep, the lab"),
    ("scheduler.py", "the public Scheduler of any release"),
    ("extenders", "HTTP extenders, as a client calls them"),
    ("framework", "1.17 to 1.36: options, configuration, plugins, cycle, queue, migrate"),
    ("algorithmprovider", "the release table, gates, providers, Policies"),
    ("predicates, priorities", "one file a rule"),
    ("core", "the cycle, the cluster as arrays, what is kept from cycle to cycle"),
    ("api", "Kubernetes objects, how they are read and what they mean"),
)


def rooms() -> str:
    """The parts of the package: each imports only what is below it."""
    parts = []
    for row, (name, about) in enumerate(FLOORS):
        top = 14 + 54 * row
        parts += [
            box(10, top, 200, 40, name, PALETTE[0] if name in ("core", "predicates, priorities") else LINE)
        ]
        parts += [text(226, top + 25, about, size=13, colour=DIM)]
        if row:
            parts.append(arrow(110, top - 14, 110, top - 1))
    return document(
        720,
        14 + 54 * len(FLOORS),
        "The rooms of the package",
        "Each part imports only what is below it.",
        parts,
    )


PICTURES: Mapping[str, Callable[[], str]] = {"cycle": cycle, "cluster": cluster, "rooms": rooms}
"""File in docs/pictures, without its ending -> what draws it."""


def main() -> None:
    """Draw every picture."""
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
