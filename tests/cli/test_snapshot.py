"""``kubeclassic snapshot``, and ``--kubeconfig`` in place of paths, against a server over HTTP."""

import gzip
import json
from contextlib import suppress

import pytest

from kubeclassic.cli import run
from kubeclassic.live.client.api import VERSIONS, resource
from tests.apiserver import NEW_SERVER, Refused, Store, User, serving_store
from tests.conftest import ROOT
from tests.live.test_snapshot import manifests
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

CLUSTER = ROOT / "examples/cluster"


def filled():
    """A server with the nodes and namespaces of the example, and the pods that are in it."""
    store = Store(NEW_SERVER)
    for item in manifests(CLUSTER):
        made = resource(item["kind"], VERSIONS[item["kind"]][0])
        path = made.path(item["metadata"].get("namespace") or "default")
        with suppress(Refused):  # what this server has already, or has not at all
            User(store).ask("POST", path, {**item, "apiVersion": made.group_version})
    return store


@pytest.fixture
def config(tmp_path):
    """A kubeconfig of a server with the example, which wants a token."""
    with serving_store(filled(), "secret") as address:
        yield kubeconfig(tmp_path, {"server": address}, {"token": "secret"})


# --- Snapshot -----------------------------------------------------------------------------------------------

# The command itself.


def test_it_is_ready_for_simulate(config, tmp_path, capsys):
    """The output, compressed or not, is one List that simulate reads; a line states its size."""
    plain = tmp_path / "c.json"
    packed = tmp_path / "c.json.gz"
    for file in (plain, packed):
        assert run(["snapshot", "--kubeconfig", str(config), "--output", str(file)]) == 0
    assert " nodes and " in capsys.readouterr().err
    assert json.loads(gzip.decompress(packed.read_bytes())) == json.loads(plain.read_text())
    assert json.loads(plain.read_text())["kind"] == "List"
    statuses = [run(["simulate", str(file), "-o", "name"]) for file in (plain, packed)]
    assert statuses[0] == statuses[1] != 2


def test_to_standard_output(config):
    """Without a file, the List is the output and nothing else is."""
    assert ran("snapshot", "--kubeconfig", str(config)).document["items"]


def test_a_redaction_and_its_map(config, tmp_path):
    """The map has the old names, and only its owner may read it; the snapshot has none of them."""
    file = tmp_path / "c.json"
    names = tmp_path / "names.json"
    names.write_text("of an earlier one, which all may read")
    assert (
        run(
            [
                "snapshot",
                "--kubeconfig",
                str(config),
                "--redact",
                "--redact-map",
                str(names),
                "--output",
                str(file),
            ]
        )
        == 0
    )
    assert names.stat().st_mode & 0o777 == 0o600
    old = json.loads(names.read_text())["names"]
    assert "gpu-b1" in old
    assert "gpu-b1" not in file.read_text()
    assert old["gpu-b1"] in file.read_text()


def test_both_files_or_none(config, tmp_path):
    """An earlier map stays where the snapshot cannot be written."""
    names = tmp_path / "names.json"
    names.write_text("of an earlier one")
    missing = tmp_path / "nowhere/c.json"
    words = ["--redact", "--redact-map", names, "--output", missing]
    assert str(missing) in ran("snapshot", "--kubeconfig", config, *words, status=2).err
    assert names.read_text() == "of an earlier one"


def test_an_unknown_context(config):
    """A context that the kubeconfig does not have is exit status 2 and one line."""
    said = ran("snapshot", "--kubeconfig", config, "--context", "nowhere", status=2).err
    assert "--context: expected one of contexts (there), got nowhere" in said


def test_a_server_that_refuses(tmp_path, capsys):
    """A server that does not know us is one line with its address and what it said."""
    with serving_store(Store(NEW_SERVER), "secret") as address:
        assert run(["snapshot", "--kubeconfig", str(kubeconfig(tmp_path, {"server": address}))]) == 2
    assert f"{address}: got status 401: Unauthorized" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["snapshot", "simulate"])
def test_an_address_of_something_else(tmp_path, command):
    """The address is named, not the file that the cluster is read from."""
    with serving_store(Store(NEW_SERVER)) as address:
        file = kubeconfig(tmp_path, {"server": f"{address}/k8s/typo"})
        said = ran(command, "--kubeconfig", file, status=2).err
    assert f"{address}/k8s/typo: got status 404: no " in said
    assert "is this the address of an API server?" in said


# --- Kubeconfig in place of paths ---------------------------------------------------------------------------

# Every command that takes PATHS.


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--release", "1.27", "-o", "jsonl"],
        ["explain", "shop/orders-0", "--release", "1.27", "-o", "json"],
        ["compare", "--a", "release=1.15", "--b", "release=1.16", "-o", "json"],
        ["replay", "--release", "1.27"],
        [
            "policy",
            "migrate",
            str(ROOT / "examples/policies/kubernetes-classic.json"),
            "--release",
            "1.16",
            "-o",
            "json",
        ],
    ],
    ids=lambda words: words[0],
)
def test_the_same_as_of_a_snapshot(config, tmp_path, words, capsys):
    """The result is that of a snapshot of the cluster."""
    file = tmp_path / "c.json"
    assert run(["snapshot", "--kubeconfig", str(config), "--output", str(file)]) == 0
    head, *rest = words
    from_file = [*words, "--check", str(file)] if head == "policy" else [head, str(file), *rest]
    capsys.readouterr()
    status = run([*words, "--kubeconfig", str(config), "--context", "there"])
    live = capsys.readouterr().out
    assert status in (0, 1)
    assert (run(from_file), capsys.readouterr().out) == (status, live)


def test_nothing_is_left_behind(config, tmp_path, monkeypatch):
    """The file that the cluster is read from is gone afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert run(["simulate", "--kubeconfig", str(config)]) in (0, 1)
    assert list(folder.iterdir()) == []
