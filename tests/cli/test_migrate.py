"""``kubeclassic policy migrate`` from the outside."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from kubeclassic.cli import cli
from kubeclassic.cli import run as run_all
from kubeclassic.framework.config.configuration import load_configuration, read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.releases import FRAMEWORK_RELEASES

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
README = (EXAMPLES / "policies" / "README.md").read_text()


def invoked(command, *arguments, stdin=""):
    """A command about Policies, with arguments and standard input."""
    return CliRunner().invoke(cli, ["policy", command, *map(str, arguments)], input=stdin)


@pytest.fixture
def run():
    """Runs ``policy migrate``."""
    return partial(invoked, "migrate")


# --- Migrate ------------------------------------------------------------------------------------------------


def test_a_profile_that_would_be_refused(run):
    """No profile is written with which the target would not start."""
    presences = [
        {"name": f"rule{number}", "argument": {"labelsPresence": {"labels": ["rack"], "presence": presence}}}
        for number, presence in enumerate((True, False))
    ]
    policy = json.dumps({"kind": "Policy", "apiVersion": "v1", "predicates": presences})
    result = run("-", "--release", "1.16", "--to", "1.22", stdin=policy)
    assert result.stdout == ""
    text = '1.22 refuses the migrated profile: profiles[0].pluginConfig[0].args.presentLabels[0]: Invalid value: "rack"'
    assert text in str(result.exception)


def test_standard_output_is_the_profile(run):
    """The profile goes to standard output, and what has no equal to standard error."""
    result = run(
        "-",
        stdin='{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 3}]}',
    )
    assert result.exit_code == 0
    assert read_configuration(yaml.safe_load(result.stdout)).profiles[0].scheduler_name == "default-scheduler"
    assert "EqualPriority: left out" in result.stderr


@pytest.mark.parametrize(
    "asked", [("--to", "1.34"), ("--release", "1.34"), ("--release", "v1.16.2", "--to", "v1.34.1")]
)
def test_target(asked, run):
    """The profile is for the release after --to, or for one with plugins after --release."""
    result = run(
        "-",
        *asked,
        stdin='{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "MaxEBSVolumeCount"}]}',
    )
    assert result.exit_code == 0
    assert "EBSLimits" not in result.stdout
    assert (
        "MaxEBSVolumeCount: 1.34 has no plugin EBSLimits: NodeVolumeLimits counts such volumes"
        in result.stderr
    )
    assert read_configuration(yaml.safe_load(result.stdout), release=FRAMEWORK_RELEASES["1.34"])


@pytest.mark.parametrize("target", ["1.27", "1.30"])
def test_a_target_that_is_named_is_no_default(run, target):
    """A release without Policies runs none; alone, it is the target."""
    result = run("-", "--release", "1.36", "--to", target, stdin='{"kind": "Policy", "apiVersion": "v1"}')
    assert (result.stdout, "got 1.36" in str(result.exception)) == ("", True)


def test_no_extenders_in_a_profile(run, tmp_path):
    """An empty field names none, for the comparison too."""
    profile = tmp_path / "profile.yaml"
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    profile.write_text(f"{head}extenders:\nprofiles: [{{schedulerName: default-scheduler}}]\n")
    check = ("--check", EXAMPLES / "cluster")
    result = run(profile, "--release", "1.25", "--to", "1.36", *check)
    assert (result.exit_code in (0, 1), "decisions" in result.stderr) == (True, True)


def test_a_target_without_plugins(run):
    """A release without plugins is no target."""
    told = str(run("-", "--to", "1.16", stdin="{}").exception)
    assert told.endswith("1.36, got 1.16; 1.16 has no profiles: give it the Policy itself, which it reads")


def test_a_refusal_leaves_the_file_alone(run, tmp_path):
    """Where the release refuses the Policy nothing is written, and upstream's text is the error."""
    target = tmp_path / "profile.yaml"
    target.write_text("before")
    result = run("-", "--output", target, stdin='{"apiVersion": "v1", "predicates": [{"name": "NoSuch"}]}')
    assert str(result.exception) == "-: Invalid configuration: Predicate type not found for NoSuch"
    assert target.read_text() == "before"


