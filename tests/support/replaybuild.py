"""Replays for tests: inputs from few words, events as a list."""

import json

from kubeclassic.questions.replay.inputs import (
    ADD,
    EVER,
    START,
    Event,
    Inputs,
    Lifetime,
    WorkloadManifests,
    read_inputs,
)
from kubeclassic.questions.replay.replay import Replay
from kubeclassic.questions.replay.simulatedcluster import Delays
from kubeclassic.simulation.conform import engine_for
from tests.support.build import manifest, pod


def engine(release="1.16", **config):
    """A new scheduler that visits every node."""
    return engine_for(release, {"percentageOfNodesToScore": 100, **config})


def there(*items):
    """Events that add objects at the beginning."""
    return [Event(START, ADD, item) for item in items]


def at(time, item, verb=ADD, *, runs=None):
    """An event about *item*."""
    return Event(time, verb, item, "test", EVER if runs is None else Lifetime(runs_for=runs))


def replay(*events, release="1.16", until=None, config=None, jobs=(), **delays):
    """A replay of *events* in their order; *jobs*: manifests."""
    return of_engine(engine(release, **config or {}), *events, until=until, jobs=jobs, **delays)


def of_engine(made, *events, until=None, jobs=(), **delays):
    """A replay of *events* by the scheduler *made*."""
    manifests = WorkloadManifests(tuple(jobs))
    inputs = Inputs(tuple(events), resources=("cpu", "memory", "pods"), workloads=manifests)
    return Replay(inputs, made, Delays(**delays), until=until)


def asking(name, cpu="1", **more):
    """A pod that requests cpu."""
    return pod(name, cpu=cpu, **more)


def played(made):
    """The events of a replay up to its end."""
    found = []
    made.cluster.observers = [found.append]
    for _ in made.run():
        assert made.steps < 50_000
    return found


def of_event(records, event):
    """The records of one kind."""
    return [record for record in records if record["event"] == event]


def told(records, event):
    """The time and the subject of each record of one kind."""
    return [
        (record["time"], record.get("pod") or record.get("node") or record.get("volume", ""))
        for record in of_event(records, event)
    ]


def of_file(tmp_path, text, name="input.yaml", **choice):
    """The inputs in a file of *text*."""
    path = tmp_path / name
    path.write_text(text)
    return read_inputs([path], **choice)


def lines(*records):
    """Records as JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


BUSY = """
params: {initNodes: 6}
workloadTemplate:
- opcode: createAny
  templates:
  - {kind: StorageClass, apiVersion: storage.k8s.io/v1, metadata: {name: late}, provisioner: kubernetes.io/aws-ebs,
     volumeBindingMode: WaitForFirstConsumer}
  - {kind: Service, metadata: {name: web, namespace: default}, spec: {selector: {app: web}}}
- opcode: createNodes
  countParam: $initNodes
  nodeTemplate:
    metadata: {generateName: node-}
    status: {allocatable: {cpu: "4", memory: 16Gi, pods: "20"}, conditions: [{type: Ready, status: "True"}]}
  labelNodePrepareStrategy: {labelKey: failure-domain.beta.kubernetes.io/zone, labelValues: [a, b]}
- opcode: createAny
  count: 2
  template:
    {kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
     spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
- opcode: createPods
  count: 2
  podTemplate:
    metadata: {name: db}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-0}}]}
- opcode: churn
  mode: recreate
  number: 3
  interval: 7s
  templates:
  - metadata: {name: churned, labels: {app: web}}
    kind: Pod
    spec:
      containers: [{name: c, resources: {requests: {cpu: 500m}}}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {labelSelector: {matchLabels: {app: web}}, topologyKey: kubernetes.io/hostname}
- opcode: createPods
  count: 25
  perSecond: 0.5
  runTime: 90s
  skipWaitToCompletion: true
  podTemplate:
    metadata: {name: web, labels: {app: other}, ownerReferences: [{kind: ReplicaSet, name: web, uid: rs, controller: true}]}
    spec: {containers: [{name: c, resources: {requests: {cpu: 900m, memory: 1Gi}}}]}
- opcode: createPods
  count: 4
  interval: 5s
  runTime: 40s
  timeout: 60s
  podTemplate:
    metadata: {name: urgent}
    spec: {priority: 100, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
- {opcode: sleep, duration: 90s}
- {opcode: barrier, timeout: 100s}
"""
"""A scenario with a bit of everything; :data:`TROUBLE` are node events during it."""
TROUBLE = "".join(
    json.dumps({"time": time, "event": verb, "object": manifest("Node", name)}) + "\n"
    for time, verb, name in (
        (40, "Fail", "node-0"),
        (50, "Drain", "node-1"),
        (80, "Recover", "node-1"),
        (400, "Recover", "node-0"),
    )
)
