"""An upgrade as one page: the verdict, the way as a picture, each step, the causes, and each decision that differs."""

from __future__ import annotations

from collections.abc import Iterator

from ....api.view import CHANGES
from ....questions.upgrade import UpgradeResult, other_patches
from ....simulation.upgrade.upgradedocument import UpgradeDocument
from ....simulation.upgrade.way import MAKES_ROOM, OTHER_ROOM
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, named, sentence, spoken
from ..page.outcome import PodOutcome, next_step, who_html
from ..page.parts import BAD, NEAR, SAME, Section, card, facts, facts_of, section, soft
from ..page.tables import list_html, short_table
from ..page.wayspicture import WaysPicture

MODES = {
    "free": "Each release has its own copy of the cluster, so that a decision may differ because of an earlier one.",
    "locked": "All releases decide on the same states, which the decisions of the first one make: no difference results from another.",
}


def upgrade_html(found: UpgradeResult, about: About | None = None) -> str:
    """*found* as a page."""
    document, view = found.document, found.view()
    sections = [
        section("The way", *_way(document), name="way"),
        section("Step by step", card("", short_table(view.table("steps"))), *map(soft, _patches(document)), name="steps"),
        section("What the releases do otherwise", *_causes(found), name="causes"),
        section("Which pods, and why", *_list(found), name="list"),
        *_nodes(found),
    ]
    title = f"kubeclassic upgrade: {document.stages[0].release} to {document.stages[-1].release}"
    lead = sentence(facts(*_facts(document)), soft(f"Mode {document.mode}. ", MODES[document.mode]))
    return page_html(Page(title, spoken(view.verdict), about or About(), sections, lead, _who(found), _next(document, about or About())))


def _nodes(found: UpgradeResult) -> Iterator[Section]:
    if (table := found.view().table("nodes")).rows:
        yield section(f"Nodes that differ for {found.pod}", list_html(table), name="nodes")


def _who(found: UpgradeResult) -> Markup:
    """The pods that do not end where the first release puts them, those that lose their node first."""
    pods, steps = list[PodOutcome](), {one.pod: one for one in found.document.moved}
    for pod, hosts in found.document.ways.items():
        first, last, step = hosts[0], hosts[-1], steps[pod]
        room = step.new if last is None and step.change in (MAKES_ROOM, OTHER_ROOM) else None
        if first != last:
            change = "makes room" if room else "lost" if last is None else "gained" if first is None else "moved"
            text = [word for word in (first and first != room and f"from {first}", last and f"to {last}", room and f"on {room}") if word]
            pods.append(PodOutcome(pod, change, named(" ".join(text))))
    order = list(CHANGES)
    return who_html("Who ends elsewhere", sorted(pods, key=lambda one: order.index(one.change)), "list")


def _next(document: UpgradeDocument, about: About) -> list[Markup]:
    """The way of one pod."""
    if not document.moved:
        return []
    pod = document.moved[0].pod
    ends = ("--from", document.stages[0].release, "--to", document.stages[-1].release)
    return [next_step(sentence("The way of ", named(pod), ":"), about.asking("upgrade", *ends, "--pod", pod))]


def _facts(document: UpgradeDocument) -> list[Markup]:
    last = f"stages.{len(document.stages) - 1}.unplaced"
    return facts_of(document, (
        ("pods", "pods", SAME), ("moved.length", "decisions that a release changes", NEAR),
        ("stages.0.unplaced", "without a node in the first release", BAD), (last, "without a node in the last one", BAD),
    ))  # fmt: skip


def _patches(document: UpgradeDocument) -> Iterator[Text]:
    """The patch level of the first release, which has no step, and what other patch levels decide otherwise."""
    first = document.stages[0]
    yield named(f"{first.release} is as {first.like}.")
    yield from (named(f"{text}.") for text in other_patches(document))


def _way(document: UpgradeDocument) -> Iterator[Text]:
    yield soft(
        "Each column is a release, each band a group of pods. A pod is on its first node, elsewhere, or without one; bands that cross move."
    )
    yield WaysPicture.of(document).html()


def _causes(found: UpgradeResult) -> Iterator[Text]:
    if not found.document.moved:
        yield soft(f"{found.view().verdict}.")
        return
    yield card("", short_table(found.view().table("causes")))
    if any(fact.fixed for fact in found.document.facts):
        yield soft("Some of these were bugs, which a later release took back.")


def _list(found: UpgradeResult) -> Iterator[Text]:
    table = found.view().table("moved")
    if not table.rows:
        yield soft("Every decision is the same in every release.")
        return
    yield list_html(table)
