"""What users of the Python API stumbled over, one test a point."""

import doctest
import inspect
import json
import re
import sys

import attrs
import pytest

import kubeclassic
from kubeclassic import Cluster, KubeclassicError, Scheduler
from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.cli import run
from kubeclassic.exceptions import RuleWarning, WrongTypeError
from kubeclassic.framework.options import Classic, Framework, options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.rules import CATALOGUE, Batch, Cycle, Reads, Template, priority
from tests.support.build import manifest, node, pod

LONGEST = 400
"""Characters of a repr that fit on a few lines."""


@pytest.fixture
def example(root):
    """The cluster of the examples."""
    return Cluster.load(root / "examples" / "cluster")


def crowd(nodes=300):
    """A large cluster, with pods that wait."""
    return Cluster([*(node(f"n{i}") for i in range(nodes)), *(pod(f"p{i}", cpu=1) for i in range(3))])


# --- 18: what is printed ------------------------------------------------------------------------------------


def field_names(kind):
    """The fields of a class of attrs or msgspec."""
    if attrs.has(kind):
        return [field.name for field in attrs.fields(kind)]
    return list(getattr(kind, "__struct_fields__", ()))


def reachable(start):
    """Everything of the package that hangs on *start*, values of the API apart."""
    seen = set()
    todo = [start]
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, KubeObject | type) or len(seen) > 20_000:
            continue
        seen.add(id(item))
        if type(item).__module__.startswith("kubeclassic.") and not type(item).__module__.startswith(
            "kubeclassic.api.objects"
        ):
            yield item
            todo += [
                getattr(item, name, None) for name in field_names(type(item)) or getattr(item, "__dict__", ())
            ]
        elif isinstance(item, dict):
            todo += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            todo += item


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_no_repr_is_long(release):
    """The repr of a scheduler, of a decision and of all that hangs on them fits on a few lines, on 300 nodes
    too."""
    scheduler = Scheduler(crowd(), release)
    decision = scheduler.schedule("p0")
    long = {
        type(item).__qualname__: len(repr(item))
        for item in (*reachable(decision), *reachable(scheduler))
        if len(repr(item)) > LONGEST
    }
    values = {"KubeSchedulerConfiguration", "ProfileConfig", "Points", "PluginSet"}
    assert {name: length for name, length in long.items() if name not in values} == {}
    assert re.fullmatch(r"<Decision: default/p0 on n0 \((\d+) of \1 nodes visited fit\)>", repr(decision))


def test_notebooks_get_html(example):
    """Clusters, decisions and results have a form for notebooks, by itself and escaped."""
    decision = Scheduler(example, "1.16").explain("analytics/yearly-report")
    shown = [example, decision, kubeclassic.simulate(example), kubeclassic.explain(example, "shop/orders-1")]
    for item in shown:
        text = item._repr_html_()
        assert text.startswith('<div class="kubeclassic"><style>')
        assert "<table" in text
        assert not re.search(r"src=|href=|<script|url\(", text)
    assert "node(s) had taints that the pod didn&#39;t tolerate" in decision._repr_html_()
    odd = manifest("Pod", "a", metadata={"annotations": {"x": "<b>"}}, spec={"schedulerName": "<i>"})
    assert (
        "<i>"
        not in Scheduler(Cluster([node("n"), odd]), Classic(scheduler_name="<i>")).schedule("a")._repr_html_()
    )


@pytest.mark.parametrize("kind", [Classic, Framework])
def test_help_shows_every_option_on_a_line_of_its_own(kind):
    """``help(Classic)`` and ``help(Framework)`` have each option that there is, one a line."""
    told = re.findall(r"^:param (\w+):", inspect.getdoc(kind) or "", flags=re.MULTILINE)
    assert told == list(inspect.signature(kind).parameters)


def test_decisions_come_one_by_one():
    """``decisions`` takes each decision when it is asked for, and ``run`` is the list of them."""
    scheduler = Scheduler(crowd(3))
    coming = scheduler.decisions()
    assert next(coming).host == "n0"
    assert [item.name for item in scheduler.waiting] == ["p1", "p2"]
    scheduler.cluster.delete("node/n1", "node/n2")
    assert [decision.host for decision in coming] == ["n0", "n0"]


@pytest.mark.parametrize("kind", [Pod, "Pod", "pod", "pods", "po"])
def test_objects_are_found_by_kubectls_words(kind, example):
    """An object is found by a class, a kind, its plural or kubectl's short name."""
    assert example.find(kind, "shop/orders-0").key == "shop/orders-0"
    assert example.find("po/shop/orders-0") is example.find(kind, "shop/orders-0")
    with pytest.raises(
        KubeclassicError,
        match=r'^Pod: got "shop/order-0", which the cluster does not have; did you mean "shop/orders-0"',
    ):
        example.find(kind, "shop/order-0")


