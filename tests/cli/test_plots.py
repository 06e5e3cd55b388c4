"""``--plot`` of replay and of sweep: the series over time, and the runs beside each other."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.cli.report import plots
from tests.cli.conftest import Ran
from tests.support.program import ran

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DAY = str(EXAMPLES / "day.yaml")
SWEEP = """
cluster: {cluster}
grid:
  release: ["1.14", "1.16"]
  order: [input, shuffled]
  seed: [0, 1]
objectives: [placed, imbalance]
search: {{weights: {{LeastRequestedPriority: 0..10}}, maximise: [placed], minimise: [imbalance], trials: 2}}
"""


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Run a command in a folder of its own: status, output, messages."""
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(SWEEP.format(cluster=EXAMPLES / "cluster"), encoding="utf-8")
    return ran


def words(picture: str) -> set[str]:
    """The texts of an SVG by matplotlib, which notes each beside its shapes."""
    return set(re.findall(r"<!-- (.*?) -->", Path(picture).read_text(encoding="utf-8")))


class TestReplay:
    def test_it_draws_the_series(self, ask: Ran) -> None:
        """Pods that wait, pods on nodes and the use of each resource are lines over time; the answer is the same as without."""
        drawn, plain = ask("replay", DAY, "--plot", "day.svg"), ask("replay", DAY)
        assert drawn == plain
        assert {"pods that wait", "pods on nodes", "cpu", "memory", "minutes"} <= words("day.svg")

    def test_it_is_the_same_each_time(self, ask: Ran) -> None:
        """Two pictures of one replay are the same bytes, with the series written to a file or not."""
        ask("replay", DAY, "--plot", "one.svg")
        ask("replay", DAY, "--plot", "two.svg", "--series", "use.csv")
        assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()

    def test_it_draws_what_the_series_says(self, ask: Ran) -> None:
        """The shares of the picture are what pods on nodes request of what nodes have."""
        ask("replay", DAY, "--series", "use.csv")
        columns = plots.read_series(Path("use.csv"))
        uses = plots.uses_of(columns)
        assert max(uses["cpu"]) == pytest.approx(100 * max(columns["cpu.used"]) / max(columns["cpu.capacity"]))
        assert len(uses["cpu"]) == len(columns["time"])

    def test_nothing_is_left_behind(self, ask: Ran) -> None:
        """Without --series there is no file but the picture."""
        ask("replay", DAY, "--plot", "day.png")
        assert {path.name for path in Path().iterdir()} == {"day.png", "sweep.yaml"}

    def test_without_matplotlib(self, ask: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without matplotlib it says what to install."""
        found = importlib.util.find_spec
        monkeypatch.setattr("kubeclassic.cli.report.plots.find_spec", lambda name: None if name == "matplotlib" else found(name))
        assert "pip install 'kubeclassic[plot]'" in ask("replay", DAY, "--plot", "x.svg", status=2).err


class TestSweep:
    def test_it_draws_the_runs(self, ask: Ran) -> None:
        """Each objective has a pane, and each configuration a place, which is named by the settings that differ."""
        out = ask("sweep", "sweep.yaml", "--jobs", "1", "--plot", "runs.svg").out
        assert "placed" in out.lower()
        assert {"placed", "imbalance", "1.14, input", "1.16, shuffled"} <= words("runs.svg")

    def test_it_draws_a_search(self, ask: Ran) -> None:
        """A search is drawn as trials by two objectives, with the front and the configuration as it is marked."""
        ask("sweep", "sweep.yaml", "--search", "--jobs", "1", "--plot", "search.svg")
        assert {"placed", "imbalance", "trials", "no trial beats these", "as configured"} <= words("search.svg")

    def test_a_place_is_checked_first(self, ask: Ran) -> None:
        """A place that cannot be written is refused before any run."""
        said = ask("sweep", "sweep.yaml", "--plot", "x.txt", status=2).err
        assert "wanted a name that ends in .svg" in said

    def test_runs_of_one_configuration_stand_together(self) -> None:
        """Runs that differ in their seed alone have one place; a setting that is everywhere the same is not named."""
        rows = [{"release": "1.14", "order": order, "seed": seed} for order in ("input", "shuffled") for seed in (0, 1)]
        found: Any = type("Found", (), {"settings": ("release", "order", "seed"), "rows": rows})
        assert {name: len(several) for name, several in plots.configurations(found).items()} == {"input": 2, "shuffled": 2}
