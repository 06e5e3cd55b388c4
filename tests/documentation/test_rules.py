"""The pages of rules: each has a formula and an example in which the rule does something."""

import os
import sys
from functools import cache

import pytest
import yaml

from kubeclassic.framework.describe import describe_any
from kubeclassic.framework.releases import ALL_RELEASES
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

from making import examples, rules
from making.markdown import cell, escaped, first_sentence, prose, table, upstream
from making.rulewords import FORMULAS, MissingWordsError

from tests.support.pageblocks import KINDS, blocks_of

RULES = {f"{rule.kind} {rule.name}": rule for rule in rules.all_rules()}
MAKERS = {"predicate": examples.of_predicate, "priority": examples.of_priority, "plugin": examples.of_plugin}
IN_THE_QUEUE = {name for name, cluster in examples.EXAMPLES.items() if cluster == "queue"}


@cache
def pages():
    """The pages of rules by path."""
    return dict(rules.pages())


def test_every_rule_of_every_release_has_a_page():
    """Each predicate, priority and plugin that a release knows has a page, and an entry in the list of its
    kind."""
    described = [describe_any(release) for release in ALL_RELEASES]
    for folder in ("predicates", "priorities", "plugins"):
        known = {name for found in described for name in getattr(found, folder, ())}
        listed = pages()[f"reference/{folder}/index.md"]
        assert [
            name
            for name in known
            if f"reference/{folder}/{name}.md" not in pages() or f"]({name}.md)" not in listed
        ] == []


def test_every_rule_has_a_formula_and_no_other_has():
    """The formulas are those of the rules that there are."""
    missing = sorted({rule.name for rule in RULES.values()} - set(FORMULAS))
    assert missing == [], f"{', '.join(missing)}: add a formula to FORMULAS of docs/making/rulewords.py"
    assert sorted(set(FORMULAS) - {rule.name for rule in RULES.values()}) == []


@pytest.mark.parametrize("made", [examples.of_predicate, examples.of_priority, examples.of_plugin])
def test_what_a_rule_lacks_is_told_in_words(made, monkeypatch):
    """Where a new rule has no formula or no example yet, the error names the table, its file and the
    guide."""
    said = r'^NoSuchRule has no entry in EXAMPLES of docs/making/examples\.py: its page needs one \(CONTRIBUTING\.md, "Add a predicate"'
    with pytest.raises(MissingWordsError, match=said):
        made("NoSuchRule")
    monkeypatch.setattr(rules, "FORMULAS", {})
    with pytest.raises(MissingWordsError, match=r"has no entry in FORMULAS of docs/making/rulewords\.py"):
        list(rules.pages())


@pytest.mark.parametrize("key", [key for key, rule in RULES.items() if rule.kind == "predicate"])
def test_the_example_of_a_predicate_turns_a_node_down(key):
    """In its example each predicate turns down one node at least, and lets one pass."""
    rule = RULES[key]
    example = MAKERS[rule.kind](rule.name)
    if example.is_script:
        verdicts = [line.endswith(" fits") for line in example.printed().splitlines()]
    else:
        nodes = example.explained()["nodes"]
        assert any(rule.name in node["predicates"] for node in nodes)
        verdicts = [node["fits"] for node in nodes]
    assert set(verdicts) == {True, False}


@pytest.mark.parametrize(
    "key", [key for key, rule in RULES.items() if rule.kind == "priority" and rule.name != "EqualPriority"]
)
def test_the_example_of_a_priority_tells_nodes_apart(key):
    """In its example each priority gives two nodes different scores."""
    rule = RULES[key]
    assert len(set(scores(MAKERS[rule.kind](rule.name).explained(), rule.name))) > 1


def scores(found, name):
    """Feasible node -> its score by the rule *name*."""
    for node in found["nodes"]:
        if node["fits"]:
            yield node["scores"][name]["total"]


@pytest.mark.parametrize("key", [key for key, rule in RULES.items() if rule.kind == "plugin"])
def test_the_example_of_a_plugin_shows_what_it_does(key):
    """In its example each plugin turns a node down or tells two apart; those of the queue and of preemption
    are seen in the message."""
    name = RULES[key].name
    example = examples.of_plugin(name)
    if name in IN_THE_QUEUE or example.is_script:
        wanted = {
            "SchedulingGates": "waiting for scheduling",
            "DefaultPreemption": "default/batch   default/held",
            "NodeName": "fits",
        }
        assert wanted.get(name, "default/held   only") in example.printed()
    else:
        found = example.explained()
        scored = {
            node["scores"].get(name, {}).get("total")
            for node in found["nodes"]
            if node["fits"] and node["scores"]
        }
        assert any(not node["fits"] for node in found["nodes"]) or len(scored) > 1


def test_the_blocks_of_the_pages_are_what_they_say():
    """Each block of a made page has a word that tests know, and each file in YAML is one document or more
    with a kind."""
    for path, text in pages().items():
        for block in blocks_of(text):
            assert block.kind in KINDS, path
            if block.kind == "yaml":
                assert all(document["kind"] for document in yaml.safe_load_all(block.text)), path


def test_a_wrong_example_is_an_error():
    """An example whose command cannot run stops the build."""
    with pytest.raises(ValueError, match="status 2"):
        examples.Example({}, "kubeclassic explain nowhere.yaml web", None).printed()


def test_no_progress_is_on_a_page(monkeypatch):
    """However long a command takes, its example has the answer alone."""
    monkeypatch.setenv("KUBECLASSIC_PROGRESS", "1")
    found = []
    monkeypatch.setattr(examples, "run", lambda words: found.append(os.environ["KUBECLASSIC_PROGRESS"]) or 0)
    examples.Example({}, "kubeclassic explain", None).printed()
    assert found == ["0"]


def test_a_docstring_as_prose():
    """References and doubled backticks become code, and what Upstream says is left out."""
    doc = "One ``a``, :class:`~x.y.Z`.\n\n    Two. Upstream: pkg/a.go F."
    assert (prose(doc), upstream(doc), first_sentence(doc)) == (
        "One `a`, `Z`.\n\nTwo.",
        "pkg/a.go F.",
        "One `a`, `Z`.",
    )


def test_what_means_something_is_taken_literally():
    """Characters of Markdown are escaped, but not in code, and a bar does not end a cell."""
    assert escaped("a_b <c> `d_e`") == r"a\_b \<c\> `d_e`"
    assert cell("a | b\nc") == r"a \| b c"
    assert table(["x"], [["1|2"]]).splitlines()[-1] == r"| 1\|2 |"
