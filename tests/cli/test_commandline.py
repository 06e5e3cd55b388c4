"""Former pitfalls of the command line itself: help, formats, options, exit statuses, Ctrl-C and signals."""

import json
import shutil
from pathlib import Path

import pytest

from kubeclassic.cli import COMMANDS, cli, run
from kubeclassic.cli.declaring.commands import MOST_SHOWN, CommonOption
from tests.conftest import CLUSTER
from tests.support.program import ROOT, heavy_modules, program, ran

HELPS = ["", "--help", "--version", "import openb --help", *(f"{name} --help" for name in COMMANDS)]
NOT_TO_SIMULATE = (
    "framework.plugins",
    "framework.queue.handlers",
    "framework.queue.queue",
    "framework.hints",
    "core.devices",
    "core.queue",
    "core.router",
    "core.equivalence",
    "api.ownfields",
    "extenders.extender",
    "live.client",
    "questions.replay",
    "rich",
    "cli.report.page",
    "questions.compare",
)
"""Modules that a simulation with predicates and priorities may not import."""
COUNTED = """
def counted():
    ours = {name: module for name, module in sys.modules.items() if name.startswith("kubeclassic")}
    made = [found for name, module in ours.items() for found in vars(module).values() if getattr(found, "__module__", "") == name]
    print(len({found for found in made if isinstance(found, type) and "__attrs_attrs__" in vars(found)}), *sys.modules, file=sys.stderr)
"""
"""Tells how many attrs classes our modules have, and which modules are loaded."""
MODULES_TO_SIMULATE = 261
CLASSES_TO_SIMULATE = 240
NODES = "sn,cpu_milli,memory_mib\na,1000,4096\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n"
NODE = "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 9}}\n---\n"
POD = "kind: Pod\nmetadata: {name: web}\n"
NET = '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "NetworkMinCost"}]}'
ODD = """
from kubeclassic.rules import CATALOGUE, Reads, predicate
import neighbour

@predicate("NetworkMinCost", reads=Reads.NODE, key=lambda pod: None)
def network_min_cost(pod, nodes, cycle):
    return neighbour.judge()

MINE = CATALOGUE.with_(network_min_cost)
"""
STOPPED = "import os, signal\ndef judge():\n    os.kill(os.getpid(), signal.{})\n"


@pytest.fixture
def folder(workdir):
    """A working folder with a cluster, a trace, a Policy and a rule of one's own."""
    files = {"nodes.csv": NODES, "pods.csv": PODS, "cluster.yaml": NODE + POD, "net.json": NET}
    for name, text in {
        **files,
        "rules/odd.py": ODD,
        "rules/neighbour.py": "def judge():\n    return None\n",
    }.items():
        (workdir / name).parent.mkdir(exist_ok=True)
        (workdir / name).write_text(text)
    return workdir


# --- Help ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", HELPS)
def test_help_imports_nothing_heavy(words):
    """A help or the version imports no numpy, no YAML, no rich and no part of the scheduler."""
    assert heavy_modules(*words.split()) == []


@pytest.mark.parametrize("words", ["kubeclassic ", "kubeclassic policy migrate --"])
def test_a_tab_imports_nothing_heavy(words):
    """The completion of a word imports nothing heavy."""
    count = str(len(words.split(" ")) - 1)
    assert heavy_modules(_KUBECLASSIC_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=count) == []


def test_simulate_imports_only_what_it_needs():
    """To simulate predicates and priorities imports no plugin, nothing that replays and nothing that
    talks to anybody, and no more than when it was counted last: a class costs a third of a ms."""
    done = program(
        "simulate", CLUSTER, "--release", "1.16", before=f"import atexit\n{COUNTED}atexit.register(counted)\n"
    )
    classes, *loaded = done.stderr.splitlines()[-1].split()
    assert 100 < int(classes) <= CLASSES_TO_SIMULATE
    assert 100 < sum(name.startswith("kubeclassic") for name in loaded) <= MODULES_TO_SIMULATE
    assert [name for name in loaded if name.removeprefix("kubeclassic.").startswith(NOT_TO_SIMULATE)] == []


@pytest.mark.parametrize("arguments", [[], ["policy"], ["import"]])
def test_alone_it_prints_its_help(arguments):
    """``kubeclassic`` and a group alone print their help on standard output, as --help does, with exit
    status 0."""
    told = ran(*arguments)
    assert (told.out, told.err) == (ran(*arguments, "--help").out, "")
    assert told.out.startswith("Usage: kubeclassic")


