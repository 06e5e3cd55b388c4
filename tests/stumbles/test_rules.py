"""A user's own rules and plugins: whatever they do wrong is one line that names them."""

import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import yaml

from kubeclassic import Cluster, Scheduler
from kubeclassic.core.cycle import PriorityError, Reduction
from kubeclassic.core.guard import RuleGuard
from kubeclassic.exceptions import PolicyError, RuleError, UnknownNameError
from kubeclassic.framework.options import Classic, Framework
from kubeclassic.framework.plugin import Code, PreFilterResult, Status, unschedulable, wait
from kubeclassic.framework.userrules import catalogue_of, names_catalogue, plugins_of
from kubeclassic.plugins import Plugin, each_node
from kubeclassic.rules import CATALOGUE, Failures, Reads, Reason, predicate, priority
from tests.support.build import dumped, manifest, node, pod
from tests.support.program import ran

HERE = Path(__file__).name
R = Reads.NODE | Reads.REQUESTS
NO = Reason("no")


def nodes():
    """Three nodes, one of them full."""
    return (node("a"), node("b"), node("c", cpu="1"), pod("there", on="b", cpu=1), pod("p", cpu=1))


def error_of(*rules):
    """The line about the rule, of the classic release."""
    catalogue = CATALOGUE
    for rule in rules:
        catalogue = catalogue.with_(rule)
    with pytest.raises(RuleError) as caught:
        Scheduler(Cluster(nodes()), Classic(release="1.16", catalogue=catalogue)).schedule("p")
    return caught.value.text


def error_of_plugin(kind):
    """The error that a plugin causes."""
    with pytest.raises(RuleError) as caught:
        Scheduler(Cluster(nodes()), Framework(release="1.27", plugins=[kind])).schedule("p")
    return caught.value.text


def plugin(**methods):
    """A plugin called Mine with these methods."""
    return type("Mine", (Plugin,), {"name": "Mine", **methods})


def raising(error):
    """A rule that raises, on a line of this file."""

    def rule(*arguments):
        raise error

    return rule


def answering(answer):
    """A rule that answers so, whatever it is asked."""
    return lambda *arguments: answer(*arguments) if callable(answer) else answer


def zeros(pod, nodes, cycle):
    """Scores of 0."""
    return np.zeros(nodes.n, np.int64)


# --- Predicates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer, told",
    [
        (True, "expected Failures or None, got True"),
        ([NO], "expected Failures or None"),
        (
            lambda pod, nodes, cycle: Failures.where("full", nodes.has_node),
            "or a tuple of such, got the reason 'full'",
        ),
        (
            lambda pod, nodes, cycle: Failures.where([NO], nodes.has_node),
            "expected a Reason, or a tuple of such",
        ),
        (
            lambda pod, nodes, cycle: Failures.where(Reason(5), nodes.has_node),
            "expected a Reason with a text, got a Reason of 5",
        ),
        (
            lambda pod, nodes, cycle: Failures.where(NO, nodes.pod_count),
            "expected bool[3], got a mask of int64[3]",
        ),
        (
            lambda pod, nodes, cycle: Failures.where(NO, np.ones(2, bool)),
            "expected bool[3], got a mask of bool[2]",
        ),
        (
            lambda pod, nodes, cycle: Failures.of_rows([None, (NO,)]),
            "expected one answer for each of 3 nodes, got Failures of 2 nodes",
        ),
        (
            lambda pod, nodes, cycle: Failures.of_rows([NO] * nodes.n),
            "expected a tuple of Reasons, got the reason Reason(text='no'",
        ),
        (
            lambda pod, nodes, cycle: Failures.coded(np.ones(nodes.n, int), [NO]),
            "expected a tuple of Reasons, got the reason Reason(text='no'",
        ),
    ],
)
def test_wrong_answers_of_predicates(answer, told):
    """A predicate's answer of another kind, shape or type is told with what is wanted, and with where the
    predicate is."""
    text = error_of(predicate("Mine", reads=R)(answering(answer)))
    assert text.startswith('predicate "Mine" (')
    assert f"{HERE}, line " in text
    assert told in text


