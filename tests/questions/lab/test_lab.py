"""The lab: each state is answered as ``simulate`` answers it, whatever was asked before; and what it saves
says the same."""

import contextlib
import json
import random
import subprocess
import sys

import attrs
import msgspec
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic.api.load import Loaded, load_documents
from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.questions.lab.lab import SearchStopped
from kubeclassic.questions.lab.scenarios import StateRules
from kubeclassic.simulation.input import Observer
from kubeclassic.simulation.simulate import Files
from tests.conftest import ROOT
from tests.support import build
from tests.support.examples import examples
from tests.support.labbuild import MOVES, answered, ask, example_lab, fates, fresh, lab_on, moved, town
from tests.support.manifests import manifest, node, owned_by, pod
from tests.support.program import FIND, MAIN

NODES = st.lists(st.integers(0, 63), min_size=2, max_size=10)
VARIANTS = st.lists(st.integers(0, 63), min_size=1, max_size=12)
REPORT = "analytics/yearly-report"
PODS = manifest(
    "Deployment",
    "added",
    namespace="default",
    apiVersion="apps/v1",
    spec=yaml.safe_load("""
    replicas: 2
    selector:
      matchLabels: {app: added}
    template:
      metadata:
        labels: {app: added}
      spec:
        containers:
        - name: main
          resources:
            requests: {cpu: '1'}
    """),
)


JOB = {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}


@attrs.define
class Ending(Observer):
    """Ends a search after some decisions."""

    left: int
    changes: set = attrs.field(factory=set)
    """The changes that the search had found."""

    def found(self, part):
        self.changes.add(part.change)

    def pause(self):
        self.left -= 1
        if self.left < 0:
            raise SearchStopped


def test_an_edited_pod_goes_with_its_state():
    """A state keeps the manifests of its pods, and no other state those of a pod that is edited in it."""
    lab = town([0], [], [0])
    spec = StateRules(lab.spec, lab.start).spec()
    edited = [replace(lab.start, edits=(f"pod default/new-0 labels.number=a{at}",)) for at in range(3)]
    kept = [len(lab.scenarios.scenario(state, spec).originals) for state in (lab.start, *edited, lab.start)]
    assert kept == [kept[0], *[kept[0] + 1] * 3, kept[0]]


def follow(lab, drawn):
    """After each move the answer is that of a new scheduler; a state that is refused is refused by both."""
    state = lab.start
    for one in drawn:
        after = moved(lab, state, one)
        try:
            found = answered(lab, after)
        except KubeclassicError:
            with pytest.raises(KubeclassicError):
                fresh(lab, after)
            continue
        state = after
        assert found == fresh(lab, state)


# --- Moves --------------------------------------------------------------------------------------------------


@examples(1)
@given(nodes=NODES, placed=VARIANTS, waiting=VARIANTS, drawn=st.lists(MOVES, min_size=1, max_size=6))
def test_any_moves(nodes, placed, waiting, drawn):
    """After each of some random moves and edits every pod is where ``simulate`` puts it, with the same
    reason if that is nowhere."""
    follow(town(nodes, placed, waiting), drawn)


@examples(1)
@given(
    nodes=NODES, placed=VARIANTS, waiting=VARIANTS, ends=st.lists(st.integers(0, 80), min_size=1, max_size=3)
)
@example(nodes=[0, 0], placed=[0, 0], waiting=[8, 0], ends=[80])  # to move a pod that is there helps
def test_searches_that_are_ended(nodes, placed, waiting, ends):
    """Wherever a search for what would help is ended, the next answers are those of a new scheduler; what
    it had found are answers."""
    lab = town(nodes, placed, waiting)
    wanted = fresh(lab, lab.start)
    for number, end in enumerate(ends):
        pod = f"default/new-{number % len(waiting)}"
        ended = Ending(end)
        body = {"question": "explain", "state": lab.start, "options": {"pod": pod, "what_if": True}}
        answer = lab.answer(msgspec.json.encode(body), ended)
        assert "suggestions" not in answer or ended.left >= 0
        every = answer if "suggestions" in answer else ask(lab, "explain", lab.start, pod=pod, what_if=True)
        assert ended.changes <= {one["change"] for one in every["suggestions"]}
        assert answered(lab, lab.start) == wanted


