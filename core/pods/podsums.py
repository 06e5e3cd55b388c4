"""What a pod requests in releases that know sidecars: cells ``incoming``, ``footprint`` and their non-zero versions.

A sidecar is an init container with restart policy Always. It goes on running, so it counts beside the containers, and beside each init
container that comes after it. Sums are exact, and are rounded once.
Upstream: pkg/api/v1/resource/helpers.go PodRequests, pkg/scheduler/framework/types.go calculateResource.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...api.meaning.podtotals import add_exactly, requests_of, total_of, uses
from ...api.objects import NO_QUANTITIES, Map, Pod
from ...api.objects.quantity import Quantity
from ..release import Gates, Requests
from .requests import CPU, DEFAULTS, MEMORY, amount, is_counted, nonzero_or_uses, overhead_added

Amounts = Mapping[str, Quantity]
POD_LEVEL = "PodLevelResources"
"""The gate for requests of the pod as a whole."""


# --- sums of containers ---------------------------------------------------------------------------------------------


def _containers(pod: Pod, defaults: Amounts) -> dict[str, Quantity]:
    """The sum over containers and sidecars, or what runs with an init container if that is more."""
    return total_of(pod, (lambda container: {**defaults, **container.requests}) if defaults else requests_of)


def _rounded(pod: Pod, total: dict[str, Quantity]) -> Requests:
    """*total* and the overhead as whole numbers."""
    add_exactly(total, pod.spec.overhead)
    return {name: amount(name, quantity) for name, quantity in total.items() if is_counted(name)}


def with_sidecars(pod: Pod, gates: Gates) -> Requests:
    """The sum over containers and sidecars, or what runs with an init container if that is more; and the overhead."""
    return _rounded(pod, _containers(pod, NO_QUANTITIES))


def with_sidecars_and_defaults(pod: Pod, gates: Gates) -> Requests:
    """As :func:`with_sidecars`; a container or init container without a request of cpu or memory counts with the default."""
    return _with_both(_rounded(pod, _containers(pod, DEFAULTS)))


def _with_both(requests: Requests) -> Requests:
    """*requests* with cpu and memory, which a pod without containers lacks."""
    return {CPU: 0, MEMORY: 0, **requests}


def nonzero_of_uses(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory over the containers, or of what runs with an init container; absent ones with the defaults; and the overhead."""
    # Upstream: sidecars count only where they make what an init container needs larger than the containers.
    return overhead_added(nonzero_or_uses(pod, uses(pod, requests_of)), pod)


# --- requests of the pod as a whole ---------------------------------------------------------------------------------


def _asked(pod: Pod, gates: Gates, *, huge_pages: bool) -> Map[Quantity]:
    """What the pod as a whole asks for, of what a pod can ask for; nothing without the gate."""
    requests = pod.spec.requests
    if not requests or not gates.get(POD_LEVEL, False):
        return NO_QUANTITIES
    names = [name for name in requests if name in DEFAULTS or (huge_pages and name.startswith("hugepages-"))]
    return Map({name: requests[name] for name in names})


def _in_place_of_sums(pod: Pod, asked: Map[Quantity], defaults: Amounts) -> Requests:
    return _rounded(pod, {**_containers(pod, defaults), **asked})


def _nonzero_in_place(pod: Pod, asked: Map[Quantity]) -> Requests:
    """The defaults are for what neither the pod nor any container asks for, where the pod asks for anything."""
    defaults: Amounts = DEFAULTS
    if asked:
        known = {**_containers(pod, NO_QUANTITIES), **asked, **pod.spec.overhead}
        defaults = {name: default for name, default in DEFAULTS.items() if name not in known}
    found = _with_both(_in_place_of_sums(pod, asked, defaults))
    return {CPU: found[CPU], MEMORY: found[MEMORY]}


def of_pod(pod: Pod, gates: Gates) -> Requests:
    """As :func:`with_sidecars`; with gate PodLevelResources cpu and memory of the pod as a whole in place of the sums."""
    return _in_place_of_sums(pod, _asked(pod, gates, huge_pages=False), NO_QUANTITIES)


def of_pod_with_defaults(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_pod`, the sums as in :func:`with_sidecars_and_defaults`."""
    return _with_both(_in_place_of_sums(pod, _asked(pod, gates, huge_pages=False), DEFAULTS))


def nonzero_of_pod(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory as :func:`of_pod`, absent requests counted with the defaults."""
    return _nonzero_in_place(pod, _asked(pod, gates, huge_pages=False))


def of_pod_with_huge_pages(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_pod`, and huge pages of the pod as a whole."""
    return _in_place_of_sums(pod, _asked(pod, gates, huge_pages=True), NO_QUANTITIES)


def nonzero_of_pod_with_huge_pages(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_pod`; a pod that asks for huge pages as a whole asks for something, too."""
    return _nonzero_in_place(pod, _asked(pod, gates, huge_pages=True))
