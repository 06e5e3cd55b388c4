"""The release of the framework: the cells in which 1.27.14 differs from the last release with predicates and priorities."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from ..algorithmprovider import cells, clients
from ..algorithmprovider.releases import RELEASES
from ..core.pods import requests
from ..core.release import Release
from ..core.volumes import intree
from ..exceptions import UnknownNameError
from .config.gates import GATES

TOPOLOGY_ZONE, TOPOLOGY_REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def zone_key(labels: Mapping[str, str]) -> str:
    """The zone key of a node: region and zone, each from the beta label if present, else from the newer label; empty without both."""
    zone = labels.get(cells.ZONE_LABEL, labels.get(TOPOLOGY_ZONE, ""))
    region = labels.get(cells.REGION_LABEL, labels.get(TOPOLOGY_REGION, ""))
    return f"{region}:\x00:{zone}" if region or zone else ""


_LAST = next(reversed(RELEASES.values()))

V1_27: Release = attrs.evolve(
    _LAST,
    version="1.27",
    ordering=(),
    predicates=(),
    default_predicates=(),
    mandatory_predicates=(),
    priorities=(),
    default_priorities=MappingProxyType({}),
    gates=GATES,
    gate_effects=(),
    ignorable_extenders_last=True,
    extender_adds_nodes=False,
    extender_unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in the input node list',
    incoming=requests.exact_sums,
    footprint=requests.exact_sums,
    incoming_nonzero=requests.exact_sums_with_defaults,
    footprint_nonzero=requests.nonzero_with_any_overhead,
    zone_key=zone_key,
    snapshot_keeps_nodeless=False,
    transient_reset_all=False,
    snapshot_drops_nodeless=True,
    cache_replaces_confirmed=True,
    selects_namespaces=True,
    nodes_to_find=cells.adaptive_share,
    pick_host=cells.first_best,
    binding_failed_reason="SchedulerError",
    volumes=attrs.evolve(
        _LAST.volumes,
        unbound_claim_text="PersistentVolume had no name",
        binding_gate=False,
        checks_phase=True,
        volume_mode="always",
        matches_by_beta_class=True,
        groups_by_beta_class=True,
        ephemeral_claims=True,
        missing_claim_errs=True,
        limits_gate="",
        instance_type_labels=(*_LAST.volumes.instance_type_labels, "node.kubernetes.io/instance-type"),
        zone_labels=(*_LAST.volumes.zone_labels, TOPOLOGY_ZONE),
        migration_gate="",
        always_migrated=frozenset({intree.AWS_EBS, intree.AZURE_DISK, intree.CINDER}),
        migratable=intree.MIGRATABLE | {f"kubernetes.io/{name}" for name in ("vsphere-volume", "portworx-volume", "rbd")},
        inline_migrates=True,
        translates_bound_volumes=True,
        missing_volume_is_reason=True,
        checks_storage_capacity=True,
    ),
    queue=attrs.evolve(
        _LAST.queue,
        backoff_forget_after=None,
        update_ends_backoff=False,
        parked_at_most=300.0,
        finalizers_count=False,
        refusals=(
            "Pod {} is already present in unschedulable queue",
            "Pod {} is already present in the active queue",
            "Pod {} is already present in the backoff queue",
        ),
    ),
    nominations=attrs.evolve(_LAST.nominations, empty_name_counts=True, asks_lister=True),
    client=clients.WITH_GROWING_PAUSES,
    live=attrs.evolve(
        _LAST.live,
        preempted_text="Preempted by a pod on node {node}",
        wrong_node_text='provisioning failed for PVC "{claim}"',
    ),
)

FRAMEWORK_RELEASES: Mapping[str, Release] = MappingProxyType({V1_27.version: V1_27})
"""Version -> release of the framework; those with predicates and priorities are in ``algorithmprovider/releases.py``."""

DEFAULT_FRAMEWORK = V1_27.version
"""The release that runs a profile if none is named."""

ALL_RELEASES: Mapping[str, Release] = MappingProxyType({**RELEASES, **FRAMEWORK_RELEASES})
"""Version -> release, every one that this package has, oldest first."""


def find_any_release(name: str) -> Release:
    """The release called *name*, of either generation; see :func:`~kubeclassic.algorithmprovider.releases.find_release`.

    >>> find_any_release("v1.27.14").version in FRAMEWORK_RELEASES
    True
    """
    version = ".".join(name.removeprefix("v").split(".")[:2])
    if version not in ALL_RELEASES:
        raise UnknownNameError(f'release: got "{name}", wanted {", ".join(ALL_RELEASES)}')
    return ALL_RELEASES[version]
