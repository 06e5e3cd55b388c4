"""Label selectors, node selectors, and the affinities of pods."""

from __future__ import annotations

from msgspec import Struct

from .metadata import NO_STRINGS, Map
from .quantity import Int32


class Requirement(Struct, frozen=True, kw_only=True, cache_hash=True):
    """One expression of a label or node selector: key, operator (``In``, ``Exists``, ``Gt``, ...), values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    has_empty_list: bool = False
    """*values* is there as an empty list; upstream's messages tell it from one that is absent."""


class LabelSelector(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Which labels match: all pairs of match_labels and all of match_expressions. Empty matches everything, None nothing."""

    match_labels: Map[str] = NO_STRINGS
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


class NodeSelectorTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Expressions over a node's labels and fields; all must hold, and without any it matches nothing."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Terms; one of them must match, so without any it matches nothing."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A node selector term with the weight for matching nodes."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Node affinity; in the API *required* and *preferred* end in ``DuringSchedulingIgnoredDuringExecution``."""

    required: NodeSelector | None = None
    preferred: tuple[PreferredSchedulingTerm, ...] = ()
    has_empty_list: bool = False
    """*preferred* is there as an empty list; upstream may score a pod that has one, though it prefers nothing."""


class PodAffinityTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Pods (selector, namespaces) in the same topology domain (*topology_key*)."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A preferred pod affinity term and its weight."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Pod affinity or pod anti-affinity: required and preferred terms."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A pod's affinities; None if absent, which upstream treats unlike empty."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
