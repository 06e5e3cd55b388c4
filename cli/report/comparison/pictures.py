"""The pictures of a comparison: bars of decisions, meters and columns of use at the end, correlations of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from ....simulation.compare.modes import LOCKED
from ..html import Markup, dot, number, share, table, told, track
from .differences import colour_of
from .text import MEANINGS, ending_configurations, resources

Record = dict[str, Any]
Part = tuple[str, int, str, str]
"""Name, count, colour, and the path of the count in ``-o json``."""
MEASURES = {"use": "use", "standardDeviation": "imbalance", "fragmentation": "fragmentation"}
"""Measure in ``-o json`` -> what it is called."""


def stack(label: str, parts: Sequence[Part]) -> str:
    """Counts side by side as one bar, with a legend."""
    total = max(sum(count for _, count, _, _ in parts), 1)
    pieces = "".join(f'<i style="flex:{count};--k:{colour}" title="{escape(name)}"></i>' for name, count, colour, _ in parts if count)
    lines = "".join(
        f"<li>{dot(colour)}{escape(name)} <b>{told(path, number(count))}</b> {share(count / total)}</li>"
        for name, count, colour, path in parts
    )
    return f'<div class="stack" role="img" aria-label="{escape(label)}">{pieces}</div><ul class="legend">{lines}</ul>'


# --- how the clusters end -------------------------------------------------------------------------------------------


def endings(record: Record) -> Iterator[str]:
    """A card for each resource in use."""
    configurations = ending_configurations(record)
    idle = [name for name in resources(record) if not any(usage["requested"] for _, usage in _usages(configurations, name))]
    cards = [_card(record, configurations, name) for name in resources(record) if name not in idle]
    yield f'<div class="grid">{"".join(cards)}</div>'
    if idle:
        yield f'<p class="soft">Not requested by any pod: {escape(", ".join(idle))}.</p>'


def _usages(configurations: Sequence[Record], resource: str) -> list[tuple[int, Record]]:
    """(Place among the configurations' resources, usage) of each configuration that has *resource*."""
    return [
        (at, usage)
        for configuration in configurations
        for at, usage in enumerate(configuration["summary"]["resources"])
        if usage["resource"] == resource
    ]


def _card(record: Record, configurations: Sequence[Record], resource: str) -> str:
    meters = "".join(
        f'<span class="what">{escape(f"{word}: {MEANINGS[word]}")}</span>' + "".join(_meters(record, configurations, resource, measure))
        for measure, word in MEASURES.items()
        if measure != "fragmentation" or any(resource in c["fragmentation"] for c in configurations)
    )
    columns = [(at, c["nodesByUse"][resource]) for at, c in enumerate(configurations) if resource in c["nodesByUse"]]
    return f'<div class="card"><h3>{escape(resource)}</h3><div class="meters">{meters}</div>{_columns(columns)}</div>'


def _meters(record: Record, configurations: Sequence[Record], resource: str, measure: str) -> Iterator[str]:
    for at, configuration in enumerate(configurations):
        places = _usages([configuration], resource)
        path = f"configurations.{at}."
        if measure == "fragmentation":
            value, path = configuration["fragmentation"].get(resource, 0.0), f"{path}fragmentation.{resource.replace('.', '%2E')}"
        else:
            ((place, usage),) = places
            value = usage["use"] if measure == "use" else usage["imbalance"][measure]
            path += f"summary.resources.{place}." + ("use" if measure == "use" else f"imbalance.{measure}")
        name = "all" if record["mode"] == LOCKED else configuration["name"]
        yield f"<span>{dot(colour_of(at))}{escape(name)}</span>{track(value, colour_of(at))}<b>{told(path, share(value))}</b>"


def _columns(counts: Sequence[tuple[int, list[int]]]) -> str:
    """How many nodes are how full: a group of columns for each tenth."""
    most = max((count for _, found in counts for count in found), default=0)
    if not most:
        return ""
    pieces, wide = [], 30 / max(len(counts), 1)
    for place, (at, found) in enumerate(counts):
        for tenth, count in enumerate(found):
            height, left = 84 * count / most, 6 + 36 * tenth + wide * place
            title = f"{number(count)} nodes from {10 * tenth} to {10 * tenth + 10} %"
            size = f'width="{wide - 1.5:.1f}" height="{height:.1f}"'
            shape = f'<rect x="{left:.1f}" y="{100 - height:.1f}" {size} style="fill:{colour_of(at)}">'
            pieces.append(f"{shape}<title>{title}</title></rect>")
    marks = "".join(f'<text x="{6 + 36 * tenth}" y="114">{10 * tenth} %</text>' for tenth in (0, 5)) + '<text x="340" y="114">100 %</text>'
    axis = f'<line x1="4" y1="100.5" x2="368" y2="100.5"/>{marks}<text x="6" y="11">{number(most)} nodes</text>'
    picture = f'<svg viewBox="0 0 374 118" role="img" aria-label="nodes by use">{axis}{"".join(pieces)}</svg>'
    return f"<figure>{picture}<figcaption>nodes by the share of their capacity in use</figcaption></figure>"


# --- scores ---------------------------------------------------------------------------------------------------------


def correlations(at: int, against: Record) -> Iterator[str]:
    """How well the scores of each rule correlate, and which rules never score nodes differently."""
    rows: list[Sequence[object]] = []
    silent: list[str] = []
    for place, found in enumerate(against["correlation"]):
        if not any(found["deviations"]):
            silent.append(found["rule"])
            continue
        rows.append(_correlation(f"against.{at}.correlation.{place}", found, against))
    headers = ["score of", "-1 to 1", "correlation", *(f"spread in {against[side]}" for side in ("first", "second"))]
    yield table(headers, rows)
    if silent:
        yield f'<p class="soft">These rules gave all nodes the same score in both: {escape(", ".join(silent))}.</p>'


def _correlation(path: str, found: Record, against: Record) -> list[object]:
    value = found["correlation"]
    bar = "" if value is None else _from_the_middle(value)
    text = "one gives all nodes the same score" if value is None else f"{value:.3f}"
    spreads = [Markup(told(f"{path}.deviations.{side}", share(found["deviations"][side]))) for side in (0, 1)]
    return [_named(found, against), Markup(bar), Markup(told(f"{path}.correlation", text)), *spreads]


def _named(found: Record, against: Record) -> Markup:
    """What the score is about, and the rules that give it where they are called otherwise."""
    rules = [(against[side], " + ".join(found[side])) for side in ("first", "second") if found[side] not in ([], [found["rule"]])]
    lines = "".join(f"<br><small>{escape(names)} in {escape(side)}</small>" for side, names in rules)
    return Markup(escape(found["rule"]) + lines)


def _from_the_middle(value: float) -> str:
    colour = "var(--c0)" if value >= 0 else "var(--far)"
    return track(abs(value) / 2, colour, left=min(0.5, 0.5 + value / 2), middle=True)
