"""Which rules the options of a command line chose, in a line each, for pages that say what they are about."""

from __future__ import annotations

from collections.abc import Iterator

from .setup import Setup


def rules_told(setup: Setup) -> list[str]:
    """The options that choose rules, as they were given; empty where all is as the release does it.

    >>> rules_told(Setup(provider="ClusterAutoscalerProvider", tie_break="random", seed=7))
    ['provider ClusterAutoscalerProvider', 'tie-break random, seed 7']
    """
    return list(_told(setup))


def _told(setup: Setup) -> Iterator[str]:
    named = {
        "profile": setup.profile, "policy": setup.policy, "policy in ConfigMap": setup.policy_configmap, "provider": setup.provider,
        "configuration": setup.config, "feature gates": setup.gates, "percentage of nodes to score": setup.percentage,
        "hard pod affinity weight": setup.hard_pod_affinity_weight, "scheduler name": setup.scheduler_name,
        "extenders": setup.extenders, "disks of each type on a node": setup.max_pd_vols,
    }  # fmt: skip
    yield from (f"{what} {value}" for what, value in named.items() if value is not None)
    yield from (f"rules {place}" for place in setup.rules)
    if setup.tie_break != "release":
        yield f"tie-break {setup.tie_break}" + (f", seed {setup.seed}" if setup.tie_break == "random" else "")
    if setup.disable_preemption:
        yield "no preemption"
    if setup.equivalence_cache:
        yield "equivalence cache"
