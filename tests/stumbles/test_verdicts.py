"""Verdicts that do not say more than is known: extenders that were not asked, intervals that overlap, inputs
without pods or events."""

import json
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

import kubeclassic
from kubeclassic.cli import run
from tests.conftest import CLUSTER, ROOT
from tests.support.manifests import manifest, pod, policy_of
from tests.support.program import ran

NODE = manifest("Node", "n", labels={"pool": "gpu"}, status={"allocatable": {"cpu": "4", "pods": "9"}})
EXTENDER = yaml.safe_load("""
    {urlPrefix: 'http://127.0.0.1:9', filterVerb: filter, prioritizeVerb: prioritize, weight: 5}
    """)
POLICY = policy_of(extenders=[EXTENDER])


def plain(page):
    """The text of a page."""
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def written(name, *documents):
    """The name of a file with *documents*."""
    Path(name).write_text("\n---\n".join(map(json.dumps, documents)))
    return name


class Extender(BaseHTTPRequestHandler):
    """An extender that lets every node pass, and scores none."""

    def do_POST(self):
        """Answer a request to filter or to prioritize."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = (
            [] if self.path.endswith("prioritize") else {"Nodes": asked.get("Nodes") or asked.get("nodes")}
        )
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format, *args):
        """Say nothing."""


@pytest.fixture
def extender():
    """The address of an extender that runs."""
    server = HTTPServer(("127.0.0.1", 0), Extender)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


# --- Extenders of APolicy -----------------------------------------------------------------------------------


def test_the_verdict_says_that_one_was_left_out(workdir, capsys):
    """A Policy with an extender that was not called is migrated "leaving out 1 extender": headline and
    cards say it."""
    policy = written("policy.yaml", POLICY)
    assert run(
        ["policy", "migrate", policy, "--release", "1.15", "--check", CLUSTER, "--report", "m.html"]
    ) in (0, 1)
    page = plain(Path("m.html").read_text())
    assert re.search(r"decisions .{5,200}, leaving out 1 extender", page)
    assert "extenders left out" in page
    assert "1 configured extender is not called" in capsys.readouterr().err


def test_errors_on_both_sides_agree_on_nothing(workdir, capsys):
    """An extender that does not answer fails every decision on both sides: the headline says it, and the
    exit status is 1."""
    policy = written("policy.yaml", POLICY)
    cluster = written("cluster.yaml", NODE, pod("p"), pod("q"))
    asked = [
        "policy",
        "migrate",
        policy,
        "--release",
        "1.15",
        "--check",
        cluster,
        "--report",
        "m.html",
        "--extenders",
        "call",
    ]
    assert run(asked) == 1
    page = plain(Path("m.html").read_text())
    assert "all 2 decisions are the same, but 2 of them ended in an error on both sides" in page
    assert "  2 of these ended in an error on both sides, and so say nothing\n" in capsys.readouterr().err
    run(
        [
            "compare",
            cluster,
            "--a",
            "policy=policy.yaml extenders=call",
            "--b",
            "policy=policy.yaml extenders=call",
        ]
    )
    assert (
        "All 2 decisions are the same, but 2 of them ended in an error on both sides."
        in capsys.readouterr().out
    )


def test_recorded_answers_count(workdir, extender):
    """``--extenders record`` and ``replay FILE`` work as for ``compare``: then nothing is left out."""
    policy = written("policy.yaml", {**POLICY, "extenders": [{**EXTENDER, "urlPrefix": extender}]})
    cluster = written("cluster.yaml", NODE, {**NODE, "metadata": {"name": "m"}}, pod("p"))
    asked = ["policy", "migrate", policy, "--release", "1.15", "--check", cluster, "--report"]
    assert run([*asked, "recorded.html", "--extenders", "record", "answers"]) in (0, 1)
    assert Path("answers").stat().st_size
    assert run([*asked, "replayed.html", "--extenders", "replay", "answers"]) in (0, 1)
    for name in ("recorded.html", "replayed.html"):
        page = plain(Path(name).read_text())
        assert "leaving out" not in page
        assert "the check called them, or took their kept answers" in page


def test_python_takes_the_same(workdir):
    """In Python it is ``migrate(..., extenders=...)``, with the same words."""
    found = kubeclassic.migrate(POLICY, "1.15", check=CLUSTER)
    assert found.report.left_out == 1
    with pytest.raises(
        kubeclassic.KubeclassicError,
        match=r'^extenders: expected off, call, record FILE or replay FILE, got "offf"$',
    ):
        kubeclassic.migrate(POLICY, "1.15", check=CLUSTER, extenders="offf")
    assert (
        "--extenders needs --check"
        in ran("policy", "migrate", written("policy.yaml", POLICY), "--extenders", "off", status=2).err
    )


def from_a_server(item):
    """*item* as ``kubectl get -o json`` prints it."""
    metadata = {
        **item["metadata"],
        "uid": item["metadata"]["name"],
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    return {**item, "metadata": metadata}


# --- Inputs that lack ---------------------------------------------------------------------------------------


def test_nodes_without_pods(workdir):
    """Nodes alone (``kubectl get no -o json``): capacity would be that of an empty cluster, and a warning
    says so."""
    nodes = written("nodes.yaml", from_a_server(NODE))
    neat = written(
        "neat.yaml", {**NODE, "status": {**NODE["status"], "nodeInfo": {"kubeletVersion": "v1.30.1"}}}
    )
    small = str(ROOT / "examples/capacity/small-pod.yaml")
    name = NODE["metadata"]["name"]
    for asked in (
        ["simulate", nodes],
        ["capacity", nodes, "--pod", small],
        ["simulate", nodes, "--pods", small],
        ["drain", neat, name],
        ["simulate", neat],
        ["upgrade", neat],
        ["compare", neat, "--a", "release=1.30", "--b", "release=1.34"],
    ):
        assert (
            "warning: no Pod in the input, so nodes count as empty (kubectl get pods -A)\n"
            in ran(*asked, status=(0, 1)).err
        )
    whole = written("whole.yaml", from_a_server(NODE), from_a_server(pod("p")))
    assert "no Pod in the input" not in ran("simulate", whole, status=(0, 1)).err


def test_pods_that_are_refused(workdir):
    """Pods refused for a missing PriorityClass are in the headline, beside "1 of 1 pod"."""
    cluster = written("cluster.yaml", NODE, pod("p"), pod("q", priorityClassName="none"))
    said = ran("simulate", cluster, status=(0, 1)).err
    assert "1 of 1 pod placed on 1 node, 0 unschedulable, 1 more refused by the API server\n" in said
    said = ran("simulate", cluster, "-o", "html", status=(0, 1)).out
    assert "The pod finds a node; 1 more is refused by the API server." in plain(said)


def test_an_edit_that_changes_nothing(workdir):
    """An edit that changes nothing says so: on the command line, in JSON and in Python."""
    cluster = written("cluster.yaml", NODE, pod("p"))
    edit = "node pool=gpu taints-=nvidia.com/gpu"
    sentence = f"--set '{edit}': nothing changed: 1 Node, and each is so already"
    told = ran("simulate", cluster, "--set", edit, "-o", "json")
    assert f"warning: {sentence}\n" in told.err
    assert sentence in {one["text"] for one in told.document["warnings"]}
    for given in (cluster, kubeclassic.Cluster.load(cluster)):
        assert sentence in list(map(str, kubeclassic.simulate(given, edits=edit).warnings))


def test_a_replay_without_events(workdir):
    """A replay of a file in which nothing happens says so."""
    assert (
        "warning: got no Pod and no event, so nothing happens in this replay\n"
        in ran("replay", written("nodes.yaml", NODE)).err
    )
    assert "nothing happens" not in ran("replay", written("pods.yaml", NODE, pod("p"))).err
