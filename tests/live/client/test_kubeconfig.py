"""Kubeconfigs, right and wrong, and the service account of a pod."""

import asyncio
import base64
import json
import os

import pytest
import yaml

from kubeclassic.live.client.http import VERSIONS, CredentialsError, ExecPlugin, KubeconfigError
from kubeclassic.live.client.kubeconfig import access_to, in_cluster, read_kubeconfig
from tests.conftest import ROOT
from tests.support.kubeconfigs import kubeconfig
from tests.support.refusals import refusal_text

CORPUS = ROOT / "tests/fuzz/corpus"
SERVER = {"server": "https://10.0.0.1:6443"}


def header(credentials):
    """The authorization header of credentials."""
    return asyncio.run(credentials.grant(0.0)).headers.get("Authorization")


# --- Right --------------------------------------------------------------------------------------------------

# What is read.


def test_everything(tmp_path):
    """Address, name, proxy, authority, certificate and user come from the context; relative files lie
    beside it."""
    (tmp_path / "ca.pem").write_bytes(b"CA")
    data = {
        field: base64.b64encode(field.encode()).decode()
        for field in ("client-certificate-data", "client-key-data")
    }
    cluster = {
        **SERVER,
        "certificate-authority": "ca.pem",
        "tls-server-name": "api",
        "proxy-url": "http://proxy:3128",
    }
    contexts = yaml.safe_load("[{name: there, context: {cluster: c, user: u}}]")
    access = read_kubeconfig(
        kubeconfig(tmp_path, cluster, {**data, "token": "t", "as": "someone"}, contexts=contexts)
    )
    assert (access.server, access.ca, access.server_name, access.proxy) == (
        SERVER["server"],
        b"CA",
        "api",
        "http://proxy:3128",
    )
    assert access.certificate == (b"client-certificate-data", b"client-key-data")
    assert (header(access.credentials), access.headers) == ("Bearer t", [("Impersonate-User", "someone")])


def test_flow_style(tmp_path):
    """A kubeconfig may be YAML that begins as JSON does."""
    file = kubeconfig(tmp_path, SERVER)
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()), default_flow_style=True))
    assert read_kubeconfig(file).server == SERVER["server"]


def test_another_context(tmp_path):
    """A context may be named; the current one need not be there then."""
    contexts = [
        {"name": name, "context": {"cluster": cluster}} for name, cluster in (("a", "gone"), ("b", "c"))
    ]
    path = kubeconfig(tmp_path, SERVER, contexts=contexts, **{"current-context": None})
    assert read_kubeconfig(path, "b").server == SERVER["server"]


@pytest.mark.parametrize("user, wanted", [({}, None), ({"username": "u", "password": "p"}, "Basic dTpw")])
def test_users(tmp_path, user, wanted):
    """A user may have nothing, or a password."""
    assert header(read_kubeconfig(kubeconfig(tmp_path, SERVER, user)).credentials) == wanted


def test_a_token_file_wins(tmp_path):
    """A token's file counts before a token."""
    (tmp_path / "t").write_text("file")
    assert (
        header(read_kubeconfig(kubeconfig(tmp_path, SERVER, {"token": "x", "tokenFile": "t"})).credentials)
        == "Bearer file"
    )


def test_a_token_beside_a_file_that_is_missing(tmp_path):
    """The token counts until its file can be read."""
    access = read_kubeconfig(kubeconfig(tmp_path, SERVER, {"token": "x", "tokenFile": "t"}))
    assert header(access.credentials) == "Bearer x"


def test_a_certificate_beside_a_plugin(tmp_path):
    """The plugin of a user with a certificate does not run."""
    pair = {"client-certificate-data": "YQ==", "client-key-data": "YQ=="}
    access = read_kubeconfig(kubeconfig(tmp_path, SERVER, {**pair, "exec": EXEC}))
    assert (access.certificate, header(access.credentials)) == ((b"a", b"a"), None)


def test_base64_in_lines(tmp_path):
    """Data may be a block of lines."""
    cluster = {**SERVER, "certificate-authority-data": "YWJj\r\nYWJj\n"}
    assert read_kubeconfig(kubeconfig(tmp_path, cluster)).ca == b"abcabc"


