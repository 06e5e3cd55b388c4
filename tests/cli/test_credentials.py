"""No output has a credential: each form of each command that takes a Policy or a profile, with extenders that
cannot be reached."""

import base64
import json
import shlex
from itertools import chain

import click
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import Classic, Framework, KubeclassicError, simulate
from kubeclassic.api.reading.secrets import without_secrets
from kubeclassic.cli import cli
from tests.support.build import manifest, node, pod, policy_of
from tests.support.examples import examples
from tests.support.program import inside

MARKER = "MARKER"
TLS = {name: base64.b64encode(f"{MARKER} {name}".encode()).decode() for name in ("certData", "keyData")}
SECRETS = (MARKER, *TLS.values())
EXTENDERS = [
    {
        "urlPrefix": f"https://{MARKER}:{MARKER}@127.0.0.1:9/",
        "filterVerb": "f",
        "weight": 1,
        "enableHTTPS": True,
        "tlsConfig": TLS,
        **more,
    }
    for more in ({"ignorable": True}, {"prioritizeVerb": "p"})
]
POLICY = policy_of(
    predicates=[{"name": "GeneralPredicates"}],
    priorities=[],
    extenders=[
        {**one, "enableHttps": False, "tlsConfig": {**TLS, "insecure": True}, "httpTimeout": 1}
        for one in EXTENDERS
    ],
)
PROFILE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "extenders": EXTENDERS,
    "profiles": [],
}
OLD = {**PROFILE, "apiVersion": "kubescheduler.config.k8s.io/v1beta1"}
NODE = yaml.safe_load("""
apiVersion: v1
kind: Node
status:
  allocatable: {cpu: '4', memory: 4Gi, pods: '10'}
""")
POD = manifest("Pod", "p", apiVersion="v1", spec={"containers": [{"name": "c"}]})
CLUSTER = [{**NODE, "metadata": {"name": name}} for name in "ab"] + [POD]
ASKED = (
    "simulate cluster.json",
    "explain cluster.json p",
    "explain cluster.json p --what-if",
    "capacity cluster.json --pod pod.json",
    "drain cluster.json --auto",
    "capacity cluster.json --add-node like:a",
    "replay cluster.json",
)
RULES = (
    "--release 1.16 --policy policy.json",
    "--release 1.20 --policy policy.json",
    "--release 1.34 --profile profile.yaml",
)
CALLS = (" --extenders call", " --extenders 'record answers.jsonl'", "")
MIGRATED = (
    "policy.json --release 1.16",
    "policy.json --release 1.16 --to 1.18",
    "policy.json --release 1.20",
    "old.yaml --release 1.20",
)
LINES = (
    *(
        f"{asked} {rules}{CALLS[(i + j) % 3]}"
        for i, asked in enumerate(ASKED)
        for j, rules in enumerate(RULES)
    ),
    *(f"policy migrate {what} --check cluster.json{CALLS[i % 3]}" for i, what in enumerate(MIGRATED, 2)),
    *(
        f"policy check {name}.json --release {release}"
        for name in ("policy", "twice")
        for release in ("1.16", "1.20")
    ),
    "policy check profile.yaml --release 1.34",
    "sweep sweep.yaml --jobs 1",
    "compare cluster.json --a 'release=1.16 policy=policy.json' --b 'release=1.34 profile=profile.yaml'",
    "upgrade cluster.json --from 1.21 --to 1.23 --policy policy.json",
    "upgrade cluster.json --from 1.33 --to 1.34 --profile profile.yaml",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the command lines name."""
    made = tmp_path_factory.mktemp("secrets")
    verbs = [{**one, "bindVerb": "b"} for one in POLICY["extenders"]]
    files = {"cluster.json": {"kind": "List", "apiVersion": "v1", "items": CLUSTER}, "pod.json": POD}
    files |= {
        "policy.json": POLICY,
        "profile.yaml": PROFILE,
        "old.yaml": OLD,
        "twice.json": {**POLICY, "extenders": verbs},
    }
    bare = [
        {name: value for name, value in one.items() if name != "tlsConfig"} for one in EXTENDERS
    ]  # their keys are none
    files |= {"called.json": {**POLICY, "extenders": bare}, "called.yaml": {**PROFILE, "extenders": bare}}
    files["sweep.yaml"] = yaml.safe_load("""
        cluster: cluster.json
        runs:
        - {name: a, policy: policy.json}
        - {name: b, release: '1.12'}
        """)
    for name, document in files.items():
        (made / name).write_text(json.dumps(document))
    return made


def forms_of(words):
    """The further arguments of a command line, for each form in which it can answer."""
    found = cli
    for word in words:
        if not isinstance(found, click.Group):
            break
        child = found.get_command(click.Context(found), word)
        assert child is not None
        found = child
    options = {flag: option for option in found.params for flag in option.opts}
    if "-o" in options:
        yield from (["-o", str(form)] for form in getattr(options["-o"].type, "choices", ()))
    ends = ("html", "json", "txt") if words[1] == "migrate" else ("html",)
    if "--report" in options:
        yield from (["--report", f"report.{end}"] for end in ends)


def shown(words, form, folder):
    """All that a command line prints or writes."""
    written = [folder / form[1]] if form[0] == "--report" else []
    done = inside(*words, *form, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    if words[:2] != ["policy", "migrate"] or written:  # the profile itself has what it needs
        yield done.stdout if words[:2] != ["policy", "migrate"] else ""
    yield done.stderr
    yield from (path.read_text() for path in (*written, folder / "answers.jsonl") if path.exists())


@pytest.mark.parametrize("line", LINES)
def test_no_output_has_a_credential(line, folder):
    """Prints, pages and recordings have neither the marker nor a key with it; an extender is named by its
    host."""
    if "--extenders" in line:
        line = line.replace("policy.json", "called.json").replace("profile.yaml", "called.yaml")
    words = shlex.split(line)
    forms = list(forms_of(words))
    assert forms
    texts = list(chain.from_iterable(shown(words, form, folder) for form in forms))
    assert [
        text[max(0, text.find(secret) - 200) :][:300]
        for text in texts
        for secret in SECRETS
        if secret in text
    ] == []


VALUES = st.sampled_from([{"keyData": MARKER}, [{"token": MARKER}], {"x": [MARKER]}])
PLACES = [
    (base, path)
    for base in (POLICY, PROFILE)
    for path in [(name,) for name in base]
    + [("extenders", 0, name) for name in (*EXTENDERS[0], "managedResources", "httpTimeout")]
]


@given(place=st.sampled_from(PLACES), value=VALUES)
@examples(2)
def test_what_is_refused_is_not_told_whole(place, value):
    """An object in place of any field of a Policy or a profile is named in the refusal, not printed."""
    document = yaml.safe_load(yaml.safe_dump(place[0]))
    at = document
    for step in place[1][:-1]:
        at = at[step]
    at[place[1][-1]] = value
    scheduler = Classic(policy=document) if place[0] is POLICY else Framework(config=document)
    told = ""
    try:
        simulate([node("a"), pod("p")], scheduler)
    except KubeclassicError as error:
        told = str(error)
    assert MARKER not in told
    assert "{'" not in told


def test_long_words_are_cut():
    """A kind of thousands of letters is told in short."""
    for scheduler in (Classic(policy={"kind": "a" * 5000}), Framework(config={"kind": "a" * 5000})):
        with pytest.raises(KubeclassicError) as caught:
            simulate([node("a")], scheduler)
        assert len(str(caught.value)) < 300


def test_what_is_secret():
    """Keys, certificates of clients, tokens, passwords, what a plugin is given; authorities are public, and
    so is the address itself."""
    user = yaml.safe_load("{token: t, client-key-data: k, exec: {command: c, env: [{name: N, value: v}]}}")
    hidden = yaml.safe_load("""
        token: (hidden)
        client-key-data: (hidden)
        exec:
          command: c
          env:
          - {name: N, value: (hidden)}
        """)
    cluster = {"server": "https://u:w@h:6443", "certificate-authority-data": "ca"}
    shown_cluster = {"server": "https://(hidden)@h:6443", "certificate-authority-data": "ca"}
    assert without_secrets({"users": [user], "clusters": [cluster]}) == {
        "users": [hidden],
        "clusters": [shown_cluster],
    }
    tls = without_secrets({"tlsConfig": {"caData": "a", "keyData": "", "keyFile": "f", "insecure": False}})
    assert tls == {"tlsConfig": {"caData": "a", "keyData": "", "keyFile": "f", "insecure": False}}
