"""Less at once: a short help and a whole one, commands in groups, and names that one guesses, because kubectl has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kubeclassic.cli import COMMANDS, cli, run
from kubeclassic.cli.declaring.commands import MOST_SHOWN, CommonOption
from tests.support.program import ran

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = str(ROOT / "examples" / "cluster")
DRAIN = ["drain", str(ROOT / "examples/drain/cluster.yaml"), "--ignore-daemonsets", "--delete-emptydir-data", "--force"]
ONE_SCREEN = 40


def printed(*arguments: str) -> str:
    """What a command line that ends well prints."""
    return ran(*arguments).out


def options_in(text: str) -> list[str]:
    """The options that a help shows, each by its first name."""
    return [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helps are laid out for a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


class TestShortHelp:
    def test_simulate_fits_on_one_screen(self) -> None:
        """Ten options, the examples, the exit statuses, and how to see everything."""
        text = printed("simulate", "--help")
        assert text.count("\n") <= ONE_SCREEN
        assert options_in(text) == [
            "--kubeconfig", "--release", "--policy", "--profile", "--pods", "--set", "--nodes", "-n", "-o", "--report", "--help-all",
        ]  # fmt: skip
        assert "Exit status 0: all placed" in text
        assert "\n  kubeclassic simulate cluster.json --pods new.yaml\n" in text

    def test_everything_is_one_more_word(self) -> None:
        """--help-all has every option that is not hidden, and all that the help ever said."""
        text = printed("simulate", "--help-all")
        shown = [param.opts for param in cli.commands["simulate"].params if not getattr(param, "hidden", False) and param.name != "paths"]
        assert all(set(options_in(text)) & {*opts, "-n", "-l", "-o", "-v"} for opts in shown)
        assert len(options_in(text)) == len(shown) + 2
        assert "A pod that makes room by evicting others is tried again after all" in " ".join(text.split())

    @pytest.mark.parametrize("name", COMMANDS)
    def test_no_command_shows_too_much(self, name: str) -> None:
        """A command with many options shows those that its declarations call common, at most fifteen; one with few shows all."""
        short, whole = printed(name, "--help"), printed(name, "--help-all")
        assert len(options_in(short)) <= MOST_SHOWN + 2
        assert set(options_in(short)) <= set(options_in(whole))
        assert "--help" in short
        if len(options_in(whole)) > MOST_SHOWN + 2:
            common = [param for param in cli.commands[name].params if isinstance(param, CommonOption) and not param.hidden]
            assert len(options_in(short)) == len(common) + 1 < len(options_in(whole)) - 5


class TestCommands:
    def test_they_stand_in_groups(self) -> None:
        """The list begins with what people ask, then what they plan, then what runs; the rest comes last."""
        text = printed("--help")
        heads = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
        assert heads == ["Options:", "Ask:", "Plan:", "Run:", "More:"]
        named = [line.split()[0] for line in text.partition("Ask:")[2].splitlines() if line.startswith("  ") and line[2] != " "]
        assert named == list(COMMANDS)

    @pytest.mark.parametrize(
        ("guessed", "meant"),
        [
            (["version"], ["--version"]), (["help"], ["--help"]), (["help", "simulate"], ["simulate", "--help"]),
            (["help", "policy", "check"], ["policy", "check", "--help"]), (["--help-all"], ["--help"]),
        ],
    )  # fmt: skip
    def test_names_that_one_guesses(self, guessed: list[str], meant: list[str]) -> None:
        """``version`` and ``help`` do what they say."""
        assert printed(*guessed) == printed(*meant) != ""

    @pytest.mark.parametrize("flag", ["-A", "--all-namespaces"])
    def test_all_namespaces(self, flag: str) -> None:
        """-A, which every line that makes a dump has, changes nothing."""
        told = ran("simulate", CLUSTER, flag, status=1)
        assert told == ran("simulate", CLUSTER, status=1)


class TestDrain:
    def test_names_for_kubectl(self) -> None:
        """-o name prints the nodes that can go, a line each, and nothing else on standard output."""
        assert printed(*DRAIN, "--auto", "--keep", "1", "-o", "name") == "worker-2\nworker-4\n"

    @pytest.mark.parametrize(
        "flags", [["--dry-run"], ["--dry-run=server"], ["--grace-period", "30"], ["--grace-period=30"], ["--timeout=5m"]]
    )
    def test_a_line_pasted_from_kubectl(self, flags: list[str]) -> None:
        """Flags of kubectl drain that mean nothing here are ignored with a word, wherever they stand."""
        told = ran(*DRAIN, *flags, "worker-2")
        name = flags[0].partition("=")[0]
        assert told.err.splitlines()[0] == f"{name} of kubectl is ignored: it means nothing here"
        assert told.out == ran(*DRAIN, "worker-2").out

    def test_other_flags_are_still_refused(self) -> None:
        """A flag that nobody has is an error as before, and what comes after -- is no flag."""
        assert run([*DRAIN, "--dry-rum", "worker-2"]) == 2
        assert "ignored" not in ran(*DRAIN, "--", "--dry-run", status=2).err


class TestOneself:
    @pytest.mark.parametrize(
        ("text", "status"),
        [("# another one\n", pytest.ExitCode.USAGE_ERROR), ((ROOT / "traces.py").read_text(), pytest.ExitCode.NO_TESTS_COLLECTED)],
    )
    def test_tests_of_an_old_copy_stop(self, text: str, status: pytest.ExitCode, tmp_path: Path) -> None:
        """pytest in a checkout of which an older copy is installed stops with a sentence that says what to do; an equal one is taken."""
        copy = tmp_path / "kubeclassic"
        copy.mkdir()
        (copy / "__init__.py").write_bytes((ROOT / "__init__.py").read_bytes())
        (copy / "traces.py").write_text(text)
        asked = "import pytest; sys.exit(pytest.main(['-q', '--co', 'tests/golden']))"
        program = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {asked}"]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        told = done.stdout + done.stderr
        says = f"these tests would run on the copy in {copy}, in which traces.py is not as here: install it again"
        stops = status is pytest.ExitCode.USAGE_ERROR
        assert (says in told) == stops
        assert ("pip install --editable '.[test]'" in told) == stops
        assert done.returncode == status
