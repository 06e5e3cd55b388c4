"""What ``kubectl drain`` does with each pod of a node, by its flags.

Upstream: makeFilters and the filters in staging/src/k8s.io/kubectl/pkg/drain/filters.go.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ...api.meaning.labels import Matcher, everything
from ...api.objects import Pod
from ...api.objects.pods import DEFAULT_SCHEDULER
from ..replacements import KUBELET, SAME_NAME

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a static pod's image in the API."""
DAEMONSET = "DaemonSet"

DAEMONSET_STAYS = "DaemonSet-managed"
MIRROR_STAYS = "a static pod of its kubelet"
NOT_SELECTED = "not selected by --pod-selector"

DAEMONSET_REFUSED = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_REFUSED = "Pods with local storage (use --delete-emptydir-data to override)"
BARE_REFUSED = "Pods declare no controller (use --force to override)"


@attrs.frozen
class Sorted:
    """The pods of one node, each list in the order in which they were given."""

    leaving: tuple[Pod, ...] = ()
    staying: tuple[tuple[Pod, str], ...] = ()
    """Pods that a drain ignores, and why."""
    refusal: str | None = None
    """Why nothing is evicted at all."""


@attrs.frozen(kw_only=True)
class DrainFlags:
    """The flags of ``kubectl drain`` that matter to a simulation, with their defaults."""

    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    force: bool = False
    """Pods without a controller are deleted, and not made again."""
    recreate_bare: bool = False
    """Pods without a controller are made again under their own names. kubectl has no such flag: it is for traces, whose pods are bare."""
    disable_eviction: bool = False
    """Pods are deleted instead of evicted, so that no budget is asked."""
    pod_selector: Matcher = everything
    """Only pods with such labels leave."""

    def sort(self, pods: Iterable[Pod]) -> Sorted:
        """What becomes of each pod of a node."""
        leaving: list[Pod] = []
        staying: list[tuple[Pod, str]] = []
        refused: dict[str, list[str]] = {}
        for pod in pods:
            stays, against = self._stays(pod), self._against(pod)
            if stays is not None:
                staying.append((pod, stays))
            elif against is not None:
                refused.setdefault(against, []).append(pod.key)
            else:
                leaving.append(pod)
        told = "; ".join(f"{why}: {some(keys)}" for why, keys in refused.items())
        return Sorted(tuple(leaving), tuple(staying), f"cannot delete {told}" if told else None)

    def _stays(self, pod: Pod) -> str | None:
        if not self.pod_selector(pod.labels):
            return NOT_SELECTED
        if self._is_daemon(pod):
            return DAEMONSET_STAYS if self.ignore_daemonsets else None
        return MIRROR_STAYS if is_mirror(pod) else None

    def _against(self, pod: Pod) -> str | None:
        """Why kubectl refuses to evict *pod*, and with it all others of its node."""
        if self._is_daemon(pod):
            return DAEMONSET_REFUSED
        if any(volume.empty_dir for volume in pod.spec.volumes) and not self.delete_emptydir_data:
            return LOCAL_REFUSED
        return BARE_REFUSED if pod.metadata.controller is None and not (self.force or self.recreate_bare) else None

    @staticmethod
    def _is_daemon(pod: Pod) -> bool:
        owner = pod.metadata.controller
        return owner is not None and owner.kind == DAEMONSET


def is_mirror(pod: Pod) -> bool:
    """Whether *pod* is the image of a static pod, which its kubelet runs whatever the API says."""
    owner = pod.metadata.controller
    return MIRROR in pod.annotations or (owner is not None and owner.kind == KUBELET)


def is_made_again(pod: Pod) -> bool:
    """Whether eviction makes an owner create another pod: it already did in place of one that is being deleted.

    But a StatefulSet waits until that one is gone.
    """
    owner = pod.metadata.controller
    return not pod.is_terminating or (owner is not None and owner.kind == SAME_NAME)


def foreign_scheduler(pod: Pod, names: frozenset[str]) -> str | None:
    """The scheduler that the pod asks for, if it is none of *names*."""
    wanted = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    return None if wanted in names else wanted


MOST_NAMED = 5


def some(names: Iterable[str]) -> str:
    """The first five of *names*, and how many more there are."""
    found = list(names)
    more = len(found) - MOST_NAMED
    return ", ".join(found[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
