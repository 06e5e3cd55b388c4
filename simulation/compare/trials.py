"""What each deviation from upstream's translation of Policies is worth on a cluster: the translation with it and without it, tried on the
same pods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import attrs

from ...api.record import plain
from ...exceptions import PolicyError
from ...framework.migrate.deviations import Deviation, Note
from ...framework.migrate.translation import Migration
from ..scenario import Scenario
from .agreement import AgreementCounts
from .migration import PROFILE, Check

Translating = Callable[[frozenset[str]], Migration]
"""Translates the Policy with these deviations undone."""


@attrs.frozen
class DeviationTrial:
    """One deviation, undone."""

    deviation: Deviation
    counts: AgreementCounts | None
    """How the decisions of the Policy and of upstream's translation agree, as in :class:`~.agreement.Agreement`; None if it was refused."""
    refused: str = ""
    """Why upstream's translation is refused."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        told = {"name": self.deviation.name, "ours": self.deviation.ours, "upstream": self.deviation.upstream}
        return {**told, "agreement": None if self.counts is None else plain(self.counts), "refused": self.refused}


def trials(
    check: Check,
    scenario: Scenario,
    notes: Collection[Note],
    translate: Translating,
    without: frozenset[str] = frozenset(),
    following: Callable[[Iterator[None], int], Iterator[None]] | None = None,
) -> list[DeviationTrial]:
    """A trial of each deviation that *notes* name, on top of those that are undone already (*without*)."""
    found = {note.deviation.name: note.deviation for note in notes if note.deviation is not None}
    return [_trial(check, scenario, deviation, translate, without | {name}, following) for name, deviation in found.items()]


def _trial(
    check: Check,
    scenario: Scenario,
    deviation: Deviation,
    translate: Translating,
    without: frozenset[str],
    following: Callable[[Iterator[None], int], Iterator[None]] | None,
) -> DeviationTrial:
    try:
        made = translate(without)
        compared = attrs.evolve(check, profile=made.document).on(scenario, following=following)
    except PolicyError as error:
        return DeviationTrial(deviation, None, str(error))
    return DeviationTrial(deviation, compared.agreements[PROFILE].record())
