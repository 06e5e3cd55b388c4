"""The inputs of replays: recordings, times on objects, openb's files, and their faults."""

import io

import pytest
import yaml

import kubeclassic
from kubeclassic import Framework
from kubeclassic.api.controlplane.admission import NO_SIDECARS
from kubeclassic.api.objects import Node, Pod
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.replay.inputs import START, InputOptions, Lifetime, read_inputs
from kubeclassic.questions.replay.replay import Replay
from kubeclassic.questions.replay.simulatedcluster import Delays
from kubeclassic.questions.replay.times import as_timestamp, parse_duration, parse_time
from tests.support.manifests import manifest
from tests.support.refusals import refusal_text
from tests.support.replaybuild import engine, lines, of_file, played, told

NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n"
TIMED = """---
kind: Pod
metadata:
  name: web
  annotations: {kubeclassic/creation-time: "100", kubeclassic/deletion-time: "400", kubeclassic/run-time: 2m}
"""
OPENB_NODES = "sn,cpu_milli,memory_mib,gpu,model\nn,1000,4096,0,\n"
OPENB_PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "p,500,1,0,0,,LS,Succeeded,10,70,20\nq,500,1,0,0,,LS,Pending,30,90,\n"
)


def pods(inputs):
    """When each pod comes, and for how long."""
    return {
        event.item.name: (event.time, event.lifetime)
        for event in inputs.events
        if isinstance(event.item, Pod)
    }


# --- Times on objects ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice, wanted",
    [
        (InputOptions(), (100.0, Lifetime(runs_for=120.0))),
        (InputOptions(as_recorded=True), (100.0, Lifetime(leaves_at=400.0))),
    ],
)
def test_of_a_pod(tmp_path, choice, wanted):
    """A pod comes and goes by its annotations: as long after its start as it ran, or when it went, or as
    options say. In a recording it comes when this says so."""
    assert pods(of_file(tmp_path, NODE + TIMED, choice=choice)) == {"web": wanted}
    node, web = yaml.safe_load_all(NODE + TIMED)
    recorded = [{"time": time, "event": "Add", "object": item} for time, item in ((0, node), (100, web))]
    assert pods(of_file(tmp_path, lines(*recorded), choice=choice)) == {"web": wanted}


def test_of_a_node(tmp_path):
    """Nodes come and go by the same annotations."""
    times = "annotations: {kubeclassic/creation-time: 10s, kubeclassic/deletion-time: '20'}"
    with pytest.raises(
        ManifestError, match=r'annotations\[kubeclassic/creation-time\]: expected seconds, or .*, got "10s"'
    ):
        of_file(tmp_path, NODE.replace("name: a", f"name: a, {times}"))
    times = times.replace("10s", "'10'")
    inputs = of_file(tmp_path, NODE.replace("name: a", f"name: a, {times}"))
    assert [(event.time, event.verb) for event in inputs.events] == [(10, "Add"), (20, "Delete")]


@pytest.mark.parametrize("kind", ["Node", "PersistentVolumeClaim"])
def test_a_deletion_before_the_creation(tmp_path, kind):
    """An object that is deleted before it is created is refused, with its place."""
    times = "annotations: {kubeclassic/creation-time: '10', kubeclassic/deletion-time: '5'}"
    with pytest.raises(
        ManifestError,
        match=rf'^{kind} \S*n: metadata.annotations\[kubeclassic/deletion-time\]: expected a time from "10" on, .*, got "5"$',
    ):
        of_file(tmp_path, f"{NODE}---\nkind: {kind}\nmetadata: {{name: 'n', {times}}}\n")


def test_a_node_that_is_gone_when_its_time_comes(tmp_path):
    """The error about a node that was deleted before its annotated time names the annotation."""
    (tmp_path / "nodes.yaml").write_text(
        NODE.replace("name: a", "name: a, annotations: {kubeclassic/deletion-time: '9'}")
    )
    (tmp_path / "events.jsonl").write_text(lines(recorded(5, "Delete", "a", kind="Node")))
    made = Replay(read_inputs([tmp_path / "nodes.yaml", tmp_path / "events.jsonl"]), engine())
    with pytest.raises(
        ManifestError, match=r"^Node a: metadata.annotations\[kubeclassic/deletion-time\]: Del"
    ):
        played(made)


