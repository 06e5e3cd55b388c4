"""What one scheduling cycle knows besides the nodes it judges: the pod, the configuration, listings of other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ..api.objects import Pod
from .batch import Batch
from .failures import Failures
from .listings import Listings
from .release import Release
from .rule import Algorithm, Predicate
from .table import NodeTable
from .template import Entry, Template, Templates

if TYPE_CHECKING:
    from .cache import Cache
    from .extender import Extender
    from .volumes import VolumeBinder


@attrs.define(eq=False, kw_only=True)
class Cycle:
    """One attempt to schedule one pod."""

    pod: Pod
    """The very pod, for texts that name it and for decisions kept by pod; what decides stands in the template."""
    template: Template
    table: NodeTable
    algorithm: Algorithm
    listings: Listings
    binder: VolumeBinder
    has_metadata: bool = True
    """Whether upstream would have predicate metadata; without it some predicates take their slow paths (reference C.17)."""
    templates: Templates
    cache: Cache
    """For rules to which upstream gives a lister of pods or nodes: it knows what the snapshot in ``table`` leaves out."""
    extenders: Sequence[Extender] = ()
    memo: dict[Any, Any] = attrs.field(factory=dict)
    """What rules worked out for this cycle, keyed by the rule's name."""

    def ask(self, predicate: Predicate, nodes: Batch) -> Failures | None:
        """What *predicate* has against *nodes*."""
        return predicate.check(self.template, nodes, self)

    def nominated_entry(self, pod: Pod) -> Entry:
        """A nominated pod as it is put on a node for a trial."""
        return self.templates.entry(pod, nominated=True)

    @property
    def release(self) -> Release:
        """The cells of the release."""
        return self.algorithm.release

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)
