"""The part of a sweep's page that is about a search: the trials that no other one beats, beside the weights of today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ....api.view import Column, Table, step
from ..page.markup import Markup, joined, named, number, sentence, told
from ..page.parts import Section, card, grid, plain_table, section
from ..page.plots import Scatter, Spot
from ..page.tables import list_html
from .sweeptext import brief

Record = Mapping[str, Any]
TRIAL, WEIGHT = "trial", "weights."
MOST_PAIRS = 3
OTHERS, FRONT, TODAY = "other trials", "beaten by no other", "trial 0: the weights as they are"


def search_verdict(record: Record) -> Markup:
    """How far the trials that none beats lie apart, and what the weights of today come to."""
    trials, front = record["search"]["trials"], record["search"]["front"]
    counts = sentence(told("search.front.length", number(len(front))), " of ", told("search.trials.length", number(len(trials))), " trials")
    beaten = " is beaten by no other" if len(front) == 1 else " are beaten by no other"
    spans = joined((_span(name, front) for name in _objectives(record)), ", ")
    today = joined((_told("trials", 0, name, trials[0]) for name in _objectives(record)), " and ")
    among = ", also beaten by none," if trials[0] in front and len(front) > 1 else ""
    return sentence(counts, beaten, ": ", spans, f"; the weights as they are{among} come to ", today, ".")


def _span(name: str, front: Sequence[Record]) -> Markup:
    least, most = (pick(range(len(front)), key=lambda at: front[at][name]) for pick in (min, max))
    if front[least][name] == front[most][name]:
        return sentence(named(name), " ", _told("front", least, name, front[least]))
    return sentence(named(name), " from ", _told("front", least, name, front[least]), " to ", _told("front", most, name, front[most]))


def _told(where: str, at: int, name: str, row: Record) -> Markup:
    value = row[name]
    return sentence("-") if value is None else told(f"search.{where}.{at}.{step(name)}", brief(value))


def _objectives(record: Record) -> list[str]:
    """What the search looked at."""
    return [key for key in record["search"]["trials"][0] if key != TRIAL and not key.startswith(WEIGHT)]


def search_sections(record: Record) -> Iterator[Section]:
    """The front, its picture, and all trials."""
    trials, front = record["search"]["trials"], record["search"]["front"]
    rows = [_line("front", at, row) for at, row in enumerate(front)]
    if trials[0] not in front:
        rows.append(_line("trials", 0, trials[0]))
    heads = [key.removeprefix(WEIGHT) for key in trials[0]]
    lead = "None of the other trials is as good in all objectives and better in one. Trial 0 has the weights as they are."
    yield section("Trials that no other one beats", card("", plain_table(heads, rows, "Trials that no other one beats")), lead=lead)
    pairs = list(combinations(_objectives(record), 2))[:MOST_PAIRS]
    if pairs:
        cards = (card("", _scatter(pair, trials, front).html()) for pair in pairs)
        yield section(
            "Objectives against each other", grid(*cards), lead="A dot for each trial; the line joins those that no other one beats."
        )
    yield section("Every trial", list_html(_all(trials, front)))


def _line(where: str, at: int, row: Record) -> list[Markup | None]:
    return [None if row[key] is None else _told(where, at, key, row) for key in row]


def _scatter(pair: tuple[str, str], trials: Sequence[Record], front: Sequence[Record]) -> Scatter:
    across, up = pair
    there = [row for row in trials if row[across] is not None and row[up] is not None]
    best = {row[TRIAL] for row in front}
    spots = [Spot(str(row[TRIAL]) if row[TRIAL] in best else "", row[across], row[up], int(row[TRIAL] not in best)) for row in there]
    spots += [Spot("" if row[TRIAL] in best else "0", row[across], row[up], 2) for row in there if row[TRIAL] == 0]
    title, groups = f"{across} and {up}", (FRONT, OTHERS, TODAY)
    description = "a dot for each trial, numbers beside those that no other one beats"
    return Scatter(title=title, description=description, spots=spots, across=across, up=up, groups=groups, joined=0)


def _all(trials: Sequence[Record], front: Sequence[Record]) -> Table:
    best = {row[TRIAL] for row in front}
    columns = [Column(key.removeprefix(WEIGHT), "count") for key in trials[0]]
    rows = [[*row.values(), "no" if row[TRIAL] in best else "yes"] for row in trials]
    return Table("trials", [*columns, Column("beaten", "tag", filter=True)], rows, noun="trial")
