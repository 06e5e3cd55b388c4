"""Records go to standard output alone or to a file that is written whole or not at all."""

import json
import os
import stat
from pathlib import Path

import pytest

from kubeclassic.cli.console.output import writing
from tests.support.program import ran

CLUSTER = Path(__file__).resolve().parents[3] / "examples" / "cluster"
SIMULATE = ["simulate", str(CLUSTER), "--release", "1.16"]
PENDING = 22


def write_and_raise(target, interruption):
    """Begin to write, and be interrupted."""
    with writing(str(target)) as stream:
        stream.write("half")
        raise interruption


def test_the_file_appears_when_all_is_written(tmp_path):
    """Nothing is at the path until the block ends; then everything is."""
    target = tmp_path / "out"
    with writing(str(target)) as stream:
        stream.write("whole")
        stream.flush()
        assert not target.exists()
    assert target.read_text() == "whole"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_no_file(tmp_path, interruption):
    """An error, an interrupt or an exit on the way leaves neither the file nor a part of it."""
    with pytest.raises(interruption):
        write_and_raise(tmp_path / "out", interruption)
    assert os.listdir(tmp_path) == []


def test_permissions_are_those_of_any_new_file(tmp_path):
    """A new file is as readable as the umask says, a replaced one as it was."""
    old = tmp_path / "old"
    new = tmp_path / "new"
    plain = tmp_path / "plain"
    old.touch(mode=0o640)
    os.chmod(old, 0o640)
    plain.touch()
    for target in (old, new):
        with writing(str(target)):
            pass
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    """The target of a symbolic link is replaced, not the link."""
    real = tmp_path / "real"
    link = tmp_path / "link"
    real.touch()
    link.symlink_to(real)
    with writing(str(link)) as stream:
        stream.write("x")
    assert link.is_symlink()
    assert real.read_text() == "x"


def test_the_file_holds_what_standard_output_would(tmp_path):
    """With --output the records are in the file and standard output is empty."""
    wanted = ran(*SIMULATE, "-o", "jsonl", status=(0, 1)).out
    assert ran(*SIMULATE, "-o", "jsonl", "--output", str(tmp_path / "out"), status=(0, 1)).out == ""
    assert (tmp_path / "out").read_text() == wanted


def test_jsonl_with_details():
    """With --details a line has every field of a conformance cycle."""
    cycle = json.loads(ran(*SIMULATE, "-o", "jsonl", "--details", status=(0, 1)).out.splitlines()[-1])
    assert set(cycle) == {
        "pod",
        "host",
        "error",
        "feasible",
        "failed",
        "priorities",
        "scores",
        "preemption",
        "retry",
        "final",
    }
    assert cycle["host"] in cycle["feasible"]
    assert cycle["scores"][cycle["host"]] == max(cycle["scores"].values())


def test_name():
    """name gives the pods that were placed, each with its node."""
    lines = ran(*SIMULATE, "-o", "name", status=(0, 1)).out.splitlines()
    assert len(lines) == PENDING - 1
    assert "shop/orders-0 database-b1" in lines
