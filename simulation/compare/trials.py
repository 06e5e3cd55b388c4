"""What each deviation from upstream's translation of Policies is worth on a cluster: the translation with it and without it, tried on the
same pods."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import attrs

from ...api.record import Record
from ...exceptions import PolicyError
from ...framework.migrate.deviations import Deviation, Note
from ...framework.migrate.translation import Migration
from ..scenario import Scenario
from .agreement import AgreementCounts
from .compare import Following
from .migration import PROFILE, Check

Translating = Callable[[frozenset[str]], Migration]
"""Translates the Policy with these deviations undone."""


class DeviationTrial(Record):
    """One deviation, undone."""

    name: str
    ours: str
    upstream: str
    agreement: AgreementCounts | None
    """How the decisions of the Policy and of upstream's translation agree; None if it was refused."""
    refused: str = ""
    """Why upstream's translation is refused."""


def trials(
    check: Check, scenario: Scenario, notes: Collection[Note], translate: Translating, without: frozenset[str], following: Following
) -> tuple[DeviationTrial, ...]:
    """A trial of each deviation that *notes* name, on top of those that are undone already (*without*)."""
    found = {note.deviation.name: note.deviation for note in notes if note.deviation is not None}
    return tuple(_trial(check, scenario, deviation, partial(translate, without | {name}), following) for name, deviation in found.items())


def _trial(
    check: Check, scenario: Scenario, deviation: Deviation, translate: Callable[[], Migration], following: Following
) -> DeviationTrial:
    agreement, refused = None, ""
    try:
        agreement = attrs.evolve(check, profile=translate().document).on(scenario, following).agreements[PROFILE].record()
    except PolicyError as error:
        refused = str(error)
    return DeviationTrial(deviation.name, deviation.ours, deviation.upstream, agreement, refused)
