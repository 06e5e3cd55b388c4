"""What a release of the framework makes of a Policy, and of a provider's name. See :mod:`kubeclassic.core.release.release`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from msgspec import field

from ...api.record import says
from .framework import CellGroup

_NONE: Mapping[str, str] = MappingProxyType({})


class PolicyCells(CellGroup, frozen=True, kw_only=True):
    """How a release makes a profile of a Policy."""

    # --- rules and plugins ------------------------------------------------------------------------------------------
    predicates: Mapping[str, str] = _NONE
    """Predicate -> its Filter plugins, in the order in which they run."""
    priorities: Mapping[str, str] = _NONE
    """Priority -> its Score plugin."""
    rule_gates: Mapping[str, str] = _NONE
    """Rule that needs a gate -> the gate."""
    default_predicates: tuple[str, ...] = ()
    """Those of a Policy without ``predicates``."""
    mandatory_predicates: tuple[str, ...] = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
    default_priorities: Mapping[str, int] = field(default_factory=dict)
    """Those of a Policy without ``priorities``, with their weights."""
    aliases: Mapping[str, str] = MappingProxyType(
        {"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"}
    )
    """Older name of a rule -> the name that counts."""
    pre_filters: frozenset[str] = frozenset()
    """The plugins whose PreFilter runs where their Filter does."""
    pre_scores: frozenset[str] = frozenset()
    """The plugins whose PreScore runs where their Score does."""
    spread_gate: Annotated[str, says("the gate with which SelectorSpreadPriority is PodTopologySpread with the system's constraints")] = ""
    # --- how they are put together ----------------------------------------------------------------------------------
    merges_plugins: Annotated[bool, says("a plugin of two rules of a Policy runs once, at its first place (no: the Policy is refused)")] = (
        True
    )
    arguments_first: Annotated[bool, says("the argument of a Policy's rule says what it is (no: only where no rule has that name)")] = False
    fills_arguments: Annotated[bool, says("rules of a Policy without arguments have empty ones (no: their plugins refuse)")] = False
    fills_resources: Annotated[bool, says("resources without a weight, or no resources, of a Policy get defaults")] = False
    plugin_reserves: Annotated[bool, says("volumes are assumed by plugin VolumeBinding (no: by the scheduler, whatever a Policy says)")] = (
        True
    )
    preempts: Annotated[bool, says("pods preempt others under a Policy")] = True
    checks_all: Annotated[
        bool, says("with alwaysCheckAllPredicates a node is asked about by all plugins (no: up to the first that rejects it)")
    ] = True
    weight_of_configuration_counts: Annotated[
        bool,
        says(
            "hardPodAffinitySymmetricWeight of a Policy is only checked, and that of the configuration counts"
            " (no: the Policy's own, else 1)"
        ),
    ] = False
    sums_weights_first: Annotated[bool, says("weights that are too high together refuse a Policy before they are cut to 32 bits")] = False
    # --- texts ------------------------------------------------------------------------------------------------------
    unknown_predicate: Annotated[str, says("the fault of a predicate that does not exist")] = 'predicate type not found for "{name}"'
    unknown_priority: Annotated[str, says("the fault of a priority that does not exist")] = 'priority type not found for "{name}"'
    two_arguments: Annotated[str, says("the fault of a rule with two arguments")] = (
        "exactly 1 {kind} argument is required, numArgs: {number}, {kind} {{{entry} 0x0}}"
    )
    bad_weight: Annotated[str, says("the fault of a weight that is not above 0, or too high")] = (
        "priority {name} should have a positive weight applied to it or it has overflown"
    )
    no_argument: Annotated[str, says("the fault of a priority with an empty argument")] = "no priority arguments set for priority {name}"
    declared_again: Annotated[str, says("the fault of a second priority by capacity ratio")] = (
        'priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from: "{first}"'
    )
    bad_affinity_weight: Annotated[str, says("the fault of a hardPodAffinitySymmetricWeight out of range")] = (
        "hardPodAffinitySymmetricWeight: Invalid value: {weight}: not in valid range [0-100]"
    )
    older_extender_texts: Annotated[bool, says("faults of a Policy's extenders read as up to 1.16 (no: as those of a configuration)")] = (
        False
    )
    # --- providers --------------------------------------------------------------------------------------------------
    providers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Provider -> the default plugins that others replace, with these; empty: a provider's name means nothing."""
    weight_is_argument: Annotated[bool, says("the configuration's hardPodAffinitySymmetricWeight is that of InterPodAffinity")] = False
    least_affinity_weight: Annotated[int, says("the lowest hardPodAffinitySymmetricWeight")] = 0
