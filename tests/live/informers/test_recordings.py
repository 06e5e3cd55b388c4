"""Informers' requests compared with upstream's recorded ones: a start, watches that are cut, expire, end or
are refused."""

from itertools import pairwise

import pytest

from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.informers.informers import Informers
from tests.support.followed import Followed
from tests.support.recordings import Player, exchanges, without_times
from tests.support.virtualtime import run_virtually

pytestmark = pytest.mark.usefixtures("shared")

SCENARIOS = ("a1-startup", "a3-rewatch", "a4-restart", "a5-long", "a6-watch-410")
PAIRS = (("1.15", "1.15.5"), ("1.28", "1.28.7"))
STRANGERS = (("1.15", "1.28.7", "i-scheduler-of-1.15.5"), ("1.28", "1.15.5", "i-scheduler-of-1.28.7"))
"""A scheduler and the server of another release: some of its lists are refused for ever."""
PLAYED = [(release, version, scenario) for release, version in PAIRS for scenario in SCENARIOS] + [*STRANGERS]
OF_INFORMERS = "/api/v1/", "/apis/apps/", "/apis/policy/", "/apis/storage.k8s.io/"
NOT_OURS = "/configmaps"
"""The original follows a ConfigMap for those who ask its secure port; our endpoints have no such clients."""
LATE = 0.35
"""Seconds by which a recorded request may be later than ours: the machine was busy."""


def of_informers(version, scenario):
    """The lists and watches of a scenario's first scheduler."""
    found = [
        exchange
        for exchange in exchanges(version, scenario)
        if exchange.method == "GET" and is_list(exchange.path)
    ]
    starts = [
        exchange.t
        for exchange in found
        if exchange.path == "/api/v1/nodes" and "resourceVersion=0" in exchange.query
    ]
    return (
        found
        if scenario != "a4-restart"
        else [exchange for exchange in found if exchange.t >= starts[-1] - 0.5]
    )


def is_list(path):
    """Whether it is a path of all objects of a kind that a scheduler follows."""
    return path.startswith(OF_INFORMERS) and "/namespaces/" not in path and NOT_OURS not in path


def play(release, recorded, chance):
    """The requests and events of informers of *release* with the recorded answers."""
    player = Player(recorded)
    told = Followed()
    informers = Informers(
        player, ALL_RELEASES[release].client, told, report=lambda text: None, random=lambda: chance
    )
    run_virtually(
        informers.run(),
        until=max(exchange.end for exchange in recorded) - min(exchange.t for exchange in recorded),
    )
    assert informers.has_synced == all(
        any(one.status == 200 for one in same) for same in by_path(recorded).values()
    )
    return player, told


def by_path(recorded):
    """The exchanges of each path, in order."""
    return {
        path: [one for one in recorded if one.path == path] for path in sorted({one.path for one in recorded})
    }


def unknown_to_the_server(recorded):
    """The paths that the server has never heard of."""
    return [path for path, found in by_path(recorded).items() if {one.status for one in found} <= {404, None}]


@pytest.mark.parametrize("release, version, scenario", PLAYED)
class TestRequests:
    """Each scenario of the recordings, played to informers."""

    def test_they_are_the_originals(self, release, version, scenario):
        """Paths, queries and their order for each kind are those of the original, but for random time-outs.

        A list that the server does not have is asked for once; then we look which versions there are, and the
        original asks for ever.
        """
        recorded = of_informers(version, scenario)
        player, _ = play(release, recorded, 0.5)
        asked = {
            path: [without_times(query) for _, query in found] for path, found in sorted(player.asked.items())
        }
        wanted = {
            path: [without_times(one.query) for one in found] for path, found in by_path(recorded).items()
        }
        for path in unknown_to_the_server(recorded):
            wanted[path] = wanted[path][:1]
            assert asked.pop(f"/apis/{path.split('/')[2]}/v1") == [""]
        assert asked == wanted

    def test_new_timeouts_are_drawn_when_the_original_does(self, release, version, scenario):
        """A watch that is sent again as it was has its old time-out, and any other watch a new one."""
        recorded = of_informers(version, scenario)
        player = Player(recorded)
        draws = iter(range(10**9))
        chances = (number * 0.6180339887 % 1 for number in draws)
        informers = Informers(
            player,
            ALL_RELEASES[release].client,
            Followed(),
            report=lambda text: None,
            random=lambda: next(chances),
        )
        run_virtually(
            informers.run(), until=max(one.end for one in recorded) - min(one.t for one in recorded)
        )
        for path, found in by_path(recorded).items():
            if path in unknown_to_the_server(recorded):
                continue
            ours = pairwise(query for _, query in player.asked[path])
            for (before, after), (failed, next_one) in zip(ours, pairwise(found), strict=True):
                if failed.status is None:
                    assert (before == after) == (failed.query == next_one.query), path

    def test_pauses_are_the_originals(self, release, version, scenario):
        """The original's pauses lie between our shortest and our longest ones."""
        recorded = of_informers(version, scenario)
        shortest, longest = (gaps(play(release, recorded, chance)[0]) for chance in (0.0, 0.999999))
        for path, found in by_path(recorded).items():
            theirs = [after.t - before.end for before, after in pairwise(found)]
            for least, most, pause in zip(shortest[path], longest[path], theirs, strict=False):
                assert least - 0.02 <= pause <= most + LATE, (path, least, pause, most)


def gaps(player):
    """The pauses between an answer and the next request, for each path."""
    return {
        path: [begin - end for end, (begin, _) in zip(ended, player.asked[path][1:], strict=False)]
        for path, ended in player.answered.items()
    } | {path: [] for path in player.asked if path not in player.answered}


@pytest.mark.parametrize("release, version", PAIRS)
class TestObjects:
    """The events of a recorded cluster."""

    def test_they_are_those_of_the_server(self, release, version, shared):
        """After a start with three pods and one that fits nowhere, those and the nodes are known, with what
        was received."""
        _, told = play(release, of_informers(version, "a1-startup"), 0.5)
        pods = {item.key for item in told.objects.values() if item.kind == "Pod"}
        assert pods == {f"default/{name}" for name in ("big", "pod-0", "pod-1", "pod-2")}
        assert all(
            item.manifest and item.manifest["metadata"]["name"] == item.name for item in told.objects.values()
        )
        assert sum(item.kind == "Node" for item in told.objects.values()) >= 2