def test_a_component_configuration(run):
    """A component configuration brings its Policy, percentage and preemption along."""
    result = run(EXAMPLES / "policies" / "scheduler-config.yaml")
    document = yaml.safe_load(result.stdout)
    assert document["percentageOfNodesToScore"] == 50
    assert document["extenders"][0]["httpTimeout"] == "2s"
    assert "DefaultPreemption" not in json.dumps(document)


def said(stderr):
    """The lines of *stderr* before the sentences about what the releases do not read."""
    return [line for line in stderr.splitlines() if " ignored: " not in line]


# --- Check --------------------------------------------------------------------------------------------------


def test_differences(run):
    """Each difference is told with both nodes and the rule; exit status 1, and the profile is there all
    the same."""
    result = run(EXAMPLES / "policies" / "bin-packing.json", "--check", EXAMPLES / "cluster")
    different = [line for line in result.stderr.splitlines() if line.startswith("different: ")]
    assert result.exit_code == 1
    assert len(different) == 6
    lines = [line for line in said(result.stderr) if line and not line.startswith(("warning: ", "("))]
    assert lines[0] == "6 of 22 decisions are different with the profile: all by NodeResourcesFit."
    assert lines[1] == "What to do next:"
    assert sum("--selector-spread" in line for line in lines) == 1
    assert all(" before, " in line and "NodeResourcesFit: profile " in line for line in different)
    assert "  6 different" in result.stderr
    assert yaml.safe_load(result.stdout)["profiles"]


def test_a_report(run, tmp_path):
    """--report writes the whole comparison, with both tables, as a page."""
    report = tmp_path / "check.html"
    run(EXAMPLES / "policies" / "bin-packing.json", "--report", report, "--check", EXAMPLES / "cluster")
    text = report.read_text()
    assert "FillNodesUp" in text
    assert "NodeResourcesFit" in text


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (EXAMPLES / "policies").iterdir() if path.suffix != ".md")
)
def test_every_example(run, name, tmp_path):
    """Each example becomes a profile that our own 1.27 accepts, and its check on the example cluster is
    as README beside it says."""
    older = (
        ("--release", "1.12", "--feature-gates", "TaintNodesByCondition=false")
        if name == "openshift-3.json"
        else ()
    )
    profile = tmp_path / "profile.yaml"
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |") and " / " in line)
    for more, told in zip(((), ("--newer-labels",)), row.split("|")[2:4], strict=True):
        written = ("--output", profile)
        result = run(EXAMPLES / "policies" / name, *older, *written, *more, "--check", EXAMPLES / "cluster")
        assert framework_engine(load_configuration(profile)).flow.profiles.keys() == {"default-scheduler"}
        same, good, different = (
            int(found[1]) if (found := re.search(pattern, result.stderr)) else 0
            for pattern in (r" by both: (\d+) the same", r"  (\d+) equally good", r"  (\d+) different")
        )
        assert told.split(" / ") == [f" {same}", str(good), f"{different} "]
        assert same + good + different == 22
        assert result.exit_code == (1 if different else 0)


def test_nothing_is_published_beside_a_report_that_cannot_be(tmp_path, capsys):
    """Where the report cannot be written there is no profile either, and the last line says why."""
    file = str(EXAMPLES / "policies/kubernetes-classic.json")
    profile = tmp_path / "profile.yaml"
    words = [
        "--check",
        str(EXAMPLES / "cluster"),
        "--output",
        str(profile),
        "--report",
        str(tmp_path / "nowhere/r.html"),
    ]
    assert run_all(["policy", "migrate", file, *words]) == 2
    assert "nowhere/r.html" in capsys.readouterr().err.splitlines()[-1]
    assert not profile.exists()


@pytest.fixture
def check():
    """Runs ``policy check``."""
    return partial(invoked, "check")


@pytest.mark.parametrize("option", [["--show", "3"], ["-v"], ["--newer-labels"], ["--report", "r.html"]])
def test_options_of_the_check_need_it(option):
    """Without a cluster they would do nothing."""
    told = invoked("migrate", EXAMPLES / "policies" / "bin-packing.json", *option)
    assert re.fullmatch(r"--\S+ needs --check", str(told.exception))


