"""An upgrade in several processes, or on Dask: the answer is that of one process, byte by byte."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest

import kubeclassic
from kubeclassic.framework.config.fielderrors import ConfigurationError, fault_of
from kubeclassic.questions.upgrade.facts import specs_of
from kubeclassic.questions.upgrade.upgrade import Upgrade
from kubeclassic.simulation.input import SILENT
from kubeclassic.simulation.sides import MODES
from kubeclassic.simulation.simulate import Files
from tests.conftest import ROOT
from tests.support.daskcluster import dask_cluster
from tests.support.program import inside

CLUSTER = ROOT / "examples" / "cluster"
STEPS = ("1.12", "1.16", "1.17", "1.22", "1.29")
POLICY = ROOT / "examples" / "policies" / "bin-packing.json"


def upgraded(**asked):
    """The example cluster through some releases."""
    return kubeclassic.upgrade(CLUSTER, "1.12", "1.29", steps=STEPS, **asked)


# --- The answer ---------------------------------------------------------------------------------------------

# What runs an upgrade does not change it.


@pytest.mark.parametrize("mode", MODES)
def test_by_an_executor(mode):
    """An executor comes to the answer of this process."""
    with ThreadPoolExecutor(1) as executor:
        assert upgraded(mode=mode, executor=executor).document == upgraded(mode=mode).document


@pytest.mark.whole
def test_in_processes():
    """Two processes print the bytes of one."""
    asked = ("upgrade", str(CLUSTER), "--steps", ",".join(STEPS), "-o", "json", "--policy", str(POLICY))
    one, other = (inside(*asked, *more) for more in ((), ("--jobs", "2")))
    assert one.returncode == 1
    assert "1.17" in one.stdout
    assert (other.returncode, other.stdout) == (1, one.stdout)


@pytest.mark.whole
def test_on_dask():
    """Two workers of Dask print the bytes of one process."""
    asked = ("upgrade", str(CLUSTER), "--steps", ",".join(STEPS), "-o", "json")
    with dask_cluster() as address:
        assert inside(*asked, "--dask", address).stdout == inside(*asked).stdout


# --- Failures -----------------------------------------------------------------------------------------------

# What goes wrong in another process is said as if it had happened in this one.


def test_an_error_of_the_input(monkeypatch):
    """A refusal by a release is an error of the input, with its text."""

    def refuse(asked):
        raise kubeclassic.KubeclassicError("no such thing")

    monkeypatch.setattr(Upgrade, "leader", refuse)
    assert repr(_asked("locked").run(["steps", 1])) == "KubeclassicError('no such thing')"


def test_an_error_keeps_what_it_has(monkeypatch):
    """Its type, notes and faults, from one process to another."""
    refusal = ConfigurationError("no such thing", [fault_of("parallelism: Invalid value: 0: too small")])
    refusal.add_note("a hint")

    def refuse(asked):
        raise refusal

    monkeypatch.setattr(Upgrade, "leader", refuse)
    found = pickle.loads(pickle.dumps(_asked("locked").run(["steps", 1])))
    assert (type(found), str(found), found.__notes__) == (ConfigurationError, "no such thing", ["a hint"])
    assert found.faults == refusal.faults


def test_a_defect():
    """A defect is none of the input."""
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(RuntimeError, match="IndexError: list index out of range"),
    ):
        list(_asked("free").results([["steps", 99]], executor, SILENT))


def test_a_copy_comes_to_the_same():
    """The copy for another process has no decisions, and gives the same result."""
    asked = _asked("locked")
    led = asked.steps(0)
    after = asked.pair(1)[1]
    copy = pickle.loads(pickle.dumps(asked))
    assert len(pickle.dumps(copy)) < len(pickle.dumps([asked, led]))
    bare = attrs.evolve(led, steps=[attrs.evolve(step, decision=None) for step in led.steps])
    assert copy.run(["moved", 1, bare, after]) == asked.moved(1, led, after) != ()


def _asked(mode):
    """The example cluster through three releases."""
    return Upgrade(Files.read([CLUSTER]).scenario(), specs_of(["1.16", "1.17", "1.22"]), mode=mode)