@pytest.mark.parametrize("answer", [True, 5, "N", 0.5])
def test_one_node_for_predicates(answer):
    """A predicate that looks at one node answers None, reasons, or a text; the line has the node."""
    rule = predicate.each_node("Mine")(answering([answer] if answer == "N" else answer))
    assert "expected None, a tuple of Reasons, or a text for an error, got " in error_of(rule)


def test_later_changes_of_the_cluster_do_not_change_an_answer():
    """A mask that is an array of the nodes themselves is copied."""
    rule = CATALOGUE.with_(
        predicate("Mine", reads=R)(lambda pod, nodes, cycle: Failures.where(NO, nodes.has_node))
    )
    cluster = Cluster(nodes())
    decision = Scheduler(cluster, Classic(release="1.16", catalogue=rule)).schedule("p")
    cluster.delete(cluster.nodes[0])
    assert decision.failed == {name: ["no"] for name in "abc"}


@pytest.mark.parametrize(
    "answer, told",
    [
        (
            lambda pod, nodes, cycle: np.full(nodes.n, np.nan),
            "expected whole numbers, int64[3], got float64[3]",
        ),
        (lambda pod, nodes, cycle: np.full(nodes.n, 1.5), "expected whole numbers, int64[3], got float64[3]"),
        (lambda pod, nodes, cycle: np.zeros(2, np.int64), "expected whole numbers, int64[3], got int64[2]"),
        (
            lambda pod, nodes, cycle: np.zeros((3, 1), np.int64),
            "expected whole numbers, int64[3], got int64[3, 1]",
        ),
        ([1, 2, 3], "expected whole numbers, int64[3], got [1, 2, 3]"),
        (None, "expected whole numbers, int64[3], got None"),
    ],
)
def test_wrong_answers(answer, told):
    """Scores of another type or shape are told; so are those of a reduce step."""
    assert told in error_of(priority("Mine", reads=R)(answering(answer)))
    zeros = answering(lambda pod, nodes, cycle: np.zeros(nodes.n, np.int64))
    reduce = answering(
        lambda pod, raw, nodes, cycle: answer(pod, nodes, cycle) if callable(answer) else answer
    )
    text = error_of(priority("Mine", reads=R, reduce=reduce)(zeros))
    assert told in text
    assert 'priority "Mine": reduce (' in text


@pytest.mark.parametrize("answer", [1.5, float("nan"), None, "5", 2**63])
def test_one_node(answer):
    """A score of one node is a whole number: 1.5 is no 1."""
    text = error_of(priority.each_node("Mine")(answering(answer)))
    assert f'expected a whole number of 64 bits, got {answer!r} for node "a"' in text


# --- What is raised -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error, told",
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (SystemExit(3), "expected an answer, got a call of sys.exit"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (ValueError("x" * 10_000), "ValueError: xxx"),
    ],
)
def test_everything_is_one_line(error, told):
    """An exception of a rule, sys.exit too, is reported with the rule's name, file and line, and only the
    user's frames."""
    makers = [
        lambda: error_of(predicate("Mine", reads=R)(raising(error))),
        lambda: error_of(predicate.each_node("Mine")(raising(error))),
        lambda: error_of(priority("Mine", reads=R)(raising(error))),
        lambda: error_of(priority.each_node("Mine")(raising(error))),
        lambda: error_of(predicate("Mine", reads=R, concerns=raising(error))(answering(None))),
        lambda: error_of(predicate("Mine", reads=R | Reads.DOMAIN, clauses=raising(error))(answering(None))),
        lambda: error_of(priority("Mine", reads=R | Reads.DOMAIN, sums=raising(error))(answering(zeros))),
        lambda: error_of_plugin(plugin(filter=raising(error))),
        lambda: error_of_plugin(plugin(score=raising(error))),
        lambda: error_of_plugin(plugin(__init__=raising(error), score=raising(error))),
    ]
    line = raising.__code__.co_firstlineno + 4
    for make in makers:
        text = make()
        assert f"{HERE}, line {line}): {told}" in text
        assert len(text) < 700


