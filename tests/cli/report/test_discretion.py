"""Pages are sent around: none has a folder of its author."""

import shlex
import shutil

import pytest

from kubeclassic.cli import run
from tests.conftest import ROOT

COMMANDS = {
    "simulate": "simulate {cluster} --policy {policy}",
    "explain": "explain {cluster} analytics/yearly-report --pods {pod}",
    "what-if": "explain {cluster} analytics/yearly-report --what-if",
    "compare": "compare {cluster} --a release=1.16 --b 'release=1.16 policy={policy}'",
    "migrate": "policy migrate {policy} --release 1.16 --check {cluster}",
    "upgrade": "upgrade {cluster} --from 1.16 --to 1.18",
    "capacity": "capacity {cluster} --pod {pod}",
    "drain": "drain {cluster} --auto --ignore-daemonsets --delete-emptydir-data",
    "replay": "replay {cluster}",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_folder_of_the_author(name, tmp_path, monkeypatch):
    """Whole paths on the command line are names on the page: in the inputs, the rules, the warnings and the
    command."""
    home = tmp_path / "home" / "jo"
    shutil.copytree(ROOT / "examples", home / "examples")
    odd = home / "examples/cluster/odd.yaml"
    odd.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: odd}\nspec: {nodeSelectr: {a: b}, containers: [{name: c}]}\n"
    )
    places = {
        "cluster": home / "examples/cluster",
        "policy": home / "examples/policies/bin-packing.json",
        "pod": home / "examples/capacity/small-pod.yaml",
    }
    words = shlex.split(f"{COMMANDS[name]} --output {home}/out --report {home}/page.html".format(**places))
    monkeypatch.setattr("sys.argv", ["kubeclassic", *words])
    assert run(words) in (0, 1)
    html = (home / "page.html").read_text()
    assert "kubeclassic" in html
    assert str(tmp_path) not in html
    assert "home/jo" not in html
