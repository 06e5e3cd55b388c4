"""Schedulers of the framework for tests, from few words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.engine import Engine
from kubeclassic.core.feed import EventFeed
from kubeclassic.framework.config.configuration import KIND, KubeSchedulerConfiguration, read_configuration
from kubeclassic.framework.config.profiles import GROUP
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Plugin
from kubeclassic.framework.profile import Profile
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES

Json = dict[str, Any]


def document(*profiles: Json, version: str = "v1", **more: Any) -> Json:
    """A KubeSchedulerConfiguration with *profiles*."""
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "profiles": list(profiles), **more}


def configuration(
    *profiles: Json, gates: Mapping[str, bool] | None = None, release: str = DEFAULT_FRAMEWORK, **more: Any
) -> KubeSchedulerConfiguration:
    """As :func:`document`, read by *release*."""
    return read_configuration(document(*profiles, **more), gates, FRAMEWORK_RELEASES[release])


def scheduler(
    *objects: KubeObject,
    profile: Json | None = None,
    gates: Mapping[str, bool] | None = None,
    profiles: Sequence[Json] = (),
    plugins: tuple[type[Plugin], ...] = (),
    percentage: int = 100,
    release: str = DEFAULT_FRAMEWORK,
    **options: Any,
) -> Engine:
    """A scheduler with one *profile* and more *profiles*, a user's *plugins* in its registry, that was told
    of *objects*."""
    config = configuration(
        profile or {}, *profiles, gates=gates, release=release, percentageOfNodesToScore=percentage
    )
    registry = {**DEFAULT_REGISTRY, **{plugin.name: plugin for plugin in plugins}}
    made = framework_engine(config, registry=registry, **options)
    feed = EventFeed(made)
    for item in objects:
        feed.put(item)
    return made


def profile_of(profile: Json, *plugins: type[Plugin], gates: Mapping[str, bool] | None = None) -> Profile:
    """The one profile of such a scheduler."""
    found: Profile = scheduler(profile=profile, plugins=plugins, gates=gates).flow.profiles[
        "default-scheduler"
    ]
    return found


def binding_methods(note: Callable[[Any, str, Any], Any]) -> Iterator[Callable[..., Any]]:
    """For a plugin: reserve, unreserve, permit, pre_bind, bind and post_bind, which answer what *note* does
    of plugin, point and cycle."""

    def method(point: str) -> Callable[..., Any]:
        return lambda self, pod, node_name, cycle: note(self, point, cycle)

    return map(method, ("reserve", "unreserve", "permit", "pre_bind", "bind", "post_bind"))


def enabled(*names: str, **weights: int) -> Json:
    """``enabled`` entries: *names* without a weight, then those with one."""
    return {
        "enabled": [{"name": name} for name in names]
        + [{"name": name, "weight": weight} for name, weight in weights.items()]
    }


def disabled(*names: str) -> Json:
    """``disabled`` entries."""
    return {"disabled": [{"name": name} for name in names]}


def placed(engine: Engine, pod: Pod) -> str | None:
    """The host of one cycle for *pod*, which is assumed there."""
    decision: Decision = engine.schedule(pod)
    if decision.host is not None:
        assert engine.assume(pod, decision.host) is None
    return decision.host


def decided(engine: Engine, pod: Pod) -> Decision:
    """One cycle's decision."""
    return engine.schedule(pod)