def test_finished_pods_take_no_part(tmp_path):
    """Pods that have finished, and other schedulers' waiting pods, are ignored and counted."""
    done = "---\nkind: Pod\nmetadata: {name: done}\nstatus: {phase: Failed}\n"
    other = "---\nkind: Pod\nmetadata: {name: other}\nspec: {schedulerName: mine}\n"
    inputs = of_file(tmp_path, NODE + done + other)
    assert (pods(inputs), inputs.ignored) == ({}, {"finished": 1, "for another scheduler": 1})


def test_workloads_and_priorities(tmp_path):
    """Workloads stand for their pods, which get the priority of their class."""
    text = (
        "---\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n"
        "---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: web}\n"
        "spec: {replicas: 2, template: {metadata: {labels: {a: b}}, spec: {priorityClassName: high, containers: [{name: c}]}}}\n"
    )
    inputs = of_file(tmp_path, NODE + text)
    assert [event.item.priority for event in inputs.events if isinstance(event.item, Pod)] == [7, 7]


RUNS = "metadata: {labels: {a: b}, annotations: {kubeclassic/run-time: 30s}}, spec: {restartPolicy: Never, containers: [{name: c}]}"
OWNERS = f"""
---
{{kind: DaemonSet, apiVersion: apps/v1, metadata: {{name: log, namespace: default}},
  spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c}}]}}}}}}}}
---
{{kind: Job, apiVersion: batch/v1, metadata: {{name: sums, namespace: default}},
  spec: {{completions: 3, parallelism: 2, template: {{{RUNS}}}}}}}
---
{{kind: CronJob, apiVersion: batch/v1, metadata: {{name: cron, namespace: default}},
  spec: {{schedule: "* * * * *", jobTemplate: {{spec: {{completions: 2, template: {{{RUNS}}}}}}}}}}}
---
{{kind: Node, metadata: {{name: late, annotations: {{kubeclassic/creation-time: "50"}}}},
  status: {{allocatable: {{cpu: "4", pods: "9"}}}}}}
"""
DAEMON = {
    "kind": "Pod",
    "metadata": {
        "name": "log-x",
        "namespace": "default",
        "ownerReferences": [
            {"kind": "DaemonSet", "apiVersion": "apps/v1", "name": "log", "controller": True}
        ],
    },
    "spec": {"nodeName": "late", "containers": [{"name": "c"}]},
}


TAINTED = {"taints": [{"key": "x", "effect": "NoExecute"}]}
CHANGES = [
    {"time": time, "event": "Update", "object": {"kind": "Node", "metadata": {"name": "late"}, "spec": spec}}
    for time, spec in ((60, TAINTED), (70, {}))
]


@pytest.mark.parametrize(
    "records, times",
    [((), [50]), ([{"time": 51, "event": "Add", "object": DAEMON}], []), (CHANGES, [50, 70])],
)
def test_workloads_over_time(tmp_path, records, times):
    """A DaemonSet makes its pod when a node comes, or takes it again, unless a recording has its pods; Jobs
    go on until they are complete."""
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(NODE + OWNERS)
    recording.write_text(lines(*records))
    inputs = read_inputs([manifests, *([recording] if records else [])], InputOptions(cron_jobs=True))
    arrived = told(played(Replay(inputs, engine("1.36"))), "Arrived")
    jobs = [(0, "cron-1-0"), (0, "sums-0"), (0, "sums-1"), (30, "cron-1-1"), (30, "sums-2")]
    daemons = [(0, "log-a"), *((time, "log-late") for time in times)]
    assert sorted(arrived) == sorted((time, f"default/{name}") for time, name in jobs + daemons)


FAILING = """
---
{kind: Job, apiVersion: batch/v1, metadata: {name: sums, namespace: default},
  spec: {backoffLimit: 2, completions: 4, parallelism: 4, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}
---
{kind: ReplicaSet, apiVersion: apps/v1, metadata: {name: web, namespace: default},
  spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}
"""


