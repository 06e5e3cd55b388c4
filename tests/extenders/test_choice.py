"""Extenders by a configuration: called, switched off, recorded and replayed, on the command line and in
Python."""

import json
import pickle
import shlex

import attrs
import pytest
import yaml

from kubeclassic import Cluster, Scheduler, simulate
from kubeclassic.algorithmprovider import RELEASES
from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.cli import run
from kubeclassic.exceptions import KubeclassicError, UnknownNameError
from kubeclassic.extenders import overhttp
from kubeclassic.extenders.choice import ConfiguredExtenders
from kubeclassic.extenders.overhttp import (
    ExtenderRecord,
    PostError,
    PostReply,
    RecordError,
    RecordingPost,
    Replayed,
)
from kubeclassic.framework.options import Classic, options_of
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
    """A stand-in that answers in place of HTTP."""
    post = Answering()

    def http_post(config):
        return post

    monkeypatch.setattr(overhttp, "http_post", http_post)
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


def test_recorded_and_replayed(answering, tmp_path):
    """Recorded answers are replayed without a call, any number of times."""
    file = tmp_path / "calls.jsonl"
    recorded = hosts(policy=POLICY, extenders=f"record {file}")
    answering.calls = 0
    again = [hosts(policy=POLICY, extenders=f"replay {file}") for _ in range(2)]
    assert again == [recorded, recorded] == [["c", "c"]] * 2
    assert answering.calls == 0
    assert len(file.read_text().splitlines()) == 2


def test_all_schedulers_of_a_question_share_a_record(answering, tmp_path):
    """The second one goes on where the first one ended, in the record and in its replay."""
    file = tmp_path / "calls.jsonl"
    for word in ("record", "replay"):
        choice = ConfiguredExtenders(f"{word} {file}")
        config = read_policy(POLICY).extenders
        first, second = (choice(config, RELEASES["1.16"])[0].post for _ in range(2))
        first("u", b'{"NodeNames": ["a"]}', 1)
        second("u", b'{"NodeNames": ["b"]}', 1)
        assert len(file.read_text().splitlines()) == 2


def test_a_request_that_was_not_recorded(answering, tmp_path):
    """A replay of another simulation ends with an error, even if the extender may be ignored."""
    file = tmp_path / "calls.jsonl"
    file.write_text("")
    ignorable = {**POLICY, "extenders": [{**POLICY["extenders"][0], "ignorable": True}]}
    with pytest.raises(
        RecordError,
        match=r"calls\.jsonl: expected .*, got no answer to a request to http://127\.0\.0\.1:1/x/filter",
    ):
        hosts(policy=ignorable, extenders=f"replay {file}")


@pytest.mark.parametrize("words", ["on", "record", "replay ", "off now", "call x", ""])
def test_other_words(words):
    """Other words are refused."""
    with pytest.raises(UnknownNameError, match="expected off, call, record FILE or replay FILE"):
        hosts(policy=POLICY, extenders=words)


def test_a_copy_goes_on_in_python(answering):
    """A scheduler with extenders can be pickled."""
    scheduler = pickle.loads(
        pickle.dumps(Scheduler(Cluster(OBJECTS), Classic(policy={**POLICY, "extenders": []})))
    )
    assert scheduler.schedule("p").host == "a"
    copied = pickle.loads(pickle.dumps(Scheduler(Cluster(OBJECTS), Classic(policy=POLICY, extenders="off"))))
    assert copied.schedule("p").host == "a"


# --- Records ------------------------------------------------------------------------------------------------


def test_answers_in_order_and_then_the_last(tmp_path):
    """A request that was asked twice gets its answers in order, and then the last one again; errors too."""
    record = ExtenderRecord(tmp_path / "r")
    answers = iter([PostReply(200, b"1"), PostReply(500, b"\xff")])
    recording = RecordingPost(lambda url, body, timeout: next(answers), record)
    assert [recording("u", b"x", 1).body, recording("u", b"x", 1).status] == [b"1", 500]
    with pytest.raises(PostError):
        RecordingPost(Answering(fails=True), record)("v", b"x", 1)
    replayed = Replayed.read(tmp_path / "r")
    assert [replayed("u", b"x", 1) for _ in range(3)] == [
        PostReply(200, b"1"),
        PostReply(500, b"\xff"),
        PostReply(500, b"\xff"),
    ]
    with pytest.raises(PostError, match=r"^gone$"):
        replayed("v", b"x", 1)


