"""The same forms in Python, in notebooks and on the command line: names, options, tables with all that JSON
has."""

import pytest

import kubeclassic
from kubeclassic import KubeclassicError
from kubeclassic.api.view import MOST_COLUMNS, rows_of
from kubeclassic.cli import run
from tests.conftest import CLUSTER
from tests.support import manifests
from tests.support.kubeconfigs import kubeconfig
from tests.support.pages import page_of
from tests.support.program import ran


@pytest.mark.parametrize("name", ["po/shop/orders-0", "pod/shop/orders-0", "deploy/shop/storefront"])
def test_kind_namespace_name(name):
    """A kind may stand before namespace/name: for ``explain`` and in Python alike."""
    assert ran("explain", CLUSTER, name).out.startswith("shop/")
    assert kubeclassic.explain(CLUSTER, name).decision.pod.namespace == "shop"


def test_explain_without_a_pod():
    """``explain cluster/`` lacks the pod, not the paths."""
    assert (
        f"kubeclassic: Missing argument 'POD': got {CLUSTER} alone, which is a path"
        in ran("explain", CLUSTER, status=2).err
    )


def test_kubeconfig_of_the_environment(tmp_path, monkeypatch, capsys):
    """Without paths KUBECONFIG is read, as by kubectl, and a line says so; with paths it does not count."""
    path = kubeconfig(tmp_path, {"server": "http://127.0.0.1:9"})
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'gone'}:{path}")
    assert run(["simulate"]) != 0
    said = capsys.readouterr().err
    assert f"KUBECONFIG: the cluster that {tmp_path / 'gone'}:{path} names\n" in said
    assert "127.0.0.1:9" in said
    assert "KUBECONFIG" not in ran("simulate", CLUSTER, status=1).err
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "gone"))
    assert (
        f"KUBECONFIG: expected a file that exists, got {tmp_path / 'gone'}" in ran("simulate", status=2).err
    )
    monkeypatch.setenv("KUBECONFIG", "")
    assert run(["simulate"]) == 2
    assert (
        "Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME, or the variable KUBECONFIG"
        in capsys.readouterr().err
    )


def test_a_release_alone():
    """``compare --a 1.16`` is what ``compare(cluster, "1.16", ...)`` is in Python."""
    assert run(["compare", CLUSTER, "--a", "1.16", "--b", "v1.16.3"]) == 0
    assert kubeclassic.compare(CLUSTER, "1.16", "v1.16.3").ok


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_all_columns_of_the_json(library):
    """A frame of a simulation has what the JSON has of a pod: outcome, namespace, priority, requests."""
    pytest.importorskip(library)
    found = kubeclassic.simulate(CLUSTER)
    frame = found.to_frame(library=library)
    record = found.record()["pods"][0]
    inside = {f"requests.{name}" for name in record["requests"]}
    assert {*record, *inside} - {"requests"} <= set(frame.columns)
    assert list(frame.columns)[:3] == ["pod", "host", "error"]
    assert next(iter(frame["requests.cpu"])) == record["requests"]["cpu"]


def test_lists_of_the_json_are_tables():
    """The differences between configurations are a table too, with outcome and cause."""
    pytest.importorskip("pandas")
    found = kubeclassic.compare(CLUSTER, "1.12", "1.27")
    frame = found.to_frame("differences")
    assert len(frame) == len(found.differences)
    assert {"pod", "decisions.a.host", "causes.b.kind", "causes.b.rule", "causes.b.verdict"} <= set(
        frame.columns
    )
    with pytest.raises(KubeclassicError, match=r'^table: expected pods or .*differences, got "diff"'):
        found.to_frame("diff")


def test_a_list_without_items_is_a_table_too():
    """Which tables there are does not depend on the cluster."""
    pytest.importorskip("pandas")
    found = kubeclassic.simulate(CLUSTER, "1.36")
    assert (found.outcome.evicted, len(found.to_frame("evicted", library="pandas"))) == ((), 0)


def test_csv_without_rows_has_its_header():
    """The columns that do not hang on resources."""
    command = ("simulate", CLUSTER, "--release", "1.36", "-l", "x=y", "-o", "csv")
    assert ran(*command, status=(0, 1)).out.startswith("pod,namespace,name,outcome,host,error,")
    assert ran(*command, "--nodes", status=(0, 1)).out == "node\n"


def test_a_field_for_each_node_is_left_out():
    """A field that has an entry for each of many nodes makes no columns."""
    rows = rows_of(
        {"cycles": [{"pod": "p", "scores": {f"n{number}": number for number in range(MOST_COLUMNS + 1)}}]}
    )
    assert rows == {"cycles": [{"pod": "p"}]}


def test_names_have_any_character():
    """The separator of a table's columns is plain text in the names of resources and nodes."""
    odd = "hugepages-a|b; c=d {e}"
    nodes = [manifests.node(name, allocatable={odd: 4}) for name in ("a", f"b {odd}")]
    stored = {"creationTimestamp": "2024-01-01T00:00:00Z"}
    pod = manifests.pod(requests={odd: 1}, metadata=stored)
    for found in (
        kubeclassic.simulate([*nodes, pod], "1.34"),
        kubeclassic.capacity([*nodes, pod], pod=pod, scheduler="1.34"),
        kubeclassic.add_nodes(
            [nodes[0], *(manifests.pod(f"p{at}", requests={odd: 3}, metadata=stored) for at in "12")],
            nodes[1:],
        ),
        kubeclassic.explain([*nodes, pod], "web", "1.34"),
    ):
        assert odd in page_of(found)