def test_objects_are_deleted_by_name(example):
    """``delete("node/x")`` deletes, and an unknown kind is refused with near ones."""
    example.delete("node/gpu-b1", manifest("Pod", "orders-0", namespace="shop"))
    assert "gpu-b1" not in [found.name for found in example.nodes]
    with pytest.raises(KubeclassicError, match=r'^kind: expected .*, got "nod"; did you mean'):
        example.delete("nod/general-a1")


def test_frames_need_a_library(monkeypatch, example):
    """Without pandas and polars the error says what to install, and nothing else imports them."""
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        KubeclassicError,
        match=r"^to_frame needs pandas or polars, which is not installed: pip install 'kubeclassic\[frames\]'$",
    ):
        kubeclassic.simulate(example).to_frame()


# --- 20: what the commands do -------------------------------------------------------------------------------


def test_replay_is_one_call(root, tmp_path):
    """``kubeclassic.replay`` has the events that the command writes."""
    path = root / "examples" / "day.yaml"
    file = tmp_path / "events"
    assert run(["replay", str(path), "--release", "1.16", "--seed", "7", "--output", str(file)]) == 0
    wanted = [json.loads(line) for line in file.read_text().splitlines()]
    found = kubeclassic.replay(path, scheduler=Classic(seed=7), series_every="1h")
    assert list(found.events) == [event for event in wanted if event["event"] != "Summary"]
    assert found.record() == {
        name: value for name, value in wanted[-1].items() if name not in ("time", "event")
    }
    assert found.ok
    assert found.series
    events = []
    assert kubeclassic.replay([path], scheduler=Classic(seed=7), on_event=events.append).events == ()
    assert events == list(found.events)


def test_import_openb_is_one_call(tmp_path):
    """``kubeclassic.traces.import_openb`` gives manifests, which are a cluster at once."""
    nodes = tmp_path / "nodes.csv"
    pods = tmp_path / "pods.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8000,0,\n")
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,1000,100,0,0\n")
    found = kubeclassic.traces.import_openb(nodes, pods)
    assert repr(found) == "<ImportResult: nodes 1, pods 1>"
    assert (
        kubeclassic.simulate(found.cluster()).hosts
        == kubeclassic.simulate([found]).hosts
        == {"openb/p1": "n1"}
    )
    assert found.view().verdict == "1 node and 1 pod; resources: cpu, memory."
    with pytest.raises(WrongTypeError, match=r"expected paths, .*; its \.cluster\(\) is a Cluster$"):
        Cluster.load(found)
    found.write(tmp_path / "out.json")
    assert kubeclassic.simulate(tmp_path / "out.json").ok


def test_a_rule_that_asks_for_a_resource_of_no_node():
    """The rule gets zeros, and a warning with the known names; names of nodes' resources are fine, pods or
    not."""
    node = manifest("Node", "n", status={"allocatable": {"cpu": "4", "pods": "9", "x.com/gpu": "1"}})
    asked = ["cpu", "x.com/gpu", "pods"]

    @priority("Own", reads=Reads.NODE)
    def score(pod, nodes, cycle):
        return sum(nodes.allocatable(name) for name in asked) // 1000

    classic = Classic(catalogue=CATALOGUE.with_(score, weight=1))
    pod = manifest("Pod", "p", spec={"containers": [{"name": "c"}]})
    assert kubeclassic.simulate([node, pod], classic).ok
    asked.append("x.com/gpus")
    with pytest.warns(
        RuleWarning,
        match=r'^priority "Own": asks for x.com/gpus, which no node has; there are cpu, x.com/gpu; did',
    ):
        assert kubeclassic.simulate([node, pod], classic).ok


@pytest.mark.parametrize("page", ["docs/python/python.md", "docs/python/rules.md"])
def test_the_pages_for_python_run(page, root, monkeypatch):
    """Everything that the pages for Python show gives what they say."""
    monkeypatch.chdir(root)
    failed, tried = doctest.testfile(str(root / page), module_relative=False)
    assert not failed
    assert tried > 10


def test_the_cheat_sheet_names_what_is_there(root):
    """Each question of the cheat sheet is one that batches, templates and cycles answer."""
    text = (root / "docs" / "python" / "rules.md").read_text()
    kinds = {"nodes": Batch, "pod": Template, "cycle": Cycle}
    asked = {(owner, name) for owner, name in re.findall(r"`(nodes|pod|cycle)\.(\w+)", text)}
    assert len(asked) > 30
    known = {owner: {*dir(kind), *field_names(kind)} for owner, kind in kinds.items()}
    assert [(owner, name) for owner, name in asked if name not in known[owner]] == []
    assert {*re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)} == {read.name for read in Reads} - {
        "EFFECTS"
    }


# --- 17: wrong types ----------------------------------------------------------------------------------------