def test_pods_that_fail(tmp_path):
    """The owner of a pod that fails makes another, a Job after a back-off and up to its limit."""
    ends = [(5, "sums-0"), (20, "sums-1"), (50, "sums-2"), (60, "web-0"), (70, "sums-3")]
    metadata = {"namespace": "default"}
    recorded = [
        {"time": time, "event": "Update"}
        | {"object": {"kind": "Pod", "metadata": {"name": name, **metadata}, "status": {"phase": "Failed"}}}
        for time, name in ends
    ]
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(NODE + FAILING)
    recording.write_text(lines(*recorded))
    log = played(Replay(read_inputs([manifests, recording]), engine("1.36")))
    names = [(15, "sums-4"), (40, "sums-5"), (60, "web-0-again1")]
    assert told(log, "Arrived")[5:] == [(time, f"default/{name}") for time, name in names]
    assert told(log, "Deleted") == [(50, "default/sums-3"), (50, "default/sums-4"), (50, "default/sums-5")]


@pytest.mark.parametrize(
    "change, kind",
    [
        ({"metadata": {"name": "late", "labels": {}}}, "Deleted"),
        ({"metadata": {"name": "late", "labels": {"x": "z"}}, "spec": TAINTED}, "Evicted"),
    ],
)
@pytest.mark.parametrize("cpu", ["1", "5"])
def test_a_node_that_no_longer_suits_a_daemon(tmp_path, change, kind, cpu):
    """A DaemonSet deletes its pod, whether it waits for the node or runs there; a taint evicts one that
    runs."""
    spec = f"nodeSelector: {{x: z}}, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]"
    text = OWNERS.split("---")[1].replace("containers: [{name: c}]", spec)
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(f"{NODE}---{text}")
    late = {**yaml.safe_load(NODE), "metadata": {"name": "late", "labels": {"x": "z"}}}
    changed = [{"time": 9, "event": "Update", "object": {**late, **change}}]
    recording.write_text(lines({"time": 5, "event": "Add", "object": late}, *changed))
    log = played(Replay(read_inputs([manifests, recording]), engine("1.36")))
    assert told(log, "Arrived") == [(5, "default/log-late")]
    assert told(log, kind if cpu == "1" else "Deleted") == [(9, "default/log-late")]


RIVAL = {"priorityClassName": "high", "containers": [{"resources": {"requests": {"cpu": "3"}}}]}
GONE = {"kind": "Pod", "metadata": {"namespace": "default", "name": "log-a"}}


@pytest.mark.parametrize(
    "event, item",
    [
        ("Add", {"kind": "Pod", "metadata": {"name": "rival"}, "spec": RIVAL}),
        ("Delete", GONE),
        ("Update", {**GONE, "status": {"phase": "Failed"}}),
    ],
)
def test_a_daemon_that_is_gone(tmp_path, event, item):
    """A DaemonSet makes another pod in place of one that is preempted, deleted or fails."""
    spec = "containers: [{name: c, resources: {requests: {cpu: 2}}}]"
    text = OWNERS.split("---")[1].replace("containers: [{name: c}]", spec)
    text += "---\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n"
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(f"{NODE}---{text}")
    recording.write_text(lines({"time": 5, "event": event, "object": item}))
    log = played(Replay(read_inputs([manifests, recording]), engine("1.36")))
    assert [each for each in told(log, "Arrived") if "log" in each[1]] == [
        (0, "default/log-a"),
        (5, "default/log-a"),
    ]