def test_fifty_moves_of_the_example():
    """Fifty random moves and edits, each equal to ``simulate`` with the same rules and edits."""
    draw = random.Random(28)
    follow(example_lab(), [(draw.randrange(14), draw.randrange(1000), draw.randrange(13)) for _ in range(50)])


@pytest.mark.parametrize("release", ["1.12", "1.15", "1.27", "1.34"])
def test_what_is_known_is_used_again(release):
    """The scheduler is used again after an edit, its table after a weight, and no longer after a node has
    gone."""
    lab = example_lab(release)

    def engine_of(state):
        with lab.input(state) as found:
            return found.engine

    first = engine_of(lab.start)
    edited = replace(lab.start, edits=("node general-a1 allocatable.cpu=9",))
    assert engine_of(edited) is first
    weighed = replace(edited, weights={next(iter(StateRules(lab.spec, edited).known.scorers)): 7})
    second = engine_of(weighed)
    assert second is not first
    assert second.table is first.table
    gone = replace(weighed, edits=("delete node general-a1",))
    assert engine_of(gone).table is not first.table
    assert answered(lab, gone) == fresh(lab, gone)


@pytest.mark.parametrize(
    "change", ["conditions=[{type: Ready, status: Unknown}]", "spec={taints: [{key: k, effect: NoSchedule}]}"]
)
def test_nodes_without_pods_of_daemonsets(change):
    """A DaemonSet makes no pod for a node that an edit taints in any way."""
    spec = {name: PODS["spec"][name] for name in ("selector", "template")}
    daemons = manifest("DaemonSet", "added", namespace="default", apiVersion="apps/v1", spec=spec)
    cluster = [daemons, node("a"), node("b")]
    lab = lab_on(Files(load_documents([Document(item, "made") for item in cluster])), release="1.34")
    assert [*answered(lab, replace(lab.start, edits=(f"node b '{change}'",)))] == ["default/added-a"]


def test_what_questions_leave():
    """Evictions, trials of what would help, explanations of placed pods and huge requests leave nothing
    behind."""
    lab = example_lab()
    last = "kube-system/node-agent-gpu-b1"
    state = replace(
        lab.start, order="input", edits=(f"pod {last} priority=2000000 priorityClassName- requests.cpu=7",)
    )
    before = ask(lab, "simulate", state)
    assert before["summary"]["evicted"] == 2
    ask(lab, "explain", state, pod=REPORT, what_if=True)
    ask(lab, "explain", state, pod="kube-system/dns-6955765f44-gq6bp", node="gpu-b1")
    assert answered(lab, replace(state, edits=("pod shop/orders-1 requests.memory=9E",)))
    assert fates(before) == answered(lab, state) == fresh(lab, state)


def test_an_evicted_pod_comes_again_in_its_place():
    """The pods of a node are in the order of the cluster after questions that evicted one before others."""
    there = [build.pod("first", "2", on="a", priority=0), build.pod("second", "1", on="a", priority=5)]
    late = build.pod("late", "3", priority=10)
    lab = lab_on(Files(Loaded((build.node("a", "4"), *there, late))), release="1.15")
    for _ in range(2):  # after the first question each node is looked at
        assert ask(lab, "simulate", lab.start)["summary"]["evicted"] == 1
    with lab.input(lab.start) as found:
        assert [item.name for item in found.engine.pods_on("a")] == ["first", "second"]


def test_a_job_ends_with_its_node():
    """A Job that may not fail makes no pod again when a drain evicts one, as with ``--set``."""
    documents = [
        *(node(name) for name in ("a", "b")),
        pod("w-1", on="a", metadata=owned_by("Job", "w")),
        manifest("Job", "w", namespace="default", apiVersion="batch/v1", spec=JOB),
    ]
    lab = lab_on(Files(load_documents([Document(document, "x") for document in documents])), release="1.36")
    assert answered(lab, replace(lab.start, edits=("drain node a",))) == {}


