"""A replay as a Gymnasium environment: an agent takes the scheduler's place, one pod at a time. Needs the extra ``kubeclassic[gym]``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core.arrays.types import Mask
from ...exceptions import KubeclassicError
from .environment import EnvironmentState, SchedulingEnvironment
from .replay import Replay


def _if_installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


gymnasium: Any = _if_installed("gymnasium")
Observation = dict[str, NDArray[np.float32]]
Reward = Callable[[EnvironmentState, int], float]


def balance(state: EnvironmentState, action: int) -> float:
    """A reward between 0 and 1: the more evenly the resources of the node are used with the pod on it, the higher."""
    room = state.allocatable[action].astype(np.float64)
    used = np.divide(state.requested[action] + state.asked, room, out=np.zeros(len(room)), where=room > 0)[room > 0]
    return 1.0 - float(used.max() - used.min()) if len(used) else 0.0


_Env: type[Any] = object if gymnasium is None else gymnasium.Env


class SchedulingEnv(_Env):  # type: ignore[misc]  # the base is known at run time only
    """Each action is the number of a node, in ascending order of names; only those where the pod fits are allowed.

    *make* gives a new :class:`~.replay.Replay` for each episode, from its seed. Observations, all float32: ``nodes`` [max_nodes, 2 R], the
    share of each resource that is free and the node's size relative to the largest; ``pod`` [R], its requests relative to the largest
    node. ``info["action_mask"]`` (int8[max_nodes]) and :meth:`action_masks` (bool) say what is allowed. Pods that fit nowhere are left
    to the scheduler, which may preempt for them or queue them again. *reward* gets the state and the action taken in it.
    Raises KubeclassicError if gymnasium is not installed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, make: Callable[[int], Replay], *, max_nodes: int, resources: int, reward: Reward = balance) -> None:
        if gymnasium is None:
            raise KubeclassicError("gymnasium is not installed: pip install 'kubeclassic[gym]'")
        spaces = gymnasium.spaces
        self._make, self._reward, self._max_nodes, self._resources = make, reward, max_nodes, resources
        self.action_space: Any = spaces.Discrete(max_nodes)
        self.observation_space: Any = spaces.Dict(
            {
                "nodes": spaces.Box(0.0, 1.0, (max_nodes, 2 * resources), np.float32),
                "pod": spaces.Box(0.0, np.inf, (resources,), np.float32),
            }
        )
        self.simulation: SchedulingEnvironment | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start a new episode."""
        super().reset(seed=seed)
        self.simulation = SchedulingEnvironment(self._make(int(self.np_random.integers(2**31))))
        self._skip_unschedulable(self.simulation)
        return self._observation(self.simulation.state), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Place the pod whose turn it is on node number *action*. Raises KubeclassicError for one that it does not fit on."""
        simulation = self._running()
        state = simulation.state
        if not 0 <= action < len(state.names):
            raise KubeclassicError(f"action: got {action}, wanted the number of one of {len(state.names)} nodes")
        reward = self._reward(state, int(action))
        simulation.schedule_on(state.names[int(action)])
        self._skip_unschedulable(simulation)
        return self._observation(simulation.state), reward, simulation.is_over, False, self._info()

    def action_masks(self) -> Mask:
        """Which actions are allowed now: bool[max_nodes]."""
        feasible = self._running().state.feasible
        return np.pad(feasible, (0, self._max_nodes - len(feasible)))

    def _running(self) -> SchedulingEnvironment:
        if self.simulation is None:
            raise KubeclassicError("reset: the environment was not reset yet")
        return self.simulation

    @staticmethod
    def _skip_unschedulable(simulation: SchedulingEnvironment) -> None:
        while not simulation.is_over and not simulation.state.feasible.any():
            simulation.step()

    def _info(self) -> dict[str, Any]:
        simulation = self._running()
        pod = simulation.pod
        told = {"time": simulation.replay.now, "pod": None if pod is None else pod.key, "nodes": simulation.state.names}
        return {"action_mask": self.action_masks().astype(np.int8), **told}

    def _observation(self, state: EnvironmentState) -> Observation:
        if len(state.names) > self._max_nodes or len(state.resources) != self._resources:
            got = f"{len(state.names)} nodes, {len(state.resources)} resources"
            raise KubeclassicError(f"environment: got {got}, wanted at most {self._max_nodes} and exactly {self._resources}")
        largest = np.maximum(state.allocatable.max(axis=0, initial=0), 1)
        free = np.maximum(state.allocatable - state.requested, 0) / np.maximum(state.allocatable, 1)
        nodes = np.zeros((self._max_nodes, 2 * self._resources), np.float32)
        nodes[: len(state.names)] = np.concatenate([free, state.allocatable / largest], axis=1)
        return {"nodes": nodes, "pod": (state.asked / largest).astype(np.float32)}
