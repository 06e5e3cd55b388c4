"""Schedulers of the framework for tests, from few words."""

from kubeclassic.core.run import EventFeed
from kubeclassic.framework.config.configuration import KIND, read_configuration
from kubeclassic.framework.config.profiles import GROUP
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES


def document(*profiles, version="v1", **more):
    """A KubeSchedulerConfiguration with *profiles*."""
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "profiles": list(profiles), **more}


def configuration(*profiles, gates=None, release=DEFAULT_FRAMEWORK, **more):
    """The configuration of :func:`document`, read by *release*."""
    return read_configuration(document(*profiles, **more), gates, FRAMEWORK_RELEASES[release])


def scheduler(
    *objects,
    profile=None,
    gates=None,
    profiles=(),
    plugins=(),
    percentage=100,
    release=DEFAULT_FRAMEWORK,
    **options,
):
    """A scheduler fed with *objects*, with one *profile* and more *profiles*, and a user's *plugins* in its
    registry."""
    config = configuration(
        profile or {}, *profiles, gates=gates, release=release, percentageOfNodesToScore=percentage
    )
    registry = {**DEFAULT_REGISTRY, **{plugin.name: plugin for plugin in plugins}}
    made = framework_engine(config, registry=registry, **options)
    feed = EventFeed(made)
    for item in objects:
        feed.put(item)
    return made


def profile_of(profile, *plugins):
    """The one profile of such a scheduler."""
    return scheduler(profile=profile, plugins=plugins).flow.profiles["default-scheduler"]


def binding_methods(note):
    """The methods reserve, unreserve, permit, pre_bind, bind and post_bind of a plugin, which return
    *note*(plugin, point, cycle)."""

    def method(point):
        return lambda self, pod, node_name, cycle: note(self, point, cycle)

    return map(method, ("reserve", "unreserve", "permit", "pre_bind", "bind", "post_bind"))


def enabled(*names, **weights):
    """``enabled`` entries: *names* without a weight, then *weights*."""
    return {
        "enabled": [{"name": name} for name in names]
        + [{"name": name, "weight": weight} for name, weight in weights.items()]
    }


def disabled(*names):
    """``disabled`` entries."""
    return {"disabled": [{"name": name} for name in names]}


def placed(engine, pod):
    """The host of one cycle for *pod*, which is assumed there."""
    decision = engine.schedule(pod)
    if decision.host is not None:
        assert engine.assume(pod, decision.host) is None
    return decision.host


def decided(engine, pod):
    """One cycle's decision."""
    return engine.schedule(pod)