def parts(folder, name, **content):
    """A kubeconfig with some sections alone, in a folder of its own."""
    path = folder / name / "config"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump({name.replace("_", "-"): value for name, value in content.items()}))
    return path


# --- Variable -----------------------------------------------------------------------------------------------

# KUBECONFIG, which may name several files.


def test_they_are_merged(tmp_path):
    """Entries of all files count together; missing and empty files, and empty names, are left out."""
    first = parts(tmp_path, "first", contexts=[{"name": "there", "context": {"cluster": "c", "user": "u"}}])
    last = parts(
        tmp_path,
        "last",
        clusters=[{"name": "c", "cluster": SERVER}],
        users=yaml.safe_load("[{name: u, user: {token: t}}]"),
    )
    empty = tmp_path / "empty"
    empty.touch()
    named = os.pathsep.join(["", str(first), str(tmp_path / "missing"), str(empty), str(last), str(first)])
    access = access_to(None, "there", {"KUBECONFIG": named})
    assert (access.server, header(access.credentials)) == (SERVER["server"], "Bearer t")


def test_the_first_wins(tmp_path):
    """Of two entries of one name the first counts whole, and so does the first current-context; the
    second file's others count."""
    first = parts(
        tmp_path,
        "first",
        users=yaml.safe_load("[{name: u, user: {username: me, password: p}}]"),
        current_context="",
    )
    context = [
        {"name": name, "context": {"cluster": cluster, "user": "u"}}
        for name, cluster in (("a", "gone"), ("b", "c"))
    ]
    clusters = [{"name": "c", "cluster": SERVER}]
    second = parts(
        tmp_path,
        "second",
        users=yaml.safe_load("[{name: u, user: {token: t}}]"),
        contexts=context,
        clusters=clusters,
        current_context="b",
    )
    third = parts(
        tmp_path,
        "third",
        clusters=yaml.safe_load("[{name: c, cluster: {server: 'https://other'}}]"),
        current_context="a",
    )
    access = access_to(None, None, {"KUBECONFIG": os.pathsep.join(map(str, (first, second, third)))})
    assert access.server == SERVER["server"]
    assert header(access.credentials) == "Basic bWU6cA=="


def test_paths_are_relative_to_their_file(tmp_path):
    """Each file's paths lie beside it, whichever file has the context."""
    first = parts(
        tmp_path, "first", users=yaml.safe_load("[{name: u, user: {tokenFile: t}}]"), current_context="there"
    )
    context = yaml.safe_load("[{name: there, context: {cluster: c, user: u}}]")
    cluster = {**SERVER, "certificate-authority": "ca.pem"}
    second = parts(tmp_path, "second", clusters=[{"name": "c", "cluster": cluster}], contexts=context)
    (first.parent / "t").write_text("beside the first")
    (second.parent / "ca.pem").write_bytes(b"beside the second")
    access = access_to(None, None, {"KUBECONFIG": f"{first}{os.pathsep}{second}"})
    assert (access.ca, header(access.credentials)) == (b"beside the second", "Bearer beside the first")


def test_a_file_that_is_named_counts_alone(tmp_path):
    """With --kubeconfig the variable has no effect."""
    assert (
        access_to(kubeconfig(tmp_path, SERVER), None, {"KUBECONFIG": "/missing"}).server == SERVER["server"]
    )


