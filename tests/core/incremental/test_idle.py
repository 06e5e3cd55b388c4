"""Rules that make no difference for a pod are left out of its scoreboard, until a term or an owner appears that concerns the pod."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import Run
from kubeclassic.simulation.engines import engine_for
from tests.support.build import node, obj, pod

HOST = "kubernetes.io/hostname"
TERM = {"labelSelector": {"matchLabels": {"app": "new"}}, "topologyKey": HOST}
WEIGHTED = {"weight": 7, "podAffinityTerm": TERM}
REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
AFFINITIES: dict[str, Any] = {
    "required affinity": {"podAffinity": {REQUIRED: [TERM]}},
    "required anti-affinity": {"podAntiAffinity": {REQUIRED: [TERM]}},
    "preferred affinity": {"podAffinity": {PREFERRED: [WEIGHTED]}},
    "preferred anti-affinity": {"podAntiAffinity": {PREFERRED: [WEIGHTED]}},
}
OURS = ("MatchInterPodAffinity", "InterPodAffinityPriority", "SelectorSpreadPriority", "InterPodAffinity")


def new(name: str) -> Pod:
    """A pod of the template that the tests look at."""
    return pod(name, labels={"app": "new"}, requests={"cpu": "100m"})


class World:
    """Three nodes on which nothing is in favour of any."""

    def __init__(self, release: str) -> None:
        self.run = Run(engine_for(release, {"percentageOfNodesToScore": 100, "preemption": False}), details=False)
        self.tell(*(node(f"n{i}", labels={HOST: f"n{i}"}) for i in range(3)))

    def tell(self, *objects: KubeObject) -> None:
        """Tell the scheduler of objects."""
        for item in objects:
            self.run.feed.put(item)

    def placed(self, name: str) -> str | None:
        """Where a new pod goes, everything that is kept being worked out again beside it."""
        with verifying():
            return self.run.cycle(new(name)).host

    def left_out(self) -> set[str]:
        """The rules of ours that the latest pod's scoreboard leaves out, as the release calls them."""
        engine = self.run.engine
        path = getattr(engine.flow, "quick_path", None) or next(iter(engine.flow.profiles.values())).quick_path
        board = path.scoreboards._known[engine.latest.template]
        return {rule.name for rule in board.idle}


@pytest.mark.parametrize("release", ["1.12", "1.16"])
class TestIdleRules:
    def test_they_are_left_out(self, release: str) -> None:
        """Without terms and owners the rules that look at other pods are left out."""
        world = World(release)
        assert world.placed("first") is not None
        assert world.left_out() == set(OURS[:3])

    @pytest.mark.parametrize("kind", AFFINITIES)
    def test_a_term_ends_it(self, release: str, kind: str) -> None:
        """When a pod comes whose term is about the template, the rule that reads such terms counts; the others go on to be left out."""
        world = World(release)
        world.placed("first")
        world.tell(pod("other", on="n1", affinity=AFFINITIES[kind]))
        host = world.placed("second")
        assert world.left_out() == set(OURS[:3]) - {OURS[0] if kind == "required anti-affinity" else OURS[1]}
        assert ("anti" in kind) == (host != "n1")

    def test_a_term_about_others_does_not(self, release: str) -> None:
        """A term that is about other pods changes nothing."""
        world = World(release)
        world.placed("first")
        term = {**TERM, "labelSelector": {"matchLabels": {"app": "old"}}}
        world.tell(pod("other", on="n1", affinity={"podAffinity": {REQUIRED: [term]}}))
        world.placed("second")
        assert world.left_out() == set(OURS[:3])

    def test_a_service_ends_it(self, release: str) -> None:
        """When a service comes that selects the template, spreading counts, though no pod came or went."""
        world = World(release)
        first = world.placed("first")
        world.tell(obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "new"}}}))
        assert world.placed("second") != first
        assert world.left_out() == set(OURS[:2])

    def test_an_invalid_term_ends_it(self, release: str) -> None:
        """An invalid selector of any pod is an error of the whole cycle, also after that pod left and came again."""
        world = World(release)
        world.placed("first")
        broken = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Nonsense"}]}, "topologyKey": HOST}
        other = pod("other", on="n1", affinity={"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": broken}]}})
        world.tell(other)
        assert world.placed("second") is None
        world.run.feed.delete(other)
        assert world.placed("third") is not None
        world.tell(other)
        assert world.placed("fourth") is None


@pytest.mark.parametrize("kind", AFFINITIES)
def test_plugins_are_idle_too(kind: str) -> None:
    """The plugin of the framework goes by the terms that there are in the same way."""
    world = World("1.27")
    world.placed("first")
    world.tell(pod("other", on="n1", affinity=AFFINITIES[kind]))
    assert ("anti" in kind) == (world.placed("second") != "n1")
