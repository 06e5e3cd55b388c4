"""Each wrong key or value in the file of a sweep is one line that says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubeclassic.exceptions import KubeclassicError, ManifestError
from kubeclassic.questions.sweep.spec import read_spec
from tests.conftest import ROOT

CLUSTER = str(ROOT / "examples" / "cluster")


def written(folder: Path, **sections: Any) -> Path:
    """The file of a sweep with the example's cluster, and these sections."""
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump({"cluster": CLUSTER, **sections}))
    return path


class TestReading:
    def test_values_are_as_written(self, tmp_path: Path) -> None:
        """A single value is a list of one; paths are relative to the file."""
        (tmp_path / "p.yaml").write_text("")
        given = {
            "grid": {"release": "1.16", "policy": [None, "p.yaml"], "weights.ImageLocalityPriority": [0, 2]},
            "pods": ["p.yaml"],
            "objectives": ["nvidia.com/gpu used"],
        }  # fmt: skip
        spec = read_spec(written(tmp_path, **given))
        assert spec.grid == {"release": ("1.16",), "policy": (None, "p.yaml"), "weights.ImageLocalityPriority": (0, 2)}
        assert (spec.cluster, spec.pods, spec.trace) == ([CLUSTER], [str(tmp_path / "p.yaml")], [])
        assert spec.objectives == ("nvidia.com/gpu used",)

    def test_objectives_by_default(self, tmp_path: Path) -> None:
        """Waiting is among the objectives only where there is a trace."""
        assert "waiting p50" not in read_spec(written(tmp_path)).objectives
        trace = read_spec({"trace": CLUSTER, "until": "1h"})
        assert ("waiting p50" in trace.objectives, trace.until) == (True, 3600.0)


@pytest.mark.parametrize(
    ("sections", "wanted"),
    [
        ({"until": "1h"}, r'until: got "1h", wanted trace too$'),
        ({"trace": CLUSTER}, r"got \[.*\], wanted either cluster or trace: what is scheduled$"),
        ({"grid": [1]}, r"grid: got \[1\], wanted an object with a value or a list of values for each key$"),
        ({"gird": {}}, r'got "gird", wanted one of cluster, .*; did you mean "grid"\?$'),
        ({"cluster": "nowhere"}, r': cluster: got "nowhere", wanted a file or a folder: there is none at .*nowhere$'),
        ({"cluster": []}, r": cluster: got \[\], wanted a path at least$"),
        ({"cluster": 7}, r": cluster: got 7, wanted a path or a list of paths$"),
        ({"grid": {"releases": ["1.16"]}}, r': grid: got "releases", wanted one of release, .*; did you mean "release" or "rules"\?$'),
        ({"grid": {"release": [1.16]}}, r'grid\.release\[0\]: got 1\.16, wanted a text such as "1\.16"$'),
        ({"grid": {"release": []}}, r"grid\.release: got \[\], wanted a value at least$"),
        ({"grid": {"seed": [1, 2, 1]}}, r"grid\.seed\[2\]: got 1, wanted each value once$"),
        ({"grid": {"percentage": [0, 101]}}, r"grid\.percentage\[1\]: got 101, wanted a whole number from 0 to 100$"),
        ({"grid": {"policy": ["nowhere.yaml"]}}, r'grid\.policy\[0\]: got "nowhere\.yaml", wanted a file: there is none at .*nowhere'),
        ({"grid": {"order": ["random"]}}, r'grid\.order\[0\]: got "random", wanted one of input, priority, queue, shuffled$'),
        ({"grid": {"weights.EqualPriority": [-1]}}, r"grid\.weights\.EqualPriority\[0\]: got -1, wanted a whole number from 0 to 10"),
        ({"grid": {"weights.": [1]}}, r': grid: got "weights\.", wanted one of '),
        ({"grid": {"set": [[1]]}}, r'grid\.set\[0\]: got \[1\], wanted an edit such as "pod web/\* requests\.cpu=500m", or a list of them'),
        ({"runs": [{"policy": None}]}, r"runs\[0\]: got \{.*\}, wanted an object with a name, such as"),
        ({"runs": [{"name": "a"}, {"name": "a"}]}, r'runs\[1\]\.name: got "a", wanted a name of its own$'),
        ({"runs": [{"name": "a", "seed": "b"}]}, r'runs\[0\]\.seed: got "b", wanted a whole number from 0 to'),
        ({"runs": [{"name": "a", "seed": 1}], "grid": {"seed": 2}}, r'runs\[0\]: got "seed", wanted a key that is not in the grid too'),
        ({"objectives": ["plcaed"]}, r'objectives\[0\]: got "plcaed", wanted pods, placed, .*; did you mean "placed"\?$'),
        ({"objectives": ["placed", "placed"]}, r"objectives: got \[.*\], wanted one objective at least, each once$"),
    ],
)
def test_a_wrong_value_is_told(sections: dict[str, Any], wanted: str, tmp_path: Path) -> None:
    """The error names the file and the place, what was got and what was wanted, in one line."""
    path = written(tmp_path, **sections)
    with pytest.raises(ManifestError, match=wanted) as refused:
        read_spec(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("grid: {seed: 1}\n", r'got \["grid"\], wanted either cluster or trace: what is scheduled$'),
        ("trace: .\npods: a.yaml\n", r'pods: got "a\.yaml", wanted cluster too$'),
        ("trace: .\nuntil: soon\n", r'until: got "soon", wanted seconds, or a duration'),
        ("a: 1\n---\nb: 2\n", r"got 2 documents, wanted one with cluster, pods, trace, "),
        ("cluster: x\ncluster: y\n", r"cluster: got it twice, wanted it once$"),
    ],
)
def test_a_wrong_file_is_told(text: str, wanted: str, tmp_path: Path) -> None:
    """A file that says not what is scheduled, or several things, is refused."""
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    with pytest.raises(KubeclassicError, match=wanted):
        read_spec(path)
