"""The migration report: the verdict, what to do next, the check, the notes, each deviation with its trial, the Policy and the profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ....simulation.compare.agreement import DIFFERENT, HELD_BACK
from ..comparison.comparisonpage import comparison_sections
from ..comparison.verdict import reasons_told
from ..documents import indented
from ..page.about import About
from ..page.clustermap import ClusterMap
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, element, joined, named, number, sentence, told
from ..page.parts import BAD, GOOD, NEAR, SAME, bullets, fact, facts, folded, plain_table, section, soft, tag

Record = dict[str, Any]
COUNTS = {"same": "the same", "amongBest": "among the best", "different": "different"}
AGREEMENT = "against.0.agreement"


def migration_html(record: Record, about: About | None = None, nodes: ClusterMap | None = None) -> str:
    """The report of a migration: ``Comparison.record()`` of the check with ``migration`` beside it, as ``--report FILE.json`` has it."""
    release, target = (record["migration"][name] for name in ("release", "target"))
    title = f"kubeclassic policy migrate: from release {release} to a profile of {target}"
    sections = [
        section("What to do next", bullets(_next(record)), name="next"),
        *comparison_sections(record, nodes),
        section("Notes on the translation", *_notes(record), name="notes"),
        section("Where this departs from upstream's translation", *_trials(record), name="deviations"),
        section("The Policy", *_policy(record), name="policy"),
        section("The profile", *_profile(record), name="profile"),
    ]
    return page_html(Page(title, verdict(record), about or About(), sections, _lead(record)))


# --- the verdict ----------------------------------------------------------------------------------------------------


def verdict(record: Record) -> Markup:
    """Whether the profile decides as the Policy does, and what differs."""
    agreement = record["against"][0]["agreement"]
    cycles, release = told(f"{AGREEMENT}.cycles", number(agreement["cycles"])), named(record["migration"]["release"])
    if not agreement["different"] and not agreement["heldBack"]:
        same = told(f"{AGREEMENT}.same", number(agreement["same"]))
        if not agreement["amongBest"]:
            return sentence("The profile decides as the Policy does under ", release, ": all ", cycles, " decisions are the same")
        best = told(f"{AGREEMENT}.amongBest", number(agreement["amongBest"]))
        return sentence(
            "The profile decides as the Policy does under ", release, ": of ", cycles, " decisions ", same, " are the same and ", best,
            " are among the best",
        )  # fmt: skip
    counts = told(f"{AGREEMENT}.different + {AGREEMENT}.heldBack", number(agreement["different"] + agreement["heldBack"]))
    return sentence(counts, " of ", cycles, " decisions are different with the profile: ", joined(_causes(record)), _lost(record))


def _causes(record: Record) -> Iterator[Markup]:
    """For how many of these decisions which rule is the cause."""
    places: dict[str, list[int]] = {}
    causes = record["against"][0]["causes"]
    for at, cause in enumerate(causes):
        if cause["verdict"] in (DIFFERENT, HELD_BACK):
            places.setdefault(cause["rule"] or cause["kind"], []).append(at)
    if len(places) == 1:
        yield sentence("all by ", named(next(iter(places))))
        return
    for rule, found in places.items():
        path = " + ".join(f"against.0.causes.{at}.cycles" for at in found)
        yield sentence(told(path, number(sum(causes[at]["cycles"] for at in found))), " by ", named(rule))


def _lost(record: Record) -> Markup:
    lost = record["against"][0]["lost"]
    if not lost["pods"]:
        return Markup("")
    count = told("against.0.lost.pods.length", number(len(lost["pods"])))
    loses = " pod loses its place (" if len(lost["pods"]) == 1 else " pods lose their place ("
    return sentence("; ", count, loses, reasons_told(lost, "against.0.lost"), ")")


def _lead(record: Record) -> Markup:
    agreement, migration = record["against"][0]["agreement"], record["migration"]
    colours = {"same": SAME, "amongBest": NEAR, "different": BAD}
    counts = [fact(told(f"{AGREEMENT}.{key}", number(agreement[key])), f"decisions: {text}", colours[key]) for key, text in COUNTS.items()]
    notes = fact(told("migration.notes.length", number(len(migration["notes"]))), "notes on what has no exact equivalent")
    trials = fact(told("migration.trials.length", number(len(migration["trials"]))), "points in which this is not upstream's translation")
    how = soft("Both decide on the same state each time; only the Policy's decisions take effect.")
    return sentence(facts(*counts, notes, trials), how)


# --- what to do next ------------------------------------------------------------------------------------------------


def _next(record: Record) -> Iterator[Text]:
    """Steps, the most urgent first."""
    agreement, migration = record["against"][0]["agreement"], record["migration"]
    if agreement["different"] or agreement["heldBack"]:
        listed = element("a", "Which pods, and why", href="#list")
        yield sentence("Look at each decision that is different under ", listed, ": is it acceptable?")
        yield sentence(
            "Change a weight of the profile by hand, or try ", code("--selector-spread"), ", and compare again: ",
            code(f'kubeclassic compare CLUSTER --a "release=... policy=FILE" --b "release={migration["target"]} profile=profile.yaml"'),
        )  # fmt: skip
    if any("left out" in note["text"] for note in migration["notes"]):
        yield sentence("Read the notes on what was ", element("a", "left out", href="#notes"), ", and replace what you rely on.")
    if not migration["newerLabels"]:
        yield sentence("Check once more with ", code("--newer-labels"), " if nodes get the labels of newer releases with the upgrade.")
    if migration["profile"].get("extenders"):
        yield "Test the extenders: the check does not call them."
    shadow = code(f"kubeclassic shadow --release {migration['target']} --profile profile.yaml")
    yield sentence("Let the profile decide beside the scheduler that runs, before it replaces it: ", shadow)
    start = code("kube-scheduler --config profile.yaml")
    yield sentence("Start kube-scheduler with it: ", start, ". The file is at the end of this page.")
    yield "File this page: it holds all that the check has read and found."


# --- the proof ------------------------------------------------------------------------------------------------------


def _notes(record: Record) -> Iterator[Text]:
    notes = record["migration"]["notes"]
    if not notes:
        yield soft("Each part of the Policy has an exact equivalent.")
        return
    rows = [[named(note["subject"]), named(note["text"]), tag(note["deviation"]) if note["deviation"] else Markup("-")] for note in notes]
    yield plain_table(["part of the Policy", "what becomes of it", "deviation"], rows, caption="Parts without an exact equivalent")


def _trials(record: Record) -> Iterator[Text]:
    trials = record["migration"]["trials"]
    if not trials:
        yield soft("Nowhere: upstream's own translation of 1.19 to 1.22 would be the same.")
        return
    yield soft(
        "Each point was undone by itself and tried on the same pods: decisions that are the same, among the best and different, with this"
        " translation and with upstream's in that point."
    )
    ours = _outcome(AGREEMENT, record["against"][0]["agreement"])
    rows = [[named(one["name"]), named(one["ours"]), named(one["upstream"]), ours, _tried(record, at)] for at, one in enumerate(trials)]
    yield plain_table(["deviation", "this translation", "upstream's translation", "decisions with this", "decisions with upstream's"], rows)


def _tried(record: Record, at: int) -> Markup:
    trial, ours = record["migration"]["trials"][at], record["against"][0]["agreement"]
    if trial["agreement"] is None:
        return sentence(tag("refused", BAD), " ", named(trial["refused"]))
    found = trial["agreement"]
    worse = found["different"] - ours["different"] or ours["same"] - found["same"]
    mark = tag("worse", BAD) if worse > 0 else tag("better", GOOD) if worse < 0 else tag("no difference here")
    return sentence(_outcome(f"migration.trials.{at}.agreement", found), " ", mark)


def _outcome(path: str, agreement: Mapping[str, int]) -> Markup:
    return joined((told(f"{path}.{key}", number(agreement[key])) for key in COUNTS), " / ")


def _policy(record: Record) -> Iterator[Text]:
    migration = record["migration"]
    if migration["policy"] is None:
        yield soft("There is none: a provider's rules run.")
        return
    yield from _text("Policy", indented(migration["policy"]))


def _profile(record: Record) -> Iterator[Text]:
    yield from _text("Profile", yaml.safe_dump(record["migration"]["profile"], sort_keys=False, allow_unicode=True))


def _text(name: str, text: str) -> Iterator[Text]:
    digest = hashlib.sha256(text.encode()).hexdigest()
    yield element("pre", code(text))
    yield folded("Fingerprint", soft(f"{name} as it stands here, SHA-256: ", code(digest)))
