"""``--strict``: what is a warning without it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeclassic.cli import run

UNKNOWN = 'spec.nodeNam: unknown field; did you mean "nodeName"?'
TWICE = "spec.priority: given twice, the last one counts"
FORMS = {
    "manifest": '{"kind": "Pod", "metadata": {"name": "p"}, "spec": %s}',
    "recording": '{"time": 1, "event": "Add", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": %s}}',
    "scenario": '{"opcode": "createPods", "count": 1, "podTemplate": {"metadata": {"name": "p"}, "spec": %s}}',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("spec", "wanted"), [('{"nodeNam": "n"}', UNKNOWN), ('{"priority": 1, "priority": 2}', TWICE)])
def test_strict_refuses_what_nobody_reads(
    form: str, spec: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown field or a key given twice is a warning in manifests, recordings and scenarios, and an error with --strict."""
    (tmp_path / "n.yaml").write_text("{kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 4, pods: 9}}}")
    (tmp_path / "p.json").write_text(FORMS[form] % spec)
    command = ["replay", str(tmp_path / "n.yaml"), str(tmp_path / "p.json"), "--until", "5"]
    assert run(command) in (0, 130)
    assert wanted in capsys.readouterr().err
    assert run([*command, "--strict"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("kubeclassic: ")
    assert wanted in told
