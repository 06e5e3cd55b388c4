"""Input that was changed at random: its entry points, seeds, changes of texts and of structures, and the
result of each try.

No message may have a part of a secret that a kubeconfig has in its proper place.
"""

import asyncio
import copy
import gzip
import json
import random
import re
import signal
import tempfile
import traceback
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import attrs
import yaml

import kubeclassic
from kubeclassic import Cluster, Scheduler
from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.config import load_configuration as load_classic
from kubeclassic.algorithmprovider.config import load_policy
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.reading.notices import in_groups
from kubeclassic.cli.declaring.setup import NamedSetup
from kubeclassic.exceptions import KubeclassicError, PolicyError
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.framework.schedulerspec import build_engine
from kubeclassic.live.client.http import VERSIONS as EXEC_VERSIONS
from kubeclassic.live.client.http import ExecPlugin, tls_context
from kubeclassic.live.client.kubeconfig import read_kubeconfig
from kubeclassic.questions.importing import rows
from kubeclassic.questions.replay.inputs import read_inputs
from kubeclassic.simulation.conform import Family, check_family, read_answers
from tests.conftest import ROOT
from tests.support.serverbuild import Caller, node_json, pod_json, three_nodes

SECONDS = 10
"""The CPU seconds that one try may take."""
ANSWER = "answer"
REFUSED = "documented error"
SLOW = "too slow"
SECRET = "s3cr3t"
"""The value of each secret in a seed."""
SECRET_PLACES = re.compile(rb'"(token|password|value)": "s3cr3t"|"server": "https://u:s3cr3t@')
VERBS = (b"filter", b"prioritize", b"preemption", b"bind")
MOST_RUNS = 8
"""The most runs of a sweep."""
TRACES = ROOT / "examples" / "traces"
WORDS = (
    b"release=1.16 policy=p.json percentage=50",
    b"release=1.27 'profile=a b.yaml' tie-break=first feature-gates=A=true,B=false",
)
EDITS = (
    b"node 'pool in (gpu, general),!canary' 'spec.taints=[{key: a, effect: NoSchedule}]'",
    b"pod storefront-* tolerations+=dedicated=gpu:NoSchedule requests.cpu=500m",
    b"deploy * spec.replicas=3 spec.template.spec.containers[0].image=x",
)
MANIFESTS = (
    yaml.safe_load("""
    apiVersion: v1
    kind: Pod
    metadata:
      name: p
      labels: {a: b}
      ownerReferences:
      - {kind: ReplicaSet, name: r, controller: true}
    spec:
      priority: 5
      tolerations:
      - {key: k, operator: Exists, tolerationSeconds: 5}
      containers:
      - name: c
        resources:
          requests: {cpu: 100m, memory: 1Gi}
        ports:
        - {hostPort: 80}
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: z
            labelSelector: {}
      volumes:
      - name: v
        persistentVolumeClaim: {claimName: c}
    """),
    yaml.safe_load("""
    kind: List
    items:
    - kind: Deployment
      metadata: {name: d}
      spec:
        replicas: 3
        template:
          spec:
            containers:
            - {}
    - kind: PersistentVolume
      metadata: {name: v}
      spec:
        capacity: {storage: 1Gi}
        csi: {driver: d}
    """),
)
"""Small manifests, so that a change hits a field that is read."""
ODD = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    -(2**63) - 1,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "1e999",
    "9" * 5000,
    "x" * 5000,
    "\0",
    "\x1b[31m",
    "\ud800",
    "\uff11\uff12",
    "😀",
    [],
    {},
    [[]],
    {"": {}},
    [None],
    {"a": None},
    "100000000Ei",
    "2006-01-02T15:04:05Z",
)
TOKENS = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"null",
    b"NaN",
    b"-1",
    b"1e999",
    b"9" * 20,
    b"!!bool x",
    b"!!int ''",
    b"!!timestamp x",
    b"&a [*a]",
    b"*a",
    b"<<: *a",
    b"? ",
    b"---\n",
    b"{",
    b"[",
    b'"',
    b"'",
    b"\\",
    b",",
    b"\n",
    b"\r",
    b"\t",
    b": ",
    b"- ",
    b"%",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x1f\x8b",
    b"|",
    b"[" * 2000,
    b"{a: " * 500,
    b"0x",
    b"\xd9\xa3",
)


# --- entry points -------------------------------------------------------------------------------------------


@cache
def _folder():
    """One folder for all tries of a process: to make and remove one takes longer than most tries."""
    return tempfile.TemporaryDirectory()


def _file(content, name):
    path = Path(_folder().name, name)
    path.write_bytes(content)
    return path


def _manifests(content):
    cluster = Cluster.load(_file(content, "cluster.yaml"), defaults=len(content) % 2 == 0)
    said = in_groups(cluster.warnings)
    assert all(line.isprintable() for line in said), said


def _decisions(content):
    release = [*RELEASES, "1.27"][len(content) % (len(RELEASES) + 1)]
    list(Scheduler(Cluster.load(_file(content, "cluster.yaml")), release).run())


