"""Text for people fits their terminal and has plain words, also on a dump with every oddity."""

import json
import re
import sys
import time

import pytest
import yaml

from kubeclassic.cli.console import progress
from tests.support.manifests import dumped, node, pod
from tests.support.program import Terminal, ran

WIDTHS = pytest.mark.parametrize("width", [60, 100, 200])

POLICY = yaml.safe_load("""
kind: Policy
apiVersion: v1
predicates:
- {name: PodFitsResources}
- name: Pools
  argument:
    labelsPresence:
      labels: [pool]
      presence: true
priorities:
- {name: BalancedResourceAllocation, weight: 1}
- name: Zones
  weight: 3
  argument:
    serviceAntiAffinity: {label: topology.kubernetes.io/zone}
""")
"""A Policy with a predicate that never runs, and two priorities of which a translation has long notes."""
LONG = "a-service-whose-team-likes-names-that-say-everything-about-it-and-then-some"
DUMP = [
    *(
        node(f"general-{number}", "2", labels={"topology.kubernetes.io/zone": f"north-{number}"})
        for number in range(3)
    ),
    *(pod(f"huge-{number}", requests={"memory": "5Ei"}, on="general-0") for number in range(2)),
    *(pod(f"{LONG}-{number:09}", "600m", uid=f"{number}") for number in range(9)),
    pod("refused", priorityClassName="missing-class"),
    pod("done", on="general-1", status={"phase": "Succeeded"}),
]
"""Sums that wrap, long names that differ at their ends, a pod that is refused and one that has finished."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the dump and the Policy."""
    found = tmp_path_factory.mktemp("printing")
    (found / "dump.json").write_text(dumped(DUMP))
    (found / "policy.json").write_text(json.dumps(POLICY))
    return found


@pytest.fixture
def printed(folder, monkeypatch):
    """A function from a width and arguments to what a terminal of that width gets: standard output and
    standard error."""
    monkeypatch.chdir(folder)
    return lambda width, *arguments: ran(*arguments, status=(0, 1), columns=width)


def too_long(text, width):
    """The lines of *text* that are longer than *width*, but for words that are so by themselves."""
    return [line for line in text.splitlines() if len(line) > width and len(line.split()) > 1]


# --- Width --------------------------------------------------------------------------------------------------


@WIDTHS
@pytest.mark.parametrize("mode", ["locked", "free"])
def test_a_comparison_fits(printed, width, mode):
    """Tables and sentences of ``compare`` fit the terminal."""
    out, err = printed(
        width,
        "compare",
        "dump.json",
        "--a",
        "release=1.16",
        "--b",
        "release=1.27",
        "--mode",
        mode,
        "--show",
        "2",
    )
    assert too_long(out + err, width) == []
    assert "--show" in out


@WIDTHS
def test_notes_on_a_policy_fit(printed, width):
    """The notes and tables of ``policy check`` and ``policy migrate`` fit the width; the profile stays as it
    is."""
    assert too_long("".join(printed(width, "policy", "check", "policy.json")), width) == []
    _, err = printed(width, "policy", "migrate", "policy.json", "--release", "1.16", "--check", "dump.json")
    assert too_long(err, width) == []


@WIDTHS
def test_what_runs_and_the_summary_fit(printed, width):
    """The lists of rules of --verbose, and the sentences of a summary, are broken between words."""
    _, err = printed(width, "simulate", "dump.json", "--release", "1.16", "--verbose")
    assert "ignored: " in err
    assert "\npriorities: " in err
    assert [line for line in too_long(err, width) if "a-service-whose-team" not in line] == []


def test_names_stay_apart_in_a_wide_table(printed):
    """Columns go below before the names of pods become so short that they look alike."""
    out, _ = printed(60, "simulate", "dump.json", "-o", "wide")
    block = out.partition("\n\n")[0].splitlines()[1:]
    names = [line.split()[0] for line in block if not line.startswith(" ")]
    assert len(set(names)) == len(names)


# --- Words --------------------------------------------------------------------------------------------------


def test_a_sum_that_wraps_has_no_share(printed):
    """Where requests of a node do not fit into 64 bits its use is an overflow, not minus a billion
    percent."""
    _, err = printed(100, "simulate", "dump.json", "--release", "1.16")
    (line,) = (line for line in err.splitlines() if line.startswith("memory "))
    assert "overflow" in line
    assert "-" not in line.partition("TiB")[2]


def test_a_pod_that_is_refused_says_why(printed):
    """``explain`` of a pod that the API server would refuse is the reason, not that there is no such pod."""
    _, err = printed(200, "simulate", "dump.json", "--release", "1.16", "--verbose")
    refused = next(line for line in err.splitlines() if "refused by the API server: no PriorityClass" in line)
    out, _ = printed(200, "explain", "dump.json", refused.split()[2].rstrip(":"))
    assert "refused by the API server: no PriorityClass with name missing-class was found" in out


def test_events_on_a_terminal_are_whole(printed, monkeypatch):
    """No progress bar is drawn between events of ``replay`` that go to the terminal, and none of them is
    broken into lines."""
    monkeypatch.setenv("KUBECLASSIC_PROGRESS", "1")
    monkeypatch.setattr(progress, "TO_BAR", 0.0)
    out, err = printed(60, "replay", "dump.json", "--release", "auto", "--until", "60")
    assert all(json.loads(line)["event"] for line in out.splitlines())
    assert "replaying" not in out + err


def test_its_words_have_the_terminals_own_colour(monkeypatch):
    """The words of a bar are not cyan or yellow, which cannot be read on white."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("KUBECLASSIC_PROGRESS", "1")
    monkeypatch.setattr(progress, "TO_BAR", 0.0)
    with progress.working("scheduling", 2):
        while "scheduling" not in stream.getvalue():
            time.sleep(0.01)
    assert not re.search(r"\x1b\[3[36]m", stream.getvalue())
