"""The migration report: it holds the Policy, the profile, the notes, the check, and what to do next."""

import json
import re
from html import unescape

import pytest
import yaml

import kubeclassic
from kubeclassic.cli import run
from tests.conftest import ROOT
from tests.support.pages import table_of_page

CLUSTER = ROOT / "examples" / "cluster"
POLICIES = ROOT / "examples" / "policies"


def migrated(name, folder):
    """The page of a report."""
    file = folder / "report.html"
    given = ["policy", "migrate", str(POLICIES / name), "--output", str(folder / "p.yaml")]
    run([*given, "--report", str(file), "--check", str(CLUSTER)])
    return file.read_text()


@pytest.fixture(scope="module")
def packing(tmp_path_factory):
    """A Policy that fills nodes up, some of whose decisions the profile makes otherwise."""
    return migrated("bin-packing.json", tmp_path_factory.mktemp("report"))


def shown(html, name):
    """The text of the section called *name*."""
    (found,) = re.findall(rf'<section [^>]*aria-labelledby="{name}">(.*?)</section>', html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", "", found))


def headline(html):
    """The verdict of a page."""
    return unescape(re.sub(r"<[^>]*>", "", re.findall('<h1 class="verdict">(.*?)</h1>', html)[0]))


def test_the_policy_and_the_profile(packing):
    """The Policy and the profile are there in full, and can be read back unchanged."""
    policy, profile = (shown(packing, name) for name in ("policy", "profile"))
    given = yaml.safe_load((POLICIES / "bin-packing.json").read_text())
    assert json.loads(policy[policy.index("{") : policy.rindex("}") + 1]) == given
    found = kubeclassic.migrate(given).profile
    assert yaml.safe_load(profile.split("The profile")[1].split("Fingerprint")[0]) == found


def test_all_notes(packing):
    """Each note stands in the report."""
    notes = kubeclassic.migrate(POLICIES / "bin-packing.json").report.notes
    for note in notes:
        assert note.text in shown(packing, "notes")
        assert (note.upstream or "-") in shown(packing, "notes")
    assert any(note.upstream for note in notes)


def test_the_check(packing):
    """The verdict counts what is different; the list has each such decision."""
    html = packing
    assert headline(html) == "6 of 22 decisions are different with the profile: all by NodeResourcesFit"
    assert sum("different" in row["outcome"] for row in table_of_page(html, "pods")) == 6


def test_what_to_do_next(packing):
    """The report tells to look at differences and omissions, and how to go on."""
    html = packing
    steps = shown(html, "next")
    accept = "Check whether each decision that differs is acceptable."
    wanted = (accept, "left out", "--newer-labels", "kubeclassic shadow", "kube-scheduler --config")
    assert all(step in steps for step in wanted)


def test_of_what_it_speaks(packing):
    """Inputs, warnings, releases and the command stand in it."""
    html = packing
    about = html[html.index('class="soft origin"') :]
    for text in (
        "bin-packing.json",
        "11 nodes",
        "1.16 (as 1.16.14)",
        "1.27 (as 1.27.14)",
        "warnings",
        "Repeat it with",
    ):
        assert text in about


def test_no_difference(tmp_path):
    """Where the profile decides alike the verdict says so, and no step is about differences."""
    html = migrated("openshift-labels.json", tmp_path)
    assert headline(html).startswith("The profile decides as the Policy does under 1.16: ")
    assert "Check whether each decision" not in shown(html, "next")
