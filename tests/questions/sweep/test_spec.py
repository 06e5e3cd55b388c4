"""Each wrong key or value in the file of a sweep is one line that says where."""

import pytest
import yaml

from kubeclassic.exceptions import KubeclassicError, ManifestError
from kubeclassic.questions.sweep.spec import read_spec
from tests.conftest import CLUSTER


def written(folder, **sections):
    """The file of a sweep with the example's cluster, and these sections."""
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump({"cluster": CLUSTER, **sections}))
    return path


def test_values_are_as_written(tmp_path):
    """A single value is a list of one; paths are relative to the file."""
    (tmp_path / "p.yaml").write_text("")
    given = {
        "grid": {"release": "1.16", "policy": [None, "p.yaml"], "weights.ImageLocalityPriority": [0, 2]},
        "pods": ["p.yaml"],
        "objectives": ["nvidia.com/gpu used"],
    }
    spec = read_spec(written(tmp_path, **given))
    assert spec.grid == {
        "release": ("1.16",),
        "policy": (None, "p.yaml"),
        "weights.ImageLocalityPriority": (0, 2),
    }
    assert (spec.cluster, spec.pods, spec.trace) == ([CLUSTER], [str(tmp_path / "p.yaml")], [])
    assert spec.objectives == ("nvidia.com/gpu used",)


def test_objectives_by_default(tmp_path):
    """Waiting is among the objectives only where there is a trace."""
    assert "waiting p50" not in read_spec(written(tmp_path)).objectives
    trace = read_spec({"trace": CLUSTER, "until": "1h"})
    assert ("waiting p50" in trace.objectives, trace.until) == (True, 3600.0)


@pytest.mark.parametrize(
    "sections, wanted",
    [
        ({"until": "1h"}, r'until: expected trace too, got "1h"$'),
        ({"trace": CLUSTER}, r"expected either cluster or trace, got \[.*\]: what is scheduled$"),
        (
            {"grid": [1]},
            r"grid: expected an object with a value or a list of values for each key, got \[1\]$",
        ),
        ({"gird": {}}, r'expected one of cluster, .*, got "gird"; did you mean "grid"\?$'),
        (
            {"cluster": "nowhere"},
            r': cluster: expected a file or a folder, got "nowhere": there is none at .*nowhere$',
        ),
        ({"cluster": []}, r": cluster: expected a path at least, got \[\]$"),
        ({"cluster": 7}, r": cluster: expected a path or a list of paths, got 7$"),
        (
            {"grid": {"releases": ["1.16"]}},
            r': grid: expected one of release, .*, got "releases"; did you mean "release" or "rules"\?$',
        ),
        ({"grid": {"release": [1.16]}}, r'grid\.release\[0\]: expected a text such as "1\.16", got 1\.16$'),
        ({"grid": {"release": []}}, r"grid\.release: expected a value at least, got \[\]$"),
        ({"grid": {"seed": [1, 2, 1]}}, r"grid\.seed\[2\]: expected each value once, got 1$"),
        (
            {"grid": {"percentage": [0, 101]}},
            r"grid\.percentage\[1\]: expected a whole number from 0 to 100, got 101$",
        ),
        (
            {"grid": {"policy": ["nowhere.yaml"]}},
            r'grid\.policy\[0\]: expected a file, got "nowhere\.yaml": there is none at .*nowhere',
        ),
        (
            {"grid": {"extenders": ["record r"]}},
            r'grid\.extenders\[0\]: expected off, call or replay FILE, as each run would record anew, got "record r"$',
        ),
        (
            {"grid": {"order": ["random"]}},
            r'grid\.order\[0\]: expected one of input, priority, queue, shuffled, got "random"$',
        ),
        (
            {"grid": {"weights.EqualPriority": [-1]}},
            r"grid\.weights\.EqualPriority\[0\]: expected a whole number from 0 to 10\d*, got -1",
        ),
        ({"grid": {"weights.": [1]}}, r": grid: expected one of "),
        (
            {"grid": {"set": [[1]]}},
            r"grid\.set\[0\]: expected an edit such as .*, or null for none, got \[1\]",
        ),
        ({"runs": [{"policy": None}]}, r"runs\[0\]: expected an object with a name, such as .*, got \{.*\}"),
        (
            yaml.safe_load("{runs: [{name: a}, {name: a}]}"),
            r'runs\[1\]\.name: expected a name of its own, got "a"$',
        ),
        (
            {"runs": [{"name": "a", "seed": "b"}]},
            r'runs\[0\]\.seed: expected a whole number from 0 to .*, got "b"',
        ),
        (
            {"runs": [{"name": "a", "seed": 1}], "grid": {"seed": 2}},
            r'runs\[0\]: expected a key that is not in the grid too, got "seed"',
        ),
        (
            {"objectives": ["plcaed"]},
            r'objectives\[0\]: expected pods, placed, .*, got "plcaed"; did you mean "placed"\?$',
        ),
        (
            {"objectives": ["placed", "placed"]},
            r"objectives: expected one objective at least, each once, got \[.*\]$",
        ),
    ],
)
def test_a_wrong_value_is_told(sections, wanted, tmp_path):
    """The error names the file and the place, what was expected and what came, in one line."""
    path = written(tmp_path, **sections)
    with pytest.raises(ManifestError, match=wanted) as refused:
        read_spec(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("grid: {seed: 1}\n", r'expected either cluster or trace, got \["grid"\]: what is scheduled$'),
        ("trace: .\npods: a.yaml\n", r'pods: expected cluster too, got "a\.yaml"$'),
        ("trace: .\nuntil: soon\n", r'until: expected seconds, or a duration such as .*, got "soon"'),
        ("a: 1\n---\nb: 2\n", r"expected one with cluster, pods, trace, .*, got 2 documents"),
        ("cluster: x\ncluster: y\n", r"cluster: expected once, got twice$"),
    ],
)
def test_a_wrong_file_is_told(text, wanted, tmp_path):
    """A file that says not what is scheduled, or several things, is refused."""
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    with pytest.raises(KubeclassicError, match=wanted):
        read_spec(path)
