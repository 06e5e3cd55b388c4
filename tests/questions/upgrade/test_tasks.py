"""An upgrade in several processes, or on Dask: the answer is that of one process, byte by byte."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import kubeclassic
from kubeclassic.questions.compare.agreement import FREE, LOCKED, MODES, Mode
from kubeclassic.questions.compare.compare import Following, unfollowed
from kubeclassic.questions.upgrade.course import LedCourse
from kubeclassic.questions.upgrade.stages import StartedWith, stages_of
from kubeclassic.questions.upgrade.upgrade import UpgradeRunner, course_of, packed, results, step_of, unpacked
from kubeclassic.questions.upgrade.way import Way
from kubeclassic.results import UpgradeResult
from kubeclassic.simulation.input import SILENT
from kubeclassic.simulation.scenario import read_scenario
from tests.conftest import ROOT
from tests.support.daskcluster import dask_cluster
from tests.support.program import inside

CLUSTER = ROOT / "examples" / "cluster"
STEPS = ("1.12", "1.16", "1.17", "1.22", "1.29")
POLICY = ROOT / "examples" / "policies" / "bin-packing.json"


def upgraded(**asked: Any) -> UpgradeResult:
    """The example cluster through some releases."""
    return kubeclassic.upgrade(CLUSTER, "1.12", "1.29", steps=STEPS, **asked)


def way_of(mode: str = LOCKED) -> Way:
    """A way of three releases."""
    return Way.of(read_scenario([CLUSTER]), stages_of(["1.16", "1.17", "1.22"], StartedWith()), mode=mode)


class TestTheAnswer:
    """What runs an upgrade does not change it."""

    @pytest.mark.parametrize("mode", MODES)
    def test_by_an_executor(self, mode: Mode) -> None:
        """An executor comes to the answer of this process."""
        with ThreadPoolExecutor(1) as executor:
            assert upgraded(mode=mode, executor=executor).document == upgraded(mode=mode).document

    @pytest.mark.whole
    def test_in_processes(self) -> None:
        """Two processes print the bytes of one."""
        asked = ("upgrade", str(CLUSTER), "--steps", ",".join(STEPS), "-o", "json", "--policy", str(POLICY))
        one, other = (inside(*asked, *more) for more in ((), ("--jobs", "2")))
        assert one.returncode == 1
        assert "1.17" in one.stdout
        assert (other.returncode, other.stdout) == (1, one.stdout)

    @pytest.mark.whole
    def test_on_dask(self) -> None:
        """Two workers of Dask print the bytes of one process."""
        asked = ("upgrade", str(CLUSTER), "--steps", ",".join(STEPS), "-o", "json")
        with dask_cluster() as address:
            assert inside(*asked, "--dask", address).stdout == inside(*asked).stdout


class TestFailures:
    """What goes wrong in another process is said as if it had happened in this one."""

    def test_an_error_of_the_input(self) -> None:
        """What a release refuses is an error of the input, with its text."""
        answer = UpgradeRunner(way_of(), None).run(packed(_refuse, way_of()))
        assert repr(answer) == "KubeclassicError('no such thing')"

    def test_a_defect(self) -> None:
        """A defect is none of the input."""
        way = way_of(FREE)
        with ThreadPoolExecutor(1) as executor, pytest.raises(RuntimeError, match="IndexError: list index out of range"):
            list(results([partial(course_of, 99)], way, None, executor, SILENT))


def _refuse(way: Way, led: LedCourse | None, following: Following) -> None:
    raise kubeclassic.KubeclassicError("no such thing")


class TestBytes:
    """What is handed over."""

    def test_pods_are_places(self) -> None:
        """A course is packed without the pods that its reader has, and comes back with those."""
        way = way_of(FREE)
        led = way.led(0, unfollowed)
        data = packed(led, way)
        assert len(data) < len(pickle.dumps(led)) / 3
        found = unpacked(data, way)
        assert [cycle.at for cycle in found.cycles] == [cycle.at for cycle in led.cycles]
        first = [cycle for cycle in found.cycles if not cycle.retry]
        assert all(cycle.pod is pod for cycle, pod in zip(first, way.scenario.pending, strict=True))

    def test_a_runner_is_copied_with_what_it_shares(self) -> None:
        """A copy of a runner decides as the runner does."""
        way = way_of()
        led = way.led(0, unfollowed)
        runner = UpgradeRunner(way, led)
        copy = pickle.loads(pickle.dumps(runner))
        step = packed(partial(step_of, 1, led, way.followed(1, led), None), way)
        found, wanted = copy.run(step), runner.run(step)
        assert isinstance(found, bytes)
        assert isinstance(wanted, bytes)
        assert unpacked(found, way) == unpacked(wanted, way) != ()