@pytest.mark.parametrize("name", ["click", "numpy"])
def test_ctrl_c_while_importing(folder, name):
    """Ctrl-C is exit status 130, without a traceback, also while modules are still imported."""
    before = (
        "import importlib.abc\n"
        "class Interrupt(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {name!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    done = program("simulate", "cluster.yaml", before=before)
    assert (done.returncode, done.stderr.strip()) == (130, "")


@pytest.mark.parametrize("name, status", [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_leaves_no_part_of_a_file(folder, name, status):
    """A run that SIGTERM, SIGHUP or Ctrl-C ends leaves the old file, no part of the new one, and the
    usual exit status."""
    (folder / "rules/neighbour.py").write_text(STOPPED.format(name))
    (folder / "out").mkdir()
    (folder / "out/found").write_text("old")
    rules = ["--policy", "net.json", "--rules", "./rules/odd.py:MINE"]
    done = program("simulate", "cluster.yaml", *rules, "--output", "out/found")
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert [(file.name, file.read_text()) for file in (folder / "out").iterdir()] == [("found", "old")]


# --- Rules --------------------------------------------------------------------------------------------------


def test_a_rule_that_was_compiled_in(folder, capsys):
    """A Policy with a rule that no release has is refused in upstream's words, and one more line says
    what can supply it."""
    hint = "no release has NetworkMinCost; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it"
    assert run(["simulate", "cluster.yaml", "--policy", "net.json"]) == 2
    refused = "Invalid configuration: Predicate type not found for NetworkMinCost"
    assert capsys.readouterr().err.splitlines() == [f"kubeclassic: net.json: {refused}", hint]
    assert run(["policy", "check", "net.json"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"refused by 1.16: net.json: {refused}",
        f"warning: {hint}",
    ]


def test_a_file_supplies_it(folder):
    """--rules takes a file and a name in it, which may import what lies beside it."""
    rules = ["--rules", "./rules/odd.py:MINE"]
    assert run(["simulate", "cluster.yaml", "--policy", "net.json", *rules]) == 0
    assert "NetworkMinCost           Policy" in ran("policy", "check", "net.json", *rules).out


def test_a_file_called_as_another_module(folder):
    """A file is taken as it is, even if another module has its name."""
    shutil.copy("rules/odd.py", "rules/json.py")
    assert run(["simulate", "cluster.yaml", "--policy", "net.json", "--rules", "rules/json.py:MINE"]) == 0
    assert json.dumps({}) == "{}"


@pytest.mark.parametrize(
    "text, says, frames",
    [
        (None, "no such file or directory", []),
        (
            "def f():\n    return 1 / 0\nf()\n",
            "ZeroDivisionError: division by zero (FILE, line 2)",
            ["line 3", "line 2"],
        ),
        ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere' (FILE, line 1)", ["line 1"]),
        ("import sys; sys.exit(0)\n", "SystemExit: 0 (FILE, line 1)", ["line 1"]),
        ("x = (\n", "SyntaxError: '(' was never closed (FILE, line 1)", []),
    ],
)
def test_a_file_that_fails(folder, text, says, frames):
    """A file that is not there, or fails as it is imported, is one line with its place; -v shows the
    frames of the user's files."""
    if text is not None:
        (folder / "bad.py").write_text(text)
    first, *more = ran(
        "simulate", "cluster.yaml", "--rules", "./bad.py:MINE", "-v", status=2
    ).err.splitlines()
    assert first == f'kubeclassic: --rules: got "./bad.py:MINE": {says}'.replace(
        "FILE", str(folder / "bad.py")
    )
    assert [line.split(", ")[1] for line in more if "File " in line] == frames


def test_check_of_a_provider(folder):
    """A component configuration that names a provider is shown with that provider's rules."""
    text = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
    Path("config.yaml").write_text(f"{text}algorithmSource: {{provider: ClusterAutoscalerProvider}}\n")
    found = ran("policy", "check", "config.yaml", "-o", "json").document
    assert "MostRequestedPriority" in [one["name"] for one in found["priorities"]]
    assert {one["from"] for one in found["predicates"]} == {"mandatory", "ClusterAutoscalerProvider"}
    assert found["warnings"] == []


@pytest.mark.parametrize("release", ["1.27", "v1.23.4", "1.30"])
def test_policies_ended(folder, release, capsys):
    """Asked about a release that has no Policies, the command says when they ended."""
    assert run(["policy", "check", "net.json", "--release", release]) == 2
    says = capsys.readouterr().err
    assert says.startswith("kubeclassic: --release: expected 1.12, 1.13, 1.14, 1.15, 1.16, ")
    assert says.endswith(f", got {release}; Policies ended with 1.22\n")


DRAIN = [
    "drain",
    str(ROOT / "examples/drain/cluster.yaml"),
    "--ignore-daemonsets",
    "--delete-emptydir-data",
    "--force",
]
ONE_SCREEN = 40


def printed(*arguments):
    """The output of a successful command line."""
    return ran(*arguments).out


def options_in(text):
    """The options that a help shows, each by its first name."""
    return [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    """Helps are laid out for a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


# --- Short help ---------------------------------------------------------------------------------------------


def test_simulate_fits_on_one_screen():
    """Ten options, the examples, the exit statuses, and how to see everything."""
    text = printed("simulate", "--help")
    assert text.count("\n") <= ONE_SCREEN
    assert options_in(text) == [
        "--kubeconfig",
        "--release",
        "--policy",
        "--profile",
        "--pods",
        "--set",
        "--nodes",
        "-n",
        "-o",
        "--report",
        "--help-all",
    ]
    assert "Exit status 0: all placed" in text
    assert "\n  kubeclassic simulate cluster.json --pods new.yaml\n" in text


def test_everything_is_one_more_word():
    """--help-all has every option that is not hidden, and all that the help ever said."""
    text = printed("simulate", "--help-all")
    shown = [
        param.opts
        for param in cli.commands["simulate"].params
        if not getattr(param, "hidden", False) and param.name != "paths"
    ]
    assert all(set(options_in(text)) & {*opts, "-n", "-l", "-o", "-v"} for opts in shown)
    assert len(options_in(text)) == len(shown) + 2
    assert "A pod that makes room by evicting others is tried again after all" in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_shows_too_much(name):
    """A command with many options shows those that its declarations call common, at most fifteen; one
    with few shows all."""
    short = printed(name, "--help")
    whole = printed(name, "--help-all")
    assert len(options_in(short)) <= MOST_SHOWN + 2
    assert set(options_in(short)) <= set(options_in(whole))
    assert "--help" in short
    if len(options_in(whole)) > MOST_SHOWN + 2:
        common = [
            param
            for param in cli.commands[name].params
            if isinstance(param, CommonOption) and not param.hidden
        ]
        assert len(options_in(short)) == len(common) + 1 < len(options_in(whole)) - 5


def test_they_stand_in_groups():
    """The list begins with what people ask, then what they plan, then what runs; the rest comes last."""
    text = printed("--help")
    heads = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads == ["Options:", "Ask:", "Plan:", "Run:", "More:"]
    named = [
        line.split()[0]
        for line in text.partition("Ask:")[2].splitlines()
        if line.startswith("  ") and line[2] != " "
    ]
    assert named == list(COMMANDS)


@pytest.mark.parametrize(
    "guessed, meant",
    [
        (["version"], ["--version"]),
        (["help"], ["--help"]),
        (["help", "simulate"], ["simulate", "--help"]),
        (["help", "policy", "check"], ["policy", "check", "--help"]),
        (["--help-all"], ["--help"]),
    ],
)
def test_names_that_one_guesses(guessed, meant):
    """``version`` and ``help`` do what they say."""
    assert printed(*guessed) == printed(*meant) != ""


@pytest.mark.parametrize(
    "flags",
    [["--dry-run"], ["--dry-run=server"], ["--grace-period", "30"], ["--grace-period=30"], ["--timeout=5m"]],
)
def test_a_line_pasted_from_kubectl(flags):
    """Flags of kubectl drain that mean nothing here are ignored with a word, wherever they stand."""
    told = ran(*DRAIN, *flags, "worker-2")
    name = flags[0].partition("=")[0]
    assert told.err.splitlines()[0] == f"{name} of kubectl is ignored: it means nothing here"
    assert told.out == ran(*DRAIN, "worker-2").out


def test_other_flags_are_still_refused():
    """A flag that nobody has is an error as before, and what comes after -- is no flag."""
    assert run([*DRAIN, "--dry-rum", "worker-2"]) == 2
    assert "ignored" not in ran(*DRAIN, "--", "--dry-run", status=2).err
