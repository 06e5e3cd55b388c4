"""The same forms in Python, in notebooks and on the command line: names, options, tables with all that JSON has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kubeclassic
from kubeclassic import KubeclassicError
from kubeclassic.api.meaning.labels import ZONES, zone_of
from kubeclassic.api.view import MOST_COLUMNS, NodeMap, rows_of
from kubeclassic.cli import run
from tests.conftest import ROOT
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

CLUSTER = str(ROOT / "examples" / "cluster")
SMALL = str(ROOT / "examples" / "capacity" / "small-pod.yaml")


class TestNames:
    @pytest.mark.parametrize("name", ["po/shop/orders-0", "pod/shop/orders-0", "deploy/shop/storefront"])
    def test_kind_namespace_name(self, name: str) -> None:
        """A kind may stand before namespace/name: for ``explain`` and in Python alike."""
        assert ran("explain", CLUSTER, name).out.startswith("shop/")
        assert kubeclassic.explain(CLUSTER, name).decision.pod.namespace == "shop"

    def test_of_the_wrong_namespace(self) -> None:
        """A name that the namespace does not have is still an error, with names that are near."""
        said = ran("explain", CLUSTER, "po/shp/orders-0", status=2).err
        assert 'pod: expected a pod of the input in namespace shp, got "po/shp/orders-0"' in said

    def test_explain_without_a_pod(self) -> None:
        """``explain cluster/`` lacks the pod, not the paths."""
        assert f"kubeclassic: Missing argument 'POD': got {CLUSTER} alone, which is a path" in ran("explain", CLUSTER, status=2).err


class TestOptions:
    def test_extenders_that_nobody_knows(self) -> None:
        """A word that --extenders does not have is refused where no extender is configured, too."""
        said = ran("simulate", CLUSTER, "--extenders", "offf", status=2).err
        assert 'extenders: expected off, call, record FILE or replay FILE, got "offf"' in said
        with pytest.raises(KubeclassicError, match=r'extenders: expected .*, got "offf"'):
            kubeclassic.simulate(CLUSTER, kubeclassic.Classic(extenders="offf"))

    def test_the_weight_of_affinity(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The help names the numbers that run."""
        for weight, status in (("0", 1), ("100", 1), ("101", 2)):
            assert run(["simulate", CLUSTER, "--hard-pod-affinity-symmetric-weight", weight]) == status
        said = capsys.readouterr().err
        assert "not in valid range 0-100" in said
        assert "0 to 100" in Path(ROOT / "docs/guides/sweep.md").read_text(encoding="utf-8")

    def test_kubeconfig_of_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Without paths KUBECONFIG is read, as by kubectl, and a line says so; with paths it does not count."""
        path = kubeconfig(tmp_path, {"server": "http://127.0.0.1:9"})
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'gone'}:{path}")
        assert run(["simulate"]) != 0
        said = capsys.readouterr().err
        assert f"KUBECONFIG: the cluster that {tmp_path / 'gone'}:{path} names\n" in said
        assert "127.0.0.1:9" in said
        assert "KUBECONFIG" not in ran("simulate", CLUSTER, status=1).err
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "gone"))
        assert f"KUBECONFIG: expected a file that exists, got {tmp_path / 'gone'}" in ran("simulate", status=2).err
        monkeypatch.setenv("KUBECONFIG", "")
        assert run(["simulate"]) == 2
        assert "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME, or the variable KUBECONFIG" in capsys.readouterr().err

    def test_a_release_alone(self) -> None:
        """``compare --a 1.16`` is what ``compare(cluster, "1.16", ...)`` is in Python."""
        assert run(["compare", CLUSTER, "--a", "1.16", "--b", "v1.16.3"]) == 0
        assert kubeclassic.compare(CLUSTER, "1.16", "v1.16.3").ok


class TestFrames:
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_all_columns_of_the_json(self, library: str) -> None:
        """A frame of a simulation has what the JSON has of a pod: outcome, namespace, priority, requests."""
        pytest.importorskip(library)
        found = kubeclassic.simulate(CLUSTER)
        frame = found.to_frame(library=library)
        record = found.record()["pods"][0]
        inside = {f"requests.{name}" for name in record["requests"]}
        assert {*record, *inside} - {"requests"} <= set(frame.columns)
        assert list(frame.columns)[:3] == ["pod", "host", "error"]
        assert next(iter(frame["requests.cpu"])) == record["requests"]["cpu"]

    def test_lists_of_the_json_are_tables(self) -> None:
        """What differs between configurations is a table too, with outcome and cause."""
        pytest.importorskip("pandas")
        found = kubeclassic.compare(CLUSTER, "1.12", "1.27")
        frame = found.to_frame("differences")
        assert len(frame) == len(found.differences)
        assert {"pod", "decisions.a.host", "causes.b.kind", "causes.b.rule", "causes.b.verdict"} <= set(frame.columns)
        with pytest.raises(KubeclassicError, match=r'^table: expected pods or .*differences, got "diff"'):
            found.to_frame("diff")

    def test_a_field_for_each_node_is_left_out(self) -> None:
        """A field that has an entry for each of many nodes makes no columns."""
        rows = rows_of({"cycles": [{"pod": "p", "scores": {f"n{number}": number for number in range(MOST_COLUMNS + 1)}}]})
        assert rows == {"cycles": [{"pod": "p"}]}


class TestNotebooks:
    def test_bytes_are_read_by_people(self) -> None:
        """A table of capacity in a notebook has GiB, as in the terminal, not a number of ten digits."""
        shown = kubeclassic.capacity(CLUSTER, SMALL)._repr_html_()
        text = re.sub(r"<[^>]+>", " ", shown)
        assert " GiB" in text
        assert re.search(r"\d,\d{3},\d{3},\d{3}", text) is None

    def test_the_map_is_by_zone(self) -> None:
        """The map of a simulation groups the nodes by zone, as that of the cluster does."""
        (found,) = (part for one in kubeclassic.simulate(CLUSTER).view().sections for part in one.parts if isinstance(part, NodeMap))
        zones = {node.name: zone_of(node.labels) for node in kubeclassic.Cluster.load(CLUSTER).nodes}
        assert dict(zip(found.nodes, next(found.labels[zone] for zone in ZONES if zone in found.labels), strict=True)) == zones
        assert set(zones.values()) == {"north-1a", "north-1b", "north-1c"}


def test_a_batch_for_rules() -> None:
    """What a rule is asked with is public: no name of it begins with an underscore."""
    scheduler = kubeclassic.Scheduler(kubeclassic.Cluster.load(CLUSTER), "1.16")
    pod, nodes, cycle = scheduler.batch("shop/orders-0")
    assert (nodes.n, pod.requests["cpu"], cycle.pod.key) == (11, 4000, "shop/orders-0")
    assert "._" not in Path(ROOT / "docs/python/rules.md").read_text(encoding="utf-8").replace("__", "")
