"""Scenarios: operations in the manner of scheduler_perf."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubeclassic
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.replay.inputs import Inputs, read_inputs
from kubeclassic.questions.replay.operations import DEFAULT_NODE, Operation
from kubeclassic.questions.replay.replay import Replay
from tests.support.build import pod
from tests.support.examples import examples
from tests.support.refusals import refusal_text
from tests.support.replaybuild import BUSY, TROUBLE, engine, of_event, of_file, played, told

NODES = "- {opcode: createNodes, count: 2}\n"
TEMPLATE = "{kind: Pod, metadata: {generateName: pod-}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
POD = f"podTemplate: {TEMPLATE}"


def run(tmp_path, text, seed=0):
    """A scenario that was played, and what happened."""
    made = Replay(of_file(tmp_path, text), engine(), until=500, seed=seed)
    return made, played(made)


def in_trouble(tmp_path, text, until=None):
    """A scenario that was played beside a recording of nodes in trouble, and what happened."""
    (tmp_path / "busy.yaml").write_text(text)
    (tmp_path / "trouble.jsonl").write_text(TROUBLE)
    made = Replay(read_inputs([tmp_path / "busy.yaml", tmp_path / "trouble.jsonl"]), engine(), until=until)
    return made, played(made)


def test_nodes_and_pods(tmp_path):
    """Nodes and pods are made from templates and numbered; nodes have scheduler_perf's default size."""
    made, records = run(tmp_path, f"{NODES}- {{opcode: createPods, count: 3, {POD}}}\n")
    assert told(records, "NodeAdded") == [(0, "node-0"), (0, "node-1")]
    assert [name for _, name in told(records, "Scheduled")] == [
        "default/pod-0",
        "default/pod-1",
        "default/pod-2",
    ]
    assert made.cluster.ledger.totals[1].tolist() == [8000, 64 * 2**30, 220]


def test_one_node_with_a_name_keeps_it(tmp_path):
    """A node that is made alone has the name of its template, by which pods may ask for it; more are
    numbered."""
    one = "- {opcode: createNodes, count: 1, nodeTemplate: {metadata: {name: big}}}\n"
    _, records = run(tmp_path, one + one.replace("count: 1", "count: 2"))
    assert [name for _, name in told(records, "NodeAdded")] == ["big", "big-1", "big-2"]


def test_the_release_of_nodes_that_are_made(tmp_path):
    """The nodes that a scenario makes say the release, and templates are read as it reads pods."""
    path = tmp_path / "scenario.yaml"
    template = "{metadata: {name: a}, status: {nodeInfo: {kubeletVersion: v1.20.1}}}"
    pods = POD.replace("spec: {", "spec: {schedulingGates: [{name: g}], ")
    path.write_text(
        f"- {{opcode: createNodes, count: 1, nodeTemplate: {template}}}\n- {{opcode: createPods, count: 1, {pods}}}\n"
    )
    result = kubeclassic.replay(path, until=1)
    assert result.release == "1.20"
    assert [notice.what for group in result.warnings for notice in group.notices] == [
        "release 1.20 ignores spec.schedulingGates"
    ]


def test_parameters_paths_and_labels(tmp_path):
    """Counts may be parameters, templates may be in files, nodes get labels in turn."""
    (tmp_path / "pod.yaml").write_text("kind: Pod\nmetadata: {name: file}\nspec: {containers: [{name: c}]}\n")
    text = (
        "defaultPodTemplatePath: pod.yaml\nparams: {nodes: 3, pods: 2}\nworkloadTemplate:\n"
        "- {opcode: createNodes, countParam: $nodes, labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}}\n"
        "- {opcode: createPods, countParam: $pods, namespace: load}\n"
    )
    made, _ = run(tmp_path, text)
    nodes = [made.cluster.node(f"node-{i}") for i in range(3)]
    assert [node.labels["zone"] for node in nodes if node is not None] == ["a", "b", "a"]
    assert set(made.pods.all) == {"load/file-0", "load/file-1"}


def test_one_waits_for_pods_unless_told_not_to(tmp_path):
    """The operation after createPods comes once all its pods have a node, or with skipWaitToCompletion at
    once."""
    text = f"{NODES}- {{opcode: createPods, count: 9, runTime: 60s, {POD}}}\n- {{opcode: createNodes, count: 1}}\n"
    _, records = run(tmp_path, text)
    assert 60 <= told(records, "NodeAdded")[2][0] <= 75
    _, records = run(tmp_path, text.replace("count: 9", "count: 9, skipWaitToCompletion: true"))
    assert told(records, "NodeAdded")[2][0] == 0