@pytest.mark.parametrize(
    "named, context, wanted",
    [
        ("/missing", None, "KUBECONFIG: expected a file that exists, got /missing"),
        (os.pathsep, None, f"KUBECONFIG: expected a file that exists, got {os.pathsep}"),
        ("{}/empty/x", None, "{}/empty/x: not a directory"),
        ("{0}/missing:/" + "x" * 300, None, f"/{'x' * 300}: file name too long"),
        ("{}/empty", None, "{}/empty: expected a kubeconfig, got no clusters and contexts"),
        ("{}/list", None, "{}/list: expected a kubeconfig, got no clusters and contexts"),
        ("", "there", "--context: expected --kubeconfig FILE, or the variable KUBECONFIG, too"),
    ],
)
def test_wrong(tmp_path, named, context, wanted):
    """Files of which none is there or has a cluster, and a context without a file, are named."""
    (tmp_path / "empty").touch()
    (tmp_path / "list").write_text("[]")
    assert refusal_text(
        KubeconfigError, access_to, None, context, {"KUBECONFIG": named.format(tmp_path)}
    ) == wanted.format(tmp_path)


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "c"}
WRONG = yaml.safe_load("""
"cluster: server: expected https://HOST:PORT, got nothing": {cluster: {server: null}}
"cluster: server: expected https://HOST:PORT, got ftp://a": {cluster: {server: ftp://a}}
"cluster: server: expected https://HOST:PORT, got https://[::1": {cluster: {server: "https://[::1"}}
"cluster: server: expected https://HOST:PORT, got https://(hidden)@a:99999": {cluster: {server: "https://u:SECRET@a:99999"}}
"cluster: server: expected https://HOST:PORT, got (hidden)@a": {cluster: {server: "https%//u:SECRET@a"}}
"cluster: certificate-authority-data: expected base64": {cluster: {certificate-authority-data: "%"}}
"no.pem: no such file or directory": {cluster: {certificate-authority: no.pem}}
"proxy-url: expected http://HOST:PORT or https://HOST:PORT, got http://(hidden)": {cluster: {proxy-url: "http://u:s3cr3tproxy:3128"}}
"cluster: proxy-url: expected http://HOST:PORT or https://HOST:PORT, got ftp://(hidden)@x": {cluster: {proxy-url: "ftp://u:SECRET@x"}}
"current-context: expected a name, or --context NAME, got none": {more: {current-context: null}}
'current-context: expected one of contexts (there), got ther; did you mean "there"?': {more: {current-context: ther}}
"context there: user: expected one of users (none), got u": {more: {users: []}}
"users: expected a list of entries with name and user": {more: {users: [{name: {token: s3cr3t}}]}}
"user u: expected client-certificate and client-key together, got one of them": {user: {client-key-data: YQ==}}
"user u: auth-provider: is not supported, expected exec, a plugin": {user: {auth-provider: {name: gcp}}}
"user u: as: got a character that no header can have": {user: {as: "a\\nb"}}
"user u: token: got a character that no header can have": {user: {token: "x\\n"}}
"user u: as: expected a user for as-groups, as-uid and as-user-extra, got none": {user: {as-groups: [g]}}
"user u: as-groups: got a character that no header can have": {user: {as: a, as-groups: ["a\\nb"]}}
"user u: as-user-extra: expected a list": {user: {as: a, as-user-extra: {x: y}}}
"cluster: insecure-skip-tls-verify: expected true or false": {cluster: {insecure-skip-tls-verify: "false"}}
"user u: exec: provideClusterInfo: expected true or false":
  {user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1, provideClusterInfo: "false"}}}
"user u: exec: args: expected a text":
  {user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1, args: [true]}}}
"user u: exec: interactiveMode: expected one of Never, IfAvailable, Always, got never":
  {user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1, interactiveMode: never}}}
"user u: token: expected a text": {user: {token: {x: 1}}}
"or client.authentication.k8s.io/v1alpha1, got v9": {user: {exec: {command: c, apiVersion: v9}}}
"user u: exec: env: expected a list of entries with name and value":
  {user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1, env: [{value: x}]}}}
""")


# --- Wrong --------------------------------------------------------------------------------------------------

# Each wrong kubeconfig gives one line: where, what was expected, what came.


@pytest.mark.parametrize("text, change", WRONG.items(), ids=[text[:40] for text in WRONG])
def test_fields(tmp_path, text, change):
    """A wrong field is named."""
    path = kubeconfig(
        tmp_path, {**SERVER, **change.get("cluster", {})}, change.get("user", {}), **change.get("more", {})
    )
    told = refusal_text(KubeconfigError, read_kubeconfig, path)
    assert text in told
    assert str(path) in told
    assert "\n" not in told


