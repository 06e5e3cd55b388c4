"""The environment for learning is found, and one call makes it."""

from __future__ import annotations

import numpy as np
import pytest

import kubeclassic
from kubeclassic.results import EnvironmentState
from kubeclassic.simulation.replay import gymenv
from tests.conftest import ROOT

CLUSTER = str(ROOT / "examples" / "cluster")


def episode(environment: kubeclassic.results.SchedulingEnv, seed: int) -> list[float]:
    """The rewards of an agent that takes the last node on which a pod fits."""
    pytest.importorskip("gymnasium")
    _, info = environment.reset(seed=seed)
    rewards, done = [], False
    while not done:
        _, reward, done, _, info = environment.step(int(np.flatnonzero(info["action_mask"])[-1]))
        rewards.append(reward)
    return rewards


@pytest.mark.parametrize("scheduler", [None, "1.34", "auto"])
def test_one_call_makes_it(scheduler: str | None) -> None:
    """A path and a release are enough; an episode can be had again, and the inputs are read once."""
    environment = kubeclassic.learning_environment(CLUSTER, scheduler)
    assert episode(environment, 7) == episode(environment, 7) != []


def test_a_reward_of_ones_own() -> None:
    """The reward gets the state before the action, in which the node's name is found."""
    seen: list[str] = []

    def reward(state: EnvironmentState, action: int) -> float:
        seen.append(state.names[action])
        return 1.0

    rewards = episode(kubeclassic.learning_environment(CLUSTER, "1.34", reward=reward), 1)
    assert rewards == [1.0] * len(seen)
    assert {"database-c1", "general-c1"} & set(seen)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Gymnasium is missing, the message names the extra."""
    monkeypatch.setattr(gymenv, "gymnasium", None)
    with pytest.raises(kubeclassic.KubeclassicError, match=r"pip install 'kubeclassic\[gym\]'"):
        kubeclassic.learning_environment(CLUSTER)


def test_it_has_a_page() -> None:
    """README leads to the page, which has one whole example; a test runs it."""
    assert "[an environment for learning](docs/python/python.md)" in (ROOT / "README.md").read_text()
    assert "environment.step(first)" in (ROOT / "docs/python/python.md").read_text()