def test_workloads_that_come_and_go(tmp_path):
    """Pods come and go with their workload, if this has annotated times, and claims come with it."""
    marks = "annotations: {kubeclassic/creation-time: '20', kubeclassic/deletion-time: '70'}"
    claim = "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"
    text = OWNERS.replace("namespace: default", f"namespace: default, {marks}")
    text += (DB % f"Parallel, {claim}").replace("name: db,", f"name: db, {marks},", 1)
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(NODE + text)
    early, late = ({**yaml.safe_load(NODE), "metadata": {"name": name}} for name in "bc")
    added = [{"time": time, "event": "Add", "object": item} for time, item in ((10, early), (90, late))]
    recording.write_text(lines(*added))
    inputs = read_inputs([manifests, recording], InputOptions(cron_jobs=True))
    assert {event.time for event in inputs.events if event.item.kind == "PersistentVolumeClaim"} == {20}
    log = played(Replay(inputs, engine("1.36"), Delays(provisioning=1)))
    times = {20: "cron-1-0 db-0 db-1 db-2 log-a log-b sums-0 sums-1", 50: "cron-1-1 log-late sums-2"}
    arrived = sorted((time, f"default/{name}") for time, names in times.items() for name in names.split())
    assert sorted(told(log, "Arrived")) == arrived
    assert {time for time, _ in told(log, "Deleted")} == {70}


DB = """
---
{kind: StatefulSet, apiVersion: apps/v1, metadata: {name: db, namespace: default},
  spec: {replicas: 3, podManagementPolicy: %s, selector: {matchLabels: {a: b}}, serviceName: db,
    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}
"""
THIRD = {"kind": "Pod", "metadata": {"name": "db-2", "namespace": "default"}, "spec": {"priority": 7}}
MOVED = [
    {"time": 20, "event": "Drain", "object": {"kind": "Node", "metadata": {"name": "a"}}},
    {"time": 30, "event": "Recover", "object": {"kind": "Node", "metadata": {"name": "a"}}},
]


@pytest.mark.parametrize(
    "policy, records, arrivals",
    [
        ("Parallel", (), [(0, "db-0"), (0, "db-1"), (0, "db-2")]),
        ("OrderedReady", (), [(0, "db-0"), (5, "db-1"), (10, "db-2")]),
        ("OrderedReady", [{"time": 7, "event": "Update", "object": THIRD}], [(10, "db-2")]),
        ("OrderedReady", [{"time": 7, "event": "Delete", "object": THIRD}], [(5, "db-1")]),
        ("OrderedReady", MOVED, [(20, "db-0-again1"), (35, "db-1-again1"), (40, "db-2-again1")]),
    ],
)
def test_the_pods_of_a_stateful_set(tmp_path, policy, records, arrivals):
    """A StatefulSet makes each pod once those before it are running, unless its policy is Parallel."""
    manifests, recording = tmp_path / "cluster.yaml", tmp_path / "recorded.jsonl"
    manifests.write_text(NODE + DB % policy)
    recording.write_text(lines(*records))
    inputs = read_inputs([manifests, *([recording] if records else [])])
    arrived = told(played(Replay(inputs, engine("1.36"), Delays(startup=5))), "Arrived")
    assert arrived[-len(arrivals) :] == [(time, f"default/{name}") for time, name in arrivals]


def test_jobs_of_manifests_in_python():
    """Manifests as dicts count as those in files, also CronJobs."""
    result = kubeclassic.replay([*yaml.safe_load_all(NODE + OWNERS)], "1.36", cron_jobs=True)
    assert result.summary.finished == 5


def test_a_pod_that_is_being_deleted(tmp_path):
    """A pod of a manifest that is being deleted ends."""
    gone = "---\nkind: Pod\nmetadata: {name: gone, deletionTimestamp: '2024-01-01T00:00:00Z'}\nspec: {nodeName: a}\n"
    inputs = of_file(tmp_path, NODE + gone)
    assert told(played(Replay(inputs, engine("1.36"))), "Deleted") == [(0, "default/gone")]


# --- Openb --------------------------------------------------------------------------------------------------


def files(tmp_path):
    """The two files of a small trace."""
    nodes = tmp_path / "nodes.csv"
    pods = tmp_path / "pods.csv"
    nodes.write_text(OPENB_NODES)
    pods.write_text(OPENB_PODS)
    return [pods, nodes]


def test_times(tmp_path):
    """A pod that ran runs as long again; one that never did leaves when it was given up."""
    assert pods(read_inputs(files(tmp_path))) == {
        "p": (10, Lifetime(runs_for=50)),
        "q": (30, Lifetime(leaves_at=90)),
    }


