"""Files that once ended in a traceback, hung, or gave away what they should not: each is answered or refused
in one line."""

import json

import pytest

import kubeclassic
from kubeclassic.api.load import load
from kubeclassic.exceptions import KubeclassicError
from tests.conftest import CLUSTER, ROOT
from tests.support.manifests import dumped, manifest
from tests.support.program import ran
from tests.support.refusals import refusal_text

CORPUS = ROOT / "tests/fuzz/corpus"


def refused(words):
    """The line with which a command is refused."""
    captured = ran(*words, status=2)
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    return captured.err


@pytest.mark.parametrize("name", ["rules-baseexception", "rules-generatorexit"])
def test_rules_that_are_no_exception(name):
    """A module of rules that raises what is no Exception is refused with its file and line."""
    line = refused(["simulate", CLUSTER, "--rules", f"{CORPUS / name}.py:A"])
    assert f"{name}.py, line " in line


def test_a_scenario_reads_its_own_folder(tmp_path):
    """A template outside of the folder of its scenario is not read, neither by its path nor by a link, and
    not told of."""
    assert "expected a file below the folder of the scenario" in refused(
        ["replay", str(CORPUS / "scenario-reads-file.yaml")]
    )
    (tmp_path / "secret.yaml").write_text("secret: 5\n")
    folder = tmp_path / "scenario"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    for path in ("../secret.yaml", "link.yaml", str(tmp_path / "secret.yaml"), "x\0"):
        step = {"opcode": "createNodes", "count": 1, "nodeTemplatePath": path}
        (folder / "day.yaml").write_text(json.dumps([step]))
        line = refused(["replay", str(folder / "day.yaml")])
        assert "below the folder of the scenario" in line
        assert "secret: 5" not in line


def test_many_generated_names(tmp_path):
    """Objects with one generateName get numbers in their order, past those that are taken, in no more steps
    than there are objects."""
    pods = [{"kind": "Pod", "metadata": {"generateName": "c-"}} for _ in range(20_000)]
    pods.insert(1, manifest("Pod", "c-3"))
    pods.append({"kind": "Pod", "metadata": {"generateName": "c-", "namespace": "other"}})
    (tmp_path / "pods.json").write_text(dumped(pods))
    names = [item.metadata.name for item in load(tmp_path / "pods.json").objects]
    assert names[:5] == ["c-1", "c-3", "c-2", "c-4", "c-5"]
    assert names[-2:] == ["c-20001", "c-1"]


LONG = "x" * 5000


LONG_POLICY = {"cluster": CLUSTER, "runs": [{"name": "a", "policy": LONG}]}


@pytest.mark.parametrize("given", [None, 5, [["x"]], {"cluster": LONG}, LONG, LONG_POLICY])
def test_sweeps_of_other_values(given):
    """A file that is no sweep is refused in one line."""
    assert len(refusal_text(KubeclassicError, kubeclassic.sweep, given)) < 5000


def test_long_and_odd_paths():
    """A path of thousands of characters is told shortened; one with half a character has no NUL."""
    assert len(refused(["drain", "x" * 5000])) < 1500
    assert "a character of a name that the locale's encoding" in refused(["simulate", "\udc80x\ud800"])
    with pytest.raises(KubeclassicError, match="a character that no name of a file has"):
        load("x\ud800")


@pytest.mark.parametrize("words, warns", [([], True), (["--until", "5s"], False)])
def test_a_scenario_that_may_never_end(words, warns, tmp_path):
    """Churn beside a pod that may never fit is told of at the start, unless something ends it."""
    text = (CORPUS / "scenario-never-ends.yaml").read_text()
    (tmp_path / "day.yaml").write_text(text if words else text.replace('"9999"', '"1"'))
    assert (
        "--until ends it"
        in ran("replay", tmp_path / "day.yaml", *words, "--output", tmp_path / "events", status=(0, 1)).err
    ) is warns
