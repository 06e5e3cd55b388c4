"""A scenario of the lab, and what was worked out of it; what an edit leaves as it was is not worked out again."""

from __future__ import annotations

from typing import Any

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...api.reading.notices import Notice
from ...core.rule import Algorithm
from ..releasenotes import fields_of, with_release_notices
from ..scenario import Scenario
from .clusterlayout import ClusterLayout, release_and_gates
from .differences import ByKey, differing


@attrs.define(eq=False)
class LabScenario:
    """A scenario, and what was worked out of it."""

    scenario: Scenario
    layouts: dict[Any, ClusterLayout] = attrs.field(factory=dict)
    """By release and gates, as the next."""
    _notices: dict[Any, tuple[Notice, ...]] = attrs.field(factory=dict)
    """The scenario's warnings."""

    @classmethod
    def after(cls, before: LabScenario | None, scenario: Scenario) -> LabScenario:
        """*scenario*, with the warnings of the one *before* if they are the same."""
        known = before._notices if before is not None and _warn_alike(before.scenario, scenario) else {}
        return cls(scenario, notices=dict(known))

    def notices(self, algorithm: Algorithm) -> tuple[Notice, ...]:
        """What is odd in the scenario, and what of it *algorithm* does not read."""
        key = release_and_gates(algorithm)
        if key not in self._notices:
            self._notices[key] = with_release_notices(self.scenario, [algorithm]).warnings
        return self._notices[key]


def _warn_alike(before: Scenario, now: Scenario) -> bool:
    """Whether no release says of *now* anything but what it says of *before*."""
    lists = (before.objects, now.objects), (before.pending, now.pending)
    return before.warnings == now.warnings and all(_say_alike(*differing(*held)) for held in lists)


def _say_alike(gone: ByKey, come: ByKey) -> bool:
    """Whether releases say of what has *come* what they say of what has *gone*; of most objects they say nothing."""
    return all(_says_nothing(item) or (key in come and _has_as(item, come[key])) for key, item in gone.items()) and all(
        key in gone or _says_nothing(item) for key, item in come.items()
    )


def _has_as(before: KubeObject, now: KubeObject) -> bool:
    """Whether *now* has the fields of *before* that releases warn of."""
    if isinstance(before, Node) and isinstance(now, Node):
        return before.labels == now.labels
    if isinstance(before, Pod) and isinstance(now, Pod):
        return fields_of(before) == fields_of(now) and before.spec.volumes == now.spec.volumes
    return False


def _says_nothing(item: KubeObject) -> bool:
    """Whether no release warns of *item*, or of its being there."""
    return isinstance(item, Pod) and not item.spec.volumes and not fields_of(item)