# --- Rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", list(FRAMEWORK_RELEASES))
def test_what_is_moved_counts(release):
    """Weights, a rule that is off, the weight of affinity and the percentage count as in the saved
    profile; in 1.17 no rule moves."""
    lab = example_lab(release)
    scheduler = {**lab.start.scheduler, "hard_pod_affinity_weight": 50, "percentage_of_nodes_to_score": 60}
    state = replace(
        lab.start,
        scheduler=scheduler,
        weights={"ImageLocality": 50, "TaintToleration": 0},
        switches={"TaintToleration": False},
    )
    rules = StateRules(lab.spec, state)
    profile = next(iter(rules.spec().engine().profiles.values()))
    names = [rule.name for rule in profile.algorithm.predicates]
    assert ("TaintToleration" in names) is (release == "1.17")
    assert ({rule.name: weight for rule, weight in profile.algorithm.priorities}["ImageLocality"] == 50) is (
        release != "1.17"
    )
    version = rules.document()["apiVersion"].rpartition("/")[2]
    assert version == FRAMEWORK_RELEASES[release].configuration.default_version
    assert answered(lab, state) == fresh(lab, state)


@pytest.mark.parametrize("release", ["1.15", "1.21", "1.27"])
def test_rules_can_be_loaded_again(release):
    """The saved Policy or profile, loaded again, gives the same placement."""
    lab = example_lab(release)
    state = replace(
        lab.start, weights=dict.fromkeys(list(StateRules(lab.spec, lab.start).known.scorers)[:3], 9)
    )
    text = ask(lab, "save", state)["lab-rules.json"]
    loaded = {
        key: value
        for key, value in ask(lab, "load", state, text=text, name="saved").items()
        if key != "seconds"
    }
    assert answered(lab, replace(lab.start, scheduler={**lab.start.scheduler, **loaded})) == answered(
        lab, state
    )


def test_another_release_keeps_what_it_knows():
    """Weights of rules that the release has count, others do not; a profile in another version gives way
    to the default one."""
    lab = example_lab()
    state = replace(lab.start, weights={"MostRequestedPriority": 50, "ImageLocality": 7})
    assert ask(lab, "simulate", state)["rules"]["weights"] == {"MostRequestedPriority": 50}
    newer = {
        **lab.start.scheduler,
        "release": "1.20",
        "profile": {"apiVersion": "kubescheduler.config.k8s.io/v1"},
    }
    found = ask(lab, "simulate", replace(state, scheduler=newer))
    assert (found["rules"]["weights"], found["rules"]["reads"]) == ({"ImageLocality": 7}, ["v1beta1"])


def test_a_policy_is_not_dropped_in_silence(tmp_path):
    """1.17 to 1.22 read Policies, which the lab runs up to 1.16 only: it says what makes a profile of
    one."""
    file = tmp_path / "policy.json"
    file.write_text('{"kind": "Policy", "apiVersion": "v1"}')
    with pytest.raises(
        KubeclassicError,
        match=r"release 1\.20 runs a profile in the lab, which `kubeclassic policy migrate` makes",
    ):
        example_lab("1.20", policy=file)


# --- Questions ----------------------------------------------------------------------------------------------


def test_why_and_the_list_say_the_same():
    """The explanation of a placed pod names its node, and for a node that rejects the pod the reason."""
    lab = example_lab()
    found = ask(lab, "simulate", lab.start)
    for one in found["pods"]:
        told = ask(lab, "explain", lab.start, pod=one["pod"])
        assert (told["host"], told["error"]) == (one["host"], one["error"])
    told = ask(lab, "explain", lab.start, pod="shop/cache-wkw9cj5hqm-1", node="gpu-b1")
    assert told["verdict"].startswith(
        "shop/cache-wkw9cj5hqm-1 does not fit on gpu-b1: node(s) had taints that the pod didn't tolerate"
    )


def test_what_helps_does():
    """Each suggestion gives the pod the node that it names, but where it says that another pod takes it."""
    lab = example_lab()
    found = ask(lab, "explain", lab.start, pod=REPORT, what_if=True)
    tried = [
        (one["host"], answered(lab, replace(lab.start, edits=tuple(one["patch"])))[REPORT][0])
        for one in found["suggestions"]
        if one["evictedBy"] is None and "takenBy" not in one
    ]
    assert tried
    assert [host for host, _ in tried] == [host for _, host in tried]


