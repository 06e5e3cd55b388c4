"""A replay that was stopped and resumed gives what one gives that was not."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kubeclassic.algorithmprovider.cells import TIE_BREAKS
from kubeclassic.api.objects import Pod
from kubeclassic.core.engine import Engine
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.plugin import Plugin
from kubeclassic.framework.status import Status, unschedulable, wait
from kubeclassic.simulation.replay.checkpoint import CHECKSUM, CheckpointError, Header, _checksum, load, save
from kubeclassic.simulation.replay.inputs.inputs import Inputs
from kubeclassic.simulation.replay.outputs import ResultFileError
from kubeclassic.simulation.replay.recording import Recording
from kubeclassic.simulation.replay.replay import Replay
from kubeclassic.simulation.replay.settings import Delays, Places
from tests.support.frameworkbuild import disabled, enabled
from tests.support.frameworkbuild import scheduler as framework
from tests.support.replaybuild import BUSY, engine, of_file

UNLIKE = ["1.12", "1.16", "1.17", "1.19", "1.27", "1.32", "1.34"]
"""A release or more of each of the six families whose checkpoints hold the same kinds of things."""
Maker = Callable[[], Engine]
NO_DELAYS = Delays()
HEADER = Header(inputs="digest", options={"--release": "1.15", "--seed": "1"})


class Choosy(Plugin):
    """Turns down every third binding, by a count of its own, and says whose cycle it was."""

    name = "Choosy"

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.count = 0

    def reserve(self, pod: Any, node_name: str, cycle: Any) -> None:
        """Leave something in the cycle."""
        cycle.notes[self.name] = f"{node_name} of {pod.name}"

    def unreserve(self, pod: Any, node_name: str, cycle: Any) -> None:
        """Nothing to give back."""

    def pre_bind(self, pod: Any, node_name: str, cycle: Any) -> Status | None:
        """The third one is turned down."""
        self.count += 1
        return unschedulable(f"third time: {cycle.notes[self.name]}") if self.count % 3 == 0 else None


def choosy() -> Engine:
    """A scheduler with two profiles and the plugin."""
    plugins = {"multiPoint": enabled("Choosy"), "preBind": enabled("Choosy")}
    packer = {"schedulerName": "packer", "plugins": {"score": disabled("PodTopologySpread"), "multiPoint": enabled("Choosy")}}
    return framework(profile={"schedulerName": "default-scheduler", "plugins": plugins}, profiles=[packer], plugins=(Choosy,))


class Hesitant(Choosy):
    """Makes every other pod wait for 5 seconds; the next one lets it go unless it is a third one, which rejects it."""

    name = "Hesitant"

    def permit(self, pod: Any, node_name: str, cycle: Any) -> Status | None:
        """Wait, or let those go that wait."""
        self.count += 1
        for other in self.handle.iterate_over_waiting_pods():
            if self.count % 3:
                other.allow(self.name)
            else:
                other.reject(self.name, f"{pod.name} was third")
        return wait(timeout=5) if self.count % 2 else None


def hesitant() -> Engine:
    """A scheduler with the plugin in one of two profiles."""
    packer = {"schedulerName": "packer", "plugins": {"score": disabled("PodTopologySpread")}}
    profile = {"schedulerName": "default-scheduler", "plugins": {"permit": enabled("Hesitant"), "reserve": enabled("Hesitant")}}
    return framework(profile=profile, profiles=[packer], plugins=(Hesitant,))


HELD = """
- opcode: createPods
  count: 4
  skipWaitToCompletion: true
  podTemplate:
    metadata: {name: packed}
    spec: {schedulerName: packer, containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
- opcode: createPods
  count: 2
  skipWaitToCompletion: true
  podTemplate:
    metadata: {name: held}
    spec: {schedulingGates: [{name: quota}], containers: [{name: c}]}
- {opcode: sleep, duration: 700s}
"""
"""More for a scenario: pods of another profile, and some that are gated."""


def places(folder: Path, name: str) -> Places:
    """Where the results of one run go."""
    return Places(
        events=folder / f"{name}.jsonl", series=folder / f"{name}.csv", checkpoint=folder / f"{name}.state", checkpoint_every=10**9
    )


def scheduler(release: str | Maker, **options: Any) -> Engine:
    """A new scheduler that draws lots."""
    made = engine(release, **options) if isinstance(release, str) else release()
    made.ties.pick = TIE_BREAKS["random"](made.algorithm.release, 3)
    return made


def recording(inputs: Inputs, where: Places, release: str | Maker = "1.15", delays: Delays = NO_DELAYS, **options: Any) -> Recording:
    """A recording that has not begun."""
    return Recording(Replay(inputs, scheduler(release, **options), delays, seed=1), where, HEADER)


def unbroken(inputs: Inputs, where: Places, release: str | Maker, **options: Any) -> list[bytes]:
    """The results of a run from beginning to end, and how many steps it took."""
    made = recording(inputs, where, release, **options)
    made.begin()
    for _ in made.run():
        pass
    made.end()
    return results(where)


def results(where: Places) -> list[bytes]:
    """The bytes of the results."""
    assert where.events is not None
    assert where.series is not None
    return [where.events.read_bytes(), where.series.read_bytes()]


def broken(inputs: Inputs, where: Places, release: str | Maker, every: int, **options: Any) -> list[bytes]:
    """The results of a run that is dropped every so many steps, some after its last checkpoint, and resumed by a new one."""
    while True:
        made = recording(inputs, where, release, **options)
        assert where.checkpoint is not None
        checkpoint = load(where.checkpoint)
        made.begin(checkpoint)
        for number, _ in enumerate(made.run()):
            if number == every:
                made.save()
            if number == every + (5 if every else 0):
                made.close()
                break
        else:
            made.end()
            return results(where)


class TestResuming:
    @pytest.mark.parametrize("release", UNLIKE)
    def test_in_releases_that_keep_different_things(self, tmp_path: Path, release: str) -> None:
        """Events and series are the same bytes, however often the run was broken off."""
        inputs = of_file(tmp_path, BUSY)
        wanted = unbroken(inputs, places(tmp_path, "one"), release)
        assert len(wanted[0]) > 10_000
        assert broken(inputs, places(tmp_path, "other"), release, every=61) == wanted

    @pytest.mark.parametrize(("release", "options"), [("1.12", {"equivalence_cache": True}), ("1.13", {"gates": {"PodPriority": False}})])
    def test_with_other_state(self, tmp_path: Path, release: str, options: Any) -> None:
        """The equivalence cache and the plain queue are kept too."""
        inputs = of_file(tmp_path, BUSY)
        wanted = unbroken(inputs, places(tmp_path, "one"), release, **options)
        assert broken(inputs, places(tmp_path, "other"), release, 47, **options) == wanted

    def test_every_single_step(self, tmp_path: Path) -> None:
        """A checkpoint may be made after any step."""
        inputs = of_file(tmp_path, BUSY.replace("count: 25", "count: 3"))
        wanted = unbroken(inputs, places(tmp_path, "one"), "1.34")
        assert broken(inputs, places(tmp_path, "other"), "1.34", every=0) == wanted

    @pytest.mark.parametrize("every", [17, 61])
    def test_profiles_and_plugins(self, tmp_path: Path, every: int) -> None:
        """Several profiles, pods that are gated or being bound, and what a user's plugin keeps, in itself and in a cycle, are kept."""
        text = BUSY.replace("count: 25", "count: 5") + HELD
        inputs, delays = of_file(tmp_path, text), Delays(cycle=0.25, binding=2.0, provisioning=3.0, termination=4.0)
        wanted = unbroken(inputs, places(tmp_path, "one"), choosy, delays=delays)
        assert b"third time" in wanted[0]
        assert b'"gated":true' in wanted[0]
        assert broken(inputs, places(tmp_path, "other"), choosy, every, delays=delays) == wanted

    @pytest.mark.parametrize("every", [13, 41])
    def test_waiting_pods(self, tmp_path: Path, every: int) -> None:
        """Pods that wait on Permit go on waiting for the rest of their time, and plugins find them."""
        text = BUSY.replace("count: 25", "count: 5") + HELD
        inputs, delays = of_file(tmp_path, text), Delays(cycle=0.75, binding=2.0, provisioning=3.0, termination=4.0)
        wanted = unbroken(inputs, places(tmp_path, "one"), hesitant, delays=delays)
        for told in (b"WaitingOnPermit", b"was third", b"rejected due to timeout after waiting 5s at plugin Hesitant"):
            assert told in wanted[0]
        assert broken(inputs, places(tmp_path, "other"), hesitant, every, delays=delays) == wanted

    def test_a_checkpoint_goes_with_the_end(self, tmp_path: Path) -> None:
        """Nothing is left to resume once a run has come to its end."""
        where = places(tmp_path, "one")
        broken(of_file(tmp_path, BUSY), where, "1.15", every=61)
        assert where.checkpoint is not None
        assert not where.checkpoint.exists()


@pytest.fixture
def half_way(tmp_path: Path) -> tuple[Inputs, Places]:
    """A run that stopped half-way with a checkpoint."""
    inputs, where = of_file(tmp_path, BUSY), places(tmp_path, "half")
    made = recording(inputs, where)
    made.begin()
    for number, _ in enumerate(made.run()):
        made.stopped = number >= 300
    made.end()
    return inputs, where


def resumed(half_way: tuple[Inputs, Places], header: Header = HEADER, steps: int = 0) -> None:
    """Begin again from the checkpoint, and go on for some steps."""
    inputs, where = half_way
    assert where.checkpoint is not None
    made = Recording(Replay(inputs, scheduler("1.15"), seed=1), where, header)
    try:
        made.begin(load(where.checkpoint))
        assert len(list(islice(made.run(), steps))) <= steps
    finally:
        made.close()


class TestRefusals:
    """What cannot be resumed says why."""

    @pytest.mark.parametrize(
        ("header", "message"),
        [
            (Header(inputs="other", options=HEADER.options), "half.state: made with other inputs: their bytes differ"),
            (Header(inputs="digest", options={"--release": "1.15", "--seed": "2"}), "half.state: made with --seed 1, got 2"),
            (Header(inputs="digest", options={"--release": "1.15"}), "half.state: made with --seed 1, got absent"),
        ],
    )
    def test_another_run(self, half_way: tuple[Inputs, Places], header: Header, message: str) -> None:
        """A checkpoint of other inputs or options is refused."""
        with pytest.raises(CheckpointError, match=message):
            resumed(half_way, header)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "not a checkpoint of kubeclassic"),
            (b'{"what": "something else"}\n', "not a checkpoint of kubeclassic"),
            (b"[1]\nx", "not a checkpoint of kubeclassic"),
            (b"\x80\x05\x95", "not a checkpoint of kubeclassic"),
        ],
    )
    def test_another_file(self, half_way: tuple[Inputs, Places], content: bytes, message: str) -> None:
        """A file that is no checkpoint, or one of another version, is refused."""
        assert half_way[1].checkpoint is not None
        half_way[1].checkpoint.write_bytes(content)
        with pytest.raises(CheckpointError, match=message):
            resumed(half_way)

    def test_a_damaged_one(self, half_way: tuple[Inputs, Places]) -> None:
        """A checkpoint of which a byte differs or is missing is refused."""
        path = half_way[1].checkpoint
        assert path is not None
        content = path.read_bytes()
        for damaged in (content[:-1], content[:-9] + b"x" + content[-8:]):
            path.write_bytes(damaged)
            with pytest.raises(CheckpointError, match="damaged: its bytes are not those that were written"):
                resumed(half_way)

    def test_other_types(self, half_way: tuple[Inputs, Places]) -> None:
        """Data of other types under a right checksum, which anybody can make, are damage, wherever the replay stumbles over them."""
        path = half_way[1].checkpoint
        assert path is not None
        header, body = path.read_bytes().split(b"\n", 1)
        found, told, random = json.loads(header), 0, Random(7)
        found.pop(CHECKSUM)
        for _ in range(40):
            data = json.loads(body)
            node = random.choice([node for node in data["nodes"] if len(node) > 1])
            node[random.randrange(1, len(node))] = random.choice([None, "x", 5, -1, 1.5, True])
            changed = json.dumps(data).encode()
            path.write_bytes(json.dumps({**found, CHECKSUM: _checksum(found, changed)}).encode() + b"\n" + changed)
            try:
                resumed(half_way, steps=40)
            except KubeclassicError as error:
                told += isinstance(error, CheckpointError)
        assert told > 5

    def test_other_results(self, half_way: tuple[Inputs, Places]) -> None:
        """Results that are shorter than they were, differ, or are gone are refused."""
        path = half_way[1].events
        assert path is not None
        content = path.read_bytes()
        for changed in (content[: len(content) // 3], b"x" + content[1:]):
            path.write_bytes(changed)
            with pytest.raises(
                ResultFileError, match=r"half.jsonl: not the file that the checkpoint was made with: its first \d+ bytes differ"
            ):
                resumed(half_way)
        path.unlink()
        with pytest.raises(ResultFileError, match=r"half.jsonl: cannot be resumed: no such file or directory"):
            resumed(half_way)


class TestTheFile:
    def test_its_first_line_says_what_it_is(self, half_way: tuple[Inputs, Places]) -> None:
        """The first line of a checkpoint is JSON that people and programs can read."""
        assert half_way[1].checkpoint is not None
        first = json.loads(half_way[1].checkpoint.read_bytes().partition(b"\n")[0])
        assert (first["what"], first["options"], first["steps"] >= 300) == ("kubeclassic checkpoint", dict(HEADER.options), True)

    def test_named_objects_are_not_written(self, tmp_path: Path) -> None:
        """A named part is not written; reading puts back the one that is given then."""
        path, part = tmp_path / "state", Pod()
        save(path, HEADER, [part, 1], {"pod": part})
        found = load(path)
        assert found is not None
        other = Pod()
        assert found.state({"pod": other})[0] is other

    def test_it_cannot_be_written(self, tmp_path: Path) -> None:
        """A place that cannot be written is told in one line."""
        with pytest.raises(CheckpointError, match="state: cannot be written: no such file or directory"):
            save(tmp_path / "nothere" / "state", HEADER, 1, {})
