"""The pictures of a comparison: use at the end, what each decides, and how scores go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....questions.comparisonview import USES, resources, side_name, with_own_cluster
from ....simulation.compare.agreement import LOCKED
from ....simulation.compare.correlation import ScoreCorrelation
from ....simulation.compare.document import ComparedConfiguration, ComparisonDocument, ConfigurationPair
from ....simulation.summary import Usage
from ..page.charts import Chart, ChartSeries
from ..page.markup import Markup, Text, element, joined, named, sentence, share
from ..page.parts import BAD, card, colour_of, dot, grid, plain_table, soft, track

MEASURES = {"use": "use", "standardDeviation": "imbalance", "fragmentation": "fragmentation"}
"""Measure in ``-o json`` -> what it is called."""
ENDS = {"placed": "placed", "unschedulable": "without a node", "gated": "gated", "evicted": "evicted"}
"""Count in the summary -> what it is called."""


# --- how the clusters end -------------------------------------------------------------------------------------------


def endings(document: ComparisonDocument) -> Iterator[Markup]:
    """A card for each resource in use; in mode locked, where there is one cluster, what each configuration decides instead."""
    if document.mode == LOCKED:
        yield card("", decided(document).html())
        return
    configurations = with_own_cluster(document)
    idle = [name for name in resources(document) if not any(usage.requested for _, _, usage in _usages(configurations, name))]
    yield grid(*(_card(document, configurations, name) for name in resources(document) if name not in idle))
    if idle:
        yield soft("Not requested by any pod: ", named(", ".join(idle)), ".")


def decided(document: ComparisonDocument) -> Chart:
    """How many pods each configuration places, leaves without a node, finds gated and evicts."""
    configurations = document.configurations
    found = {key: text for key, text in ENDS.items() if any(getattr(one.summary, key) for one in configurations)}
    series = [
        ChartSeries(
            side_name(document, at),
            [getattr(one.summary, key) for key in found],
            at,
        )
        for at, one in enumerate(configurations)
    ]
    description = "how many pods each configuration finds a node for"
    labels, across = list(found.values()), "what becomes of pods"
    return Chart(title="Pods", description=description, labels=labels, series=series, across=across, up="pods", wide=True)


def _usages(configurations: Sequence[ComparedConfiguration], resource: str) -> list[tuple[int, int, Usage]]:
    """(Place of the configuration, place among its resources, usage) of each configuration that has *resource*."""
    return [
        (which, at, usage)
        for which, configuration in enumerate(configurations)
        for at, usage in enumerate(configuration.summary.resources)
        if usage.resource == resource
    ]


def _card(document: ComparisonDocument, configurations: Sequence[ComparedConfiguration], resource: str) -> Markup:
    lines = [
        sentence(element("span", f"{word}: {USES[word]}", class_="what"), *_meters(document, configurations, resource, measure))
        for measure, word in MEASURES.items()
        if measure != "fragmentation" or any(resource in one.fragmentation for one in configurations)
    ]
    return card(resource, element("div", *lines, class_="meters"), _by_use(document, configurations, resource).html())


def _by_use(document: ComparisonDocument, configurations: Sequence[ComparedConfiguration], resource: str) -> Chart:
    series = [
        ChartSeries(side_name(document, at), one.nodes_by_use[resource], at)
        for at, one in enumerate(configurations)
        if resource in one.nodes_by_use
    ]
    tenths = [f"{10 * tenth} %" for tenth in range(10)]
    across = f"{resource} in use, from"
    return Chart(title="Nodes", description=f"by the share of {resource} in use", labels=tenths, series=series, across=across, up="nodes")


def _meters(document: ComparisonDocument, configurations: Sequence[ComparedConfiguration], resource: str, measure: str) -> Iterator[Markup]:
    for at, _, usage in _usages(configurations, resource):
        if measure == "fragmentation":
            value = configurations[at].fragmentation.get(resource, 0.0)
        elif measure == "use":
            value = usage.use
        else:
            value = usage.imbalance.standard_deviation
        name = element("span", dot(colour_of(at)), side_name(document, at))
        yield sentence(name, track(value, colour_of(at)), element("b", share(value)))


# --- scores ---------------------------------------------------------------------------------------------------------


def correlations(at: int, against: ConfigurationPair) -> Iterator[Markup]:
    """How well the scores of each rule go together, and which rules never tell nodes apart."""
    lines = list(enumerate(against.correlation))
    telling = [(place, found) for place, found in lines if any(found.deviations)]
    colours = [colour_of(0), colour_of(at + 1)]
    spreads = [sentence(dot(colour), f"spread in {name}") for name, colour in zip((against.first, against.second), colours, strict=True)]
    headers: list[Text] = ["score of", "-1 to 1", "correlation", *spreads]
    yield plain_table(headers, [_correlation(at, found, against) for _, found in telling], caption="How scores go together")
    silent = [(found.rule, _lacking(found, against)) for _, found in lines if not any(found.deviations)]
    if silent:
        told_rules = joined(sentence(named(rule), f" ({lacking})" if lacking else "") for rule, lacking in silent)
        yield soft("These rules gave all nodes the same score: ", told_rules, ".")


def _lacking(found: ScoreCorrelation, against: ConfigurationPair) -> str:
    """Which side has no rule about it."""
    return ", ".join(f"{name} has no such rule" for name, rules in _sides(found, against) if not rules and found.rule != "total")


def _sides(found: ScoreCorrelation, against: ConfigurationPair) -> list[tuple[str, tuple[str, ...]]]:
    """Each configuration with its rules."""
    return [(against.first, found.first), (against.second, found.second)]


def _correlation(at: int, found: ScoreCorrelation, against: ConfigurationPair) -> list[Text]:
    value = found.correlation
    bar = _from_the_middle(value) if value is not None else Markup("-")
    text = f"{value:.3f}" if value is not None else _lacking(found, against) or "one gives all nodes the same score"
    spreads = [_spread(found, against, side, colour) for side, colour in enumerate((colour_of(0), colour_of(at + 1)))]
    return [_named(found, against), bar, text, *spreads]


def _spread(found: ScoreCorrelation, against: ConfigurationPair, side: int, colour: str) -> Markup:
    if not (found.first, found.second)[side] and found.rule != "total":
        return Markup("no such rule")
    value = found.deviations[side]
    widest = max(max(line.deviations) for line in against.correlation)
    return sentence(share(value), track(value / widest, colour))


def _named(found: ScoreCorrelation, against: ConfigurationPair) -> Markup:
    """What the score is about, and the rules that give it where they are called otherwise."""
    rules = [(name, " + ".join(rules)) for name, rules in _sides(found, against) if rules not in ((), (found.rule,))]
    return sentence(named(found.rule), *(element("small", f" {names} in {side}", class_="line") for side, names in rules))


def _from_the_middle(value: float) -> Markup:
    colour = colour_of(0) if value >= 0 else BAD
    return track(abs(value) / 2, colour, left=min(0.5, 0.5 + value / 2), middle=True)
