"""The answers of simulate: final outcomes, evicted pods, nodes; each form with its promised content."""

import json
import os
import subprocess

import pytest

from tests.support.program import program, ran

NODE = "kind: Node\nmetadata: {name: %s, labels: {pool: %s}}\nstatus: {allocatable: {cpu: %s, memory: 8Ti, pods: 9}}\n---\n"
POD = (
    "kind: Pod\nmetadata: {name: %s, namespace: %s, labels: {app: %s}%s}\n"
    "spec: {%scontainers: [{name: c, resources: {requests: {cpu: %s}}}]}\n---\n"
)
OWNED = ", ownerReferences: [{kind: %s, name: %s, controller: true}]"
FIRST = "worker-one-with-a-long-name-eu-west-1a"
SECOND = "b"

CLUSTER = "".join(
    [
        NODE % (FIRST, "one", 4),
        NODE % (SECOND, "two", 2),
        POD % ("old", "shop", "web", OWNED % ("ReplicaSet", "web-5d"), f"nodeName: {FIRST}, ", 2),
        POD % ("bare", "shop", "web", "", f"nodeName: {FIRST}, ", 2),
        POD % ("high", "jobs", "batch", "", "priority: 100, ", 3),
        POD % ("huge", "jobs", "batch", "", "", 30),
    ]
)
"""Pod high takes the place of two others; huge fits nowhere; node b has room for one of the two."""


@pytest.fixture
def folder(workdir):
    """A working folder with the cluster above."""
    (workdir / "cluster.yaml").write_text(CLUSTER)
    return workdir


@pytest.fixture
def told(folder):
    """A function from arguments to what ``simulate cluster.yaml`` says with them on standard output;
    ``told.err`` is the rest."""

    def simulate(*arguments, status=1, columns=0):
        found = ran(
            "simulate", "cluster.yaml", "--release", "1.16", *arguments, status=status, columns=columns
        )
        simulate.err = found.err
        return found.out

    return simulate


def by_pod(document):
    """Pod -> its entry in ``pods``; each pod has one."""
    assert len({entry["pod"] for entry in document["pods"]}) == len(document["pods"])
    return {entry["pod"]: entry for entry in document["pods"]}


def test_json_has_one_entry_a_pod_with_its_final_outcome(told):
    """``-o json`` has ``pods``: a preemptor has its node and two tries there, though its first cycle
    ended without a node."""
    document = json.loads(told("-o", "json"))
    pods = by_pod(document)
    assert pods.keys() == {"jobs/high", "jobs/huge"}
    assert (pods["jobs/high"]["outcome"], pods["jobs/high"]["host"], pods["jobs/high"]["tries"]) == (
        "placed",
        FIRST,
        2,
    )
    assert pods["jobs/high"]["victims"] == ["shop/old", "shop/bare"]
    assert pods["jobs/huge"]["error"] == "0/2 nodes are available: 2 Insufficient cpu."
    assert pods["jobs/huge"]["requests"] == {"cpu": 30000}


def test_a_pod_that_was_placed_and_evicted_has_no_host_in_the_end(told, folder):
    """A pod that loses the node that it found is ``evicted``, with who took its place and where."""
    low = POD % ("low", "shop", "web", "", "", 4)
    (folder / "cluster.yaml").write_text(
        NODE % ("a", "one", 4) + low + POD % ("high", "jobs", "batch", "", "priority: 9, ", 4)
    )
    found = by_pod(json.loads(told("--order", "input", "-o", "json")))["shop/low"]
    assert (found["outcome"], found["host"], found["evictedBy"], found["evictedFrom"]) == (
        "evicted",
        None,
        "jobs/high",
        "a",
    )
    assert told("-o", "name") == "jobs/high a\n"


@pytest.mark.parametrize("form", ["table", "wide"])
def test_tables_say_who_was_evicted_by_whom_from_where(told, form):
    """Below the pods is a table of those that had to leave."""
    lines = [line.split() for line in told("-o", form).splitlines()]
    at = lines.index(["EVICTED", "BY", "FROM", "PRIORITY", "OWNER"])
    assert lines[at + 1 : at + 3] == [
        ["shop/old", "jobs/high", FIRST, "0", "ReplicaSet/web-5d"],
        ["shop/bare", "jobs/high", FIRST, "0", "-"],
    ]


def test_verbose_says_it_too(told):
    """``-v`` says it on standard error in every form; without it a line counts them."""
    told("-o", "name", "-v")
    assert f"evicted shop/old from {FIRST} to make room for jobs/high\n" in told.err
    told("-o", "name")
    assert "evicted shop/old" not in told.err
    assert "2 pods evicted to make room\n" in told.err