def _cases(content):
    check_family(Family("", "x", _file(content, "x.cases.jsonl"), _file(b"", "x.answers.jsonl")))


def _side(content):
    NamedSetup.parse("a", content.decode("utf-8", "surrogateescape")).setup.spec.first_scheduler_name  # noqa: B018  # it reads the files


def _edit(content):
    kubeclassic.simulate(str(ROOT / "examples/cluster"), edits=[content.decode("utf-8", "surrogateescape")])


def _map(content):
    columns = rows.read_map(_file(content, "map.yaml"))
    rows.read_table(TRACES / ("hosts.csv" if columns.kind == "nodes" else "tasks.csv"), columns)


def _sweep(content):
    def check(done, total):
        if total > MOST_RUNS:
            raise KubeclassicError("more runs than a try may take")

    kubeclassic.sweep(_file(content, "sweep.yaml"), on_progress=check)


def _kubeconfig(content):
    try:
        access = read_kubeconfig(_file(content, "kubeconfig"))
        if access.ca is not None or access.certificate is not None:
            tls_context(access, access.certificate)
        if not isinstance(access.credentials, ExecPlugin):  # no program runs here
            asyncio.run(access.credentials.grant(0.0))
    except KubeclassicError as error:
        is_in_place = len(SECRET_PLACES.findall(content)) == content.count(SECRET.encode())
        if is_in_place and SECRET in str(error):
            raise AssertionError(f"a message has a secret: {error}") from error
        raise


@cache
def callers():
    """Servers of three releases, shared by all tries."""
    found = [Caller.of(three_nodes(release=release)) for release in ("1.12", "1.16", "1.27")]
    for caller in found:
        caller.app.cluster.defaults = True
    return found


def _request(content):
    """Send a request: the first line is the verb, the rest the body. Each is answered with 2xx or 4xx, in
    JSON."""
    verb, _, body = content.partition(b"\n")
    for caller in callers():
        found = caller.post(f"/{verb.decode()}" if verb in VERBS else "/filter", body)
        assert 200 <= found.status_code < 300 or 400 <= found.status_code < 500, found.text
        assert isinstance(found.json(), dict | list)


# --- seeds --------------------------------------------------------------------------------------------------


def _files(*patterns):
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _lines(kind):
    """Short cases, or answers, of each sort."""
    found = []
    for family in (
        "1.13/queue",
        "1.27/queue",
        "1.16/preemption",
        "1.16/policy",
        "1.27/profile",
        "1.15/events",
        "1.27/extenders",
    ):
        lines = gzip.decompress(
            (ROOT / "tests" / "conformance" / f"{family}.{kind}.jsonl.gz").read_bytes()
        ).splitlines()
        found += sorted(filter(None, lines), key=len)[:2]
    return found


def _kubeconfigs():
    """Kubeconfigs, one for each kind of user."""
    users = [
        {"token": SECRET},
        {"username": "u", "password": SECRET},
        {},
        {
            "exec": {
                "apiVersion": EXEC_VERSIONS[0],
                "command": "login",
                "args": ["--quiet"],
                "env": [{"name": "A", "value": SECRET}],
                "interactiveMode": "Never",
            }
        },
    ]
    server = {
        "server": f"https://u:{SECRET}@[::1]:6443/path",
        "tls-server-name": "api",
        "insecure-skip-tls-verify": True,
    }
    return [
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": server}],
                "users": [{"name": "u", "user": user}],
                "contexts": [
                    {"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}
                ],
                "current-context": "there",
            }
        ).encode()
        for user in users
    ]


def _requests():
    """A request of each verb."""
    pods = [{**pod_json("x"), **MANIFESTS[0]}, pod_json("w", cpu="64", priority=9)]
    nodes = {"metadata": {}, "items": [node_json(name, labels={"zone": "z"}) for name in "ab"]}
    victims = {"b": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 0}}
    about = [{"Nodes": nodes}, {"NodeNames": ["a", "b", "z"]}, {}]
    bodies = {
        "filter": about,
        "prioritize": about,
        "bind": [{"PodName": "w", "PodNamespace": "default", "PodUID": "uid-w", "Node": "a"}],
        "preemption": [
            {"NodeNameToMetaVictims": victims},
            {"NodeNameToVictims": {"b": {"Pods": [pod_json("low")]}}},
        ],
    }
    return [
        f"{verb}\n{json.dumps({'Pod': pod, **body})}".encode()
        for verb, each in bodies.items()
        for body in each
        for pod in pods
    ]


@attrs.frozen
class Entry:
    """An entry point: a function that reads input of its kind, and one that gives good input."""

    read: object
    seeds: object


