"""Commands that look at a live cluster: which one they find, and of which release they take it to be."""

import json

import attrs
import pytest
import yaml

from tests.apiserver import NEW_SERVER, Store, User, serving_store
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

SILENT = "no node says a release in status.nodeInfo.kubeletVersion"


def store(version=NEW_SERVER.version, **info):
    """A server of this version with one node, which says *info*, and a pod that waits."""
    flavour = attrs.evolve(NEW_SERVER, version=version)
    found = Store(flavour)
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"allocatable": room, "nodeInfo": info, "conditions": [{"type": "Ready", "status": "True"}]}
    user = User(found)
    user.add_node({"metadata": {"name": "a"}, "spec": {}, "status": status})
    user.create("pods", yaml.safe_load("{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"))
    return found


# --- Variable -----------------------------------------------------------------------------------------------

# KUBECONFIG in place of --kubeconfig.


@pytest.fixture
def named(tmp_path, monkeypatch):
    """The variable names the kubeconfig of a server."""
    with serving_store(store()) as address:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path, {"server": address})))
        yield


@pytest.mark.usefixtures("named")
def test_a_context_asks_for_it():
    """--context alone reads the cluster of the variable's files."""
    assert (
        ran("simulate", "--context", "there", "--release", "1.27", "-o", "json").document["pods"][0]["host"]
        == "a"
    )


@pytest.mark.usefixtures("named")
def test_without_paths():
    """Where no path is given, the variable is enough, and a line says so."""
    told = ran("simulate", "--release", "1.27", "-o", "json")
    assert told.document["pods"][0]["host"] == "a"
    assert "KUBECONFIG: the cluster that " in told.err


@pytest.mark.usefixtures("named")
def test_commands_that_always_look():
    """snapshot and shadow need no option."""
    assert ran("snapshot").document["items"]
    assert "0 decisions compared" in ran("shadow", "--release", "1.27", "--for", "1").err


@pytest.mark.usefixtures("named")
def test_run_does_not_read_it(monkeypatch):
    """run is as kube-scheduler, which does not know the variable."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert "this is no pod" in ran("run", "--dry-run", "--release", "1.27", status=2).err


def test_options_that_exclude_each_other(tmp_path):
    """run names them as they are written."""
    file = tmp_path / "profile.yaml"
    file.write_text("{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}")
    with serving_store(store()) as address:
        access = kubeconfig(tmp_path, {"server": address})
        words = ["--dry-run", "--kubeconfig", access, "--profile", file, "--config", file]
        assert "--profile cannot be combined with --config" in ran("run", *words, status=2).err


# --- Release ------------------------------------------------------------------------------------------------

# --release auto.


def told(found, folder):
    """The answer of ``simulate``, and what is said."""
    with serving_store(found) as address:
        file = kubeconfig(folder, {"server": address})
        printed = ran("simulate", "--kubeconfig", file, "--release", "auto", "-o", "json")
    return printed.document, printed.err


def test_a_node_tells(tmp_path):
    """The nodes' version counts before that of the API server."""
    answer, said = told(store("1.28.7", kubeletVersion="v1.26.3"), tmp_path)
    assert answer["release"] == "1.26"
    assert "release 1.26: the newest node runs v1.26.3" in said


def test_the_server_tells(tmp_path):
    """Where no node says a version the API server is asked."""
    answer, said = told(store("1.28.7"), tmp_path)
    assert answer["release"] == "1.28"
    assert f"release 1.28: {SILENT}, and the API server runs v1.28.7\n" in said


def test_a_page_asks_the_same_cluster_again(tmp_path, monkeypatch):
    """The next question on a page has the words for the live cluster, which is no file."""
    found = store("1.28.7")
    User(found).create(
        "pods", yaml.safe_load("{metadata: {name: q}, spec: {nodeName: '', nodeSelector: {a: b}}}")
    )
    with serving_store(found) as address:
        file = kubeconfig(tmp_path, {"server": address})
        words = ["simulate", "--kubeconfig", str(file), "-o", "html"]
        monkeypatch.setattr("sys.argv", ["kubeclassic", *words])
        page = ran(*words, status=1).out
    assert f"kubeclassic explain default/q --what-if --kubeconfig {file.name}" in page
    assert "cluster.json" not in page


def test_an_unknown_version(tmp_path):
    """For an unknown version the nearest release is taken, and the answer says so."""
    answer, said = told(store("1.99.0"), tmp_path)
    assert answer["release"] == "1.36"
    assert "the API server runs v1.99.0, to which it is the nearest that is known" in said
    assert "the API server is of 1.99, and the cluster is evaluated as 1.36" in json.dumps(answer["warnings"])


def test_compare(tmp_path):
    """A configuration of compare may have the release of the server, too."""
    with serving_store(store("1.28.7")) as address:
        file = kubeconfig(tmp_path, {"server": address})
        said = ran("compare", "--kubeconfig", file, "--a", "auto", "--b", "1.27").err
    assert f"--a: release 1.28: {SILENT}, and the API server runs v1.28.7" in said