def test_the_table_of_nodes(told):
    """``--nodes`` has a line a node: pods, requested and free of each resource, and its use before and
    after, in people's units."""
    headers, *rows = told("--nodes").splitlines()
    assert headers.split("  ")[0] == "NODE"
    assert "CPU REQUESTED   CPU FREE" in headers
    assert " ".join(rows[0].split()) == f"{FIRST} 2 -> 1 3 1 100.0 % -> 75.0 % 0 8.0 TiB 0.0 %"
    assert len(rows) == 2


def test_a_selector_chooses_among_them(told):
    """``-l`` with ``--nodes`` is a selector of nodes."""
    assert told("--nodes", "-l", "pool in (two)", "-o", "name") == f"{SECOND}\n"


@pytest.mark.parametrize(
    "key, pods",
    [
        ("pod", ["high", "huge"]),
        ("-pod", ["huge", "high"]),
        ("-cpu", ["huge", "high"]),
        ("NODE", ["high", "huge"]),
        ("-priority", ["high", "huge"]),
    ],
)
def test_sorted(told, key, pods):
    """``--sort-by`` takes a column, with a minus for the greatest first; what has no value
    comes last."""
    lines = told("--sort-by", key, "--no-headers").split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == [f"jobs/{pod}" for pod in pods]


def test_nodes_are_sorted_by_what_is_free(told):
    """A column of the table of nodes is named as its header is."""
    assert told("--nodes", "--sort-by", "-cpu free", "-o", "name").split() == [SECOND, FIRST]


GPUS = """
{kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9, nvidia.com/gpu: 4, amd.com/gpu: 1, x.io/cpu: 1}}}
---
{kind: Node, metadata: {name: b}, status: {allocatable: {pods: 9, nvidia.com/gpu: 1, amd.com/gpu: 8, x.io/cpu: 1}}}
---
{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {amd.com/gpu: 1, x.io/fpga: 1}}}]}}
"""
"""Two resources whose names end alike, one that ends like cpu, and one that no node has."""


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--nodes", "--sort-by", "-nvidia.com/gpu", "-o", "name"), "a b "),
        (("--nodes", "--sort-by", "-amd.com/gpu free", "-o", "name"), "b a "),
        (("--nodes", "--sort-by", "gpu-free"), "expected one of nvidia.com/gpu-free, amd.com/gpu-free, got"),
        (("--sort-by", "gpu", "-o", "wide"), "CPU MEMORY GPU FPGA"),
        (("--sort-by", "cpu", "-o", "wide"), "CPU MEMORY GPU FPGA"),
        (("--sort-by", "gpus"), "expected one of pod, "),
        (("--nodes", "--sort-by", "cpu"), "expected a resource of some node, got cpu, which no node has"),
        (("--nodes", "--sort-by", "fpga"), "expected a resource of some node, got x.io/fpga, which"),
        (("--nodes", "-o", "wide"), "NVIDIA.COM/GPU USE AMD.COM/GPU"),
    ],
)
def test_names_of_resources_that_end_alike(workdir, arguments, said):
    """They are shown in full, and ``--sort-by`` takes the short name of one alone; of what no node has there
    is no order of nodes."""
    (workdir / "gpus.yaml").write_text(GPUS)
    told = ran("simulate", "gpus.yaml", *arguments, status=2 if "expected" in said else 1)
    assert said in " ".join((told.err if "expected" in said else told.out + " ").split()) + " "


def test_reasons_about_resources_that_end_alike(workdir):
    """Sentences tell them apart, too."""
    pod = "{kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, resources: {requests: {%s}}}]}}\n---\n"
    many = ("q", "nvidia.com/gpu: 5"), ("r", "amd.com/gpu: 9"), ("s", "amd.com/gpu: 5, nvidia.com/gpu: 2")
    (workdir / "gpus.yaml").write_text(GPUS + "---\n" + "".join(pod % pair for pair in many))
    said = {
        "simulate gpus.yaml": "2 for amd.com/gpu, 1 for fpga, 1 for nvidia.com/gpu",
        "explain gpus.yaml s": "stopped by nvidia.com/gpu on 1 node, amd.com/gpu on 1 node",
        "capacity gpus.yaml --pod like:q": "; nvidia.com/gpu has run out on 2 nodes",
    }
    for words, verdict in said.items():
        assert verdict in ran(*words.split(), "-o", "html", status=1).out


WRAPPED = """
{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, memory: "9223372036854775807", pods: 9}}}
---
{kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, memory: "9223372036854775807", pods: 9}}}
---
{kind: Pod, metadata: {name: q}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {memory: "6223372036854775808"}}},
  {name: d, resources: {requests: {memory: "6223372036854775808"}}}]}}
---
{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {memory: "9223372036854775809"}}}]}}
"""


