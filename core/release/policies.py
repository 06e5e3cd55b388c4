"""What a release of the framework makes of a Policy, and of a provider's name. See :mod:`kubeclassic.core.release.release`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from .framework import cell

_NONE: Mapping[str, str] = MappingProxyType({})


@attrs.frozen(kw_only=True, repr=False)
class PolicyCells:
    """How a release makes a profile of a Policy."""

    # --- rules and plugins ------------------------------------------------------------------------------------------
    predicates: Mapping[str, str] = attrs.field(default=_NONE)
    """Predicate -> its Filter plugins, in the order in which they run."""
    priorities: Mapping[str, str] = attrs.field(default=_NONE)
    """Priority -> its Score plugin."""
    rule_gates: Mapping[str, str] = attrs.field(default=_NONE)
    """Rule that needs a gate -> the gate."""
    default_predicates: tuple[str, ...] = ()
    """Those of a Policy without ``predicates``."""
    mandatory_predicates: tuple[str, ...] = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
    default_priorities: Mapping[str, int] = attrs.field(factory=dict)
    """Those of a Policy without ``priorities``, with their weights."""
    aliases: Mapping[str, str] = attrs.field(
        default=MappingProxyType({"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"})
    )
    """Older name of a rule -> the name that counts."""
    pre_filters: frozenset[str] = attrs.field(default=frozenset())
    """The plugins whose PreFilter runs where their Filter does."""
    pre_scores: frozenset[str] = attrs.field(default=frozenset())
    """The plugins whose PreScore runs where their Score does."""
    spread_gate: str = cell("the gate with which SelectorSpreadPriority is PodTopologySpread with the system's constraints", "")
    # --- how they are put together ----------------------------------------------------------------------------------
    merges_plugins: bool = cell("a plugin of two rules of a Policy runs once, at its first place (no: the Policy is refused)", True)
    arguments_first: bool = cell("the argument of a Policy's rule says what it is (no: only where no rule has that name)", False)
    fills_arguments: bool = cell("rules of a Policy without arguments have empty ones (no: their plugins refuse)", False)
    fills_resources: bool = cell("resources without a weight, or no resources, of a Policy get defaults", False)
    plugin_reserves: bool = cell("volumes are assumed by plugin VolumeBinding (no: by the scheduler, whatever a Policy says)", True)
    preempts: bool = cell("pods preempt others under a Policy", True)
    checks_all: bool = cell(
        "with alwaysCheckAllPredicates a node is asked about by all plugins (no: up to the first that rejects it)", True
    )
    weight_of_configuration_counts: bool = cell(
        "hardPodAffinitySymmetricWeight of a Policy is only checked, and that of the configuration counts (no: the Policy's own, else 1)",
        False,
    )
    sums_weights_first: bool = cell("weights that are too high together refuse a Policy before they are cut to 32 bits", False)
    # --- texts ------------------------------------------------------------------------------------------------------
    unknown_predicate: str = cell("the fault of a predicate that does not exist", 'predicate type not found for "{name}"')
    unknown_priority: str = cell("the fault of a priority that does not exist", 'priority type not found for "{name}"')
    two_arguments: str = cell(
        "the fault of a rule with two arguments", "exactly 1 {kind} argument is required, numArgs: {number}, {kind} {{{entry} 0x0}}"
    )
    bad_weight: str = cell(
        "the fault of a weight that is not above 0, or too high",
        "priority {name} should have a positive weight applied to it or it has overflown",
    )
    no_argument: str = cell("the fault of a priority with an empty argument", "no priority arguments set for priority {name}")
    declared_again: str = cell(
        "the fault of a second priority by capacity ratio",
        'priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from: "{first}"',
    )
    bad_affinity_weight: str = cell(
        "the fault of a hardPodAffinitySymmetricWeight out of range",
        "hardPodAffinitySymmetricWeight: Invalid value: {weight}: not in valid range [0-100]",
    )
    older_extender_texts: bool = cell("faults of a Policy's extenders read as up to 1.16 (no: as those of a configuration)", False)
    # --- providers --------------------------------------------------------------------------------------------------
    providers: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    """Provider -> the default plugins that others replace, with these; empty: a provider's name means nothing."""
    weight_is_argument: bool = cell("the configuration's hardPodAffinitySymmetricWeight is that of InterPodAffinity", False)
    least_affinity_weight: int = cell("the lowest hardPodAffinitySymmetricWeight", 0)
