"""Plugins that make pods wait on Permit, for tests, and schedulers that run them."""

from typing import ClassVar

from kubeclassic.framework.plugin import SKIP, Plugin, error, unschedulable, wait
from tests.support.frameworkbuild import enabled, scheduler


class Doorman(Plugin):
    """A plugin that makes pods wait for the seconds in their annotation with its name, or rejects them
    (``no``) or fails (``broken``), and counts reservations."""

    name = "Doorman"
    seen: ClassVar = []

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.reserved = set()
        self.seen.clear()

    def reserve(self, pod, node_name, cycle):
        """Count the pod."""
        self.seen.append(f"{self.name} reserve {pod.name}")
        self.reserved.add(pod.name)

    def unreserve(self, pod, node_name, cycle):
        """Uncount the pod."""
        self.seen.append(f"{self.name} unreserve {pod.name}")
        self.reserved.discard(pod.name)

    def permit(self, pod, node_name, cycle):
        """Wait, reject or fail by the annotation."""
        said = pod.metadata.annotations.get(self.name)
        if said in ("no", "broken"):
            return unschedulable("no") if said == "no" else error("broken")
        return None if said is None else wait(timeout=float(said))

    def pre_bind(self, pod, node_name, cycle):
        """Reject the pod if its annotation ``preBind`` is ``no``."""
        self.seen.append(f"{self.name} pre_bind {pod.name}")
        return unschedulable("not bound") if pod.metadata.annotations.get("preBind") == "no" else None

    def bind(self, pod, node_name, cycle):
        """Leave the pod to the next plugin."""
        return SKIP


class Second(Doorman):
    """Another such plugin."""

    name = "Second"


def waiting_scheduler(*objects, **options):
    """A scheduler with both plugins, fed with *objects*."""
    plugins = {"multiPoint": enabled("Doorman", "Second")}
    return scheduler(*objects, profile={"plugins": plugins}, plugins=(Doorman, Second), **options)


def waits_of(engine):
    """The waiting pods of the first profile."""
    return next(iter(engine.flow.profiles.values())).waiting_pods


def names(waiting):
    """The names of waiting pods."""
    return [one.pod.name for one in waiting]


def the_one(engine):
    """The only waiting pod."""
    (found,) = waits_of(engine)
    return found


def doorman(engine):
    """The first profile's Doorman."""
    plugin = next(iter(engine.flow.profiles.values())).plugins()["Doorman"]
    assert isinstance(plugin, Doorman)
    return plugin
