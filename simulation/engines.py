"""A scheduler for a release, whichever kind the release runs: predicates and priorities, or the framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algorithmprovider import resolve
from ..algorithmprovider.releases import RELEASES
from ..core.cluster.nominations import Nominations
from ..core.engine import Engine
from ..core.queue.clock import Clock
from ..core.queue.protocol import SchedulingQueue, make_queue
from ..core.router import EventRouter
from ..exceptions import UnknownNameError
from ..framework.cache import FrameworkNominations
from ..framework.config.configuration import KIND, read_configuration
from ..framework.config.defaults import GROUP
from ..framework.engine import FrameworkEngine
from ..framework.queue.eventhandlers import FrameworkEvents, queue_for
from ..framework.releases import ALL_RELEASES as BY_VERSION
from ..framework.releases import FRAMEWORK_RELEASES

ALL_RELEASES = tuple(BY_VERSION)
"""Every release that there is a scheduler of, oldest first."""


def engine_for(version: str, config: Mapping[str, Any], options: Mapping[str, Any] | None = None, **engine: Any) -> Engine:
    """A scheduler of release *version*; *config* is that of a conformance case, which *options* override; *engine*: fields of the Engine.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses.
    """
    if version in FRAMEWORK_RELEASES:
        return _framework(config, options or {}, engine)
    release = RELEASES.get(version)
    if release is None:
        raise UnknownNameError(f"version: got {version!r}, wanted one of {', '.join(ALL_RELEASES)}")
    wanted = {
        "gates": config.get("featureGates") or {},
        "policy": config.get("policy"),
        "provider": config.get("provider") or "DefaultProvider",
        "hard_pod_affinity_weight": config.get("hardPodAffinitySymmetricWeight", 1),
        "percentage": config.get("percentageOfNodesToScore", 0),
        "preemption": config.get("preemption", True),
        "equivalence_cache": config.get("equivalenceCache", False),
    }
    return Engine(resolve(release, **(wanted | dict(options or {}))), **engine)


def _framework(config: Mapping[str, Any], options: Mapping[str, Any], engine: Mapping[str, Any]) -> Engine:
    document = dict(config.get("profile") or {"apiVersion": f"{GROUP}/v1", "kind": KIND})
    document.setdefault("percentageOfNodesToScore", config.get("percentageOfNodesToScore", 0))
    found = read_configuration(document, options.get("gates", config.get("featureGates")))
    # Upstream: preemption starts at a random node and may stop early; the cases were answered with every candidate tried.
    return FrameworkEngine.of(found, preempts=config.get("preemption", True), shortlists=False, **engine)


def scheduler_names(engine: Engine, scheduler_name: str) -> frozenset[str]:
    """Whose pods *engine* schedules: those of its profiles, else of *scheduler_name*."""
    return frozenset(engine.profiles) if isinstance(engine, FrameworkEngine) else frozenset([scheduler_name])


def queue_apart(engine: Engine, clock: Clock) -> SchedulingQueue:
    """A queue as *engine* has it, with nominations of its own."""
    if isinstance(engine, FrameworkEngine):
        return queue_for(engine, clock, FrameworkNominations(by_uid=True))
    cells = engine.algorithm.release.queue
    return make_queue(engine.algorithm, Nominations(cells.nominations_by_uid, cells.keeps_nomination_on_update), clock)


def queue_and_router(engine: Engine, clock: Clock, scheduler_name: str) -> tuple[SchedulingQueue, EventRouter]:
    """The queue of *engine*, and what delivers the cluster's events to both."""
    if isinstance(engine, FrameworkEngine):
        queue = queue_for(engine, clock)
        return queue, FrameworkEvents(engine, queue)
    made = make_queue(engine.algorithm, engine.nominations, clock)
    return made, EventRouter(engine, made, scheduler_name)
