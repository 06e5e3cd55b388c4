"""What one scheduling cycle knows besides the nodes it judges: the pod, the configuration, listings of other objects."""

from __future__ import annotations

from collections.abc import Sequence
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
from .pods.notes import Notes
from .pods.template import Entry, Template, Templates
from .release import Release
from .rule import Algorithm, Predicate, Priority, RuleError, Scores


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
    notes: Notes = attrs.field(factory=Notes)
    """What rules worked out for this cycle."""

    def ask(self, predicates: Sequence[Predicate], nodes: Batch) -> list[Failures | None]:
        """What each of *predicates* has against *nodes*, read from the cached answers where *nodes* is the whole table."""
        found: list[Failures | None] = []
        answers = self.answers if nodes.rows is None else None
        for predicate in predicates:
            if answers is None or not answers.keeps(predicate, self):
                found.append(predicate.check(self.template, nodes, self))
                continue
            kept = answers.failures(predicate, self)
            kept.shared |= self.details
            found.append(kept.answer)
        return found

    def raw_scores(self, priorities: Sequence[Priority], nodes: Batch) -> list[Scores | RuleError]:
        """The map step of each of *priorities* for *nodes*, or its error; read from the cached answers where there are any."""
        found: list[Scores | RuleError] = []
        answers = self.answers if nodes.rows is not None else None
        for priority in priorities:
            try:
                if answers is None or priority.whole_list or not answers.keeps(priority, self):
                    found.append(priority.score(self.template, nodes, self))
                else:
                    found.append(answers.scores(priority, self).answer[nodes.rows])
            except RuleError as error:
                found.append(error)
        return found

    def nominated_entry(self, pod: Pod) -> Entry:
        """A nominated pod as it is put on a node for a trial."""
        return self.templates.entry(pod, nominated=True)

    def counts_nominated(self, pod: Pod) -> bool:
        """Whether a nominated pod counts as if it were on its node: one of equal or higher priority that is not the pod itself."""
        if pod.priority < self.pod.priority:
            return False
        return not (self.release.preemption.excludes_self and pod.uid == self.pod.uid)

    @property
    def predicates(self) -> Sequence[Predicate]:
        """The predicates that may object to the pod, in running order."""
        return self.algorithm.predicates_for(self.template)

    @property
    def release(self) -> Release:
        """The cells of the release."""
        return self.algorithm.release

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)
