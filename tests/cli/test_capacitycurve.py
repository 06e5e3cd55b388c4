"""``kubeclassic capacity --curve``: how many pods of any size fit, as a table, as data and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kubeclassic import capacity, capacity_curve
from kubeclassic.simulation.capacity.curve import CurveAxis, CurveError, axes_of
from tests.cli.conftest import Ran
from tests.support.program import ran
from tests.support.refusals import refusal_text

NODES = [
    {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}}
    for name, cpu in (("a", "2"), ("b", "4"))
]


@pytest.fixture
def ask(write: Callable[..., str]) -> Ran:
    """Runs the command on two nodes."""
    cluster = write("cluster.yaml", *NODES)
    return lambda *options, **more: ran("capacity", cluster, *options, **more)


class TestAxes:
    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("cpu=1..4:4", [1000, 2000, 3000, 4000]), ("cpu=250m..1:2", [250, 1000]), ("cpu=1..1", [1000]), ("cpu=1..9:1", [1000]),
            ("memory=1Gi..8Gi:4:log", [1 << 30, 2 << 30, 4 << 30, 8 << 30]), ("example.com/gpu=0..3", [0, 1, 2, 3]),
        ],
    )  # fmt: skip
    def test_sizes(self, text: str, values: list[int]) -> None:
        """A range is cut into even steps, or with ``log`` into steps that grow; no size comes twice."""
        assert list(CurveAxis.parse(text).values) == values

    @pytest.mark.parametrize("text", ["cpu=1..4", "cpu=1..4:log"])
    def test_ten_steps(self, text: str) -> None:
        """Without a number there are ten steps."""
        values = CurveAxis.parse(text).values
        assert (len(values), values[0], values[-1]) == (10, 1000, 4000)

    @pytest.mark.parametrize(
        "text",
        ["cpu", "cpu=1", "=1..2", "cpu=1..x", "cpu=4..1", "cpu=1..4:0", "cpu=1..4:x", "cpu=1..4:3:4", "cpu=0..4:3:log", "cpu=-1..4", ""],
    )
    def test_refusals(self, text: str) -> None:
        """What is no range is refused with what was got."""
        with pytest.raises(CurveError, match=r"^curve: "):
            axes_of([text])

    @pytest.mark.parametrize("texts", [["cpu=1..2,cpu=2..3"], ["cpu=1..9000:200,memory=1..9000:200"]])
    def test_too_much(self, texts: list[str]) -> None:
        """A resource may come once, and there is a limit to the sizes."""
        with pytest.raises(CurveError, match="wanted"):
            axes_of(texts)

    @pytest.mark.parametrize(("text", "told"), [
        ("gpu=1..2", 'curve: "gpu=1..2": got the resource "gpu", wanted cpu, memory, ephemeral-storage or one such as nvidia.com/gpu'),
        ("pods=1..2", 'got the resource "pods"'), ("cpu=4..1", "wanted sizes that grow: the smallest first"),
        ("cpu=1..4:0", "wanted 1 to 10,000 steps"), ("cpu=1..4:99999999", "wanted 1 to 10,000 steps"),
        ("cpu=0..4:3:log", "wanted sizes above 0 for log"), ("cpu=1..100000Ei:3", "wanted sizes that fit into 64 bits"),
    ])  # fmt: skip
    def test_each_is_told_by_itself(self, text: str, told: str) -> None:
        """A resource that nothing counts, and sizes that cannot be, are told in words of their own."""
        assert told in refusal_text(CurveError, axes_of, [text])


class TestForms:
    def test_a_list(self, ask: Ran) -> None:
        """One resource: a row a size, with what limits it."""
        out = ask("--curve", "cpu=1..4:4").out
        assert [line.split() for line in out.splitlines()[1:]] == [
            ["1", "6", "2", "cpu"], ["2", "3", "2", "cpu"], ["3", "1", "1", "cpu"], ["4", "1", "1", "cpu"],
        ]  # fmt: skip

    def test_a_grid(self, ask: Ran) -> None:
        """Two resources: a row for each size of the first, a column for each of the second."""
        lines = ask("--curve", "cpu=1..4:2,memory=1Gi..8Gi:2").out.splitlines()
        assert [line.split() for line in lines] == [["CPU", "\\", "MEMORY", "1.0", "GIB", "8.0", "GIB"], ["1", "6", "2"], ["4", "1", "1"]]

    def test_json(self, ask: Ran) -> None:
        """The fields are those of the schema."""
        found = ask("--curve", "cpu=1..4:2", "-o", "json").document
        assert [(point["requests"], point["fits"], point["limitedBy"]) for point in found["points"]] == [
            ({"cpu": 1000}, 6, "cpu"), ({"cpu": 4000}, 1, "cpu"),
        ]  # fmt: skip

    def test_csv(self, ask: Ran) -> None:
        """CSV has a line a size."""
        assert ask("--curve", "cpu=1..4:2", "-o", "csv").out.splitlines() == [
            "cpu,fits,nodes,limitedBy", "1000,6,2,cpu", "4000,1,1,cpu",
        ]  # fmt: skip

    def test_nothing_fits(self, ask: Ran) -> None:
        """The exit status is 1 where no size fits."""
        ask("--curve", "cpu=5..6:2", status=1)

    def test_a_template(self, ask: Ran, write: Callable[..., str]) -> None:
        """The first container of the template gets the size, and keeps all else."""
        container = {"name": "c", "image": "i", "resources": {"requests": {"memory": "4Gi"}, "limits": {"cpu": "1", "memory": "4Gi"}}}
        file = write("pod.yaml", {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}})
        found = ask("--curve", "cpu=500m..2:2", "--pod", file, "-o", "json").document
        assert [point["fits"] for point in found["points"]] == [4, 3]


class TestPlot:
    @pytest.mark.parametrize("curve", ["cpu=1..4:4", "cpu=1..4:3,memory=1Gi..8Gi:3"])
    @pytest.mark.parametrize(("ending", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
    def test_it_is_drawn(self, ask: Ran, tmp_path: Path, curve: str, ending: str, start: bytes) -> None:
        """A line or a map is drawn into the file; the table is written too, and the picture is the same each time."""
        files = [tmp_path / f"one{ending}", tmp_path / f"two{ending}"]
        assert all(ask("--curve", curve, "--plot", str(file)).out for file in files)
        assert files[0].read_bytes().startswith(start)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_each_point_is_a_count() -> None:
    """A point of the curve is what ``capacity`` says of a pod of that size."""
    for point in capacity_curve(NODES, "cpu=300m..3:5,memory=1Gi..3Gi:3", scheduler="1.27").points:
        amounts = {"cpu": f"{point.requests['cpu']}m", "memory": str(point.requests["memory"])}
        pod = {"kind": "Pod", "metadata": {"name": "pod"}, "spec": {"containers": [{"name": "main", "resources": {"requests": amounts}}]}}
        found = capacity(NODES, pod, scheduler="1.27")
        assert (point.fits, point.nodes, point.message) == (found.fits, len(found.nodes), found.stop.message)


def test_several_pods_are_refused() -> None:
    """A curve is of one pod."""
    with pytest.raises(CurveError, match="got 2 pods, wanted one"):
        capacity_curve(NODES, "cpu=1..2", [{"kind": "Pod", "metadata": {"name": name}} for name in "pq"])
