"""NodeAffinity: does the node have the labels that the pod, or the profile, requires or prefers?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial, reduce
from operator import and_

import numpy as np

from ...api.objects import NodeAffinity as Affinity
from ...core.matching import (
    literal_node_affinity_mask,
    node_selector_mask,
    pod_node_affinity_mask,
    required_node_affinity,
    term_mask,
)
from ...priorities.nodeaffinity import expressions_of_term_mask, preferred_terms, weighed
from ...priorities.rule import normalize_reduce
from ..config.fielderrors import aggregated, preferred_faults
from ..hints import node_matches_affinity
from ..plugin import (
    ADD_OR_UPDATE,
    MAX_NODE_SCORE,
    SKIP,
    Action,
    Batch,
    Events,
    Failures,
    FrameworkCycle,
    Plugin,
    PreFilterResult,
    PriorityError,
    Reads,
    Reason,
    Scores,
    Status,
    Template,
    error,
    reason,
    unresolvable,
)

NOT_ENFORCED = Reason("node(s) didn't match scheduler-enforced node affinity", resolvable=False)
CONFLICT = "pod affinity terms conflict"


class NodeAffinityPlugin(Plugin):
    """Reject nodes that do not match the pod's nodeSelector, its required node affinity or the profile's;
    prefer nodes that both prefer.

    Upstream: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go.
    """

    name = "NodeAffinity"
    filter_reads = Reads.NODE
    score_reads = Reads.NODE
    pre_filter_by_class = True
    pre_score_by_class = True
    pre_score_skips = True
    normalize_score = normalize_reduce(MAX_NODE_SCORE)

    @property
    def added(self) -> Affinity:
        """The node affinity that every pod of the profile has besides its own."""
        return (self.args and self.args.added_affinity) or Affinity()

    def filter_key(self, pod: Template) -> Hashable:
        return pod.node_selector, required_node_affinity(pod)

    def score_concerns(self, pod: Template) -> bool:
        return bool(preferred_terms(pod) or self.added.preferred)

    def score_key(self, pod: Template) -> Hashable:
        return preferred_terms(pod)

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> PreFilterResult | Status | None:
        """Leave only the nodes named by the pod's required node affinity, if each of its terms names some."""
        required = required_node_affinity(pod)
        if (required or self.added.required) is None and pod.spec.node_selector is None:
            return SKIP
        terms = required.node_selector_terms if required is not None and self.cells.names_nodes else ()
        # Upstream: several names in one field narrow the search, though the filter then takes the term for
        # invalid.
        node_names: set[str] = set()
        for term in terms:
            fields = (field for field in term.match_fields if field.key == "metadata.name")
            name_sets = [set(field.values) for field in fields if field.operator == "In"]
            if not name_sets:
                return None
            names = reduce(and_, name_sets)
            if not names and self.cells.any_conflict_rejects:
                return unresolvable(CONFLICT)
            node_names |= names
        if not terms:
            return None
        return PreFilterResult(frozenset(node_names)) if node_names else unresolvable(CONFLICT)

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        if self.added.required is None:
            enforced = nodes.every()
        else:
            enforced = node_selector_mask(self.added.required, nodes)
        mask_of = pod_node_affinity_mask if self.cells.checks_pairs else literal_node_affinity_mask
        matching = mask_of(pod, nodes)
        return Failures.coded(
            np.where(enforced, 2 * ~matching, 1),
            ((NOT_ENFORCED,), (reason(self.cells.node_affinity_text, resolvable=False),)),
        )

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        if fault := self._fault(pod):
            return error(fault)
        affinity = pod.affinity.node_affinity
        # Upstream: an empty list of preferences is not the same as none.
        is_asked = self.score_concerns(pod) or (affinity is not None and affinity.given_preferred == ())
        return None if is_asked or NodeAffinityPlugin.name not in self.cells.skips_scoring else SKIP

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The sum of the weights of the preferred terms that match, fields of the node among them:
        int64[n]."""
        if fault := self._fault(pod):
            raise PriorityError(fault)
        if not self.cells.reads_preferred_fields:
            scores = weighed(preferred_terms(pod), nodes, expressions_of_term_mask)
            if self.cells.affinity_sums_in_32_bits:
                return scores.astype(np.int32).astype(np.int64)
            return scores
        pod_scores = weighed(preferred_terms(pod), nodes, term_mask)
        return weighed(self.added.preferred, nodes, term_mask) + pod_scores

    def events_to_register(self) -> Events:
        matches = partial(
            node_matches_affinity, added=self.added.required, compares=self.handle.compares(self.name)
        )
        return (self.handle.node_event(Action.ADD | Action.UPDATE_NODE_LABEL, ADD_OR_UPDATE, matches),)

    def _fault(self, pod: Template) -> str:
        """The faults of the preferred terms that count; empty without any."""
        faults = preferred_faults(preferred_terms(pod), self.cells) if preferred_terms(pod) else []
        # Upstream: where fields are not read, terms are parsed one after the other, up to the first fault.
        return aggregated(faults if self.cells.reads_preferred_fields else faults[:1])