def test_what_is_declared_is_of_its_kind():
    """Clauses and sums of another kind are named with what is wanted."""
    wrong = predicate("Mine", reads=R | Reads.DOMAIN, clauses=answering(["rack"]))(answering(None))
    assert "a list of Clauses, or None" in error_of(wrong)
    assert "Sums, or None" in error_of(
        priority("Mine", reads=R | Reads.DOMAIN, sums=answering([1]))(answering(zeros))
    )


def test_the_frames():
    """The frames of the error are those of the user's own files, and what was raised is its cause."""
    rule = priority("Mine", reads=R, reduce=Reduction(raising(KeyError("rack"))))
    scored = rule(answering(zeros))
    with pytest.raises(RuleError) as caught:
        Scheduler(Cluster(nodes()), Classic(release="1.16", catalogue=CATALOGUE.with_(scored))).schedule("p")
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.frames.count("File ") == 1
    assert f'{HERE}", line' in caught.value.frames


def test_the_user_can_stop():
    """Ctrl-C passes through a rule."""
    rule = CATALOGUE.with_(priority("Mine", reads=R)(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        Scheduler(Cluster(nodes()), Classic(release="1.16", catalogue=rule)).schedule("p")


def test_a_rule_may_end_the_cycle():
    """The error by which a priority ends the cycle is the cycle's, as before."""
    rule = CATALOGUE.with_(priority("Mine", reads=R)(raising(PriorityError("no rack", once=True))))
    assert (
        Scheduler(Cluster(nodes()), Classic(release="1.16", catalogue=rule)).schedule("p").error == "no rack"
    )


@pytest.mark.parametrize("answer", [0, (3, True), (-1, True), ("x", True), (0, None), (0,), None])
def test_wrong_answers_of_tie_breaks(answer):
    """A tie-break gives the place of one of the best nodes, and whether the counter moves."""
    options = Classic(release="1.16", tie_break=answering(answer))
    with pytest.raises(
        RuleError, match=r"^tie_break \(.*\): expected a number below \d, and True or False, got "
    ):
        Scheduler(Cluster(nodes()), options).schedule("p")


# --- What is written to -------------------------------------------------------------------------------------


def uses_up(pod, nodes, cycle):
    """Scores computed in the array of another rule."""
    free = nodes.allocatable("cpu")
    free -= nodes.requested("cpu")
    return free // 1000


@pytest.mark.parametrize(
    "change",
    [
        uses_up,
        lambda pod, nodes, cycle: nodes.pod_count.fill(0),
        lambda pod, nodes, cycle: nodes.has_node.fill(False),
        lambda pod, nodes, cycle: nodes.label("kubernetes.io/hostname").codes.fill(0),
        lambda pod, nodes, cycle: nodes.some(np.arange(2)).requested("cpu").fill(0),
        lambda pod, nodes, cycle: nodes.image("x")[0].fill(1),
    ],
)
def test_the_cluster_is_not_written_to(change):
    """A rule that computes in an array of the nodes is told so; the cluster stays as it was."""
    told = error_of(priority("Mine", reads=R)(change))
    assert "is read-only; others read the array too: compute a new one" in told


def test_a_reduce_step_writes_to_no_scores():
    """Scores that a reduce step gets are kept for the next pod."""

    def reduce(pod, raw, *rest):
        raw *= 2
        return raw

    assert "read-only" in error_of(priority("Mine", reads=R, reduce=reduce)(zeros))


def test_new_arrays_are_the_rule_s_own():
    """What a rule asks for as new it may fill."""

    @predicate("NoA", reads=Reads.NODE)
    def no_a(pod, nodes, cycle):
        mask = nodes.none()
        mask |= nodes.named("a")
        return Failures.where(NO, mask & nodes.every())

    catalogue = CATALOGUE.with_(no_a)
    decision = Scheduler(Cluster(nodes()), Classic(release="1.16", catalogue=catalogue)).explain("p")
    assert decision.failed["a"] == ["no"]


# --- Plugins ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "methods, told",
    [
        ({"filter": answering(True)}, 'plugin "Mine": filter'),
        ({"filter": answering(True)}, "expected Failures or None, got True"),
        ({"filter": each_node(lambda self, pod, node, cycle: True)}, "expected a Status or None"),
        ({"score": answering(5)}, "expected whole numbers, int64[3], got 5"),
        ({"pre_filter": answering("no")}, "expected a PreFilterResult, a Status or None, got 'no'"),
        (
            {"pre_filter": answering(PreFilterResult(["a"]))},
            "expected a set of names, got a PreFilterResult of ['a']",
        ),
        (
            {"pre_filter": answering(Status(Code.UNSCHEDULABLE, "no"))},
            "expected a tuple of texts, got a Status with the reasons 'no'",
        ),
        ({"pre_score": answering(0), "score": answering(0)}, "pre_score"),
        ({"reserve": answering(True), "unreserve": answering(None)}, "expected a Status or None, got True"),
        ({"permit": answering(())}, "expected a Status or None, got ()"),
        (
            {"permit": answering(wait(timeout="30s"))},
            "expected a number of seconds, got a Status with the timeout '30s'",
        ),
        ({"permit": answering(wait(timeout=float("nan")))}, "expected a number of seconds"),
        ({"filter": answering(None), "filter_reads": "NODE"}, "filter_reads: expected Reads such as"),
        ({"score": zeros, "score_reads": 5}, "score_reads: expected Reads such as Reads.NODE, got 5"),
        ({"pre_bind": raising(OSError("no disk"))}, "OSError: no disk"),
        ({"pre_enqueue": answering(False)}, "expected a Status or None, got False"),
        (
            {"filter": answering(None), "filter_reads": R, "filter_key": answering([])},
            "expected a hashable value",
        ),
        ({"filter": answering(None), "concerns": answering("yes")}, "expected True or False, got 'yes'"),
        ({"filter": answering(None), "__init__": lambda self: None}, "TypeError"),
    ],
)
def test_wrong_answers_of_plugins(methods, told):
    """Each method of a plugin answers what its extension point wants."""
    assert told in error_of_plugin(plugin(**methods))


def test_without_unreserve():
    """A plugin that reserves need not undo it."""
    kind = plugin(reserve=answering(None), permit=answering(unschedulable("closed")))
    decision = Scheduler(Cluster(nodes()), Framework(release="1.27", plugins=[kind])).schedule("p")
    assert decision.error == "closed"


@pytest.mark.parametrize(
    "method, near",
    [
        ("filtr", "filter"),
        ("pre_filter_", "pre_filter"),
        ("Pre_Filter", "pre_filter"),
        ("normalise_score", "normalize_score"),
        ("scores", "score"),
    ],
)
def test_a_method_that_is_no_extension_point(method, near):
    """A method that is called almost like an extension point is refused when the plugin is registered,
    with the nearest name."""
    kind = plugin(**{method: answering(None), "reserve": answering(None), "unreserve": answering(None)})
    with pytest.raises(
        PolicyError,
        match=f'plugin "Mine": got a method {method}, which is no extension point; did you mean "{near}"',
    ):
        Scheduler(Cluster(nodes()), Framework(release="1.27", plugins=[kind]))


class Kept(Plugin):
    """A plugin in a module, so that it can be pickled."""

    name = "Kept"
    asked: ClassVar = []

    def pre_enqueue(self, pod):
        """Nothing against it."""
        self.asked.append(pod.name)


def test_upstreams_rules_run_bare():
    """No guard stands around any rule of upstream's."""
    algorithm = Scheduler(Cluster(nodes()), "1.16").algorithm
    profile = Scheduler(Cluster(nodes()), Framework(release="1.27", plugins=[Kept])).profiles[
        "default-scheduler"
    ]
    rules = [*algorithm.predicates, *(rule for rule, _ in algorithm.priorities)]
    rules += [*profile.algorithm.predicates, *(rule for rule, _ in profile.algorithm.priorities)]
    assert not [
        rule.name
        for rule in rules
        if isinstance(getattr(rule, "check", None) or getattr(rule, "score", None), RuleGuard)
    ]
    guarded = [
        made.name
        for made in profile.plugins().values()
        if any(isinstance(value, RuleGuard) for value in vars(made).values())
    ]
    assert guarded == ["Kept"]


RULES = """
from kubeclassic.plugins import Plugin
from kubeclassic.rules import CATALOGUE, Reads, priority

@priority("Odd", reads=Reads.NODE)
def odd(pod, nodes, cycle):
    rack = {}
    return rack["no such rack"]

MINE = CATALOGUE.with_(odd)

class Quitter(Plugin):
    name = "Quitter"

    def filter(self, pod, nodes, cycle):
        raise SystemExit(0)
"""


@pytest.mark.parametrize(
    "arguments, told",
    [
        (
            ["--rules", "faulty_rules:MINE"],
            "priority \"Odd\" (faulty_rules.py, line 8): KeyError: 'no such rack'",
        ),
        (
            ["--release", "1.27", "--rules", "faulty_rules:Quitter"],
            'plugin "Quitter": filter (faulty_rules.py, line 16): expected',
        ),
    ],
)
@pytest.mark.parametrize("command", [["simulate"], ["explain"]])
def test_a_faulty_rule_is_bad_input(command, arguments, told, workdir, monkeypatch):
    """The command line ends with 2 and one line, which has the rule's name, its file and line."""
    monkeypatch.setattr(sys, "path", [str(workdir), *sys.path])
    (workdir / "faulty_rules.py").write_text(RULES)
    items = [manifest("Node", n, status={"allocatable": {"cpu": "4", "pods": "9"}}) for n in "ab"]
    waiting = manifest("Pod", "p", spec=yaml.safe_load("{containers: [{name: c, image: i}]}"))
    (workdir / "cluster.json").write_text(dumped([*items, waiting]))
    monkeypatch.delitem(sys.modules, "faulty_rules", raising=False)
    error = ran(
        *command, "cluster.json", *(["p"] if command == ["explain"] else []), *arguments, status=2
    ).err
    assert error.startswith(f"kubeclassic: {told}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "line, told",
    [
        (
            "MINE = CATALOGUE.with_(len)",
            "rule: expected a predicate or a priority, got <built-in function len>",
        ),
        (
            "MINE = CATALOGUE.with_(priority('Odd', reads=Reads.NODE)(len), '3')",
            "weight: expected a whole number",
        ),
        ("MINE = priority('Odd', reads=1)(len)", "TypeError: "),
        ("MINE = 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_the_line_of_a_fault(line, told, tmp_path):
    """A fault in a file of rules is told with the line of that file, even where it is found in ours."""
    file = tmp_path / "faulty_lines.py"
    file.write_text(f"from kubeclassic.rules import CATALOGUE, Reads, priority\n{line}\n")
    with pytest.raises(RuleError) as caught:
        catalogue_of([f"{file}:MINE"])
    assert caught.value.text.startswith(f'--rules: got "{file}:MINE": {told}')
    assert caught.value.text.endswith(f"({file}, line 2)")


@pytest.mark.parametrize("names", [catalogue_of, plugins_of, names_catalogue])
def test_a_name_that_a_file_lacks(names, tmp_path):
    """It is said whatever the release, with similar names."""
    file = tmp_path / "named_rules.py"
    file.write_text(RULES)
    with pytest.raises(UnknownNameError, match=r"but .*named_rules\.py has no NOPE$"):
        names([f"{file}:NOPE"])
