"""Names and messages of others on a terminal: nothing in them is obeyed, and no name makes a line of its
own."""

import csv
import io

import pytest

from kubeclassic.cli.console.output import note
from kubeclassic.exceptions import KubeclassicError
from tests.apiserver import NEW_SERVER, Store, refused, serving_store
from tests.conftest import CLUSTER, ROOT
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

CORPUS = ROOT / "tests/fuzz/corpus"
ESCAPES = str(CORPUS / "terminal-escapes.json")
NODE = "n\x1b[31m\u202eX"
COMMANDS = {
    "simulate": ["simulate", ESCAPES],
    "simulate wide": ["simulate", ESCAPES, "-o", "wide"],
    "simulate name": ["simulate", ESCAPES, "-o", "name"],
    "simulate nodes": ["simulate", ESCAPES, "--nodes"],
    "simulate verbose": ["simulate", ESCAPES, "--verbose"],
    "simulate json": ["simulate", ESCAPES, "-o", "json"],
    "simulate yaml": ["simulate", ESCAPES, "-o", "yaml"],
    "explain": ["explain", ESCAPES, "default/p\x1b]0;pwned\x07"],
    "explain what": ["explain", ESCAPES, "default/p\x1b]0;pwned\x07", "--node", NODE],
    "explain wrong": ["explain", ESCAPES, "default/\x1b[31m"],
    "compare": ["compare", ESCAPES, "--a", "1.15", "--b", "1.16", "-o", "wide"],
    "capacity": ["capacity", ESCAPES, "--pod", str(ROOT / "examples/capacity/small-pod.yaml")],
    "drain": ["drain", ESCAPES, "--node", NODE],
    "drain auto": ["drain", ESCAPES, "--auto", "-o", "wide"],
    "upgrade": ["upgrade", ESCAPES, "--from", "1.27", "--to", "1.28"],
    "policy": ["simulate", CLUSTER, "--policy", str(CORPUS / "policy-escape.json")],
    "profile": ["simulate", CLUSTER, "--release", "1.27", "--profile", str(CORPUS / "profile-escape.json")],
    "policy check": ["policy", "check", str(CORPUS / "policy-escape.json")],
    "policy migrate": ["policy", "migrate", str(CORPUS / "policy-escape.json")],
    "selector": ["simulate", CLUSTER, "-l", "\x1b[31m=="],
    "release": ["simulate", CLUSTER, "--release", "\x1b[31m"],
    "gates": ["simulate", CLUSTER, "--feature-gates", "\x1b[31m=true"],
    "a file": ["simulate", "\x1b[31m\u202e"],
}


def commanding(text):
    """The characters of *text* that a terminal would obey, and what could be a forged row."""
    forged = [line for line in text.splitlines() if line.startswith("default/forged")]
    return [char for char in text if not char.isprintable() and char != "\n"] + forged


@pytest.mark.parametrize("words", COMMANDS.values(), ids=list(COMMANDS))
def test_nothing_is_obeyed(words):
    """Output and messages have escapes in place of control characters, of marks of direction, and of line
    breaks in names."""
    captured = ran(*words, status=(0, 1, 2))
    assert commanding(captured.out) + commanding(captured.err) == []


def test_the_names_can_be_told():
    """The escapes say what the name is."""
    out = ran("simulate", ESCAPES, status=(0, 1)).out
    assert r"default/p\x1b]0;pwned\x07" in out
    assert r"n\x1b[31m\u202eX" in out
    assert r"default/q\ndefault/forged" in out


# --- Messages -----------------------------------------------------------------------------------------------

# Lines on standard error.


def test_a_note(capsys):
    """One line, whatever the text has; blanks at its beginning stay."""
    note("  a\x1b[1m\nb")
    note("  a  b")
    assert capsys.readouterr().err == "a\\x1b[1m b\n  a  b\n"


@pytest.fixture
def hostile(tmp_path):
    """A kubeconfig of a server that refuses with an escape in its message."""

    def refuse(request):
        return refused(403, "Forbidden", "no \x1b]0;pwned\x07\nforged")

    with serving_store(Store(NEW_SERVER), faults=refuse) as address:
        yield kubeconfig(tmp_path, {"server": address})


@pytest.mark.parametrize("words", [["snapshot"], ["shadow", "--for", "0.5"]], ids=["snapshot", "shadow"])
def test_what_a_server_says(hostile, words):
    """The text of an API server is escaped too."""
    captured = ran(*words, "--kubeconfig", str(hostile), status=2)
    assert r"\x1b]0;pwned\x07" in captured.err
    assert commanding(captured.err) == []


def test_a_group_of_errors(capsys):
    """If errors ended several tasks at once, the first is reported, and a defect before others."""
    from kubeclassic.cli.console.output import status_of

    bad = KubeclassicError("bad input")
    assert status_of(ExceptionGroup("x", [ExceptionGroup("y", [bad])]), ()) == 2
    assert capsys.readouterr().err == "kubeclassic: bad input\n"
    assert status_of(ExceptionGroup("x", [bad, KeyError("z")]), ()) == 3


def test_no_formula_in_csv():
    """A text that a spreadsheet would take for a formula has an apostrophe before it; numbers do not."""
    cells = [
        cell
        for row in csv.reader(io.StringIO(ran("simulate", str(CORPUS / "csv-formula.json"), "-o", "csv").out))
        for cell in row
    ]
    assert [cell for cell in cells if cell[:1] in ("=", "+", "@")] == []