@pytest.mark.parametrize("file", sorted(CORPUS.glob("kubeconfig-*")), ids=lambda file: file.stem)
def test_found_by_fuzzing(file):
    """Files that once ended in a traceback or hung give an access, or one line without a secret."""
    try:
        access = read_kubeconfig(file)
        asyncio.run(access.credentials.grant(0.0))
        told = repr(access)
    except (KubeconfigError, CredentialsError) as error:
        told = str(error)
    assert "SECRET" not in told
    assert told.isprintable()


@pytest.mark.parametrize(
    "content, text",
    [
        (None, "no such file"),
        (b"", "got no clusters"),
        (b"a: [", "broken YAML"),
        (b"\xff\x00", "broken YAML"),
        (b"kind: Pod", "expected a kubeconfig"),
    ],
)
def test_files(tmp_path, content, text):
    """A file that is missing, broken or something else is told."""
    path = tmp_path / "config"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KubeconfigError, match=text):
        read_kubeconfig(path)


# --- Safety -------------------------------------------------------------------------------------------------

# Who gets credentials.


@pytest.mark.parametrize(
    "server, wanted",
    [
        ("https://10.0.0.1", "Bearer t"),
        ("http://10.0.0.1", None),
        ("http://127.0.0.1:8080", "Bearer t"),
        ("http://[::1]", "Bearer t"),
        ("http://localhost", "Bearer t"),
        ("http://localhost.example", None),
    ],
)
def test_no_credentials_in_the_clear(server, wanted, tmp_path):
    """A server without TLS gets none, as with clientcmd, unless it is on this machine."""
    assert (
        header(read_kubeconfig(kubeconfig(tmp_path, {"server": server}, {"token": "t"})).credentials)
        == wanted
    )


@pytest.mark.parametrize("user, wanted", [({}, "Basic dTpw"), ({"token": "t"}, "Bearer t")])
def test_a_user_in_the_address(user, wanted, tmp_path):
    """User and password of the address are shown where there is nothing else, and are not a part of the
    address."""
    access = read_kubeconfig(kubeconfig(tmp_path, {"server": "https://u:p@10.0.0.1:6443/x/"}, user))
    assert (access.server, header(access.credentials)) == ("https://10.0.0.1:6443/x", wanted)


def test_a_plugin_beside_a_relative_kubeconfig(workdir):
    """``./plugin`` is the one beside the file, also where the file is named without a folder."""
    path = kubeconfig(workdir, SERVER, {"exec": {**EXEC, "command": "./plugin"}})
    credentials = read_kubeconfig(path.name).credentials
    assert credentials.command == str(workdir / "plugin")


# --- Pods ---------------------------------------------------------------------------------------------------

# The service account of a pod.


def test_in_a_cluster(tmp_path, monkeypatch):
    """Address from the environment; authority and token from the files."""
    for name in ("ca.crt", "token"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr("kubeclassic.live.client.kubeconfig.SERVICE_ACCOUNT", tmp_path)
    access = in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"})
    assert (access.server, access.ca) == ("https://[fd00::1]:443", b"ca.crt")
    assert header(access.credentials) == "Bearer token"


def test_elsewhere():
    """Outside of a cluster a kubeconfig is wanted."""
    with pytest.raises(KubeconfigError, match="expected --kubeconfig FILE"):
        in_cluster({})


@pytest.mark.parametrize("field", ["apiVersion", "expirationTimestamp"])
def test_a_plugin_that_nests_its_token(tmp_path, field):
    """Where a text is wanted and the plugin prints a mapping, the message does not have what is in it."""
    inner = {"token": "s3cr3t"}
    document = {
        "kind": "ExecCredential",
        "apiVersion": VERSIONS[0],
        "status": {"token": "t", field: inner},
        **({field: inner} if field == "apiVersion" else {}),
    }
    (tmp_path / "printed").write_text(json.dumps(document))
    with pytest.raises(CredentialsError, match=field) as raised:
        asyncio.run(ExecPlugin("user u", "cat", arguments=[str(tmp_path / "printed")]).grant(0.0))
    assert "s3cr3t" not in str(raised.value)
