"""Credentials of a kubeconfig are in no output, message or report, whatever goes wrong: each one here has a
marker in it."""

import base64
import json
import sys
import tempfile

import pytest
import yaml

from kubeclassic.cli import run
from tests.apiserver import NEW_SERVER, Store, refused, serving_store
from tests.conftest import ROOT
from tests.support.kubeconfigs import kubeconfig

MARK = "SECRETMARK"
EXEC = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "interactiveMode": "Never",
    "command": sys.executable,
}
LINES = f"""
simulate: simulate -v
explain: explain default/p
compare: compare --a 1.15 --b 1.16
capacity: capacity --pod {ROOT}/examples/capacity/small-pod.yaml
drain: drain --auto
upgrade: upgrade --from 1.27 --to 1.28
replay: replay
migrate: policy migrate {ROOT}/examples/policies/kubernetes-classic.json
lab: lab --no-open --port 0
snapshot: snapshot
redacted: snapshot --redact
shadow: shadow --for 0.2
run: run --dry-run --leader-elect=false
serve: serve
"""
COMMANDS = {
    name: words.split() for name, _, words in (line.partition(": ") for line in LINES.strip().splitlines())
}


def printing(text, status=0):
    """An exec entry whose program prints *text* and ends with *status*, with a secret in its environment and
    arguments."""
    code = f"import sys; sys.stdout.write({text!r}); sys.exit({status})"
    return {"exec": {**EXEC, "args": ["-c", code, MARK], "env": [{"name": "PASSWORD", "value": MARK}]}}


def credential(**status):
    """An exec entry that gives these."""
    return printing(
        json.dumps({"apiVersion": EXEC["apiVersion"], "kind": "ExecCredential", "status": status})
    )


ENCODED = base64.b64encode(MARK.encode()).decode()
USERS = {
    **yaml.safe_load(f"""
token: {{token: {MARK}}}
token with a line break: {{token: "{MARK}\\n"}}
token with another character: {{token: "{MARK}\\xe9"}}
token as a list: {{token: [{MARK}]}}
token file: {{tokenFile: token}}
token file with lines: {{tokenFile: lines}}
token file in another encoding: {{tokenFile: bytes}}
password: {{username: u, password: {MARK}}}
password as a map: {{username: u, password: {{{MARK}: 1}}}}
key: {{client-certificate-data: {ENCODED}, client-key-data: {ENCODED}}}
key alone: {{client-key-data: {ENCODED}}}
key that is no base64: {{client-certificate-data: YQ==, client-key-data: "{MARK}%"}}
auth-provider: {{auth-provider: {{name: gcp, config: {{access-token: {MARK}}}}}}}
"""),
    "plugin": credential(token=MARK),
    "plugin with a line break": credential(token=f"{MARK}\n"),
    "plugin with a key": credential(clientCertificateData=MARK, clientKeyData=MARK),
    "plugin that fails": printing(MARK, 1),
    "plugin without JSON": printing(MARK),
    "plugin with half of it": printing(f'{{"status": {{"token": "{MARK}"'),
    "plugin that is not there": {
        "exec": {**EXEC, "command": "no-such-plugin", "args": [MARK], "env": [{"name": "A", "value": MARK}]}
    },
    "plugin with wrong arguments": {"exec": {**EXEC, "args": MARK}},
    "plugin with wrong variables": {"exec": {**EXEC, "env": [MARK]}},
}
CLUSTERS = yaml.safe_load(f"""
password in the address: {{server: "http://u:{MARK}@127.0.0.1:9"}}
password in a broken address: {{server: "https://u:{MARK}@[::1"}}
password and a wrong port: {{server: "https://u:{MARK}@host:port"}}
token in the query: {{server: "https://host/?token={MARK}"}}
password of a proxy: {{server: "https://127.0.0.1:9", proxy-url: "http://u:{MARK}@127.0.0.1:9"}}
password of another proxy: {{server: "https://127.0.0.1:9", proxy-url: "socks5://u:{MARK}@127.0.0.1:9"}}
authority: {{server: "https://127.0.0.1:9", certificate-authority-data: "{MARK}%"}}
""")
BROKEN = {
    "an end that is missing": f'users: [{{name: u, user: {{token: "{MARK}',
    "an alias": f"users:\n- user: {{token: *{MARK}}}\n",
    "a tag": f"users:\n- user: {{token: !!int {MARK}}}\n",
    "a tab": f"users:\n\t- {MARK}\n",
    "JSON": f'{{"users": [{{"user": {{"token": "{MARK}" {MARK}}}}}]}}',
    "a text": MARK,
    "a list": f"[{MARK}]",
    "users": json.dumps({"clusters": [], "contexts": [], "users": {MARK: MARK}}),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of tokens; reports of defects go there, and a process that no cluster has."""
    (tmp_path / "token").write_text(MARK)
    (tmp_path / "lines").write_text(f"{MARK}\n{MARK}\n")
    (tmp_path / "bytes").write_bytes(MARK.encode() + b"\xff")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return tmp_path


@pytest.fixture(scope="module")
def refusing():
    """The address of a server that does not let anybody in."""

    def refuse(request):
        return refused(403, "Forbidden", "you may not")

    with serving_store(Store(NEW_SERVER), faults=refuse) as address:
        yield address


def said(words, config, capsys):
    """All that a command says, and the reports of defects, of which there may be none."""
    status = run([*words, "--kubeconfig", str(config)])
    captured = capsys.readouterr()
    assert (status in (0, 1, 2), list(config.parent.glob("kubeclassic-defect-*"))) == (True, []), captured.err
    return captured.out + captured.err


@pytest.mark.whole
@pytest.mark.parametrize("user", USERS.values(), ids=list(USERS))
def test_credentials_of_users(user, folder, refusing, capsys):
    """No credential is told, neither where it is wrong nor where the server refuses it."""
    assert MARK not in said(["snapshot"], kubeconfig(folder, {"server": refusing}, user), capsys)


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=list(CLUSTERS))
def test_credentials_of_clusters(cluster, folder, capsys):
    """Addresses are told without the user and the password in them."""
    assert MARK not in said(["snapshot"], kubeconfig(folder, cluster), capsys)


@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_files_that_are_broken(content, folder, capsys):
    """The content of a broken file is not shown either."""
    (folder / "config").write_text(content)
    assert MARK not in said(["snapshot"], folder / "config", capsys)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=list(COMMANDS))
@pytest.mark.parametrize(
    "name",
    [
        "token with a line break",
        "token with another character",
        "plugin that fails",
        "plugin with a line break",
        "plugin without JSON",
    ],
)
def test_every_command(words, name, folder, refusing, capsys):
    """Every command that takes a kubeconfig ends with one line for credentials that cannot be used, at
    once."""
    config = kubeconfig(folder, {"server": refusing}, USERS[name])
    text = said(words, config, capsys)
    assert MARK not in text
    assert [line for line in text.splitlines() if "user u" in line] != []


@pytest.mark.parametrize("words", COMMANDS.values(), ids=list(COMMANDS))
def test_every_command_and_an_address(words, folder, capsys):
    """A password in the address of a broken kubeconfig is told by no command."""
    assert MARK not in said(words, kubeconfig(folder, {"server": f"https://u:{MARK}@host:port"}), capsys)
