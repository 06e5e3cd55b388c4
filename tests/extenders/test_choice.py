"""Extenders by a configuration: called or switched off, on the command line and in Python."""

import json

import attrs
import pytest
import yaml

from kubeclassic import Cluster, Scheduler, simulate
from kubeclassic.cli import run
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.extenders import choice
from kubeclassic.extenders.overhttp import PostError, PostReply
from kubeclassic.framework.options import options_of
from tests.support.manifests import dumped
from tests.support.program import inside, ran

POLICY = yaml.safe_load("""
    kind: Policy
    apiVersion: v1
    predicates:
    - {name: GeneralPredicates}
    extenders:
    - {urlPrefix: 'http://127.0.0.1:1/x', filterVerb: filter, nodeCacheCapable: true}
    """)
REFUSED = 'Post "http://127.0.0.1:1/x/filter": dial tcp 127.0.0.1:1: connect: connection refused'
OBJECTS = [
    {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    for name in ("a", "b", "c")
] + [
    {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c"}]}}
    for name in ("p", "q")
]
PROFILE = yaml.safe_load("""
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    extenders:
    - {urlPrefix: 'http://127.0.0.1:1/x', filterVerb: filter, nodeCacheCapable: true}
    """)


@attrs.define
class Answering:
    """Leaves the last node alone; fails where it is told to."""

    fails: bool = False
    calls: int = 0

    def __call__(self, url, body, timeout):
        self.calls += 1
        if self.fails:
            raise PostError("gone")
        return PostReply(200, json.dumps({"NodeNames": json.loads(body)["NodeNames"][-1:]}).encode())


@pytest.fixture
def answering(monkeypatch):
    """What answers in place of HTTP."""
    post = Answering()

    def http_post(config):
        return post

    monkeypatch.setattr(choice, "http_post", http_post)
    return post


def hosts(**options):
    """The hosts of the pods."""
    return [
        decision.host or decision.error for decision in Scheduler(Cluster(OBJECTS), options_of(options)).run()
    ]


# --- Python -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"policy": POLICY}, {"profile": PROFILE}], ids=["policy", "profile"])
def test_they_are_called(given, answering):
    """The extenders of a Policy or a configuration decide where that is asked for."""
    assert hosts(**given, extenders="call") == ["c", "c"]
    assert answering.calls == 2


def test_not_by_default(answering):
    """A Policy, which others may have written, does not send a cluster anywhere by itself; the answer
    says what does not count."""
    for given in ({"policy": POLICY}, {"profile": PROFILE}, {"policy": POLICY, "release": "1.18"}):
        assert hosts(**given) == hosts(**given, extenders="off") == hosts(**given, extenders=[])
        (warning,) = simulate(OBJECTS, options_of(given)).warnings
        assert (warning.is_unread, warning.text.startswith("1 configured extender is not called")) == (
            True,
            True,
        )
    assert [
        group.text for group in simulate(OBJECTS, options_of({"policy": POLICY, "extenders": "off"})).warnings
    ] == []
    assert answering.calls == 0


def test_one_that_cannot_be_reached():
    """Without an answer the pods fail with the original's error."""
    assert hosts(policy=POLICY, extenders="call") == [REFUSED, REFUSED]
    assert hosts(profile=PROFILE, extenders="call") == [REFUSED, REFUSED]


@pytest.mark.parametrize("words", ["on", "record FILE", "off now", ""])
def test_other_words(words):
    """Other words are refused."""
    with pytest.raises(UnknownNameError, match="expected off or call"):
        hosts(policy=POLICY, extenders=words)


@pytest.fixture
def folder(tmp_path):
    """A cluster, a Policy and a profile."""
    (tmp_path / "cluster.json").write_text(dumped(OBJECTS))
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    (tmp_path / "profile.json").write_text(json.dumps(PROFILE))
    return tmp_path


# --- Commands -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", ["--policy policy.json", "--profile profile.json", "--release 1.18 --policy policy.json"]
)
@pytest.mark.parametrize(
    "words",
    [
        "simulate cluster.json",
        "explain cluster.json p",
        "explain cluster.json p --what-if",
        "capacity cluster.json --pod pod.json",
        "drain cluster.json --auto",
        "replay cluster.json",
        "upgrade cluster.json --from 1.16 --to 1.18",
    ],
)
def test_a_file_calls_nothing(words, given, folder, answering, monkeypatch):
    """No command calls an extender because a file names it; each says so with its outcome, and --strict
    refuses it."""
    (folder / "pod.json").write_text(json.dumps(OBJECTS[-1]))
    monkeypatch.chdir(folder)
    chosen = given.split() if not words.startswith("upgrade") else ["--policy", "policy.json"]
    assert "configured extender is not called" in "".join(ran(*words.split(), *chosen, status=(0, 1)))
    assert answering.calls == 0


@pytest.mark.parametrize("words", ["--a policy=policy.json --b 1.16", "--a profile=profile.json --b 1.27"])
def test_nor_does_a_comparison(words, folder, answering, monkeypatch):
    """A configuration of compare neither."""
    monkeypatch.chdir(folder)
    assert (
        "configured extender is not called"
        in ran("compare", "cluster.json", *words.split(), status=(0, 1)).err
    )
    assert answering.calls == 0


def test_strict(folder):
    """--strict refuses what does not count; an extender that is off by word is no such thing."""
    words = ["simulate", str(folder / "cluster.json"), "--policy", str(folder / "policy.json"), "--strict"]
    assert "configured extender is not called" in ran(*words, status=2).err
    assert run([*words, "--extenders", "off"]) == 0


def test_errors_are_shown(folder):
    """An extender that cannot be reached is the original's error, for each pod."""
    done = inside(
        "simulate", "cluster.json", "--policy", "policy.json", "-o", "json", "--extenders", "call", cwd=folder
    )
    assert (done.returncode, done.stdout.count(json.dumps(REFUSED)[1:-1]) >= 2) == (1, True)


def test_compare(folder):
    """A configuration of compare may switch them off."""
    done = inside(
        "compare",
        "cluster.json",
        "--a",
        "policy=policy.json",
        "--b",
        "policy=policy.json extenders=call",
        cwd=folder,
    )
    assert done.returncode == 1


@pytest.mark.parametrize(
    "words, text",
    [
        (["--extenders", "record"], "'record' is not one of 'off', 'call'"),
        (["--extenders"], "'--extenders' requires an argument"),
    ],
)
def test_wrong_words(folder, words, text):
    """Wrong words end with one line."""
    done = inside("simulate", "cluster.json", "--policy", "policy.json", *words, cwd=folder)
    assert (done.returncode, text in done.stderr) == (2, True)
