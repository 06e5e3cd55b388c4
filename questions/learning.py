"""A replay as an environment for learning: an agent decides in the scheduler's place."""

from __future__ import annotations

import attrs

from ..framework.releases import AUTO
from ..simulation.input import GivenCluster, GivenScheduler, objects_of, paths_among, release_asked, spec_of
from ..simulation.replay.environment import EnvironmentState, SchedulingEnvironment
from ..simulation.replay.gymenv import Reward, SchedulingEnv, balance
from ..simulation.replay.replay import Replay
from ..simulation.replay.settings import Delays
from .replay import ReplayInput

__all__ = ["EnvironmentState", "SchedulingEnv", "learning_environment"]


def learning_environment(
    inputs: GivenCluster, scheduler: GivenScheduler = None, *, max_nodes: int | None = None, reward: Reward | None = None,
) -> SchedulingEnv:  # fmt: skip
    """Make an environment of Gymnasium of a replay: an agent places one pod after another, and time passes between them.

    :param inputs: as :func:`replay` takes them. They are read once; each episode begins with them again, with a seed of its own.
    :param scheduler: its options, or a release: its rules say where a pod fits, and it decides on pods that fit nowhere.
    :param max_nodes: how many nodes there can be; None: as many as there are at the first decision.
    :param reward: gets the :class:`~kubeclassic.results.EnvironmentState` before an action, and the action, the number of a node in
        ``state.names``; None: between 0 and 1, the more evenly that node's resources are used with the pod on it.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input, and where the extra ``gym`` is not installed.
    """
    given = ReplayInput.read(
        paths_among("inputs", inputs), spec_of(None if scheduler == AUTO else scheduler),
        (lambda nodes: spec_of(scheduler, nodes)) if scheduler == AUTO else None, release=release_asked(scheduler),
        objects=objects_of("inputs", inputs, defaults=True), digest=False,
    )  # fmt: skip
    name = next(iter(given.spec.scheduler_names))

    def make(seed: int) -> Replay:
        engine = attrs.evolve(given.spec, seed=seed).engine(given.inputs.config_maps)
        return Replay(given.inputs, engine, Delays(), seed, name)

    first = SchedulingEnvironment(make(0)).state
    most = len(first.names) if max_nodes is None else max_nodes
    return SchedulingEnv(make, max_nodes=most, resources=len(first.resources), reward=balance if reward is None else reward)
