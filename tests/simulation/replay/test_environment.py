"""Replays step by step: looking in, deciding oneself, and a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kubeclassic.exceptions import KubeclassicError, UnknownNameError
from kubeclassic.simulation.engines import ALL_RELEASES
from kubeclassic.simulation.replay import gymenv
from kubeclassic.simulation.replay.environment import SchedulingEnvironment, StepError
from kubeclassic.simulation.replay.replay import Replay
from tests.support.build import node, obj, pod
from tests.support.replaybuild import at, played, replay, there

both = pytest.mark.parametrize("release", ALL_RELEASES[-2:])
"""A release of predicates and priorities, and one of the framework."""
NODES = there(node("a", cpu="2"), node("b", cpu="8"), node("c", cpu="1"))


def asking(name: str, cpu: str, **more: Any) -> Any:
    """A pod that asks for cpu."""
    return pod(name, requests={"cpu": cpu}, **more)


def three(release: str = ALL_RELEASES[-2]) -> Replay:
    """Four pods, of which three fit, on three nodes."""
    pods = [at(1, asking("one", "2")), at(2, asking("two", "2")), at(3, asking("three", "9")), at(4, asking("four", "1"))]
    return replay(*NODES, *pods, release=release)


class TestStepping:
    @both
    def test_the_state_as_arrays(self, release: str) -> None:
        """The state has a row for each node by name, what is asked for, where it fits, and the scores there."""
        simulation = SchedulingEnvironment(three(release))
        state = simulation.state
        assert (state.time, state.names, state.resources) == (1, ("a", "b", "c"), ("cpu", "memory", "pods"))
        assert state.allocatable[:, 0].tolist() == [2000, 8000, 1000]
        assert state.asked.tolist() == [2000, 0, 1]
        assert state.feasible.tolist() == [True, True, False]
        assert state.scores[1] > state.scores[0] > state.scores[2] == 0

    @both
    def test_steps_are_what_a_replay_does(self, release: str) -> None:
        """Stepping to the end gives the same events as playing, though the state was looked at each time."""
        made, found = three(release), []
        made.cluster.journal.sink = found.append
        simulation = SchedulingEnvironment(made)
        while not simulation.is_over:
            assert simulation.state.pod is simulation.pod
            simulation.step()
        assert found == played(three(release))

    def test_the_nodes_that_plugins_name(self) -> None:
        """Where PreFilter names nodes, the pod fits on no other; where it turns the pod down, on none."""
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        using = [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]
        pods = [at(1, asking("one", "1", affinity={"nodeAffinity": required})), at(2, asking("two", "1", volumes=using))]
        simulation = SchedulingEnvironment(replay(*NODES, *pods, release=ALL_RELEASES[-1]))
        assert simulation.state.feasible.tolist() == [True, False, False]
        simulation.step()
        assert not simulation.state.feasible.any()

    @both
    def test_overruling(self, release: str) -> None:
        """A pod goes where it is told to, and those after it find the cluster so."""
        simulation = SchedulingEnvironment(three(release))
        assert simulation.schedule_on("a").host == "a"
        assert simulation.state.requested[:, 0].tolist() == [2000, 0, 0]
        assert simulation.step().host == "b"

    def test_what_cannot_be(self) -> None:
        """A node that does not fit or is not there is refused, unless forced."""
        simulation = SchedulingEnvironment(three())
        with pytest.raises(StepError, match="pod default/one does not fit on node c"):
            simulation.schedule_on("c")
        with pytest.raises(UnknownNameError, match='node: got "d", wanted a node of the cluster'):
            simulation.schedule_on("d")
        assert simulation.schedule_on("c", force=True).host == "c"

    def test_the_end(self) -> None:
        """When no pod's turn comes any more, there is no step to take, and the state has no pod."""
        simulation = SchedulingEnvironment(replay(*NODES, at(1, asking("one", "1"))))
        simulation.step()
        assert (simulation.is_over, simulation.state.pod, simulation.state.feasible.any()) == (True, None, False)
        with pytest.raises(StepError, match="the simulation is over"):
            simulation.step()

    @pytest.mark.parametrize("release", [ALL_RELEASES[0], *ALL_RELEASES[-2:]])
    def test_volumes_follow(self, release: str) -> None:
        """A pod that is told where to go gets its volumes made there."""
        late = {
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "provisioner": "example.com/disk",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
        spec = {"storageClassName": "late", "resources": {"requests": {"storage": "1Gi"}}}
        claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"}, "spec": spec}
        events = [*NODES, *there(obj(late), obj(claim))]
        simulation = SchedulingEnvironment(
            replay(
                *events, at(1, asking("db", "1", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])), release=release
            )
        )
        simulation.schedule_on("c")
        bound = simulation.replay.cluster.pod("default/db")
        found = simulation.replay.engine.listings.claims.get("default/data")
        assert found is not None
        assert bound is not None
        assert (bound.spec.node_name, found.annotations["volume.kubernetes.io/selected-node"]) == ("c", "c")


class TestGym:
    def environment(self, **more: Any) -> gymenv.SchedulingEnv:
        """An environment of three pods."""
        pytest.importorskip("gymnasium")
        return gymenv.SchedulingEnv(lambda seed: three(), **{"max_nodes": 4, "resources": 3, **more})

    def test_an_episode(self) -> None:
        """Masked actions place the pods that fit somewhere; the rest is left to the scheduler; rewards are asked of the state before."""
        env = self.environment(reward=lambda state, action: float(state.time))
        observation, info = env.reset(seed=1)
        rewards, done = [], False
        while not done:
            assert env.observation_space.contains(observation)
            mask = info["action_mask"]
            assert mask.dtype == np.int8
            observation, reward, done, truncated, info = env.step(int(np.flatnonzero(mask)[-1]))
            rewards.append(reward)
            assert not truncated
        assert rewards == [1, 2, 4]
        assert not env.action_masks().any()

    def test_the_checker_of_gymnasium(self) -> None:
        """Gymnasium's own checker of environments finds nothing wrong with what it looks at before the first action."""
        checker = pytest.importorskip("gymnasium.utils.env_checker")
        env = self.environment()
        checker.check_reset_return_type(env)
        checker.check_seed_deprecation(env)
        checker.check_reset_seed_determinism(env)
        assert env.action_space.contains(env.action_space.sample(env.reset(seed=3)[1]["action_mask"]))

    def test_balance_rewards_even_use(self) -> None:
        """The default reward is higher on the node whose resources are used more evenly with the pod."""
        state = SchedulingEnvironment(three()).state
        assert gymenv.balance(state, 1) > gymenv.balance(state, 0)

    def test_bad_actions(self) -> None:
        """An action that is no node, or one that does not fit, is refused; so are more nodes than there is room for."""
        env = self.environment()
        env.reset(seed=1)
        with pytest.raises(KubeclassicError, match="action: got 3, wanted the number of one of 3 nodes"):
            env.step(3)
        with pytest.raises(StepError):
            env.step(2)
        with pytest.raises(KubeclassicError, match="environment: got 3 nodes, 3 resources, wanted at most 2 and exactly 3"):
            self.environment(max_nodes=2).reset()

    def test_without_gymnasium(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where gymnasium is missing the message says how to get it."""
        monkeypatch.setattr(gymenv, "gymnasium", None)
        with pytest.raises(KubeclassicError, match=r"pip install 'kubeclassic\[gym\]'"):
            gymenv.SchedulingEnv(lambda seed: three(), max_nodes=3, resources=3)
