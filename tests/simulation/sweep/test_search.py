"""The search finds weights that beat the default, and the trials that no other beats."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubeclassic
from kubeclassic.simulation.sweep.search import front
from kubeclassic.simulation.sweep.spec import SearchSpec
from tests.conftest import ROOT

CLUSTER = str(ROOT / "examples" / "cluster")
SEARCH: dict[str, Any] = {
    "weights": {"LeastRequestedPriority": "0..10", "MostRequestedPriority": "0..10", "BalancedResourceAllocation": "0..10"},
    "minimise": ["imbalance"], "trials": 20,
}  # fmt: skip
WANTED = SearchSpec({"A": (0, 9)}, maximise=("up",), minimise=("down",))


def searched(**more: Any) -> kubeclassic.results.SweepResult:
    """The search on the example's cluster."""
    options = {name: more.pop(name) for name in ("jobs", "output") if name in more}
    return kubeclassic.sweep({"cluster": CLUSTER, "search": SEARCH, **more}, search=True, **options)


class TestSearch:
    def test_it_beats_the_default(self) -> None:
        """Where the pods of the example's cluster come in any order, there are weights that place more of them than the default does."""
        wanted = {**SEARCH, "maximise": ["placed"], "minimise": ["evictions"]}
        found = searched(grid={"order": "shuffled", "seed": [0, 1, 2]}, search=wanted)
        assert found.found is not None
        default, best = found.found.trials[0], found.front[0]
        assert default["weights.LeastRequestedPriority"] is None
        assert best["placed"] > default["placed"]
        assert best["evictions"] == default["evictions"] == 0

    def test_the_weights_hold_in_a_grid(self) -> None:
        """The best weights come in a grid of their own to what the search said."""
        found = searched(grid={"scale.pods": 2}, search={**SEARCH, "trials": 8})
        best = found.front[0]
        grid = {name: value for name, value in best.items() if name.startswith("weights.")}
        (row,) = kubeclassic.sweep({"cluster": CLUSTER, "grid": {**grid, "scale.pods": 2}}).rows
        assert None not in grid.values()
        assert row["imbalance"] == best["imbalance"]

    def test_whoever_runs_it(self, tmp_path: Path) -> None:
        """Two processes come to the same trials, and so does a search that goes on from a journal."""
        one = searched(output=tmp_path)
        two = searched(jobs=2)
        assert two.record() == one.record()
        journal = tmp_path / "runs.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:7]))
        again = searched(output=tmp_path)
        assert again.record() == one.record()
        assert again.ran == one.ran - 7

    def test_progress_goes_on(self) -> None:
        """The progress counts the runs of all trials, and never goes back."""
        told = list[tuple[int, int]]()
        spec = {"cluster": CLUSTER, "search": {**SEARCH, "trials": 11}}
        kubeclassic.sweep(spec, search=True, on_progress=lambda done, total: told.append((done, total)))
        assert told == sorted(told)
        assert {total for _, total in told} == {12}
        assert told[-1][0] <= 12

    def test_a_trial_is_the_mean_of_its_runs(self) -> None:
        """Over several seeds a trial counts with its mean, and each run is a row."""
        found = searched(grid={"order": "shuffled", "seed": [0, 1]}, search={**SEARCH, "trials": 3})
        assert found.found is not None
        assert [row["trial"] for row in found.rows] == [0, 0, 1, 1, 2, 2, 3, 3]
        first = [row["imbalance"] for row in found.rows if row["trial"] == 1]
        assert found.found.trials[1]["imbalance"] == round(sum(first) / 2, 6)

    def test_a_failed_trial_is_no_candidate(self) -> None:
        """A trial one of whose runs fails has no objectives, and the search goes on."""
        runs = [{"name": "right"}, {"name": "wrong", "set": "pod nobody requests.cpu=1"}]
        found = searched(runs=runs, search={**SEARCH, "trials": 2})
        assert found.front == ()
        assert found.failed == 3

    def test_optuna_is_an_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without it, the error says what to install."""
        monkeypatch.setitem(sys.modules, "optuna", None)
        with pytest.raises(kubeclassic.KubeclassicError, match=r"^search: Optuna is not installed: pip install 'kubeclassic\[sweep\]'$"):
            searched()

    def test_a_search_must_be_asked_for(self) -> None:
        """A spec without a search cannot be searched."""
        with pytest.raises(kubeclassic.KubeclassicError, match=r"^search: the spec has none, wanted search: "):
            kubeclassic.sweep({"cluster": CLUSTER}, search=True)


class TestFront:
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
    def test_nobody_beats_it(self, scores: list[tuple[int, int]]) -> None:
        """Against a naive definition: those that no other is as good as in both objectives and better in one."""
        trials = [{"trial": at, "up": up, "down": down} for at, (up, down) in enumerate(scores)]
        naive = {
            (up, down) for up, down in scores if not any(u >= up and d <= down and (u, d) != (up, down) for u, d in scores)
        }  # fmt: skip
        found = front(trials, WANTED)
        assert [(row["up"], row["down"]) for row in found] == sorted(naive, reverse=True)
        assert all(row["trial"] == scores.index((row["up"], row["down"])) for row in found)