def test_a_barrier_gives_up(tmp_path):
    """A barrier for pods that fit nowhere is given up after its time."""
    _, records = run(
        tmp_path,
        f"{NODES}- {{opcode: createPods, count: 9, timeout: 30s, {POD}}}\n- {{opcode: sleep, duration: 1m}}\n",
    )
    assert of_event(records, "BarrierGivenUp") == [{"time": 30, "event": "BarrierGivenUp", "number": 2}]


WITH_CLASSES = (
    "- {opcode: createAny, templates: [{kind: PriorityClass, metadata: {name: high}, value: 7},"
    " {kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}}]}\n"
)


@pytest.mark.parametrize(
    "operation",
    [
        "{opcode: createPods, count: 2, skipWaitToCompletion: true, podTemplate: TEMPLATE}",
        "{opcode: createAny, count: 2, templates: [TEMPLATE]}",
        "{opcode: churn, number: 2, interval: 1s, templates: [TEMPLATE]}",
    ],
)
def test_what_is_made_is_admitted(tmp_path, operation):
    """Pods of a scenario get the priority of their class; those with an unknown class are refused, with a
    warning, and nothing waits for them."""
    template = TEMPLATE.replace("spec: {", "spec: {priorityClassName: high, ")
    text = f"{NODES}{WITH_CLASSES}- {operation.replace('TEMPLATE', template)}\n- {{opcode: sleep, duration: 9s}}\n"
    made, _ = run(tmp_path, text)
    assert {life.original.priority for life in made.pods.all.values()} == {7}
    inputs = of_file(tmp_path, text.replace("Name: high", "Name: nope"))
    records = played(Replay(inputs, engine()))
    assert (told(records, "Arrived"), told(records, "BarrierGivenUp")) == ([], [])
    assert list(inputs.ignored) == ["refused by the API server"]
    (notice,) = inputs.warnings
    assert "no PriorityClass with name nope was found" in notice.what


def test_claims_that_are_made_are_admitted(tmp_path):
    """Claims of a scenario get the default class."""
    claim = "{kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}"
    inputs = of_file(tmp_path, f"{NODES}{WITH_CLASSES}- {{opcode: createAny, template: {claim}}}\n")
    assert inputs.operations[2].templates[0].spec.storage_class_name == "fast"


def test_pods_of_another_scheduler(tmp_path):
    """Pods that ask for another scheduler are ignored and counted, and the next operation does not wait for
    them."""
    other = POD.replace("spec: {", "spec: {schedulerName: other, ")
    text = f"{NODES}- {{opcode: createPods, count: 3, interval: 5s, {other}}}\n- {{opcode: createPods, count: 1, {POD}}}\n"
    inputs = of_file(tmp_path, text)
    assert inputs.ignored == {"for another scheduler": 3}
    assert told(played(Replay(inputs, engine())), "Scheduled") == [(0, "default/pod-0")]


def test_pods_over_time(tmp_path):
    """Pods come at an interval, or by chance; the chance is the seed's."""
    _, records = run(tmp_path, f"{NODES}- {{opcode: createPods, count: 3, interval: 10s, {POD}}}\n")
    assert [time for time, _ in told(records, "Arrived")] == [0, 10, 20]
    chance = f"{NODES}- {{opcode: createPods, count: 4, perSecond: 0.1, {POD}}}\n"
    one, other, again = (told(run(tmp_path, chance, seed=seed)[1], "Arrived") for seed in (1, 2, 1))
    assert one == again != other


def test_churn(tmp_path):
    """Churn makes an object each interval, or makes and takes away in turn, until the scenario is over."""
    churn = f"- {{opcode: churn, mode: MODE, number: 2, interval: 10s, template: {TEMPLATE}}}\n"
    text = f"{NODES}{churn}- {{opcode: sleep, duration: 45s}}\n"
    for mode in ("create", "recreate"):
        _, records = run(tmp_path, text.replace("MODE", mode))
        assert [time for time, _ in told(records, "Arrived")] == [10, 20]
    assert told(records, "Deleted") == [(30, "default/pod-0"), (40, "default/pod-1")]


def test_nodes_in_trouble(tmp_path):
    """Nodes are deleted by name or drawn; those that fail, are drained and recover are events of a
    recording beside the scenario."""
    deleting = "- {opcode: sleep, duration: 90s}\n- {opcode: deleteNodes, names: [node-1]}\n- {opcode: deleteNodes, count: 1}\n"
    _, records = in_trouble(tmp_path, f"{NODES}{deleting}", until=300)
    assert told(records, "NodeFailed") == [(40, "node-0")]
    assert told(records, "NodeDrained") == [(50, "node-1")]
    assert told(records, "NodeRecovered") == [(80, "node-1")]
    assert told(records, "NodeDeleted") == [(90, "node-1"), (90, "node-0")]


