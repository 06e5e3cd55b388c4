"""Replays in which a program decides in the scheduler's place: `next_pod`, `place`, `conclude`, and the
example for learning."""

import runpy

import numpy as np
import pytest
import yaml

import kubeclassic
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.options import options_of
from kubeclassic.simulation.conform import ALL_RELEASES
from tests.conftest import ROOT
from tests.support.build import manifest, node, obj
from tests.support.replaybuild import asking, at, played, replay, there

both = pytest.mark.parametrize("release", ALL_RELEASES[-2:])
"""A release of predicates and priorities, and one of the framework."""
NAMES = ["a", "b", "c"]
NODES = there(node("a", cpu="2"), node("b", cpu="8"), node("c", cpu="1"))


def three(release):
    """Four pods, of which three fit, on three nodes."""
    pods = [
        at(1, asking("one", "2")),
        at(2, asking("two", "2")),
        at(3, asking("three", "9")),
        at(4, asking("four", "1")),
    ]
    return replay(*NODES, *pods, release=release)


def judged(made, pod):
    """Where a pod fits, and with which totals."""
    fits, totals = made.engine.evaluate_nodes(pod, NAMES)
    return fits.tolist(), totals.tolist()


@both
def test_the_scheduler_decides(release):
    """Turn by turn, with a look at all nodes in between, the same happens as in a replay that runs by
    itself."""
    made = three(release)
    found = []
    made.cluster.observers = [found.append]
    while (turn := made.next_pod()) is not None:
        judged(made, turn)
        made.conclude(made.decide(turn))
    made.settle()
    assert found == played(three(release))


@both
def test_a_program_decides(release):
    """A pod goes where the program says, and those after it find the cluster so."""
    made = three(release)
    one = made.next_pod()
    fits, (low, high, none) = judged(made, one)
    assert (made.now, one.name, fits, none) == (1, "one", [True, True, False], 0)
    assert high > low
    made.conclude(made.place(one, "a"))
    two = made.next_pod()
    assert two is not None
    assert (made.now, judged(made, two)[0]) == (2, [False, True, False])
    made.conclude(made.decide(two))
    assert [life.node for life in made.pods.all.values()] == ["a", "b"]


def test_the_nodes_that_plugins_name():
    """Where PreFilter names nodes, the pod fits on no other; where it turns the pod down, on none."""
    term = yaml.safe_load("{matchFields: [{key: metadata.name, operator: In, values: [a]}]}")
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    using = yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: gone}}]")
    pods = [
        at(1, asking("one", "1", affinity={"nodeAffinity": required})),
        at(2, asking("two", "1", volumes=using)),
    ]
    made = replay(*NODES, *pods, release=ALL_RELEASES[-1])
    for wanted in ([True, False, False], [False, False, False]):
        turn = made.next_pod()
        assert turn is not None
        assert judged(made, turn)[0] == wanted
        made.conclude(made.decide(turn))


def test_an_unknown_node_and_the_end():
    """A node that is not there is refused, and can be corrected; after the last pod there is none."""
    made = replay(*NODES, at(1, asking("one", "1")))
    turn = made.next_pod()
    assert turn is not None
    with pytest.raises(UnknownNameError, match='node: expected a node of the cluster, got "d"'):
        made.place(turn, "d")
    made.conclude(made.place(turn, "c"))
    assert (made.next_pod(), made.is_over) == (None, True)


@pytest.mark.parametrize("release", [ALL_RELEASES[0], *ALL_RELEASES[-2:]])
def test_volumes_follow(release):
    """A pod that is told where to go gets its volumes made there."""
    late = manifest("StorageClass", "late", provisioner="x", volumeBindingMode="WaitForFirstConsumer")
    spec = yaml.safe_load("{storageClassName: late, resources: {requests: {storage: 1Gi}}}")
    claim = manifest("PersistentVolumeClaim", "data", namespace="default", spec=spec)
    volumes = yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: data}}]")
    made = replay(
        *NODES, *there(obj(late), obj(claim)), at(1, asking("db", "1", volumes=volumes)), release=release
    )
    turn = made.next_pod()
    assert turn is not None
    made.conclude(made.place(turn, "c"))
    assert made.next_pod() is None
    bound = made.cluster.pod("default/db")
    found = made.engine.listings.claims.get("default/data")
    assert (bound.spec.node_name, found.annotations["volume.kubernetes.io/selected-node"]) == ("c", "c")


# --- The example --------------------------------------------------------------------------------------------


@pytest.fixture(params=["1.16", "1.34"])
def environment(request):
    """The environment of `examples/learning.py` for the day."""
    pytest.importorskip("gymnasium")
    path = str(ROOT / "examples" / "day.yaml")
    kind = runpy.run_path(str(ROOT / "examples" / "learning.py"))["SchedulingEnv"]
    return kind(
        lambda seed: kubeclassic.new_replay(path, options_of({"release": request.param, "seed": seed})),
        max_nodes=5,
    )


def episode(environment, seed):
    """The rewards of an agent that takes the last node on which a pod fits."""
    seen, info = environment.reset(seed=seed)
    rewards = []
    done = False
    while not done:
        assert environment.observation_space.contains(seen)
        seen, reward, done, truncated, info = environment.step(int(np.flatnonzero(info["action_mask"])[-1]))
        rewards.append(reward)
        assert not truncated
    return rewards


def test_an_episode(environment):
    """Masked actions place every pod, with rewards between 0 and 1; an episode can be had again."""
    rewards = episode(environment, 7)
    assert rewards == episode(environment, 7) != episode(environment, 8)
    assert len(rewards) >= 46
    assert all(0 <= reward <= 1 for reward in rewards)


def test_the_checker_of_gymnasium(environment):
    """Gymnasium's own checker of environments finds nothing wrong with what it looks at before the first
    action."""
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    checker.check_reset_return_type(environment)
    checker.check_seed_deprecation(environment)
    checker.check_reset_seed_determinism(environment)
    assert environment.action_space.contains(
        environment.action_space.sample(environment.reset(seed=3)[1]["action_mask"])
    )


def test_it_is_short():
    """The example has at most 60 lines."""
    assert len((ROOT / "examples" / "learning.py").read_text().splitlines()) <= 60