def test_added_pods_and_manifests():
    """A workload that is added waits with its pods; a pod is counted by its manifest; unknown names are
    told in one line."""
    lab = example_lab("1.27")
    state = replace(lab.start, pods=(PODS,))
    names = [pod for pod in answered(lab, state) if pod.startswith("default/added-")]
    assert len(names) == 2
    written = ask(lab, "manifest", state, kind="Pod", name=names[0])["manifest"]
    pod = manifest("Pod", "more", apiVersion="v1", spec=written["spec"])
    assert ask(lab, "capacity", state, pod=pod, pending_first=True, max_limit=5)["fits"] == 5
    for question, options in (("manifest", {"kind": "Node", "name": "nope"}), ("explain", {"pod": "nope"})):
        with pytest.raises(KubeclassicError, match="nope"):
            ask(lab, question, state, **options)


@pytest.mark.parametrize(
    "options", [{"forms": 5}, {"called": "x"}, {"order": "queue"}, {"scheduler": "1.16"}, {"nope": 1}]
)
def test_options_that_a_page_cannot_set(options):
    """Those of Python alone, and those that the state has, are refused."""
    lab = example_lab("1.27")
    for question, about in (("explain", REPORT), ("capacity", {})):
        with pytest.raises(
            KubeclassicError, match=rf'^options: expected pod, .*, got "{next(iter(options))}"$'
        ):
            ask(lab, question, lab.start, pod=about, **options)


def test_only_what_differs_is_sent():
    """A page that follows step by step has the rows of a page that is opened now, and gets only those
    that differ."""
    lab = example_lab("1.27")
    draw = random.Random(5)
    found = ask(lab, "simulate", lab.start)
    page = shown({}, found)
    number = found["cluster"]["number"]
    state = lab.start
    found = ask(lab, "simulate", replace(state, edits=("node general-a1 unschedulable=true",)), number)
    assert [row[:2] for row in found["cluster"]["rows"]] == [["Node", "general-a1"]]
    for _ in range(40):
        with contextlib.suppress(KubeclassicError):
            after = moved(lab, state, (draw.randrange(14), draw.randrange(1000), draw.randrange(13)))
            found = ask(lab, "simulate", after, number)
            state = after
            page = shown(page, found)
            number = found["cluster"]["number"] if found["cluster"] else number
            assert page == shown({}, ask(lab, "simulate", state))


def shown(page, found):
    """The rows that a page has after an answer."""
    cluster = found["cluster"]
    if cluster is None:
        return page
    gone = {(kind, key) for kind, key in cluster["gone"]}
    kept = {key: row for key, row in page.items() if key not in gone} if cluster["since"] else {}
    return kept | {(kind, key): row for kind, key, row in cluster["rows"]}


def test_commands_give_the_same(tmp_path):
    """The saved commands print in a terminal what the lab shows, for a Policy, and for a profile with added
    pods."""
    program = tmp_path / "bin" / "kubeclassic"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{FIND}{MAIN}")
    program.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lab = example_lab()
    first = replace(
        lab.start,
        weights={"MostRequestedPriority": 50},
        order="queue",
        edits=("copy node gpu-b1 x2", "node gpu-b1-2 labels.copied=yes", "drain node general-a1"),
        scheduler={
            **lab.start.scheduler,
            "hard_pod_affinity_weight": 50,
            "seed": 3,
            "tie_break": "random",
            "preemption": False,
        },
    )
    second = replace(
        lab.start,
        pods=(PODS,),
        switches={"NodeResourcesFit": False},
        edits=("pod shop/* requests.cpu=2",),
        scheduler={**lab.start.scheduler, "release": "1.27", "percentage_of_nodes_to_score": 50},
    )
    for state in (first, second):
        text = ask(lab, "save", state)["lab-command.sh"].rstrip() + " -o json"
        path = f"{program.parent}:/usr/bin:/bin"
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": path},
        )
        assert done.returncode in (0, 1), done.stderr
        assert fates(json.loads(done.stdout)) == answered(lab, state)
