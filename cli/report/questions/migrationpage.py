"""The migration report: the verdict, what to do next, the check, the notes, the Policy and the profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import yaml

from ....questions.migrate import MigrateResult, next_steps
from ....simulation.compare.document import ConfigurationPair
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
    steps = [next_step(spoken(step)) for step in next_steps(found.report, _compared(found))]
    steps.append(next_step("File this page: it holds all that the check has read and found, and the profile at its end."))
    losers = "" if found.comparison is None else who(found.comparison.document)
    return page_html(Page(title, spoken(found.view().verdict), about or About(), sections, _lead(found), losers, steps))


def _compared(found: MigrateResult) -> ConfigurationPair:
    if found.comparison is None:
        raise ValueError("the profile was not checked")
    return found.comparison.document.against[0]


def _lead(found: MigrateResult) -> Markup:
    migration = found.report
    proof = {"against": [{"agreement": _compared(found).agreement}], "migration": migration}
    cards = [fact(counted(proof, path), text, colour) for path, text, colour in COUNTS]
    cards += facts_of(proof, (("migration.leftOut", "extenders left out", BAD),), ())
    cards += facts_of(proof, NOTES)
    return sentence(facts(*cards), soft(f"Both decide on the same state each time; only the decisions of {migration.release} take effect."))


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