ENTRY_POINTS = {
    "manifests": Entry(
        _manifests,
        lambda: [*_files("examples/cluster/*.yaml"), *(json.dumps(one).encode() for one in MANIFESTS)],
    ),
    "decisions": Entry(
        _decisions, lambda: [b"\n---\n".join(_files("examples/cluster/*.yaml")), *_files("tests/fuzz/*.yaml")]
    ),
    "policy": Entry(
        lambda content: resolve(RELEASES["1.16"], policy=load_policy(_file(content, "policy.json"))),
        lambda: _files("examples/policies/*.json"),
    ),
    "configuration": Entry(
        lambda content: load_classic(_file(content, "config.yaml")),
        lambda: _files("examples/policies/scheduler-config.yaml"),
    ),
    "profile": Entry(
        lambda content: build_engine(load_configuration(_file(content, "profile.yaml"))),
        lambda: _files("examples/profiles/two-profiles.yaml"),
    ),
    "scenario": Entry(
        lambda content: read_inputs([_file(content, "scenario.yaml")]), lambda: _files("examples/day.yaml")
    ),
    "cases": Entry(_cases, lambda: _lines("cases")),
    "answers": Entry(
        lambda content: list(read_answers(_file(content, "x.answers.jsonl"))), lambda: _lines("answers")
    ),
    "side": Entry(_side, lambda: list(WORDS)),
    "edit": Entry(_edit, lambda: list(EDITS)),
    "table": Entry(
        lambda content: rows.read_table(_file(content, "tasks.csv"), rows.read_map(TRACES / "tasks.yaml")),
        lambda: _files("examples/traces/tasks.csv"),
    ),
    "map": Entry(_map, lambda: _files("examples/traces/tasks.yaml", "examples/traces/hosts.yaml")),
    "sweep": Entry(
        _sweep,
        lambda: [
            json.dumps(
                {
                    "cluster": f"{ROOT}/examples/cluster",
                    "grid": {"release": ["1.16", "1.27"], "order": "shuffled"},
                    "objectives": ["placed", "cpu used"],
                }
            ).encode()
        ],
    ),
    "kubeconfig": Entry(_kubeconfig, _kubeconfigs),
    "requests": Entry(_request, _requests),
}
"""Name -> the entry point."""
TEXTS = ("side", "edit", "table", "requests")
"""Entry points whose input is not YAML."""


@cache
def seeds(entry):
    """Good input for an entry point."""
    return tuple(ENTRY_POINTS[entry].seeds())


# --- changes ------------------------------------------------------------------------------------------------


def changed(entry, seed):
    """Input for an entry point, changed at random by *seed*: its structure, its text, or both."""
    draw = random.Random(seed)
    content = draw.choice(seeds(entry))
    verb, line, body = content.partition(b"\n") if entry == "requests" else (b"", b"", content)
    if draw.random() < 0.6 and (entry == "requests" or entry not in TEXTS):
        documents = json.loads(_parsed(body))
        for _ in range(draw.choice((1, 1, 2, 4))):
            _change_one(documents, draw)
        content = verb + line + b"\n---\n".join(json.dumps(document).encode() for document in documents)
    for _ in range(draw.choice((0, 0, 1, 2, 5))):
        start = draw.randrange(len(content) + 1)
        end = min(len(content), start + draw.choice((0, 1, 1, 3, 20, 300)))
        content = (
            content[:start] + draw.choice((b"", draw.choice(TOKENS), content[start:end] * 2)) + content[end:]
        )
    return gzip.compress(content)[: draw.choice((None, -5))] if draw.random() < 0.02 else content


@cache
def _parsed(content):
    return json.dumps(list(yaml.safe_load_all(content)), default=str)


def _change_one(root, draw):
    """Replace, double or drop one value anywhere below *root*."""
    places = list(_places(root))
    if not places:
        return
    (holder, key), (other, there) = draw.choice(places), draw.choice(places)
    what = draw.random()
    if what < 0.6:
        holder[key] = copy.deepcopy(draw.choice(ODD))
    elif what < 0.75:
        holder[key] = copy.deepcopy(other[there])
    elif what < 0.85 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif what < 0.9 and isinstance(holder, dict):
        holder[str(draw.choice(ODD))] = holder[key]
    else:
        del holder[key]


def _places(value):
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


# --- tries --------------------------------------------------------------------------------------------------


class TooSlow(BaseException):
    """A try took too long."""


def tried(entry, content):
    """The result of *content*: :data:`ANSWER`, :data:`REFUSED`, :data:`SLOW`, or an undocumented error and
    its place."""
    try:
        with _limited():
            ENTRY_POINTS[entry].read(content)
    except KubeclassicError as error:
        text = (
            str(error) if not isinstance(error, PolicyError) else str(error).replace("\n", " ")
        )  # upstream's own text, to the letter
        is_line = text.isprintable() if entry == "manifests" else "\n" not in text
        return (
            REFUSED
            if is_line and len(text) < 5000
            else f"an error of {len(text)} characters or several lines: {text[:80]!r}"
        )
    except TooSlow:
        return SLOW
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:120]} ({Path(last.filename).name}:{last.lineno})"
    return ANSWER


@contextmanager
def _limited():
    def stop(number, frame):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
