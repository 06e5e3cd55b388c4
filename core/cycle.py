"""What one scheduling cycle knows besides the nodes it judges: the pod, the configuration, listings of other objects."""

from __future__ import annotations

from typing import Any, Protocol

import attrs

from ..api.objects import Pod
from .arrays.batch import Batch
from .arrays.census import Counter
from .arrays.table import NodeTable
from .binding import Binder
from .cluster.cache import Cache
from .cluster.listings import Listings
from .failures import Failures
from .pods.template import Entry, Template, Templates
from .release import Release
from .rule import Algorithm, Predicate, Priority, Scores


class CachedAnswer(Protocol):
    """What one rule answered for all rows of the table."""

    answer: Any
    """Of a predicate: Failures or None; of a priority: int64[size], its raw scores."""
    shared: bool
    """A reader keeps the arrays: they are copied before they change."""
    watched: list[Counter]
    """The counters of the census that the rule looked at."""


class Answers(Protocol):
    """Answers of earlier cycles, brought up to date when they are asked for. See :mod:`.incremental`."""

    def keeps(self, rule: Predicate | Priority, cycle: Cycle) -> bool:
        """Whether answers of *rule* may be kept at all."""
        ...

    def failures(self, predicate: Predicate, cycle: Cycle) -> CachedAnswer:
        """What *predicate* has against every row of the table."""
        ...

    def scores(self, priority: Priority, cycle: Cycle) -> CachedAnswer:
        """The raw scores of *priority* for every row of the table."""
        ...


@attrs.define(eq=False, kw_only=True)
class Cycle:
    """One attempt to schedule one pod."""

    pod: Pod
    """The very pod, for texts that name it and for decisions kept by pod; what decides stands in the template."""
    template: Template
    table: NodeTable
    algorithm: Algorithm
    listings: Listings
    binder: Binder
    has_metadata: bool = True
    """Whether upstream would have predicate metadata; without it some predicates take their slow paths (reference C.17)."""
    templates: Templates
    cache: Cache
    """For rules to which upstream gives a lister of pods or nodes: it knows what the snapshot in ``table`` leaves out."""
    answers: Answers | None = None
    """Answers of earlier cycles; None where they must not be used."""
    details: bool = True
    """What is found out is kept beyond the cycle."""
    memo: dict[Any, Any] = attrs.field(factory=dict)
    """What rules worked out for this cycle, keyed by the rule's name."""

    def ask(self, predicate: Predicate, nodes: Batch) -> Failures | None:
        """What *predicate* has against *nodes*, read from the cached answers where *nodes* is the whole table."""
        if self.answers is not None and nodes.rows is None and self.answers.keeps(predicate, self):
            kept = self.answers.failures(predicate, self)
            kept.shared |= self.details
            found: Failures | None = kept.answer
            return found
        return predicate.check(self.template, nodes, self)

    def raw_scores(self, priority: Priority, nodes: Batch) -> Scores:
        """The map step of *priority* for *nodes*, read from the cached answers where there are any."""
        if self.answers is not None and nodes.rows is not None and not priority.whole_list and self.answers.keeps(priority, self):
            found: Scores = self.answers.scores(priority, self).answer[nodes.rows]
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