def test_as_recorded(tmp_path):
    """With times as recorded all pods leave when they did."""
    found = pods(read_inputs(files(tmp_path), InputOptions(as_recorded=True)))
    assert found == {"p": (10, Lifetime(leaves_at=70)), "q": (30, Lifetime(leaves_at=90))}


def test_one_file_alone(tmp_path):
    """One of the two files alone is refused, as both are needed."""
    with pytest.raises(
        ManifestError, match=r"pods.csv: expected both CSV files of the trace, got none with nodes"
    ):
        read_inputs(files(tmp_path)[:1])


def test_replayed(tmp_path):
    """A trace is replayed to its end."""
    records = played(Replay(read_inputs(files(tmp_path)), engine()))
    assert told(records, "Finished") == [(60, "openb/p")]
    assert told(records, "Deleted") == [(90, "openb/q")]


def recorded(time, event, name, node_name="", phase="", word="object", kind="Pod"):
    """A line of a recording."""
    item = manifest(kind, name, spec={"nodeName": node_name}, status={"phase": phase})
    return {"time": time, "event": event, word: item}


def of_recording(tmp_path, *records, **choice):
    """The inputs in a recording with a node from the beginning."""
    text = lines(recorded(0, "Add", "a", kind="Node"), *records)
    return of_file(tmp_path, text, "events.jsonl", **choice)


# --- Recordings ---------------------------------------------------------------------------------------------


def test_seconds(tmp_path):
    """Times may be numbers of seconds."""
    inputs = of_recording(tmp_path, recorded(2.5, "Add", "web"), recorded(9, "Delete", "web"))
    assert [(event.time, event.verb, event.item.kind) for event in inputs.events] == [
        (0, "Add", "Node"),
        (2.5, "Add", "Pod"),
        (9, "Delete", "Pod"),
    ]


def test_the_simulators_recorder(tmp_path):
    """Files of kube-scheduler-simulator's recorder have dates and say resource; the first date is the
    beginning."""
    days = ["2024-05-01T10:00:00.123456789Z", "2024-05-01T12:00:30.123456789+02:00"]
    text = lines(
        recorded(days[0], "Add", "a", kind="Node", word="resource"),
        recorded(days[1], "Add", "web", word="resource"),
    )
    inputs = of_file(tmp_path, text, "record.jsonl")
    assert [round(event.time, 3) for event in inputs.events] == [0, 30]
    assert as_timestamp(inputs.origin) == "2024-05-01T10:00:00Z"


def test_pods_run_as_long_as_they_did(tmp_path):
    """A pod that was bound and ended in the recording runs here for as long, and its recorded end is left
    out."""
    records = [
        recorded(1, "Add", "web"),
        recorded(5, "Update", "web", "x"),
        recorded(25, "Update", "web", "x", "Succeeded"),
        recorded(26, "Delete", "web"),
        recorded(30, "Add", "web"),
    ]
    inputs = of_recording(tmp_path, *records)
    coming = [
        (event.time, event.lifetime.runs_for)
        for event in inputs.events
        if event.verb == "Add" and isinstance(event.item, Pod)
    ]
    assert (coming, len(inputs.events)) == ([(1, 20), (30, None)], 4)
    as_recorded = of_recording(tmp_path, *records, choice=InputOptions(as_recorded=True))
    assert len(as_recorded.events) == 6


def test_a_binding_that_is_only_told_at_the_end(tmp_path):
    """Where the first update with a node also says that the pod has ended, nothing says how long it ran, so
    it ends then."""
    inputs = of_recording(
        tmp_path,
        recorded(1, "Add", "web"),
        recorded(9, "Update", "web", "x", "Failed"),
        recorded(12, "Delete", "web"),
    )
    assert (pods(inputs)["web"][1], len(inputs.events)) == (Lifetime(), 4)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"spec": {"schedulerName": "mine"}}, "for another scheduler"),
        ({"status": {"phase": "Failed"}}, "finished"),
        ({"metadata": {"name": "web", "deletionTimestamp": "2024-05-01T10:00:00Z"}}, "being deleted"),
        ({"spec": {"priorityClassName": "nope"}}, "refused by the API server"),
    ],
)
@pytest.mark.parametrize("verbs", [["Add"], ["Update"], ["Add", "Update", "Update"]])
def test_pods_that_do_not_wait_here(tmp_path, change, reason, verbs):
    """Recorded pods that would be ignored in a manifest are ignored in a recording, too, and each is counted
    once."""
    line = recorded(1, "Add", "web")
    line["object"] |= change
    inputs = of_recording(tmp_path, *({**line, "event": verb} for verb in verbs))
    assert (pods(inputs), inputs.ignored) == ({}, {reason: 1})
    notices = [notice for notice in inputs.warnings if notice.where == "Pod default/web"]
    assert len(notices) == (reason == "refused by the API server")


