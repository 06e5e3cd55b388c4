"""Every code block of the documentation: commands print what the pages say, Python runs, files are read."""

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

import kubeclassic
from kubeclassic.algorithmprovider.policy import read_policy, unknown_keys
from kubeclassic.api.reading.documents import Document
from kubeclassic.cli import cli
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.questions.replay.inputs import read_operations
from kubeclassic.questions.sweep.spec import read_spec
from tests.conftest import ROOT
from tests.support.consoleblocks import WIDTH, examples_of
from tests.support.pageblocks import KINDS, blocks_of, commands_of, files_of

DOCS = ROOT / "docs"
TEXTS = {page.relative_to(DOCS).as_posix(): page.read_text() for page in sorted(DOCS.glob("**/*.md"))}
PAGES = {name: list(examples_of(text)) for name, text in TEXTS.items()}
README = (ROOT / "README.md").read_text()
PYTHON_ELSEWHERE = {
    "python/python.md": "stumbles/test_python.py",
    "python/rules.md": "stumbles/test_python.py",
    "python/first.md": "test_readme.py",
}
"""Pages whose Python another test runs."""


@pytest.fixture
def folder(workdir, monkeypatch):
    """A folder with the examples and the conformance cases, in which the commands of a page run."""
    for name in ("examples", "tests"):
        (workdir / name).symlink_to(ROOT / name)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: {0}, raising=False
    )  # a page's cluster is smaller than more processes
    return workdir


@pytest.mark.parametrize("page", [name for name, examples in PAGES.items() if examples])
def test_the_examples_of_a_page_run(page, folder):
    """Each command of a page, one after the other, ends with 0 or 1 and prints what the page says."""
    for name, text in files_of(TEXTS[page]).items():
        (folder / name).write_text(text)
    for example in PAGES[page]:
        status, text = example.run()
        assert status in (0, 1), (example.command, text)
        assert example.fits(text), (example.command, text)


def test_there_are_examples():
    """The pages about questions have examples, and those with a test of their own are there."""
    assert all(PAGES[page] for page in TEXTS if page.startswith("guides/"))
    assert all(page in TEXTS and (ROOT / "tests" / test).is_file() for page, test in PYTHON_ELSEWHERE.items())


def test_the_python_of_other_pages_runs(folder):
    """The Python of each page that no other test runs gives what it says."""
    for page in TEXTS.keys() - PYTHON_ELSEWHERE.keys():
        texts = [block.text for block in blocks_of(TEXTS[page]) if block.kind == "python"]
        example = doctest.DocTestParser().get_doctest("\n".join(texts), {}, page, page, 0)
        assert bool(example.examples) is bool(texts)
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


YAML = [(page, block) for page, text in TEXTS.items() for block in blocks_of(text) if block.kind == "yaml"]


@pytest.mark.parametrize("page, block", YAML, ids=[f"{page}:{block.title}" for page, block in YAML])
def test_a_file_is_read(page, block, tmp_path, monkeypatch):
    """Each file that a page shows is one that its reader takes, without a warning."""
    monkeypatch.chdir(ROOT / "examples")
    read_file(block.text, tmp_path)


def read_file(text, folder):
    """Read *text* as what it is: a Policy, a configuration, a sweep, a scenario or manifests; raise an error
    for what nobody reads."""
    documents = list(yaml.safe_load_all(text))
    if isinstance(documents[0], list):
        assert list(read_operations((Document(step, "step") for step in documents[0]), folder))
        return
    kind = documents[0].get("kind")
    if kind == "Policy":
        read_policy(documents[0])
        assert list(unknown_keys(documents[0])) == []
    elif kind == "KubeSchedulerConfiguration":
        read_configuration(documents[0])
    elif kind is None:
        read_spec({"cluster": "cluster", **documents[0]})
    else:
        path = folder / "manifests.yaml"
        path.write_text(text)
        assert kubeclassic.Cluster.load(path, strict_fields=True).objects


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if commands_of(text)])
def test_commands_name_what_is_there(page):
    """Each command that no test can run as it stands is one of ours, with options that it has."""
    for line in commands_of(TEXTS[page]):
        words = shlex.split(line.rpartition("&&")[2])
        if Path(words[0]).name == "kubeclassic":
            command, given = named(words[1:])
            known = {option for parameter in command.params for option in parameter.opts}
            assert [
                word for word in given if re.fullmatch(r"--?[a-z][\w-]*", word) and word not in known
            ] == [], line


def named(words):
    """The command that the first words name, and the others."""
    command = cli
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]  # type: ignore[attr-defined]  # a group has them
    assert command is not cli, words
    return command, words


def test_one_line_dumps_a_cluster():
    """The line for kubectl is the same on every page, and that of README."""
    lines = {
        line
        for text in (*TEXTS.values(), README)
        for line in commands_of(text)
        if line.startswith("kubectl ")
    }
    assert len(lines) == 1


@pytest.mark.parametrize("page", TEXTS)
def test_each_block_says_what_it_is(page):
    """The word of each block is one that tests know."""
    assert {block.kind for block in blocks_of(TEXTS[page])} <= set(KINDS)
