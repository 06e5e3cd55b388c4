"""Words that one cannot place: progress, captions, and sentences that do not fit what they are about."""

import json
import re

import pytest

import kubeclassic
from kubeclassic.api.words import short_name, used_up
from kubeclassic.cli import COMMANDS
from kubeclassic.cli.schema import DOCUMENTS
from tests.conftest import CLUSTER, ROOT
from tests.support.program import ran

WITHOUT_INPUT = {
    "conform": "its cases are recorded",
    "policy-migrate": "a configuration as kube-scheduler reads it",
    "releases": "it reads no input",
    "simulate-line": "a line is a decision; warnings are on standard error",
}
"""Documents without warnings, and why."""


def printed(*arguments):
    """The standard output of a command, and then its standard error."""
    return "".join(ran(*arguments))


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_every_document_has_warnings(name):
    """Each JSON that answers about an input has ``warnings``, always, and the schema says so."""
    schema = json.loads(printed("schema", name))
    assert ('"warnings"' in json.dumps(schema)) == (name not in WITHOUT_INPUT)


def test_a_drain_names_whom_it_closes():
    """Where reasons call nodes unschedulable that only the drain closes, that is said."""
    line = "the unschedulable nodes are those that this drain cordons; none is cordoned in the input"
    drained = {"ignore_daemonsets": True, "delete_emptydir_data": True, "force": True}
    found = kubeclassic.drain(str(ROOT / "examples" / "drain" / "cluster.yaml"), auto=True, **drained)
    assert any("unschedulable" in why for why in found.cannot.values())
    assert found.about_reasons == line
    assert (
        kubeclassic.drain(CLUSTER, "general-b1", force=True, delete_emptydir_data=True).about_reasons is None
    )  # one is cordoned there


@pytest.mark.parametrize(
    "resource, said", [("cpu", "cpu has run out"), ("pods", "pods are as many as allowed")]
)
def test_what_runs_out(resource, said):
    """Places for pods do not "has run out"."""
    assert short_name(resource) + used_up(resource) == said


PUZZLES = re.compile(
    r"among the best|held back|passed over|not admitted|\bcycles\b|\blots\b|amongBest|heldBack|passedOver",
    re.IGNORECASE,
)
"""Words that people could not place."""


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_json_has_no_puzzles(name):
    """Each schema has one plain term: equally good, gated, ignored, refused, decisions."""
    assert PUZZLES.findall(printed("schema", name)) == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_has_no_puzzles(name):
    """Nor has the help of any command."""
    assert PUZZLES.findall(printed(name, "--help-all")) == []


@pytest.mark.parametrize(
    "path",
    [path for path in (*ROOT.glob("docs/**/*.md"), ROOT / "README.md") if "lab.md" not in str(path)],
    ids=str,
)
def test_docs_have_no_puzzles(path):
    """Nor has any page."""
    assert PUZZLES.findall(path.read_text()) == []