def test_a_copy_goes_on(tmp_path):
    """A copy of a record drops what was written since, and goes on; a copy of a replay knows where it
    was."""
    record = ExtenderRecord(tmp_path / "r")
    answers = iter(PostReply(200, str(number).encode()) for number in range(4))
    recording = RecordingPost(lambda url, body, timeout: next(answers), record)
    recording("u", b"x", 1)
    kept = pickle.dumps(record)
    recording("u", b"x", 1)
    RecordingPost(lambda url, body, timeout: PostReply(200, b"new"), pickle.loads(kept))("u", b"x", 1)
    replayed = Replayed.read(tmp_path / "r")
    assert replayed("u", b"x", 1).body == b"0"
    assert pickle.loads(pickle.dumps(replayed))("u", b"x", 1).body == b"new"


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        "[" * 100_000,
        '{"url": "u"}',
        '{"url": "u", "sha256": "s", "status": 200, "answer": 1}',
        '{"url": "u", "sha256": [1], "status": 200, "answer": "x"}',
        '{"url": "u", "sha256": "s", "status": "200", "answer": "x"}',
        '{"url": "u", "sha256": "s", "error": 5}',
    ],
    ids=range(8),
)
def test_what_is_no_record(tmp_path, line):
    """A line of another form is refused with its number."""
    (tmp_path / "r").write_text(f'{{"url": "u", "sha256": "s", "error": "e"}}\n{line}\n')
    with pytest.raises(RecordError, match=r"r, line 2: expected url, .*, got no recorded request"):
        Replayed.read(tmp_path / "r")


def test_files_that_cannot_be_used(tmp_path):
    """A missing file, and one that cannot be written, have one line."""
    with pytest.raises(KubeclassicError, match="/None: cannot be read: no such file or directory"):
        Replayed.read(tmp_path / "None")
    with pytest.raises(KubeclassicError, match="cannot be written: is a directory"):
        RecordingPost(Answering(), ExtenderRecord(tmp_path))("u", b'{"NodeNames": []}', 1)


@pytest.fixture
def folder(tmp_path):
    """A cluster, a Policy and a record of two answers."""
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


@pytest.mark.parametrize("given", [["--policy", "policy.json"], ["--profile", "profile.json"]])
@pytest.mark.parametrize(
    "command", [["simulate", "cluster.json"], ["replay", "cluster.json"], ["explain", "cluster.json", "p"]]
)
def test_recorded_errors_are_replayed(folder, command, given):
    """The file may be a word of its own; what was recorded gives the same output."""
    first = inside(*command, *given, "--extenders", "record", "calls.jsonl", cwd=folder)
    second = inside(*command, *given, "--extenders", "replay", "calls.jsonl", cwd=folder)
    assert first.stdout == second.stdout != ""
    assert REFUSED in (folder / "calls.jsonl").read_text().replace('\\"', '"')


@pytest.mark.parametrize(
    "words, text",
    [
        (
            "simulate cluster.json --policy policy.json --extenders record cluster.json",
            "which is an input too",
        ),
        ("simulate cluster.json --policy policy.json --extenders record o --output o", "is the file of --"),
        (
            "compare cluster.json --a 'policy=policy.json extenders=\"record r\"'"
            " --b 'policy=policy.json extenders=\"record r\"'",
            "which is the file of --a too",
        ),
    ],
    ids=["input", "output", "sides"],
)
def test_a_record_replaces_no_other_file(words, text, folder):
    """Neither what is read, nor another file that is written."""
    before = (folder / "cluster.json").read_text()
    done = inside(*shlex.split(words), cwd=folder)
    assert (done.returncode, text in done.stderr) == (2, True)
    assert (folder / "cluster.json").read_text() == before


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
        (["--extenders", "replay"], "--extenders: expected replay FILE, got replay"),
        (["--extenders", "replay", "none"], "none: cannot be read: no such file or directory"),
    ],
)
def test_wrong_words(folder, words, text):
    """Wrong words end with one line."""
    done = inside("simulate", "cluster.json", "--policy", "policy.json", *words, cwd=folder)
    assert (done.returncode, text in done.stderr) == (2, True)
