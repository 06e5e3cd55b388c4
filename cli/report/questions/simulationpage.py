"""A simulation as a page: the outcome, who finds no place and why, the cluster before and after, every pod, node and decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....api.view import View
from ....api.words import short_name
from ....questions.simulate import SimulationResult
from ....simulation.nodesbyuse import NodeUse
from ....simulation.records import SimulationDocument, UnplacedPods
from ..page.about import About
from ..page.charts import Chart, ChartSeries
from ..page.clustermap import FEW, ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, counted, element, named, sentence, share, spoken
from ..page.outcome import NAMED, PodOutcome, help_step, who_html
from ..page.parts import BAD, GOOD, HELD, NEAR, SAME, Section, bullets, card, facts, facts_of, folded, grid, note, section, soft, track
from ..page.tables import list_html, short_table
from .nodemap import PODS, labels_of, share_of

TENTHS = [f"{10 * tenth}" for tenth in range(10)]
TAKES = "takes pods"
FEW_BARS = 24
"""Up to that many nodes have a bar each; of more it is told how many are how full."""
LISTED = 60
"""That many pods are listed under each reason."""
CARDS = (
    ("summary.placed", "pods with a node", GOOD), ("summary.unschedulable", "pods without a node", BAD),
    ("summary.waiting", "pods that plugins make wait", NEAR), ("summary.gated", "pods not tried for their scheduling gates", HELD),
    ("summary.evicted", "pods evicted", BAD), ("summary.replaced", "evicted pods made again", NEAR), ("summary.nodes", "nodes", SAME),
    ("summary.decisions", "decisions", SAME),
)  # fmt: skip
ALWAYS = ("summary.placed", "summary.unschedulable", "summary.nodes", "summary.decisions")


def simulation_html(found: SimulationResult, about: About, shown: str = "") -> str:
    """*found* as a page; *shown*: which pods or nodes alone are listed, in words."""
    view, lead = found.view(), facts(*facts_of(found.outcome, CARDS, ALWAYS))
    sections = list(_sections(found, view, shown))
    return page_html(Page("kubeclassic simulate", spoken(view.verdict), about, sections, lead, _who(found), _next(found, about)))


def _who(found: SimulationResult) -> Markup:
    """The pods without a node by name, and those that have to leave."""
    waiting = [PodOutcome(pod, "waits", group.reason) for group in found.outcome.reasons for pod in group.pods]
    evicted = [PodOutcome(one.pod, "evicted", sentence("for ", named(one.by))) for one in found.outcome.evicted]
    title = "Who finds no node" if waiting else "Who has to leave"
    return who_html(title, [*waiting, *evicted], "pods?is-outcome=unschedulable" if waiting else "evictions")


def _next(found: SimulationResult, about: About) -> list[Markup]:
    """What helps the first pod without a node."""
    return [help_step(group.pods[0], about) for group in found.outcome.reasons[:1]]


def _sections(found: SimulationResult, view: View, shown: str) -> Iterator[Section]:
    reasons = found.outcome.reasons
    if len(reasons) > 1 or sum(len(group.pods) for group in reasons) > NAMED:
        lead = "A pod can have several reasons; what counts is the one that alone keeps it from most nodes, else the one of most nodes."
        table = short_table(view.table("reasons"), "Pods without a node, by reason")
        lists = (_folded(found.outcome, f"reasons.{at}.pods.length", group) for at, group in enumerate(reasons))
        yield section("Why pods find no node", card("", sentence(table, *lists)), lead=lead)
    if found.refused:
        lead = "As they are now, without them on it. They are not evicted for that, but a new pod in their place would go elsewhere."
        yield section("Running pods that their nodes would no longer take", list_html(view.table("refused")), lead=lead, name="refused")
    if found.outcome.evicted:
        lead = "Evicted pods do not come back unless their owner makes them again (--reschedule-evicted)."
        yield section("Who has to leave", list_html(view.table("evicted")), lead=lead, name="evictions")
    yield section("Before and after", _map(found).html())
    yield _resources(found, view)
    only = [note("The lists show ", named(shown), " alone; the numbers above are of all.")] if shown else []
    yield section("Pods", *only, list_html(view.table("pods")), name="all-pods")
    yield section("Nodes", list_html(view.table("nodes")), name="all-nodes")
    if len({one.pod.key for one in found.decisions}) < len(found.decisions):  # else the list of pods has the same rows
        lead = "In the order of the decisions. A pod that makes room is tried again after the others."
        yield section("Decisions", list_html(view.table("decisions")), lead=lead, name="all-decisions")


def _folded(document: SimulationDocument, path: str, group: UnplacedPods) -> Markup:
    """The pods of one reason."""
    pods, more = len(group.pods), element("a", "see all pods without a node", href="#pods?is-outcome=unschedulable")
    title = sentence(named(group.reason), ": ", counted(document, path), " pod" if pods == 1 else " pods")
    others = [element("p", "and others: ", more)] if pods > LISTED else []
    return folded(title, bullets(map(named, group.pods[:LISTED])), *others, printed=pods > NAMED)


# --- nodes before and after -----------------------------------------------------------------------------------------


def _map(found: SimulationResult) -> ClusterMap:
    before, after = found.pods_before, found.pods_after
    taking = [bool(set(later) - set(earlier)) for earlier, later in zip(before, after, strict=True)]
    # Tiles show which pods came. Where most nodes take pods, a mark on each of them would say nothing and hide their colour.
    states = [TAKES if takes and 2 * sum(taking) <= len(taking) and len(taking) > FEW else "" for takes in taking]
    sides = [
        MapSide("before", _uses(found.uses, after=False), before),
        MapSide("after", _uses(found.uses, after=True), after, states),
    ]
    names = [node.node for node in found.uses]
    return ClusterMap("map", names, sides, labels_of(found.uses), colours={TAKES: GOOD} if any(states) else {}, follows=True)


def _uses(nodes: Sequence[NodeUse], *, after: bool) -> dict[str, list[float | None]]:
    """Resource -> the share in use on each node; resources that no pod requests in the end are left out."""
    found: dict[str, list[float | None]] = {}
    for name in dict.fromkeys(name for node in nodes for name in (*node.resources, PODS)):
        amounts = (node.pods if name == PODS else node.resources[name] for node in nodes)
        if any(one.requested or one.requested_before for one in amounts):
            found[name] = [share_of(node, name, before=not after) for node in nodes]
    return found


# --- use of resources -----------------------------------------------------------------------------------------------


def _resources(found: SimulationResult, view: View) -> Section:
    used = [usage.resource for usage in found.summary.resources if usage.requested]
    named_ones = [name for name in used if name in found.outcome.nodes_by_use]
    table = card("", short_table(view.table("resources"), "Use of each resource"))
    if not named_ones:
        return section("Use of each resource", table)
    if len(found.uses) <= FEW_BARS:
        cards, words = [card(short_name(name), _bars(found.uses, name)) for name in named_ones], "Each node in the end, the fullest first."
    else:
        cards = [card(short_name(name), _chart(found, name).html()) for name in named_ones]
        words = "How many nodes are how full: from 0 to 10 percent, from 10 to 20 percent, and so on."
    return section("Use of each resource", table, soft(words), grid(*cards))


def _bars(nodes: Sequence[NodeUse], name: str) -> Markup:
    """A bar for each node that has the resource."""
    shares = [(used, node.node) for node in nodes if (used := share_of(node, name)) is not None]
    lines = (
        sentence(named(node), track(used, BAD if used > 1 else GOOD), element("b", share(used)))
        for used, node in sorted(shares, key=lambda pair: (-pair[0], pair[1]))
    )
    return element("div", *lines, class_="meters")


def _chart(found: SimulationResult, name: str) -> Chart:
    outcome, nothing = found.outcome, [0] * len(TENTHS)
    sides = (("before", outcome.nodes_by_use_before, 1), ("after", outcome.nodes_by_use, 0))
    series = [ChartSeries(title, counts.get(name, nothing), at) for title, counts, at in sides]
    what = short_name(name)
    return Chart(
        title="Nodes by use", description=f"how many nodes have how much of their {what} requested", labels=TENTHS, series=series,
        across=f"percent of {what} in use, from", up="nodes",
    )  # fmt: skip
