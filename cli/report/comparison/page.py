"""A comparison as one page that needs no other files: numbers, pictures, and a list of pods."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from ....simulation.compare.causes import KINDS
from ....simulation.compare.modes import LOCKED
from ..html import Markup, data_script, dot, number, page, table, told, track
from .differences import COLOURS, MOST, PodList, colour_of
from .pictures import Part, correlations, endings, stack
from .text import correlation_table, first_line, hints, use_table

Record = dict[str, Any]
SAME, NEAR, FAR, HELD = "var(--same)", "var(--near)", "var(--far)", "var(--held)"
MODES = {
    "free": (
        "Each configuration has its own copy of the cluster. A pod that gets another node changes the cluster for the pods after it,"
        " so that scores may differ because of earlier placements, too."
    ),
    "locked": "All decide on the same state each time, and only the decisions of {first} take effect: no difference results from another.",
}


def comparison_html(record: Record) -> str:
    """``Comparison.record()`` as a page."""
    names = " and ".join(c["name"] for c in record["configurations"])
    return page(f"kubeclassic compare: {names}", _sections(record), "compare.css", "compare.js")


def _sections(record: Record) -> Iterator[str]:
    pods = PodList(record)
    data = pods.data()
    yield from _head(record)
    for at, against in enumerate(record["against"]):
        yield from _against(record, at, against, pods)
    yield from _endings(record)
    yield from _list(record, pods, data)


# --- the head -------------------------------------------------------------------------------------------------------


def _head(record: Record) -> Iterator[str]:
    differing, first = len(record["differences"]), record["configurations"][0]["name"]
    yield f"<h1>{escape(_headline(record))}</h1>"
    if differing and record["mode"] != LOCKED:
        yield from _first_differences(record)
    pods, cycles = told("pods", number(record["pods"])), told("cycles", number(record["cycles"]))
    yield f'<p class="soft">{pods} pods, {cycles} cycles, mode {record["mode"]}. {escape(MODES[record["mode"]].format(first=first))}</p>'
    yield f'<ul class="sides">{"".join(_side(at, c) for at, c in enumerate(record["configurations"]))}</ul>'
    cards = [_placed(at, c) for at, c in enumerate(record["configurations"])]
    if len(record["against"]) == 1:
        (against,) = record["against"]
        parts = _decision_parts(0, against) if record["mode"] == LOCKED else _pod_parts(0, against)[:2]
        cards += [_number(colour, told(path, number(count)), escape(_of(record, name))) for name, count, colour, path in parts]
    yield f'<div class="numbers">{"".join(cards)}</div>'


def _headline(record: Record) -> str:
    """In mode free the first pod that tells the two apart, as all later differences can follow from it."""
    found = record["differences"]
    if not found:
        return "All decisions are the same"
    if record["mode"] == LOCKED:
        return f"{number(len(found))} of {number(record['cycles'])} decisions differ"
    return f"The first difference: {found[0]['pod']}"


def _first_differences(record: Record) -> Iterator[str]:
    for against in record["against"]:
        if against["firstDifference"]:
            yield f"<p>{escape(first_line(against))}</p>"
    differing = f"{number(len(record['differences']))} of {number(record['cycles'])} decisions differ in all"
    yield f'<p class="soft">{differing}; those after the first can follow from it. --mode locked leaves such differences out.</p>'


def _side(at: int, configuration: Record) -> str:
    asked = f" <code>{escape(configuration['text'])}</code>" if configuration["text"] else ""
    return f"<li>{dot(colour_of(at))}<b>{escape(configuration['name'])}</b> {escape(configuration['release'])}{asked}</li>"


def _placed(at: int, configuration: Record) -> str:
    summary, path = configuration["summary"], f"configurations.{at}.summary"
    rest = ", ".join(f"{told(f'{path}.{key}', number(summary[key]))} {key}" for key in ("unschedulable", "evicted"))
    rest += f", {told(f'{path}.gated', number(summary['gated']))} held back" if summary["gated"] else ""
    text = f"placed by {escape(configuration['name'])}; {rest}"
    return _number(colour_of(at), told(f"{path}.placed", number(summary["placed"])), text)


def _of(record: Record, name: str) -> str:
    return f"decisions: {name}" if record["mode"] == LOCKED else f"pods {name}"


def _number(colour: str, value: str, text: str) -> str:
    return f'<div class="number" style="--k:{colour}"><b>{value}</b><span>{text}</span></div>'


# --- one configuration against the first ----------------------------------------------------------------------------


def _against(record: Record, at: int, against: Record, pods: PodList) -> Iterator[str]:
    first, second = escape(against["first"]), escape(against["second"])
    yield f"<h2>{second} against {first}</h2>"
    yield '<div class="card">'
    if record["mode"] != LOCKED:
        yield "<h3>Where pods end</h3>" + stack("pods", _pod_parts(at, against))
    yield "<h3>What is decided</h3>" + stack("decisions", _decision_parts(at, against))
    yield f'<p class="soft">{_sets(at, against)}</p></div>'
    yield from (f'<p class="card">{escape(hint)}.</p>' for hint in hints(against))
    if against["causes"]:
        yield '<div class="card"><h3>Why decisions differ</h3>' + _causes(at, against, pods) + "</div>"
    yield '<div class="card"><h3>Do the scores correlate?</h3>'
    yield '<p class="soft">Over the nodes that both score in a cycle. Spread: the standard deviation of a score, times its weight.</p>'
    yield from correlations(at, against)
    yield f"<details><summary>All rules</summary>{table(*correlation_table(against))}</details></div>"


def _pod_parts(at: int, against: Record) -> list[Part]:
    path, first, second = f"against.{at}", against["first"], against["second"]
    return [
        ("on the same node", against["alike"], SAME, f"{path}.alike"),
        ("elsewhere", len(against["elsewhere"]), NEAR, f"{path}.elsewhere.length"),
        (f"placed by {first} alone", len(against["firstAlone"]), colour_of(0), f"{path}.firstAlone.length"),
        (f"placed by {second} alone", len(against["secondAlone"]), colour_of(at + 1), f"{path}.secondAlone.length"),
        *([("held back by one of them", len(against["heldBack"]), HELD, f"{path}.heldBack.length")] if against["heldBack"] else []),
    ]


def _decision_parts(at: int, against: Record) -> list[Part]:
    path, found = f"against.{at}.agreement", against["agreement"]
    return [
        ("the same", found["same"], SAME, f"{path}.same"),
        (f"another node, which {against['first']} scores as high as its own", found["amongBest"], NEAR, f"{path}.amongBest"),
        ("different", found["different"], FAR, f"{path}.different"),
        *([("held back by one of them", found["heldBack"], HELD, f"{path}.heldBack")] if found["heldBack"] else []),
    ]


def _sets(at: int, against: Record) -> str:
    """What does not depend on the tie-break."""
    path, found = f"against.{at}.agreement", against["agreement"]
    first, second = escape(against["first"]), escape(against["second"])
    counts = {key: told(f"{path}.{key}", number(count)) for key, count in found.items()}
    return (
        f"Of {counts['cycles']} decisions of both, the same nodes fit in {counts['sameFeasible']} and the same ones are best in"
        f" {counts['sameBest']}; with any tie-break {second} takes one of {first}'s best in {counts['bestWithin']}."
        f" {second}, too, gives both nodes the same score in {counts['equalForBoth']} of the second kind,"
        f" and it alone does so in {counts['equalForSecondAlone']} of the third."
    )


def _causes(at: int, against: Record, pods: PodList) -> str:
    most, rows = max(cause["cycles"] for cause in against["causes"]), list[list[object]]()
    before = sum(len(other["causes"]) for other in pods.record["against"][:at])
    for place, cause in enumerate(against["causes"]):
        count = Markup(told(f"against.{at}.causes.{place}.cycles", number(cause["cycles"])))
        colour = COLOURS[cause["verdict"]]
        bar = Markup(track(cause["cycles"] / most, colour))
        what = f"{cause['rule'] or cause['kind']}{' in ' + cause['side'] if cause['side'] else ''}"
        button = Markup(f'<button type="button" data-cause="{before + place}">show</button>')
        verdict = Markup(f'<span class="tag" style="--k:{colour}">{escape(cause["verdict"])}</span>')
        rows.append([count, bar, verdict, what, KINDS[cause["kind"]], button])
    return table(["decisions", "", "outcome", "rule", "meaning", ""], rows)


# --- how the clusters end, and the pods -----------------------------------------------------------------------------


def _endings(record: Record) -> Iterator[str]:
    yield "<h2>Use, imbalance and fragmentation in the end</h2>"
    if record["mode"] == LOCKED:
        yield f'<p class="soft">All have the same state, that of {escape(record["configurations"][0]["name"])}.</p>'
    yield from endings(record)
    yield f"<details><summary>All resources</summary>{table(*use_table(record))}</details>"


def _list(record: Record, pods: PodList, data: Record) -> Iterator[str]:
    yield '<h2 id="list">Which pods, and why</h2>'
    if not data["pods"]:
        yield '<p class="soft">Every decision is the same.</p>'
    outcomes = [(str(found["place"]), found["name"]) for found in pods.outcomes.values()]
    causes = [(str(at), text) for at, text in enumerate(_cause_names(record))]
    yield '<div class="card"><div class="filter">'
    yield '<input id="query" type="search" placeholder="pod, node or rule" aria-label="pod, node or rule">'
    yield _select("outcome", "every outcome", outcomes) + _select("cause", "every cause", causes) + "</div>"
    names = "".join(f"<th>{dot(colour_of(at))}{escape(c['name'])}</th>" for at, c in enumerate(record["configurations"]))
    head = f"<thead><tr><th>pod</th>{names}<th>outcome</th><th>why</th></tr></thead>"
    yield f'<div class="scroll"><table>{head}<tbody id="rows"></tbody></table></div>'
    buttons = "".join(f'<button type="button" id="{name}">{name}</button>' for name in ("first", "before", "next", "last"))
    yield f'<div class="pager"><span id="told"></span>{buttons}</div>'
    yield '<p class="soft">Click on a pod to see how each configuration judged the nodes in question.</p>'
    if len(record["differences"]) > MOST:
        yield f'<p class="soft">Both tables are here for the first {number(MOST)} decisions that differ; -o json has them all.</p>'
    yield "<noscript><p>The list needs JavaScript; -o json and -o table have the same.</p></noscript></div>"
    yield data_script("data", data)


def _cause_names(record: Record) -> Iterator[str]:
    """What each cause is called, in the order of the tables."""
    for against in record["against"]:
        whose = f"{against['second']}: " if len(record["against"]) > 1 else ""
        for cause in against["causes"]:
            side = f" in {cause['side']}" if cause["side"] else ""
            yield f"{whose}{cause['verdict']}, {cause['rule'] or cause['kind']}{side}"


def _select(name: str, every: str, choices: list[tuple[str, str]]) -> str:
    options = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in [("", every), *choices])
    return f'<select id="{name}" aria-label="{name}">{options}</select>'
