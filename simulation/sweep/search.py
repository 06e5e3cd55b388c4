"""The search for weights: Optuna suggests them, runs try them, and what no other trial beats in everything is the Pareto front."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from statistics import fmean
from typing import Annotated, Any

from ...api.record import Record, says
from ...exceptions import KubeclassicError
from .axes import WEIGHT
from .measures import beats
from .spec import SearchSpec
from .sweep import ERROR, Row, Settings, Sweep

TRIAL = "trial"
BATCH = 8
"""How many trials are suggested at once. It does not depend on who runs them, so that the table does not either."""
DIGITS = 6


Trial = Annotated[
    dict[str, Any],
    says(
        "A row of a trial: its number, and by name its weights and the mean of each objective; null: no other weight, or a run failed.",
        extra_json_schema={
            "required": [TRIAL],
            "properties": {TRIAL: {"type": "integer", "minimum": 0}},
            "additionalProperties": {"type": ["number", "null"]},
        },
    ),
]


class WeightSearchResult(Record):
    """What --search came to."""

    trials: Annotated[list[Trial], says("Every trial. Trial 0 is the configuration without other weights.")]
    front: Annotated[list[Trial], says("The trials that no other one beats, the best in the first objective first.")]


def search(sweep: Sweep, points: Sequence[Settings], wanted: SearchSpec) -> tuple[list[Row], WeightSearchResult]:
    """Try weights on all *points*: a row a run, with its trial, and the trials. The same seed comes to the same, whatever runs them.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` if Optuna is not installed.
    """
    optuna = _optuna()
    directions = ["maximize"] * len(wanted.maximise) + ["minimize"] * len(wanted.minimise)
    study = optuna.create_study(directions=directions, sampler=optuna.samplers.TPESampler(seed=wanted.seed))
    sweep.expected = (wanted.trials + 1) * len(points)
    rows, trials = _tried(sweep, points, wanted, [{}])
    while len(trials) <= wanted.trials:
        asked = [study.ask() for _ in range(min(BATCH, wanted.trials + 1 - len(trials)))]
        weights = [{name: trial.suggest_int(name, *bounds) for name, bounds in wanted.weights.items()} for trial in asked]
        more, told = _tried(sweep, points, wanted, weights, len(trials))
        for trial, row in zip(asked, told, strict=True):
            values = [row[name] for name in wanted.objectives]
            failed = optuna.trial.TrialState.FAIL if None in values else None
            study.tell(trial, None if failed else values, state=failed)
        rows, trials = rows + more, trials + told
    return rows, WeightSearchResult(trials, front(trials, wanted))


def _optuna() -> Any:
    try:
        optuna = import_module("optuna")
    except ImportError:
        raise KubeclassicError("search: Optuna is not installed: pip install 'kubeclassic[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _tried(
    sweep: Sweep, points: Sequence[Settings], wanted: SearchSpec, each: Sequence[Mapping[str, int]], first: int = 0
) -> tuple[list[Row], list[Row]]:
    """The rows of the runs with *each* of some weights, and a row for each of these trials; they are numbered from *first*."""
    settings = [{f"{WEIGHT}{name}": weight for name, weight in weights.items()} for weights in each]
    rows = sweep.rows([{TRIAL: first + at, **point, **one} for at, one in enumerate(settings) for point in points])
    size = len(points)
    trials = [_trial(first + at, one, rows[at * size : (at + 1) * size], wanted) for at, one in enumerate(settings)]
    return rows, trials


def _trial(number: int, weights: Settings, rows: Sequence[Row], wanted: SearchSpec) -> Row:
    means = {name: _mean([None if row[ERROR] is not None else row[name] for row in rows]) for name in wanted.objectives}
    return {TRIAL: number, **{f"{WEIGHT}{name}": weights.get(f"{WEIGHT}{name}") for name in wanted.weights}, **means}


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return round(fmean(found), DIGITS) if found and len(found) == len(values) else None


def front(trials: Sequence[Row], wanted: SearchSpec) -> list[Row]:
    """The *trials* that no other one beats, the best in the first objective first; of equal ones the first alone.

    >>> wanted = SearchSpec({"A": (0, 9)}, maximise=("placed",), minimise=("evictions",))
    >>> trials = [{"placed": placed, "evictions": evicted} for placed, evicted in ((5, 0), (6, 2), (5, 1), (6, 2), (None, None))]
    >>> front(trials, wanted)
    [{'placed': 6, 'evictions': 2}, {'placed': 5, 'evictions': 0}]
    """
    scored = list(_scored(trials, wanted))
    best = {scores: row for scores, row in reversed(scored) if not any(beats(other, scores) for other, _ in scored)}
    return [best[scores] for scores in sorted(best, reverse=True)]


def _scored(trials: Sequence[Row], wanted: SearchSpec) -> Iterator[tuple[tuple[float, ...], Row]]:
    """Each trial that has all objectives, with numbers that are the higher the better."""
    for row in trials:
        if all(row[name] is not None for name in wanted.objectives):
            yield (*(row[name] for name in wanted.maximise), *(-row[name] for name in wanted.minimise)), row
