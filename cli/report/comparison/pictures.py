"""The pictures of a comparison: use at the end, what each decides, and how scores go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....api.view import step
from ....simulation.compare.modes import LOCKED
from ..page.charts import Chart, ChartSeries
from ..page.markup import Markup, Text, element, joined, named, sentence, share, told
from ..page.parts import BAD, card, colour_of, dot, grid, plain_table, soft, track
from .comparisontext import MEANINGS, ending_configurations, resources
from .verdict import side_name

Record = dict[str, Any]
MEASURES = {"use": "use", "standardDeviation": "imbalance", "fragmentation": "fragmentation"}
"""Measure in ``-o json`` -> what it is called."""
ENDS = {"placed": "placed", "unschedulable": "without a node", "gated": "held back", "evicted": "evicted"}
"""Count in the summary -> what it is called."""


# --- how the clusters end -------------------------------------------------------------------------------------------


def endings(record: Record) -> Iterator[Markup]:
    """A card for each resource in use; in mode locked, where there is one cluster, what each configuration decides instead."""
    if record["mode"] == LOCKED:
        yield card("", decided(record).html())
        return
    configurations = ending_configurations(record)
    idle = [name for name in resources(record) if not any(usage["requested"] for _, _, usage in _usages(configurations, name))]
    yield grid(*(_card(record, configurations, name) for name in resources(record) if name not in idle))
    if idle:
        yield soft("Not requested by any pod: ", named(", ".join(idle)), ".")


def decided(record: Record) -> Chart:
    """How many pods each configuration places, leaves without a node, holds back and evicts."""
    configurations = record["configurations"]
    found = {key: text for key, text in ENDS.items() if any(one["summary"][key] for one in configurations)}
    series = [
        ChartSeries(
            side_name(record, at), [one["summary"][key] for key in found], [f"configurations.{at}.summary.{key}" for key in found], at
        )
        for at, one in enumerate(configurations)
    ]
    description = "how many pods each configuration finds a node for"
    return Chart(title="Pods", description=description, labels=list(found.values()), series=series, up="pods", wide=True)


def _usages(configurations: Sequence[Record], resource: str) -> list[tuple[int, int, Record]]:
    """(Place of the configuration, place among its resources, usage) of each configuration that has *resource*."""
    return [
        (which, at, usage)
        for which, configuration in enumerate(configurations)
        for at, usage in enumerate(configuration["summary"]["resources"])
        if usage["resource"] == resource
    ]


def _card(record: Record, configurations: Sequence[Record], resource: str) -> Markup:
    lines = [
        sentence(element("span", f"{word}: {MEANINGS[word]}", class_="what"), *_meters(record, configurations, resource, measure))
        for measure, word in MEASURES.items()
        if measure != "fragmentation" or any(resource in one["fragmentation"] for one in configurations)
    ]
    return card(resource, element("div", *lines, class_="meters"), _by_use(record, configurations, resource).html())


def _by_use(record: Record, configurations: Sequence[Record], resource: str) -> Chart:
    series = [
        ChartSeries(side_name(record, at), one["nodesByUse"][resource], f"configurations.{at}.nodesByUse.{step(resource)}", at)
        for at, one in enumerate(configurations)
        if resource in one["nodesByUse"]
    ]
    tenths = [f"{10 * tenth} %" for tenth in range(10)]
    across = f"{resource} in use, from"
    return Chart(title="Nodes", description=f"by the share of {resource} in use", labels=tenths, series=series, across=across, up="nodes")


def _meters(record: Record, configurations: Sequence[Record], resource: str, measure: str) -> Iterator[Markup]:
    for at, place, usage in _usages(configurations, resource):
        path = f"configurations.{at}.summary.resources.{place}"
        if measure == "fragmentation":
            value, path = configurations[at]["fragmentation"].get(resource, 0.0), f"configurations.{at}.fragmentation.{step(resource)}"
        elif measure == "use":
            value, path = usage["use"], f"{path}.use"
        else:
            value, path = usage["imbalance"][measure], f"{path}.imbalance.{measure}"
        name = element("span", dot(colour_of(at)), side_name(record, at))
        yield sentence(name, track(value, colour_of(at)), element("b", told(path, share(value))))


# --- scores ---------------------------------------------------------------------------------------------------------


def correlations(at: int, against: Record) -> Iterator[Markup]:
    """How well the scores of each rule go together, and which rules never tell nodes apart."""
    lines = list(enumerate(against["correlation"]))
    telling = [(place, found) for place, found in lines if any(found["deviations"])]
    spreads = [sentence(dot(colour), f"spread in {against[side]}") for side, colour in _sides(at)]
    headers: list[Text] = ["score of", "-1 to 1", "correlation", *spreads]
    yield plain_table(headers, [_correlation(at, place, found, against) for place, found in telling], caption="How scores go together")
    silent = [(found["rule"], _lacking(found, against)) for _, found in lines if not any(found["deviations"])]
    if silent:
        told_rules = joined(sentence(named(rule), f" ({lacking})" if lacking else "") for rule, lacking in silent)
        yield soft("These rules gave all nodes the same score: ", told_rules, ".")


def _sides(at: int) -> list[tuple[str, str]]:
    return [("first", colour_of(0)), ("second", colour_of(at + 1))]


def _lacking(found: Record, against: Record) -> str:
    """Which side has no rule about it."""
    return ", ".join(f"{against[side]} has no such rule" for side in ("first", "second") if not found[side] and found["rule"] != "total")


def _correlation(at: int, place: int, found: Record, against: Record) -> list[Text]:
    path, value = f"against.{at}.correlation.{place}", found["correlation"]
    bar = _from_the_middle(value) if value is not None else Markup("-")
    text = f"{value:.3f}" if value is not None else _lacking(found, against) or "one gives all nodes the same score"
    spreads = [_spread(path, found, against, side, colour) for side, (_, colour) in enumerate(_sides(at))]
    return [_named(found, against), bar, told(f"{path}.correlation", text), *spreads]


def _spread(path: str, found: Record, against: Record, side: int, colour: str) -> Markup:
    if not found[("first", "second")[side]] and found["rule"] != "total":
        return Markup("no such rule")
    value = found["deviations"][side]
    widest = max(max(line["deviations"]) for line in against["correlation"])
    return sentence(told(f"{path}.deviations.{side}", share(value)), track(value / widest, colour))


def _named(found: Record, against: Record) -> Markup:
    """What the score is about, and the rules that give it where they are called otherwise."""
    rules = [(against[side], " + ".join(found[side])) for side in ("first", "second") if found[side] not in ([], [found["rule"]])]
    return sentence(named(found["rule"]), *(element("small", f" {names} in {side}", class_="line") for side, names in rules))


def _from_the_middle(value: float) -> Markup:
    colour = colour_of(0) if value >= 0 else BAD
    return track(abs(value) / 2, colour, left=min(0.5, 0.5 + value / 2), middle=True)
