"""What one scheduling cycle knows besides the nodes it judges: the pod, the configuration, listings of other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ..api.objects import Pod
from .arrays.batch import Batch
from .arrays.table import NodeTable
from .cluster.listings import Listings
from .failures import Failures
from .pods.template import Entry, Template, Templates
from .release import Release
from .rule import Algorithm, Predicate, Priority, Scores

if TYPE_CHECKING:
    from .cluster.cache import Cache
    from .decision.extender import Extender
    from .incremental.answers import Memory
    from .preemption.layout import Residents
    from .volumes.binder import VolumeBinder


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
    memory: Memory | None = None
    """Answers of earlier cycles; None where they are not to be used."""
    residents: Residents | None = None
    """The pods of each row laid out for preemption; None where it is to go the long way."""
    details: bool = True
    """What is found out is kept beyond the cycle."""
    memo: dict[Any, Any] = attrs.field(factory=dict)
    """What rules worked out for this cycle, keyed by the rule's name."""

    def ask(self, predicate: Predicate, nodes: Batch) -> Failures | None:
        """What *predicate* has against *nodes*, remembered where *nodes* is the whole table."""
        if self.memory is not None and nodes.rows is None and self.memory.keeps(predicate, self):
            kept = self.memory.failures(predicate, self)
            kept.lent |= self.details
            found: Failures | None = kept.answer
            return found
        return predicate.check(self.template, nodes, self)

    def raw_scores(self, priority: Priority, nodes: Batch) -> Scores:
        """The map step of *priority* for *nodes*, read off what is remembered of the whole table where anything is."""
        if self.memory is not None and nodes.rows is not None and not priority.whole_list and self.memory.keeps(priority, self):
            found: Scores = self.memory.scores(priority, self).answer[nodes.rows]
            return found
        return priority.score(self.template, nodes, self)

    def nominated_entry(self, pod: Pod) -> Entry:
        """A nominated pod as it is put on a node for a trial."""
        return self.templates.entry(pod, nominated=True)

    def counts_nominated(self, pod: Pod) -> bool:
        """Whether a nominated pod counts as if it were on its node: one of equal or higher priority that is not the pod itself."""
        if pod.priority < self.pod.priority:
            return False
        return not (self.release.preemption.excludes_self and pod.uid == self.pod.uid)

    @property
    def release(self) -> Release:
        """The cells of the release."""
        return self.algorithm.release

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)
