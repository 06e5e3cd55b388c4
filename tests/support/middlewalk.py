"""One small cluster asked of releases from 1.17 to 1.27, each with its default profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.run import Run
from kubeclassic.simulation.conform import build

Json = dict[str, Any]


def answer(release: str, objects: Sequence[KubeObject], *pending: Pod, nominated: Sequence[tuple[Pod, str]] = (), **gates: bool) -> Json:
    """The record of the last of *pending*, tried one after the other; *gates*: those that differ from the defaults."""
    config = {"percentageOfNodesToScore": 100, "profile": None, "featureGates": gates}
    run = Run(build({"name": "middle", "version": release, "config": config}, {}))
    for item in objects:
        run.feed.put(item)
    for one, node_name in nominated:
        run.nominate(one, node_name)
    return [run.cycle(one).record(details=True) for one in pending][-1]


def hold(wanted: Mapping[str, Any], look: Callable[[Json], Any], objects: Sequence[KubeObject], *pending: Pod, **gates: bool) -> None:
    """Each release of *wanted* answers so that *look* sees its value."""
    found = {release: look(answer(release, objects, *pending, **gates)) for release in wanted}
    assert found == wanted, found


def scores_of(plugin: str) -> Callable[[Json], Any]:
    """The scores of *plugin*, each node its own."""
    return lambda found: found["priorities"].get(plugin)


def failed(found: Json) -> Any:
    """The reasons of each node."""
    return found["failed"]


def host(found: Json) -> Any:
    """The node of the pod."""
    return found["host"]


def error(found: Json) -> str:
    """The error of the cycle."""
    return str(found["error"])
