"""A replay as an environment of Gymnasium: an agent takes the scheduler's place, one pod after another."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from kubeclassic.results import Replay


class SchedulingEnv(gymnasium.Env[Any, Any]):
    """An action is the number of a node, in order of names; ``info["action_mask"]`` says on which ones the pod fits.

    *make* gives a new replay from a seed. An observation has the free share of each node's resources, then what the pod asks for.
    A pod that fits nowhere is left to the scheduler.
    """

    def __init__(self, make: Callable[[int], Replay], max_nodes: int) -> None:
        self.make, self.max_nodes = make, max_nodes
        self.resources = len(make(0).inputs.resources)
        self.action_space = gymnasium.spaces.Discrete(max_nodes)
        self.observation_space = gymnasium.spaces.Box(0.0, np.inf, ((max_nodes + 1) * self.resources,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        self.replay = self.make(int(self.np_random.integers(2**31)))
        self._go_on()
        return self._observation(), {"action_mask": self.mask}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Put the pod on a node; the reward is higher, the more evenly the resources of that node are used then."""
        self.replay.conclude(self.replay.place(self.pod, self.names[action]))
        used = 1 - self._free()[action]
        self._go_on()
        return self._observation(), 1 - float(np.ptp(used)), self.pod is None, False, {"action_mask": self.mask}

    def _go_on(self) -> None:
        self.mask = np.zeros(self.max_nodes, np.int8)
        while (pod := self.replay.next_pod()) is not None:
            self.names = sorted(node.name for node in self.replay.engine.nodes())
            self.mask[: len(self.names)], _ = self.replay.engine.evaluate_nodes(pod, self.names)
            if self.mask.any():
                break
            self.replay.conclude(self.replay.decide(pod))
        self.pod: Any = pod

    def _free(self) -> Any:
        ledger = self.replay.cluster.ledger
        rows = [ledger.columns[name] for name in self.names]
        return (1 - ledger.used[:, rows] / np.maximum(ledger.allocatable[:, rows], 1)).T

    def _observation(self) -> Any:
        found = np.zeros((self.max_nodes + 1, self.resources), np.float32)
        if self.pod is not None:
            ledger = self.replay.cluster.ledger
            found[: len(self.names)] = np.maximum(self._free(), 0)
            found[-1] = ledger.vector(self.replay.engine.template_of(self.pod).requests) / np.maximum(ledger.allocatable.max(axis=1), 1)
        return found.ravel()
