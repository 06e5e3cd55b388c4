"""The migration report: the verdict, what to do next, the check, the notes, the Policy and the profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import yaml

from ....questions.migrate import MigrateResult
from ....simulation.compare.agreement import AgreementCounts
from ..listing import indented
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, counted, element, named, sentence, spoken
from ..page.outcome import next_step
from ..page.parts import BAD, NEAR, SAME, fact, facts, facts_of, folded, plain_table, section, soft
from .comparisonpage import comparison_sections, who

AGREEMENT = "against.0.agreement"
COUNTS = (
    (f"{AGREEMENT}.same", "decisions: the same", SAME), (f"{AGREEMENT}.equallyGood", "decisions: equally good", NEAR),
    (f"{AGREEMENT}.different", "decisions: different", BAD),
)  # fmt: skip
NOTES = (("migration.notes.length", "notes on what has no exact equivalent", SAME),)


def migration_html(found: MigrateResult, about: About | None = None) -> str:
    """The report of a migration that was checked: the comparison, with what was translated."""
    title = f"kubeclassic policy migrate: from release {found.report.release} to a profile of {found.report.target}"
    sections = [
        *([] if found.comparison is None else comparison_sections(found.comparison)),
        section("Notes on the translation", *_notes(found), name="notes"),
        section("The Policy" if found.report.source == "Policy" else "The older profile", *_before(found), name="policy"),
        section("The profile", *_profile(found), name="profile"),
    ]
    steps, losers = [next_step(text) for text in _next(found)], "" if found.comparison is None else who(found.comparison.document)
    return page_html(Page(title, spoken(found.view().verdict), about or About(), sections, _lead(found), losers, steps))


def _agreement(found: MigrateResult) -> AgreementCounts:
    if found.comparison is None:
        raise ValueError("the profile was not checked")
    return found.comparison.document.against[0].agreement


def _lead(found: MigrateResult) -> Markup:
    migration = found.report
    proof = {"against": [{"agreement": _agreement(found)}], "migration": migration}
    cards = [fact(counted(proof, path), text, colour) for path, text, colour in COUNTS]
    cards += facts_of(proof, (("migration.leftOut", "extenders left out", BAD),), ())
    cards += facts_of(proof, NOTES)
    return sentence(facts(*cards), soft(f"Both decide on the same state each time; only the decisions of {migration.release} take effect."))


# --- what to do next ------------------------------------------------------------------------------------------------


def _next(found: MigrateResult) -> Iterator[Text]:
    """Steps, the most urgent first."""
    agreement, migration = _agreement(found), found.report
    if agreement.different or agreement.gated:
        listed = element("a", "Which pods, and why", href="#list")
        yield sentence("Look at each decision that is different under ", listed, ": is it acceptable?")
        yield sentence(
            "Change a weight of the profile by hand, or try ", code("--selector-spread"), ", and compare again: ",
            code(f'kubeclassic compare CLUSTER --a "release=... policy=FILE" --b "release={migration.target} profile=profile.yaml"'),
        )  # fmt: skip
    if any("left out" in note.text for note in migration.notes):
        yield sentence("Read the notes on what was ", element("a", "left out", href="#notes"), ", and replace what you rely on.")
    if not migration.newer_labels:
        yield sentence("Check once more with ", code("--newer-labels"), " if nodes get the labels of newer releases with the upgrade.")
    if migration.profile.get("extenders"):
        how = "the check does not call them" if migration.left_out else "the check called them, or took their kept answers"
        yield sentence("Test the extenders: ", how, ".")
    shadow = code(f"kubeclassic shadow --release {migration.target} --profile profile.yaml")
    yield sentence("Let the profile decide beside the scheduler that runs, before it replaces it: ", shadow)
    start = code("kube-scheduler --config profile.yaml")
    yield sentence("Start kube-scheduler with it: ", start, ". The file is at the end of this page.")
    yield "File this page: it holds all that the check has read and found."


# --- the proof ------------------------------------------------------------------------------------------------------


def _notes(found: MigrateResult) -> Iterator[Text]:
    notes = found.report.notes
    if not notes:
        yield soft(f"Each part of the {found.report.source} has an exact equivalent.")
        return
    rows = [[named(note.subject), named(note.text), named(note.upstream or "-")] for note in notes]
    heads = [f"part of the {found.report.source}", "what becomes of it", "upstream's own translation"]
    yield plain_table(heads, rows, caption="Parts without an exact equivalent")


def _before(found: MigrateResult) -> Iterator[Text]:
    migration = found.report
    if migration.policy is None:
        yield soft("There is none: a provider's rules run.")
        return
    yield from _text(migration.source.capitalize(), indented(migration.policy))


def _profile(found: MigrateResult) -> Iterator[Text]:
    yield from _text("Profile", yaml.safe_dump(found.report.profile, sort_keys=False, allow_unicode=True))


def _text(name: str, text: str) -> Iterator[Text]:
    digest = hashlib.sha256(text.encode()).hexdigest()
    yield element("pre", code(text))
    yield folded("Fingerprint", soft(f"{name} as it stands here, SHA-256: ", code(digest)))