def test_a_pod_that_another_scheduler_places(tmp_path):
    """A pod of another scheduler takes part from its recorded binding to its recorded end."""
    told = [recorded(1, "Add", "web"), recorded(5, "Update", "web", "a")]
    told.append(recorded(25, "Update", "web", "a", "Succeeded"))
    for line in told:
        line["object"]["spec"]["schedulerName"] = "mine"
    inputs = of_recording(tmp_path, *told)
    assert inputs.ignored == {}
    records = played(Replay(inputs, engine()))
    assert [(record["time"], record["event"]) for record in records[1:]] == [(5, "Started"), (25, "Finished")]


def test_an_update_keeps_the_priority_of_the_class(tmp_path):
    """An update without a priority has that of its class, as the pod had when it came."""
    line = recorded(1, "Add", "web")
    line["object"]["spec"] = {"priorityClassName": "system-node-critical"}
    inputs = of_recording(tmp_path, line, {**line, "time": 2, "event": "Update"})
    assert [event.item.priority for event in inputs.events[1:]] == [2000001000] * 2


def test_with_manifests_and_from_standard_input(tmp_path):
    """Manifests give what is there at first; one of the inputs may be piped in."""
    (tmp_path / "nodes.yaml").write_text(NODE)
    inputs = read_inputs(
        [tmp_path / "nodes.yaml", "-"], stdin=io.BytesIO(lines(recorded(3, "Add", "web")).encode())
    )
    assert [(event.time, type(event.item)) for event in inputs.events] == [(START, Node), (3, Pod)]


def test_other_kinds(tmp_path):
    """Events about kinds that scheduling does not read are ignored and counted."""
    inputs = of_recording(tmp_path, recorded(0, "Add", "a", kind="Lease"))
    assert inputs.ignored == {"events about other kinds": 1}


BAD = [
    (
        recorded(1, "Create", "web"),
        'event: expected Add, Update, Delete, Drain, Fail or Recover, got "Create"',
    ),
    (
        recorded("soon", "Add", "web"),
        'time: expected seconds, or a time such as 2023-04-01T12:00:00Z, got "soon"',
    ),
    (
        recorded(None, "Add", "web"),
        "time: expected seconds, or a time such as 2023-04-01T12:00:00Z, got null",
    ),
    ({"time": 1, "event": "Add"}, "object: expected a Kubernetes object, got null"),
    (recorded(1, "Fail", "web"), "object.kind: expected Node for the event Fail, got Pod"),
    (recorded(1, "Add", ""), "object.metadata.name: expected a name, got nothing"),
    (recorded("2024-05-01T10:00:00Z", "Add", "web"), "a date where earlier times are seconds"),
    (
        yaml.safe_load("{time: 1, event: Add, object: {kind: Pod, spec: []}}"),
        "(Pod): spec: expected an object, got an empty list",
    ),
]


@pytest.mark.parametrize("line, message", BAD)
def test_a_bad_line(tmp_path, line, message):
    """A bad line is told with file, line, field, what was expected and what came."""
    text = refusal_text(ManifestError, of_recording, tmp_path, line)
    assert text.startswith(f"{tmp_path}/events.jsonl, document 2")
    assert message in text


def test_no_node(tmp_path):
    """A cluster that never has a node is bad input."""
    with pytest.raises(ManifestError, match=r"events\.jsonl: expected at least one Node, got none"):
        of_file(tmp_path, lines(recorded(0, "Add", "web")), "events.jsonl")


