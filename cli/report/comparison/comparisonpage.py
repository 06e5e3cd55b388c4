"""A comparison as one page: the verdict, who loses, why, which pods, the nodes, the scores, and how the clusters end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from ....api.view import Column, Table
from ....simulation.compare.causes import KINDS, SCORE
from ....simulation.compare.modes import LOCKED
from ..page.about import About
from ..page.clustermap import ClusterMap
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, element, named, number, sentence, told
from ..page.parts import BAD, Section, card, colour_of, dot, fact, facts, folded, note, plain_table, section, soft, stack, tag, track
from ..page.tables import list_html
from .comparisontext import correlation_table, first_line, hints, use_table
from .outcomes import AMONG_BEST_MEANS, COLOURS, decision_parts, pod_parts
from .pictures import correlations, endings
from .podlist import MOST, NAME, PodList, cause_name
from .verdict import label, phrase, side_name, verdict

Record = dict[str, Any]
MODES = {
    "free": (
        "Each configuration has its own copy of the cluster. A pod that gets another node changes the cluster for the pods after it,"
        " so that scores may differ because of earlier placements, too."
    ),
    "locked": "All decide on the same state each time, and only the decisions of {first} take effect: no difference results from another.",
}


def comparison_html(record: Record, about: About | None = None, nodes: ClusterMap | None = None) -> str:
    """``Comparison.record()`` as a page; *nodes*: the clusters as they end."""
    names = " and ".join(label(record, at) for at in range(len(record["configurations"])))
    sections = comparison_sections(record, nodes)
    return page_html(Page(f"kubeclassic compare: {names}", verdict(record), about or About(), sections, lead(record)))


def comparison_sections(record: Record, nodes: ClusterMap | None = None) -> list[Section]:
    """All that stands under the verdict."""
    found = [section("Who loses, who gains", *_losses(record), name="losses"), section("Why decisions differ", *_why(record), name="why")]
    found.append(section("Which pods, and why", *_list(record), name="list"))
    if nodes is not None:
        found.append(section("Nodes in the end", nodes.html(), name="nodes"))
    found.append(section("How scores go together", *_scores(record), name="scores"))
    title = "What each decides" if record["mode"] == LOCKED else "Use, imbalance and fragmentation in the end"
    found.append(section(title, *_endings(record), name="end"))
    return found


# --- the head -------------------------------------------------------------------------------------------------------


def lead(record: Record) -> Markup:
    """What stands right under the verdict: the mode, the configurations, and where pods are."""
    pods, cycles = told("pods", number(record["pods"])), told("cycles", number(record["cycles"]))
    mode = MODES[record["mode"]].format(first=label(record, 0))
    told_mode = soft(pods, " pods, ", cycles, f" cycles, mode {record['mode']}. ", named(mode))
    sides = element("ul", *(_side(at, one) for at, one in enumerate(record["configurations"])), class_="legend")
    return sentence(told_mode, sides, facts(*(_placed(record, at) for at in range(len(record["configurations"])))))


def _side(at: int, configuration: Record) -> Markup:
    text = sentence(" ", code(configuration["text"])) if configuration["text"] else Markup("")
    return element("li", dot(colour_of(at)), element("b", configuration["name"]), f" {configuration['release']}", text)


def _placed(record: Record, at: int) -> Markup:
    summary, path = record["configurations"][at]["summary"], f"configurations.{at}.summary"
    rest = {"unschedulable": "without a node", "evicted": "evicted", "gated": "held back"}
    parts = [sentence("; ", told(f"{path}.{key}", number(summary[key])), f" {text}") for key, text in rest.items() if summary[key]]
    placed = told(f"{path}.placed", number(summary["placed"]))
    return fact(placed, sentence("placed under ", named(side_name(record, at)), *parts), colour_of(at))


# --- who loses ------------------------------------------------------------------------------------------------------


def _losses(record: Record) -> Iterator[Text]:
    for at, against in enumerate(record["against"]):
        yield card(_title(record, at), stack("pods", pod_parts(at, against)))
    rows = list(_lost_rows(record))
    if not rows:
        yield soft("No pod loses its place, and none gains one.")
        return
    colours = {"loses": BAD, "gains": "var(--good)"}
    columns = (
        Column("pod", "name"), Column("change", "tag", filter=True, colours=colours), Column("under", "name", filter=True),
        Column("for", "name", filter=True), Column("node under the other", "name"), Column("what is said"),
    )  # fmt: skip
    yield list_html(Table("lost", columns, rows, noun="pod"))


def _title(record: Record, at: int) -> Markup:
    return sentence(named(side_name(record, at + 1)), " against ", named(side_name(record, 0)))


def _lost_rows(record: Record) -> Iterator[list[Any]]:
    """Each pod that has a node under one configuration only: first those that lose theirs."""
    for key, word in (("lost", "loses"), ("gained", "gains")):
        for at, against in enumerate(record["against"]):
            under = side_name(record, at + 1)
            for loss in against[key]["pods"]:
                yield [loss["pod"], word, under, phrase(loss["reason"], 1), loss["node"], loss["text"]]


# --- why ------------------------------------------------------------------------------------------------------------


def _why(record: Record) -> Iterator[Text]:
    if record["differences"] and record["mode"] != LOCKED:
        yield from _first_differences(record)
    for at, against in enumerate(record["against"]):
        yield card(_title(record, at), *_decided(record, at, against))
        yield from (note(f"{hint}.") for hint in hints(against))


def _first_differences(record: Record) -> Iterator[Text]:
    firsts = [element("li", named(first_line(against).strip())) for against in record["against"] if against["firstDifference"]]
    count, cycles = told("differences.length", number(len(record["differences"]))), told("cycles", number(record["cycles"]))
    yield element("p", count, " of ", cycles, " decisions differ. The first one that does; those after it can follow from it:")
    yield element("ul", *firsts)
    yield soft(code("--mode locked"), " leaves out differences that follow from others.")


def _decided(record: Record, at: int, against: Record) -> Iterator[Text]:
    yield stack("decisions", decision_parts(at, against))
    yield soft(named(AMONG_BEST_MEANS.format(first=label(record, 0))), " ", _sets(record, at, against))
    if against["causes"]:
        yield _causes(record, at, against)


def _sets(record: Record, at: int, against: Record) -> Markup:
    """What does not depend on the tie-break."""
    path, found = f"against.{at}.agreement", against["agreement"]
    first, second = named(label(record, 0)), named(label(record, at + 1))
    counts = {key: told(f"{path}.{key}", number(count)) for key, count in found.items()}
    return sentence(
        "Of ", counts["cycles"], " decisions of both, the same nodes fit in ", counts["sameFeasible"], " and the same ones are best in ",
        counts["sameBest"], "; with any tie-break ", second, " takes one of the best nodes of ", first, " in ", counts["bestWithin"], ". ",
        second, " gives both nodes the same score in ", counts["equalForBoth"], " of those among the best, and in ",
        counts["equalForSecondAlone"], " of those that are different.",
    )  # fmt: skip


def _causes(record: Record, at: int, against: Record) -> Markup:
    most = max(cause["cycles"] for cause in against["causes"])
    rows: list[list[object]] = []
    for place, cause in enumerate(against["causes"]):
        count = told(f"against.{at}.causes.{place}.cycles", number(cause["cycles"]))
        colour, name = COLOURS[cause["verdict"]], cause_name(record, against["second"], cause)
        link = element("a", "show the pods", href=f"#{NAME}?{urlencode({'is-cause': name})}")
        side = f" in {cause['side']}" if cause["side"] and cause["kind"] != SCORE else ""
        rule = named(f"{cause['rule'] or cause['kind']}{side}")
        rows.append([count, track(cause["cycles"] / most, colour), tag(cause["verdict"], colour), rule, KINDS[cause["kind"]], link])
    return plain_table(["decisions", "", "outcome", "rule", "meaning", "pods"], rows, caption="Causes, the most frequent first")


# --- the pods, the scores, the end ----------------------------------------------------------------------------------


def _list(record: Record) -> Iterator[Text]:
    table = PodList(record).table()
    if not table.rows:
        yield soft("Every decision is the same, and every pod ends on the same node.")
        return
    yield soft("Open a pod to see how each configuration judged the nodes in question, rule by rule.")
    if len(record["differences"]) > MOST:
        yield soft("The judged nodes are here for the first ", named(number(MOST)), " decisions that differ; -o json has them all.")
    yield list_html(table)


def _scores(record: Record) -> Iterator[Text]:
    yield soft("Over the nodes that both score in a cycle. Spread: the standard deviation of a score, times its weight.")
    for at, against in enumerate(record["against"]):
        rules = folded("All rules", plain_table(*_quiet(correlation_table(against))))
        yield card(_title(record, at), *correlations(at, against), rules)


def _quiet(found: tuple[Sequence[str], Sequence[Sequence[object]]]) -> tuple[Sequence[str], list[list[object]]]:
    """The cells of a table whose numbers stand marked elsewhere on the page."""
    headers, rows = found
    return headers, [[named("-" if cell is None else str(cell)) for cell in row] for row in rows]


def _endings(record: Record) -> Iterator[Text]:
    yield from endings(record)
    table = folded("All resources", plain_table(*_quiet(use_table(record))))
    if record["mode"] == LOCKED:
        yield soft("There is one cluster, as the decisions of ", named(label(record, 0)), " alone take effect.")
    yield card("", table)