def test_pods_are_deleted_by_namespace(tmp_path):
    """deletePods takes the pods of one namespace, or all."""
    pods = f"- {{opcode: createPods, count: 1, namespace: x, {POD}}}\n- {{opcode: createPods, count: 1, namespace: 'y', {POD}}}\n"
    made, _ = run(tmp_path, f"{NODES}{pods}- {{opcode: deletePods, namespace: x}}\n")
    assert set(made.pods.all) == {"y/pod-0"}


def test_everything_at_once(tmp_path):
    """A busy scenario comes to its end, with evictions, preemptions, failures and volumes on the way."""
    made, records = in_trouble(tmp_path, BUSY)
    assert made.workload.is_over
    events = {record["event"] for record in records}
    assert events >= {
        "Preempted",
        "Evicted",
        "VolumeProvisioned",
        "Finished",
        "NodeFailed",
        "NodeDrained",
        "NodeRecovered",
        "FailedScheduling",
    }


SPACES = st.sampled_from(("x", "y"))
MAKING = st.builds(
    Operation,
    opcode=st.just("createPods"),
    count=st.integers(0, 3),
    templates=st.just((pod("p", cpu="3"),)),
    namespace=SPACES,
    interval=st.sampled_from((0.0, 4.0)),
    run_time=st.sampled_from((20.0, None)),
    skip_wait=st.booleans(),
    timeout=st.just(60.0),
)
BARRIER = st.builds(
    Operation,
    opcode=st.just("barrier"),
    namespaces=st.lists(SPACES, max_size=2).map(tuple),
    timeout=st.just(60.0),
)
PAUSE = st.builds(Operation, opcode=st.sampled_from(("sleep", "deletePods")), interval=st.just(5.0))


@given(
    operations=st.lists(MAKING | BARRIER | BARRIER | PAUSE, max_size=12),
    until=st.none() | st.integers(0, 120),
)
@examples(0.5)
def test_nobody_waits_where_nothing_waits(operations, until):
    """Time passes at a barrier only while a pod that it is about has no node or is still to come, and a
    scenario comes to its end."""
    nodes = Operation(opcode="createNodes", templates=(DEFAULT_NODE,))

    def check(replay):
        if replay.workload.deadline is not None:
            at = operations[replay.workload.position - 1]
            spaces = {at.namespace} - {None} or set(at.namespaces) or {"x", "y"}
            coming = {key for keys in replay.workload.created.values() for key in keys} - {
                *replay.pods.replacements
            }
            assert any(
                key.partition("/")[0] in spaces for key in coming | {life.key for life in replay.waiting}
            )

    made = Replay(
        Inputs((), (nodes, *operations), resources=("cpu",)), engine(), until=until, observers=[check]
    )
    for _ in made.run():
        pass
    if until is None:
        assert made.workload.is_over


BAD = [
    ("- {opcode: createNode}", 'did you mean "createNodes"'),
    ("- {opcode: createNodes}", "document 1 (createNodes): count: expected a value, got nothing"),
    ("- {opcode: createPods, count: 1}", "template: expected one, got nothing"),
    (
        "- {opcode: createPods, count: 1, nodeTemplate: {metadata: {name: 'n'}}}",
        "template: expected a Pod, got a Node",
    ),
    (
        "- {opcode: createPods, count: 1, podTemplatePath: nothere.yaml}",
        "nothere.yaml: no such file or directory",
    ),
    ("- {opcode: churn, mode: wild}", 'mode: expected create or recreate, got "wild"'),
    ("workloadTemplate: []\nparams: 7", "params: expected an object, got 7"),
    (
        "workloadTemplate: []\ndefaultPodTemplatePath: [a]",
        "defaultPodTemplatePath: expected a file, got a list",
    ),
    ("workloadTemplate: 7", "workloadTemplate: expected a list of operations, got 7"),
    ("workloadTemplate:\n- {opcode: createNodes, count: $n}\nparams: {m: 1}", "operation 1 (createNodes): "),
    (
        "- {opcode: createAny, template: {kind: Lease, metadata: {name: x}}}",
        'kind: expected a kind that scheduling reads, got "Lease"',
    ),
]


@pytest.mark.parametrize("text, message", BAD)
def test_a_bad_scenario(tmp_path, text, message):
    """The error for a bad operation names file, operation and field."""
    assert message in refusal_text(ManifestError, of_file, tmp_path, f"{text}\n")