@pytest.mark.parametrize(
    "words",
    [
        "simulate c.yaml --nodes",
        "capacity c.yaml --pod like:p",
        "compare c.yaml --a 1.16 --b 1.36",
        "explain c.yaml p",
    ],
)
def test_amounts_beyond_an_int64(workdir, words):
    """They wrap below 0 for the scheduler; JSON has them as they are, by its schema, and totals exactly."""
    (workdir / "c.yaml").write_text(WRAPPED)
    document = ran(*words.split(), "-o", "json").document
    if words.startswith("simulate"):
        assert document["pods"][0]["requests"]["memory"] == -(2**63) + 1
        memory = document["summary"]["resources"][1]
        assert memory["allocatable"] == 2 * (2**63 - 1)


def test_amounts_of_nodes_that_add_up_to_nothing(workdir):
    """A node may say that it has less than nothing of a resource."""
    (workdir / "c.yaml").write_text("".join(NODE % (name, "x", cpu) for name, cpu in (("a", 2), ("b", -2))))
    resources = ran("simulate", "c.yaml", "-o", "json").document["summary"]["resources"]
    assert (resources[0]["allocatable"], resources[0]["use"]) == (0, 0)


def test_an_unknown_column_is_refused_before_the_run(folder):
    """The columns that there are, and the nearest one, are told."""
    told = ran("simulate", "cluster.yaml", "--release", "1.16", "--sort-by", "prioritie", status=2)
    assert told.out == ""
    assert told.err.startswith("kubeclassic: --sort-by: expected one of pod, ")
    assert told.err.endswith(', got "prioritie"; did you mean "priority"?\n')


def test_a_namespace_and_a_selector_choose_what_is_shown(told):
    """``-n`` and ``-l`` show some pods; all are scheduled, and the summary is of all."""
    assert told("-n", "shop", "-o", "name") == ""
    assert told("-l", "app=batch", "-o", "name") == f"jobs/high {FIRST}\n"
    assert "no pod to show" not in told.err
    assert told("-l", "app!=batch", "-o", "name") == ""
    nothing, summary, *_ = told.err.splitlines()
    assert nothing == "no pod to show: -l chooses none of those that were tried"
    assert summary == "1 of 2 pods placed on 2 nodes, 1 unschedulable"


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (("-l", "a in b"), "-l: expected KEY=VALUE, "),
        (("--nodes", "-n", "shop"), "-n cannot be combined with --nodes: nodes have no namespace"),
        (("--nodes", "-o", "jsonl"), "--nodes cannot be combined with -o jsonl: "),
        (("--sort-by", "pod", "-o", "jsonl"), "--sort-by cannot be combined with -o jsonl: "),
    ],
)
def test_what_does_not_go_is_refused(folder, arguments, fault):
    """Unknown fields, broken selectors and options that do not go together are refused in one line."""
    assert ran("simulate", "cluster.yaml", "--release", "1.16", *arguments, status=2).err.startswith(
        f"kubeclassic: {fault}"
    )


@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [60, 100, 200])
def test_tables_fit_the_terminal(told, form, width):
    """No line is longer than the terminal is wide, and names keep their ends."""
    lines = told("-o", form, columns=width).splitlines()
    assert max(map(len, [*lines, *told.err.splitlines()])) <= width
    assert all("-1a" in line for line in lines if "worker" in line)


@pytest.mark.parametrize(
    "environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_that_want_it(folder, environment, coloured):
    """A terminal gets colour, unless NO_COLOR is set."""
    assert ("\x1b[" in at_a_terminal(environment)) is coloured


def at_a_terminal(environment):
    """The output of ``simulate cluster.yaml`` at a terminal."""
    ours, theirs = os.openpty()
    wanted = {"NO_COLOR": "", "TERM": "xterm", **environment}
    streams = {"capture_output": False, "stdout": theirs, "stderr": subprocess.PIPE}
    program("simulate", "cluster.yaml", "--release", "1.16", environment=wanted, **streams)
    os.close(theirs)
    found = os.read(ours, 1 << 16).decode()
    os.close(ours)
    return found


def test_one_is_singular(told, folder):
    """One pod and one node are no pods and nodes."""
    (folder / "cluster.yaml").write_text(NODE % ("a", "one", 4) + POD % ("p", "shop", "web", "", "", 1))
    told(status=0)
    assert told.err.startswith("1 of 1 pod placed on 1 node, 0 unschedulable\n")


def test_no_pod_is_said(told, folder):
    """Where no pod waits, the summary says just that."""
    (folder / "cluster.yaml").write_text(NODE % ("a", "one", 4))
    told(status=0)
    assert told.err.startswith("no pod is pending; 1 node\n")
