"""README's commands do what it says, it is short, and no example warns of itself."""

import re
import shlex

import pytest

from tests.conftest import ROOT
from tests.support.consoleblocks import WIDTH, examples_of
from tests.support.pageblocks import blocks_of, commands_of
from tests.support.program import ran

README = (ROOT / "README.md").read_text()
MOST_LINES = 120


def blocks(heading):
    """The code blocks without a word under a heading of README: commands to type."""
    section = re.split(r"^## ", README, flags=re.MULTILINE)
    found = next(part for part in section if part.startswith(heading + "\n"))
    return [block.text.strip("\n") for block in blocks_of(found) if not block.kind]


COMMANDS = [line for block in blocks("Use it") for line in block.splitlines()]
SOME_UNSCHEDULABLE = 1


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_runs(line, at_the_root):
    """Each command of "Use it" runs at the root, with status 1 where an example's unschedulable pod takes
    part unaided."""
    program, *arguments = shlex.split(line)
    assert program == "kubeclassic"
    answered = {"shop/orders-1", "capacity", "--what-if"} & set(arguments)
    placed = {"examples/cluster", "upgrade"}.isdisjoint(arguments) or answered
    assert ran(*arguments, status=0 if placed else SOME_UNSCHEDULABLE).out


def test_the_commands_for_live_clusters_are_run_elsewhere():
    """Each command for a live cluster is one of docs/live/beside.md, which ``tests/live/test_pages.py``
    runs."""
    lines = [line for line in commands_of(README) if line.startswith("kubeclassic ")]
    assert len(lines) == 2
    assert set(lines) <= set(commands_of((ROOT / "docs" / "live" / "beside.md").read_text()))


def test_it_opens_with_what_it_is_for(monkeypatch, at_the_root):
    """The first thing on the page is a pod that waits and what would help it; the command prints just
    that."""
    monkeypatch.setenv("COLUMNS", WIDTH)
    opening = README.partition("\n## ")[0]
    (example,) = examples_of(opening)
    assert (
        opening.index("kubectl get -o json") < opening.index(example.command) < opening.index("1.12 to 1.36")
    )
    status, text = example.run()
    assert status == 0
    assert example.fits(text), text


def test_it_leads_to_five_pages():
    """The index of the documentation begins with the same five pages as the end of README, and so does the
    page of first steps."""
    begin = "five pages are enough to begin"
    five = re.findall(r"\]\(docs/([^)]+)\)", README.partition(begin)[2].partition(".\n")[0])
    assert len(five) == 5
    index, start = ((ROOT / "docs" / name).read_text() for name in ("index.md", "start.md"))
    rows = re.findall(
        r"^\| [^|]+ \| \[[^]]+\]\(([^)]+)\) \|$", index.partition("## Where to begin")[2], flags=re.MULTILINE
    )
    assert rows == five
    assert (
        re.findall(r"^\* .*\]\(([^)]+)\)", start.partition("## Where to go on")[2], flags=re.MULTILINE)
        == five[1:]
    )


@pytest.mark.parametrize("heading", ["Try it", "Test it"])
def test_the_first_commands_are_one_line(heading):
    """The commands that do all the set-up are one line each, and make their own environment."""
    (block,) = blocks(heading)
    assert len(block.splitlines()) == 1
    assert block.startswith("python3 -m venv .venv && ")


def run_python(text):
    """Run the Python blocks of a page, one after the other."""
    program = "\n".join(block.text for block in blocks_of(text) if block.kind == "python")
    exec(compile(program, "page", "exec"), {"__name__": "page"})


def test_its_python_runs(at_the_root, capsys):
    """The Python code runs at the repository's root."""
    run_python(README)
    assert re.fullmatch(r"database-\w\d\n", capsys.readouterr().out)


def test_the_first_steps_in_python_run(at_the_root, capsys):
    """The first steps in Python, block after block, run at the repository's root, and a rule of one's own has
    its say."""
    run_python((ROOT / "docs" / "python" / "first.md").read_text())
    first, failed, totals, *others, explained, plugin = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"database-\w\d \d+", first)
    assert failed == """["node(s) had taints that the pod didn't tolerate"]"""
    assert re.fullmatch(r"\[\d+( \d+)+\]", totals)
    assert len(others) == 21
    assert sum("0/11 nodes are available: " in line for line in others) == 1
    assert "'database-b1': ['node(s) were in a zone that is worked on']" in explained
    assert plugin == "NodeResourcesFit"


def test_links_lead_somewhere():
    """Every relative link of README leads to a file or folder that is there."""
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


CLASSIC = ("examples/classic/cluster.yaml", "--policy", "examples/classic/policy.json")


@pytest.mark.parametrize(
    "cluster",
    [("examples/cluster",), CLASSIC, ("examples/drain/cluster.yaml",), ("examples/gang/cluster.yaml",)],
)
@pytest.mark.parametrize(
    "question", ["simulate", "capacity --pod examples/capacity/small-pod.yaml", "drain --auto"]
)
def test_no_example_warns_of_itself(question, cluster, at_the_root):
    """Each example is a cluster of its release: nothing in it is missing, or unknown there."""
    command, *options = question.split()
    assert "warning" not in ran(command, *cluster, *options, status=(0, 1)).err


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_developers_pages_name_what_is_there(name):
    """Each path to a file that these pages name, made-up ones apart, leads to one."""
    paths = re.findall(r"`((?:[a-z]+|\.ci)/[\w./-]+)`", (ROOT / name).read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == ["core/release/facts/1.37.txt"] * (
        name == "CONTRIBUTING.md"
    )


def test_what_developers_pages_change_stands_there():
    """In the diffs of CONTRIBUTING each line that goes, or stays, is in the file that the diff names."""
    blocks = re.findall(
        r"^```diff\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL | re.MULTILINE
    )
    missing = []
    for block in blocks:
        for part in block.split("# ")[1:]:
            file, *lines = part.splitlines()
            source = (ROOT / file.partition(",")[0]).read_text().splitlines()
            missing += [line for line in lines if not line.startswith("+") and line[1:] not in source]
    assert len(blocks) == 2
    assert missing == []


def test_it_is_short():
    """README has 120 lines at most, and a picture."""
    assert README.count("\n") <= MOST_LINES
    assert len(re.findall(r"^!\[.+\]\(docs/pictures/\w+\.svg\)$", README, flags=re.MULTILINE)) == 1


def test_every_extra_is_named():
    """The tables of extras, here and on the page of first steps, have each extra that setup.cfg declares."""
    section = (ROOT / "setup.cfg").read_text().partition("[options.extras_require]\n")[2].partition("\n[")[0]
    declared = set(re.findall(r"^(\w+) =$", section, flags=re.MULTILINE))
    for page in (README, (ROOT / "docs" / "start.md").read_text()):
        table = page.partition("| extra | for |")[2].partition("\n\n")[0]
        cells = re.findall(r"^\| ([^|]+) \|", table, flags=re.MULTILINE)
        assert {name for cell in cells for name in re.findall(r"`([a-z]+)`", cell)} == declared
