"""The differences between API servers in the admission of new objects and of evictions, and those of the
controllers beside them."""

from __future__ import annotations

from msgspec import Struct


class ServerRules(Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """The differences between API servers of several releases, as the newest one has them by default."""

    keeps_priorities: bool = True
    """Pods keep their priorities: gate PodPriority."""
    reads_runtime_classes: bool = True
    """RuntimeClasses give pods node selectors and tolerations."""
    gives_overhead: bool = True
    """They give overhead, too, and no pod has another: gate PodOverhead."""
    honours_policies: bool = True
    """Preemption policies of pods and classes must agree: gate NonPreemptingPriority."""
    keeps_sidecars: bool = True
    """Init containers keep their restartPolicy: gate SidecarContainers, where it is known."""
    takes_ephemeral_volumes: bool = True
    """Gate GenericEphemeralVolume (no: such a volume has no source, and its pod is refused). A server that
    does not know the field makes an emptyDir of it."""
    keeps_host_users: bool = True
    """Pods keep their hostUsers: gate UserNamespacesSupport."""
    shares_host_network: bool = False
    """A pod with a user namespace of its own may use the node's network: gate UserNamespacesHostNetworkSupport."""
    keeps_pod_resources: bool = True
    """Pods keep their resources as a whole: gate PodLevelResources."""
    restarts_all: bool = True
    """A container's exit may restart all containers: gate RestartAllContainersOnContainerExits."""
    merges_label_keys: bool = True
    """Label keys of pod affinity become part of its selectors: gate MatchLabelKeysInPodAffinity."""
    merges_spread_keys: bool = True
    """So do those of spread constraints: gate MatchLabelKeysInPodTopologySpreadSelectorMerge."""
    asks_for_whole_pages: bool = True
    """Amounts of huge pages are multiples of their size."""
    takes_newest_class: bool = True
    """Of several default StorageClasses the newest counts (no: a claim without a class is refused)."""
    sums_what_is_said: bool = True
    """The sum over containers, which a LimitRange bounds, is of those that say something (no: a resource of
    which one says nothing has no sum)."""
    guards_everything: bool = True
    """A budget with an empty selector guards all pods of its namespace from evictions (no: none)."""
    frees_unready: bool = True
    """Pods that are not ready may be evicted where the others suffice for their budget."""
    fails_deleted: bool = True
    """A Job counts a pod that is deleted before it ends as failed: gate JobTrackingWithFinalizers."""


NEWEST_SERVER = ServerRules()