# --- Policy check -------------------------------------------------------------------------------------------


def test_accepted(check):
    """Standard output has what runs, with order and weights; exit status 0."""
    result = check(
        "-",
        stdin='{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 3}]}',
    )
    assert result.exit_code == 0
    assert "    2   GeneralPredicates         DefaultProvider" in result.stdout
    assert "EqualPriority        3" in result.stdout


def test_a_policy_has_no_plugins_to_leave_out(check):
    """``--plugins leave-out`` is for profiles."""
    told = check(EXAMPLES / "policies" / "bin-packing.json", "--plugins", "leave-out")
    assert str(told.exception).startswith("--plugins: expected a configuration with profiles, got ")


def test_refused(check):
    """A refusal goes to standard error, with its reason; exit status 1."""
    result = check(
        "-",
        "--release",
        "1.13",
        stdin='{"apiVersion": "v1", "predicates": [{"name": "CheckNodeDiskPressure"}]}',
    )
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "refused by 1.13: standard input: Invalid configuration: Predicate type not found for CheckNodeDiskPressure",
        "warning: CheckNodeDiskPressure is not registered while gate TaintNodesByCondition is on: "
        "--feature-gates TaintNodesByCondition=false registers it",
    ]


def test_faults_of_a_profile(check):
    """Each fault of a profile has a line on standard error; exit status 1."""
    head = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"'
    result = check("-", stdin=head + ', "parallelism": 0, "nope": 1, "podInitialBackoffSeconds": "x"}')
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        'refused by 1.36: standard input: podInitialBackoffSeconds: wrong type, expected a whole number, got "x"',
        "refused by 1.36: standard input: nope: unknown field",
        "refused by 1.36: standard input: parallelism: should be an integer value greater than zero, got 0",
    ]


def test_a_profile(check):
    """The plugins of a profile are listed, and written as JSON."""
    text = '{"apiVersion": "kubescheduler.config.k8s.io/v1beta1", "kind": "KubeSchedulerConfiguration"}'
    result = check("-", stdin=text)
    assert result.exit_code == 0
    assert "pods of default-scheduler" in result.stdout
    assert "NodePreferAvoidPods" in result.stdout
    record = json.loads(check("-", "-o", "json", "--release", "1.19", stdin=text).stdout)
    assert (record["release"], record["kind"], record["profiles"][0]["schedulerName"]) == (
        "1.19",
        "ProfileCheck",
        "default-scheduler",
    )


def test_a_page(check, tmp_path):
    """-o html and --report write a page of it: the verdict, what runs or every fault, and what never runs
    first of all."""
    own = '{"name": "Own", "argument": {"serviceAffinity": {"labels": ["r"]}}}'
    text = f'{{"apiVersion": "v1", "predicates": [{own}, {{"name": "HostName"}}]}}'
    result = check("-", "-o", "html", "--report", str(tmp_path / "check.html"), stdin=text)
    assert (result.exit_code, result.stderr) == (0, "")
    page = (tmp_path / "check.html").read_text()
    shown = re.sub(r"<[^>]+>", "", result.stdout)
    assert "1.16 starts with standard input." in shown
    assert shown.index("predicate Own: accepted, but never runs") < shown.index(
        "hardPodAffinitySymmetricWeight 1"
    )
    assert re.sub(r"\d\d:\d\d", "", page) == re.sub(r"\d\d:\d\d", "", result.stdout)
    refused = check(
        "-", "-o", "html", stdin='{"apiVersion": "v1", "predicates": [{"name": "Nope"}, {"name": "Nix"}]}'
    )
    assert refused.exit_code == 1
    assert "Predicate type not found for Nix" in re.sub(r"<[^>]+>", "", refused.stdout)


def test_json(check):
    """-o json prints one document, warnings in it."""
    policy = '{"apiVersion": "v1", "a": 1, "predicates": [{"name": "EvenPodsSpread"}]}'
    result = check("-", "-o", "json", "--feature-gates", "EvenPodsSpread=true", stdin=policy)
    record = json.loads(result.stdout)
    assert [entry["name"] for entry in record["predicates"]][-1] == "EvenPodsSpread"
    assert len(record["warnings"]) == 2
    assert result.stderr == ""
