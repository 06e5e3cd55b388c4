"""Label selectors, node selectors, and the affinities of pods."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from .metadata import NO_STRINGS, FieldWords, HashedPart, Map, OneOf
from .quantity import Int32

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class Requirement(HashedPart):
    """One expression of a label or node selector: key, operator (``In``, ``Exists``, ``Gt``, ...), values."""

    key: str = ""
    operator: Annotated[str, OneOf(*_LABEL_OPERATORS, "Gt", "Lt")] = ""
    given_values: tuple[str, ...] | None = field(default=None, name="values")
    """None: absent; upstream's messages tell it from an empty list."""

    @property
    def values(self) -> tuple[str, ...]:
        return self.given_values or ()


class LabelSelector(HashedPart):
    """Which labels match: all pairs of match_labels and all of match_expressions. Empty matches everything,
    None nothing."""

    match_labels: Map[str] = NO_STRINGS
    match_expressions: Annotated[tuple[Requirement, ...], FieldWords(operator=OneOf(*_LABEL_OPERATORS))] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


class NodeSelectorTerm(HashedPart):
    """Expressions over a node's labels and fields; all must hold, and without any it matches nothing."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(HashedPart):
    """Terms; one of them must match, so without any it matches nothing."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(HashedPart):
    """A node selector term with the weight for matching nodes."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(HashedPart):
    """Node affinity; in the API *required* and *preferred* end in ``DuringSchedulingIgnoredDuringExecution``."""

    required: NodeSelector | None = field(default=None, name=_REQUIRED)
    given_preferred: tuple[PreferredSchedulingTerm, ...] | None = field(default=None, name=_PREFERRED)
    """None: absent; upstream may score a pod that has an empty list, though it prefers nothing."""

    @property
    def preferred(self) -> tuple[PreferredSchedulingTerm, ...]:
        return self.given_preferred or ()


class PodAffinityTerm(HashedPart):
    """Pods (selector, namespaces) in the same topology domain (*topology_key*)."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(HashedPart):
    """A preferred pod affinity term and its weight."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(HashedPart):
    """Pod affinity or pod anti-affinity: required and preferred terms."""

    required: tuple[PodAffinityTerm, ...] = field(default=(), name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(default=(), name=_PREFERRED)


class Affinity(HashedPart):
    """A pod's affinities; None if absent, which upstream treats unlike empty."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
