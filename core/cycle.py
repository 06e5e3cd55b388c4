"""One scheduling cycle: what rules get besides the nodes, such as the pod, the configuration and the listings of other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from ..api.objects import Pod
from .arrays.batch import Batch
from .arrays.census import Counter
from .arrays.table import NodeTable
from .arrays.types import Scores
from .binding import Binder
from .cluster.cache import Cache
from .cluster.listings import Listings
from .failures import Failures
from .pods.notes import Notes
from .pods.template import Entry, Template, Templates
from .release import Release
from .rule import Algorithm, Predicate, Priority, RuleError


class CachedAnswer(Protocol):
    """The answer of one rule for all rows of the table."""

    answer: Any
    """Of a predicate: Failures or None; of a priority: int64[size], its raw scores."""
    shared: bool
    """Whether a reader keeps the arrays: then they are copied before they change (copy-on-write)."""
    watched: list[Counter]
    """The counters of the census that the rule read."""


class Answers(Protocol):
    """The cached answers of earlier cycles; a stale one is brought up to date when it is read. See :mod:`.incremental`."""

    def keeps(self, rule: Predicate | Priority, cycle: Cycle) -> bool:
        """Whether answers of *rule* may be cached."""
        ...

    def failures(self, predicate: Predicate, cycle: Cycle) -> CachedAnswer:
        """The failures of *predicate* for every row of the table."""
        ...

    def scores(self, priority: Priority, cycle: Cycle) -> CachedAnswer:
        """The raw scores of *priority* for every row of the table."""
        ...


@attrs.define(eq=False, kw_only=True, repr=False)
class Cycle:
    """One attempt to schedule one pod."""

    pod: Pod
    """The pod itself, for texts that name it and for volume decisions. Rules decide by the template."""
    template: Template
    table: NodeTable
    algorithm: Algorithm
    listings: Listings
    binder: Binder
    has_metadata: bool = True
    """Whether upstream would have predicate metadata; without it some predicates behave differently (reference C.17)."""
    templates: Templates
    cache: Cache
    """For rules that read upstream's pod or node lister, which has objects that the snapshot in ``table`` lacks."""
    answers: Answers | None = None
    """Answers of earlier cycles; None if they must not be used."""
    details: bool = True
    """Whether the arrays are kept after the cycle, as the details of its decision."""
    notes: Notes = attrs.field(factory=Notes)
    """What rules store for this cycle."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.pod.key}>"

    def ask(self, predicates: Sequence[Predicate], nodes: Batch) -> list[Failures | None]:
        """The failures of each of *predicates* for *nodes*; from the cached answers if *nodes* is the whole table."""
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
        """The raw scores of each of *priorities* for *nodes*, or its error; from the cached answers where possible."""
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
        """The entry of a nominated pod that is added to a node in a trial."""
        return self.templates.entry(pod, nominated=True)

    def counts_nominated(self, pod: Pod) -> bool:
        """Whether nominated pod *pod* counts as if it were on its node: it has equal or higher priority and is not this cycle's pod."""
        if pod.priority < self.pod.priority:
            return False
        return not (self.release.preemption.excludes_self and pod.uid == self.pod.uid)

    @property
    def predicates(self) -> Sequence[Predicate]:
        """The predicates that may object to the pod, in running order."""
        return self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)

    @property
    def release(self) -> Release:
        """The cells of the release."""
        return self.algorithm.release

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)
