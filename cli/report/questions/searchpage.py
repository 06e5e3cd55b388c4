"""The part of a sweep's page that is about a search: the trials that no other one beats, beside the weights of today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ....api.view import View
from ....questions.sweep import searched, trial_value
from ....simulation.sweep.axes import WEIGHT
from ....simulation.sweep.search import TRIAL, WeightSearchResult
from ..page.markup import Markup, spoken
from ..page.parts import Section, card, grid, plain_table, section
from ..page.plots import Scatter, Spot
from ..page.tables import list_html

Record = Mapping[str, Any]
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
        yield section("Objectives against each other", grid(*(card("", _scatter(pair, trials, front).html()) for pair in pairs)), lead=lead)
    yield section("Every trial", list_html(view.table("trials")))


def _line(where: str, at: int, row: Record) -> list[Markup | None]:
    return [None if row[key] is None else spoken(trial_value(where, at, key, row)) for key in row]


def _scatter(pair: tuple[str, str], trials: Sequence[Record], front: Sequence[Record]) -> Scatter:
    across, up = pair
    there = [row for row in trials if row[across] is not None and row[up] is not None]
    best = {row[TRIAL] for row in front}
    spots = [Spot(str(row[TRIAL]) if row[TRIAL] in best else "", row[across], row[up], int(row[TRIAL] not in best)) for row in there]
    spots += [Spot("" if row[TRIAL] in best else "0", row[across], row[up], 2) for row in there if row[TRIAL] == 0]
    title, groups = f"{across} and {up}", (FRONT, OTHERS, TODAY)
    description = "a dot for each trial, numbers beside those that no other one beats"
    return Scatter(title=title, description=description, spots=spots, across=across, up=up, groups=groups, joined=0)