WRONG = {
    "options": (
        lambda c: Scheduler(c, 1.16),
        'options: expected Classic(...), Framework(...) or a release such as "1.36", got 1.16',
    ),
    "path": (
        lambda c: Scheduler("dump.json"),
        "cluster: expected a Cluster, got 'dump.json' (str); Cluster.load('dump.json')",
    ),
    "list": (
        lambda c: Scheduler([]),
        "cluster: expected a Cluster, got [] (list); Cluster.load(path) or Cluster(objects)",
    ),
    "gates": (
        lambda c: Scheduler(c, Classic(gates=["A"])),
        'gates: expected a dict such as {"EvenPodsSpread": True}, or a text such as "EvenPodsSpread=true", got [\'A\'] (list)',
    ),
    "gate": (
        lambda c: Scheduler(c, Classic(gates={"A": "true"})),
        "gates: A: expected True or False, got 'true' (str)",
    ),
    "gate's name": (
        lambda c: Scheduler(c, Classic(gates={1: True})),
        'gates: expected names such as "EvenPodsSpread", got 1 (int)',
    ),
    "rules": (
        lambda c: Scheduler(c, Classic(rules=[5])),
        "rules: expected places such as FILE.py:NAME, got 5 (int)",
    ),
    "extenders": (
        lambda c: Scheduler(c, Framework(release="1.27", extenders=[5])),
        "extenders: expected a list of extenders, got 5 (int)",
    ),
    "details": (
        lambda c: Scheduler(c).schedule("shop/orders-0", details="no"),
        "details: expected True or False, got 'no' (str)",
    ),
    "rule": (
        lambda c: CATALOGUE.with_(len),
        "rule: expected a predicate or a priority, got <built-in function len>",
    ),
    "weight": (
        lambda c: CATALOGUE.with_(priority("Mine", reads=Reads.NODE)(len), 2.5),
        "weight: expected a whole number, got 2.5 (float)",
    ),
    "file": (
        lambda c: Cluster("a.yaml"),
        "objects: expected a list of objects or manifests, got 'a.yaml' (str); Cluster.load('a.yaml') reads",
    ),
    "files": (
        lambda c: Cluster(["a.yaml"]),
        "object 1: expected an object or its manifest, got 'a.yaml' (str); Cluster.load('a.yaml') reads",
    ),
    "load": (lambda c: Cluster.load(7), "Cluster.load: expected paths, got 7 (int)"),
    "seed": (lambda c: Scheduler(c, Classic(seed="7")), "seed: expected a whole number, got '7' (str)"),
    "flag": (
        lambda c: Scheduler(c, Classic(preemption="no")),
        "preemption: expected True or False, got 'no' (str)",
    ),
    "share": (
        lambda c: Scheduler(c, Classic(percentage_of_nodes_to_score=True)),
        "percentage_of_nodes_to_score: expected a whole number from 0 to 100, got True (bool)",
    ),
    "plugin": (
        lambda c: Scheduler(c, Framework(release="1.27", plugins=[5])),
        "plugins: expected a list of subclasses of Plugin, got 5 (int)",
    ),
    "tie": (
        lambda c: Scheduler(c, Classic(tie_break=5)),
        "tie_break: expected a name or a function, got 5 (int)",
    ),
    "pod": (lambda c: Scheduler(c).schedule(5), "pod: expected a name, a Pod or its manifest, got 5 (int)"),
    "pods": (
        lambda c: Scheduler(c).run("web"),
        "pods: expected several, such as a list, got 'web' (str); schedule() takes one",
    ),
    "cluster": (
        lambda c: kubeclassic.simulate(5),
        "cluster: expected a Cluster, a path, manifests or a list of these, got 5 (int)",
    ),
    "side": (
        lambda c: kubeclassic.compare(c, "1.12", 1.16),
        'b: expected Classic(...), Framework(...) or a release such as "1.36", got 1.16 (float)',
    ),
    "policy": (
        lambda c: kubeclassic.migrate(5),
        "policy: expected a file's path, a Policy or its JSON form, got 5 (int)",
    ),
    "time": (
        lambda c: kubeclassic.replay(c, until="soon"),
        "until: expected seconds, or a duration such as 90s, 1.5h or 2m30s, got 'soon' (str)",
    ),
    "name": (lambda c: c.find("pod", 5), "name: expected the object's name, or namespace/name, got 5 (int)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_types_are_told(what, example):
    """A value of a wrong type gets one line that says what was expected and what came; it is a TypeError
    too."""
    call, message = WRONG[what]
    with pytest.raises(WrongTypeError) as caught:
        call(example)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_unknown_options_are_refused(example):
    """An option that there is not is no longer ignored, and near names are suggested."""
    with pytest.raises(TypeError, match="polcy"):
        Scheduler(example, polcy="p.json")
    with pytest.raises(
        TypeError, match=r'^got an option "polcy", which a scheduler does not have; did you mean "policy"\?$'
    ) as caught:
        options_of({"polcy": "p.json"})
    assert isinstance(caught.value, KubeclassicError)


def test_a_manifest_that_has_its_name_still_to_get():
    """A pod with a ``generateName`` alone is explained, beside others that get theirs from the same."""
    node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}
    pod = {"kind": "Pod", "metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "c"}]}}
    found = kubeclassic.explain([node], pod, pods=[{**pod, "metadata": {"name": "web-1"}}])
    assert (found.document.pod, found.host) == ("default/web-new", "a")
    assert kubeclassic.what_if([node], pod).document.pod == "default/web-new"