@pytest.mark.parametrize("ask", [kubeclassic.replay, kubeclassic.simulate, kubeclassic.new_replay])
def test_an_iterator_of_manifests(ask):
    """Objects may come from an iterator, which is read once."""
    manifests = [*yaml.safe_load_all(NODE), manifest("Pod", "web", spec={"containers": [{"name": "c"}]})]
    asked = ask(part for part in manifests)
    assert getattr(asked, "ok", None) or len(asked.inputs.events) == 2


READ_ALIKE = {
    "the release of the nodes": ("1.14", None, (), "{kind: Pod, metadata: {name: p}}"),
    "options without a release": ("1.20", Framework(), (), "{kind: Pod, metadata: {name: p}}"),
    "admission of that release": (
        "1.14",
        "auto",
        ["release 1.14 ignores spec.overhead"],
        """{kind: RuntimeClass, apiVersion: node.k8s.io/v1, metadata: {name: r}, handler: r}
---
{kind: Pod, metadata: {name: p}, spec: {runtimeClassName: r, overhead: {cpu: 1}}}""",
    ),
    "a refusal beside others": (
        "1.36",
        "1.36",
        ["refused by the API server: no PriorityClass with name nope was found"],
        """{kind: Pod, metadata: {name: q}, spec: {priorityClassName: nope}}
---
{kind: Pod, metadata: {name: p}}""",
    ),
    "a claim of a volume": (
        "1.23",
        None,
        [
            "refused by the API server: minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi"
        ],
        """{kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: PersistentVolumeClaim, min: {storage: 2Gi}}]}}
---
{kind: Pod, metadata: {name: p}, spec: {volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {
  accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}""",
    ),
    "a node that is not there": (
        "1.36",
        None,
        ["its node is not in the input"],
        "{kind: Pod, metadata: {name: p}}\n---\n{kind: Pod, metadata: {name: q}, spec: {nodeName: gone}}",
    ),
    "what is dropped": (
        "1.28",
        None,
        [NO_SIDECARS.what],
        "{kind: Pod, metadata: {name: p}, spec: {initContainers: [{name: i, restartPolicy: Always}]}}",
    ),
    "two of one name": (
        "1.36",
        None,
        ["was given before, the last one counts"],
        "{kind: Pod, metadata: {name: p}}\n---\n{kind: Pod, metadata: {name: p}}",
    ),
}


@pytest.mark.parametrize("case", READ_ALIKE)
@pytest.mark.parametrize("of_files", [True, False])
def test_read_as_for_a_simulation(tmp_path, case, of_files):
    """A replay takes the release, the pods and the warnings that a simulation takes."""
    release, scheduler, warnings, text = READ_ALIKE[case]
    text = (
        f"{NODE.replace('status: {', f'status: {{nodeInfo: {{kubeletVersion: v{release}.1}}, ')}---\n{text}\n"
    )
    (tmp_path / "cluster.yaml").write_text(text)
    given = str(tmp_path / "cluster.yaml") if of_files else [*yaml.safe_load_all(text)]
    simulated, replayed = (ask(given, scheduler) for ask in (kubeclassic.simulate, kubeclassic.replay))
    assert (replayed.release, replayed.summary.scheduled) == (release, simulated.summary.placed)
    for result in (simulated, replayed):
        told = [notice.what for group in result.warnings for notice in group.notices]
        assert [what for what in told if "kubectl" not in what] == [*warnings]


# --- Times --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written", ["", "x", "1x", "-1", "nan", "inf", None, True, "1s 2s", [1], 1e12, "1e300", "9e9d"]
)
def test_no_durations(written):
    """Texts that are no durations are refused."""
    assert parse_duration(written) is None


@pytest.mark.parametrize(
    "written", ["", "2024-13-01T00:00:00Z", "2024-05-01", "T", None, False, {}, 1e12, "1e308"]
)
def test_no_times(written):
    """Texts that are no times are refused."""
    assert parse_time(written) is None


def test_large_numbers_are_dates():
    """A number of the size of today's seconds since 1970 is a date."""
    assert parse_time(1.7e9) == (1.7e9, True)
