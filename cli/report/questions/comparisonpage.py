"""A comparison as one page: the verdict, who loses, why, which pods, and the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlencode

from ....api.view import Table
from ....questions.compare import ClusterEnd, CompareResult
from ....questions.comparisonview import OTHER_NODE, agreement_lines, headline, hints, label, side_name, verdict
from ....simulation.compare.agreement import DIFFERENT, EQUALLY_GOOD, GATED, LOCKED
from ....simulation.compare.causes import KINDS, SCORE
from ....simulation.compare.document import ComparedConfiguration, ComparisonDocument, ConfigurationPair
from ....simulation.reasons import phrase
from ..page.about import About, discreet
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, counted, element, named, number, sentence, spoken
from ..page.outcome import PodOutcome, next_step, who_html
from ..page.parts import (
    BAD,
    HELD,
    NEAR,
    SAME,
    Section,
    StackItem,
    bullets,
    card,
    colour_of,
    dot,
    fact,
    facts,
    note,
    plain_table,
    section,
    soft,
    stack,
    tag,
    track,
)
from ..page.tables import list_html
from .comparisonpods import COLOURS, MOST, NAME, PodList, alone, cause_name
from .nodemap import PODS, labels_of, share_of

MODES = {
    "free": (
        "Each configuration has its own copy of the cluster. A pod that gets another node changes the cluster for the pods after it,"
        " so that scores may differ because of earlier placements, too."
    ),
    "locked": "All decide on the same state each time, and only the decisions of {first} take effect: no difference results from another.",
}


def comparison_html(found: CompareResult, about: About | None = None) -> str:
    """*found* as a page."""
    document = found.document
    names = " and ".join(label(document, at) for at in range(len(document.configurations)))
    said, origin = spoken(found.view().verdict), about or About()
    title = f"kubeclassic compare: {names}"
    return page_html(Page(title, said, origin, comparison_sections(found), lead(document), who(document), _next(document, origin)))


def who(document: ComparisonDocument) -> Markup:
    """Each pod that loses its node, gains one, or gets another, by name; nothing if there is none."""
    found = list[PodOutcome]()
    for change in ("lost", "gained"):
        for at, against in enumerate(document.against):
            under = sentence("under ", named(side_name(document, at + 1)))
            pods = against.lost.pods if change == "lost" else against.gained.pods
            why = (sentence(under, ", for " if change == "lost" else "; else none for ", named(phrase(one.reason, 1))) for one in pods)
            found += [PodOutcome(one.pod, change, text) for one, text in zip(pods, why, strict=True)]
    title = "Who loses, who gains" if found else "Who moves"
    found += [
        PodOutcome(one.pod, "moved", sentence("from ", named(one.first or ""), " to ", named(one.second or "")))
        for against in document.against for one in against.elsewhere
    ]  # fmt: skip
    return who_html(title, found, "list")


def _next(document: ComparisonDocument, about: About) -> list[Markup]:
    """Which release changes it, where releases are all that differs."""
    texts, releases = [one.text for one in document.configurations], [one.release for one in document.configurations]
    alone = all(text == f"release={release}" for text, release in zip(texts, releases, strict=True))
    if len(releases) != 2 or not alone or not document.differences:
        return []
    step, pod = ("--from", releases[0], "--to", releases[1]), document.differences[0].pod
    return [
        next_step(sentence("What changes for ", named(pod), ", and by which release:"), about.asking("upgrade", *step, "--pod", pod)),
        next_step("Which release on the way changes what:", about.asking("upgrade", *step)),
    ]


def comparison_sections(found: CompareResult) -> list[Section]:
    """All sections under the verdict."""
    document, view = found.document, found.view()
    return [
        section("Where pods end", *_losses(document, view.table("lost")), name="losses"),
        section("Why decisions differ", *_why(document), name="why"),
        section("Which pods, and why", *_list(document), name="list"),
        *([section("Nodes in the end", _map(found).html(), name="nodes")] if found.ends else []),
    ]


def _map(found: CompareResult) -> ClusterMap:
    """A side for each configuration with a cluster of its own; in mode locked there is one cluster for all."""
    titles = [""] if len(found.ends) == 1 else [side_name(found.document, at) for at in range(len(found.ends))]
    nodes = {node.node: node for end in found.ends for node in end.nodes}
    sides = [
        MapSide(title, _uses(end, nodes), [end.pods.get(name, ()) for name in nodes] if end.pods else ())
        for title, end in zip(titles, found.ends, strict=True)
    ]
    return ClusterMap("map", list(nodes), sides, labels_of(list(nodes.values()), len(nodes)))


def _uses(end: ClusterEnd, names: Iterable[str]) -> dict[str, list[float | None]]:
    """Resource -> the share of it that is requested on each node; resources that no node has are left out."""
    known, resources = {node.node: node for node in end.nodes}, dict.fromkeys(name for node in end.nodes for name in node.resources)
    found = {one: [share_of(known[name], one) if name in known else None for name in names] for one in (*resources, PODS)}
    return {resource: values for resource, values in found.items() if any(value is not None for value in values)}


# --- the head -------------------------------------------------------------------------------------------------------


def lead(document: ComparisonDocument) -> Markup:
    """The lines right under the verdict: the mode, the configurations, and where pods are."""
    pods, cycles = counted(document, "pods"), counted(document, "decisions")
    mode = MODES[document.mode].format(first=label(document, 0))
    told_mode = soft(pods, " pods, ", cycles, f" decisions, mode {document.mode}. ", named(mode))
    sides = element("ul", *(_side(at, one) for at, one in enumerate(document.configurations)), class_="legend")
    return sentence(told_mode, sides, facts(*(_placed(document, at) for at in range(len(document.configurations)))))


def _side(at: int, configuration: ComparedConfiguration) -> Markup:
    text = sentence(" ", code(discreet(configuration.text))) if configuration.text else Markup("")
    return element("li", dot(colour_of(at)), element("b", configuration.name), f" {configuration.release}", text)


def _placed(document: ComparisonDocument, at: int) -> Markup:
    summary, path = document.configurations[at].summary, f"configurations.{at}.summary"
    rest = {"unschedulable": "without a node", "evicted": "evicted", "gated": "gated"}
    parts = [sentence("; ", counted(document, f"{path}.{key}"), f" {text}") for key, text in rest.items() if getattr(summary, key)]
    return fact(counted(document, f"{path}.placed"), sentence("placed under ", named(side_name(document, at)), *parts), colour_of(at))


# --- who loses ------------------------------------------------------------------------------------------------------


def _losses(document: ComparisonDocument, lost: Table) -> Iterator[Text]:
    for at, against in enumerate(document.against):
        yield card(_title(document, at), stack("pods", _pod_parts(at, against)))
    yield list_html(lost) if lost.rows else soft("No pod loses its place, and none gains one.")


def _pod_parts(at: int, against: ConfigurationPair) -> list[StackItem]:
    """Where pods end: on which side they have a node, and on the same one."""
    first, second = against.first, against.second
    held = StackItem(GATED, len(against.gated), HELD)
    return [
        StackItem("end the same", against.alike, SAME),
        StackItem(OTHER_NODE, len(against.elsewhere), NEAR),
        StackItem(alone(first), len(against.first_alone), colour_of(0)),
        StackItem(alone(second), len(against.second_alone), colour_of(at + 1)),
        *([held] if held.count else []),
    ]


def _title(document: ComparisonDocument, at: int) -> Markup:
    return sentence(named(side_name(document, at + 1)), " against ", named(side_name(document, 0)))


# --- why ------------------------------------------------------------------------------------------------------------


def _why(document: ComparisonDocument) -> Iterator[Text]:
    if document.differences and document.mode != LOCKED:
        yield bullets(list(headline(document, verdict(document)))[1:])
    for at, against in enumerate(document.against):
        yield card(_title(document, at), *_decided(document, at, against))
        yield from (note(f"{hint}.") for hint in hints(against))


def _decided(document: ComparisonDocument, at: int, against: ConfigurationPair) -> Iterator[Text]:
    yield stack("decisions", _decision_parts(against))
    yield bullets(agreement_lines(against))
    if against.causes:
        yield _causes(document, at, against)


def _decision_parts(against: ConfigurationPair) -> list[StackItem]:
    """How decisions agree."""
    found = against.agreement
    return [
        StackItem("the same", found.same, SAME),
        StackItem(EQUALLY_GOOD, found.equally_good, NEAR),
        StackItem(DIFFERENT, found.different, BAD),
        *([StackItem(GATED, found.gated, HELD)] if found.gated else []),
    ]


def _causes(document: ComparisonDocument, at: int, against: ConfigurationPair) -> Markup:
    most = max(cause.decisions for cause in against.causes)
    rows: list[list[object]] = []
    for place, cause in enumerate(against.causes):
        count = counted(document, f"against.{at}.causes.{place}.decisions")
        colour, name = COLOURS[cause.verdict], cause_name(document, against.second, cause)
        link = element("a", "show the pods", href=f"#{NAME}?{urlencode({'is-cause': name})}")
        side = f" in {cause.side}" if cause.side and cause.kind != SCORE else ""
        rule = named(f"{cause.rule or cause.kind}{side}")
        rows.append([count, track(cause.decisions / most, colour), tag(cause.verdict, colour), rule, KINDS[cause.kind], link])
    return plain_table(["decisions", "", "outcome", "rule", "meaning", "pods"], rows, caption="Causes, the most frequent first")


# --- the pods ------------------------------------------------------------------------------------------------------


def _list(document: ComparisonDocument) -> Iterator[Text]:
    table = PodList(document).table()
    if not table.rows:
        yield soft("Every decision is the same, and every pod ends on the same node.")
        return
    yield soft("Open a pod to see how each configuration judged the nodes in question, rule by rule.")
    if len(document.differences) > MOST:
        yield soft("The judged nodes are here for the first ", named(number(MOST)), " decisions that differ; -o json has them all.")
    yield list_html(table)
