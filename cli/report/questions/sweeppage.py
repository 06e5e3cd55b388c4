"""A sweep as a page: which configuration is best in what, means with intervals, objectives against each other, every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ....api.view import View
from ....api.words import count_of
from ....questions.sweep import SweepResult, searched, trial_value, value_of, winners
from ....simulation.sweep.axes import WEIGHT
from ....simulation.sweep.search import TRIAL, WeightSearchResult
from ....simulation.sweep.sweepconfigurations import Best, SweepConfiguration, best_of, unbeaten
from ..page.about import About
from ..page.charts import Interval, Intervals, Scatter, Spot
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, derived, joined, named, number, sentence, spoken, told
from ..page.parts import BAD, GOOD, SAME, Section, card, fact, facts, facts_of, grid, note, plain_table, section, soft
from ..page.tables import list_html

Record = Mapping[str, Any]
TRIALS = (("search.trials.length", "trials", SAME), ("search.front.length", "trials that no other one beats", GOOD))
MOST_PICTURES, MOST_LINES, MOST_PAIRS, MOST_ROWS = 8, 24, 3, 100


def sweep_html(found: SweepResult, about: About) -> str:
    """*found* as a page."""
    record, view = found.record(), found.view()
    compared = search_sections(found.found, view) if found.found is not None else _compared(record, found.compared, view)
    sections = [*_failed(view), *compared, section("Every run", list_html(view.table("runs")))]
    return page_html(Page("kubeclassic sweep", spoken(view.verdict), about, sections, lead=_lead(record, found.compared)))


def value_told(one: SweepConfiguration, name: str) -> Markup:
    """A value of a configuration, marked with its place."""
    return spoken(value_of(one, name))


def _lead(record: Record, found: Sequence[SweepConfiguration]) -> Markup:
    configurations = [fact(derived(number(len(found))), "configurations")] if found else []
    trials = facts_of(record, TRIALS) if record["search"] is not None else []
    objectives, failed = fact(counted(record, "objectives.length"), "objectives"), facts_of(record, (("failed", "runs failed", BAD),), ())
    return facts(fact(counted(record, "runs.length"), "runs"), *configurations, *trials, objectives, *failed)


def _failed(view: View) -> Iterator[Section]:
    """Runs that came to nothing, before all that did not."""
    if view.table("failed").rows:
        yield section("Runs that failed", note("They are in no mean and in no picture."), list_html(view.table("failed")))


# --- configurations against each other ------------------------------------------------------------------------------


def _compared(record: Record, found: Sequence[SweepConfiguration], view: View) -> Iterator[Section]:
    best = best_of(found, record["objectives"])
    if best:
        same = [name for name in record["objectives"] if name not in {one.objective for one in best}]
        alike = soft("All are alike in ", joined(map(named, same), ", "), ".") if same and len(found) > 1 else ""
        yield section("Which is best in what", card("", _best_table(best)), alike)
    differing = [one.objective for one in best][:MOST_PICTURES]
    if differing and len(found) <= MOST_LINES:
        lead = "A dot is the mean over seeds, its line the 95 % interval." if record["confidence"] else "A dot for each configuration."
        yield section("Each objective", grid(*(card("", _intervals(name, found, record).html()) for name in differing)), lead=lead)
    if len(differing) > 1 and len(found) > 1:
        pairs = [(differing[0], other) for other in differing[1 : MOST_PAIRS + 1]]
        cards = (card("", _scatter(pair, found).html()) for pair in pairs)
        lead = "The line joins those that no other one beats in these two objectives."
        yield section("Objectives against each other", grid(*cards), lead=lead)
    if record["confidence"]:
        yield section("Means over seeds", _means(record["objectives"], found, view), lead="In brackets the ends of the 95 % interval.")


def _best_table(best: Sequence[Best]) -> Markup:
    rows = [
        [
            named(one.objective), "more" if one.more else "less", value_told(one.best[0], one.objective),
            spoken(winners([each.name for each in one.best])), value_told(one.worst[0], one.objective),
            spoken(winners([each.name for each in one.worst])), "no, intervals overlap" if one.rivals else "yes",
        ]
        for one in best
    ]  # fmt: skip
    return plain_table(["objective", "better is", "best", "of", "worst", "of", "for certain"], rows, "Best and worst in each objective")


def _intervals(name: str, found: Sequence[SweepConfiguration], record: Record) -> Intervals:
    rows = []
    for one in found:
        value = one.value(name)
        if value is not None:
            low, high = (one.row.get(f"{name} {end}", value) for end in ("low", "high"))
            rows.append(Interval(one.name, value, low, high, _ends(one, name)))
    what = "means and their 95 % intervals" if record["confidence"] else "of each configuration"
    return Intervals(title=name, description=what, rows=rows, across=name)


def _ends(one: SweepConfiguration, name: str) -> list[Text]:
    keys = [key if key in one.row else name for key in (name, f"{name} low", f"{name} high")]
    return [value_told(one, key) for key in keys]


def _scatter(pair: tuple[str, str], found: Sequence[SweepConfiguration]) -> Scatter:
    across, up = pair
    there = [one for one in found if one.value(across) is not None and one.value(up) is not None]
    front = {one.name for one in unbeaten(there, pair)}
    spots = [Spot("", one.value(across) or 0, one.value(up) or 0, int(one.name not in front)) for one in there]
    rows = [[named(one.name), value_told(one, across), value_told(one, up), "no" if one.name in front else "yes"] for one in there]
    numbers = plain_table(["configuration", across, up, "beaten"], rows, f"{across} and {up}")
    title, description = f"{across} and {up}", f"{count_of(len(there), 'configuration')}, a dot each"
    groups = ("beaten by no other", "beaten by another")
    return Scatter(title=title, description=description, spots=spots, across=across, up=up, groups=groups, numbers=numbers)


def _means(objectives: Sequence[str], found: Sequence[SweepConfiguration], view: View) -> Markup:
    if len(found) > MOST_ROWS:
        return list_html(view.table("means"))
    rows = [
        [named(one.name), told(f"{one.path}.seeds", number(one.row["seeds"])), *(_mean(one, name) for name in objectives)] for one in found
    ]
    return card("", plain_table(["configuration", "seeds", *objectives], rows, "Means over seeds"))


def _mean(one: SweepConfiguration, name: str) -> Markup:
    low, high = f"{name} low", f"{name} high"
    if one.value(name) is None or one.value(low) == one.value(high):
        return value_told(one, name)
    return sentence(value_told(one, name), " (", value_told(one, low), " to ", value_told(one, high), ")")


# --- a search for weights -------------------------------------------------------------------------------------------


MOST_PAIRS = 3
OTHERS, FRONT, TODAY = "other trials", "beaten by no other", "trial 0: the weights as they are"


def search_sections(found: WeightSearchResult, view: View) -> Iterator[Section]:
    """The front, its picture, and all trials."""
    trials, front = found.trials, found.front
    rows = [_line("front", at, row) for at, row in enumerate(front)]
    if trials[0] not in front:
        rows.append(_line("trials", 0, trials[0]))
    heads = [key.removeprefix(WEIGHT) for key in trials[0]]
    lead = "None of the other trials is as good in all objectives and better in one. Trial 0 has the weights as they are."
    yield section("Trials that no other one beats", card("", plain_table(heads, rows, "Trials that no other one beats")), lead=lead)
    pairs = list(combinations(searched(found), 2))[:MOST_PAIRS]
    if pairs:
        lead = "A dot for each trial; the line joins those that no other one beats."
        yield section("Objectives against each other", grid(*(card("", _trials(pair, trials, front).html()) for pair in pairs)), lead=lead)
    yield section("Every trial", list_html(view.table("trials")))


def _line(where: str, at: int, row: Record) -> list[Markup | None]:
    return [None if row[key] is None else spoken(trial_value(where, at, key, row)) for key in row]


def _trials(pair: tuple[str, str], trials: Sequence[Record], front: Sequence[Record]) -> Scatter:
    across, up = pair
    there = [row for row in trials if row[across] is not None and row[up] is not None]
    best = {row[TRIAL] for row in front}
    spots = [Spot(str(row[TRIAL]) if row[TRIAL] in best else "", row[across], row[up], int(row[TRIAL] not in best)) for row in there]
    spots += [Spot("" if row[TRIAL] in best else "0", row[across], row[up], 2) for row in there if row[TRIAL] == 0]
    title, groups = f"{across} and {up}", (FRONT, OTHERS, TODAY)
    description = "a dot for each trial, numbers beside those that no other one beats"
    return Scatter(title=title, description=description, spots=spots, across=across, up=up, groups=groups)
