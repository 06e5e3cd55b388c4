"""Percentiles and throughput of decisions, against plain loops; no test looks at how long anything took."""

from __future__ import annotations

import pytest

from kubeclassic.simulation.bench.measured import PERCENTS, WINDOW, QuickDecisions, Timing, percentiles, throughput


def naive_rates(latencies: list[float]) -> list[float]:
    """Decisions a second, window by window; a rest of less than half a window belongs to the last one."""
    windows: list[list[float]] = []
    for at in range(0, len(latencies), WINDOW):
        part = latencies[at : at + WINDOW]
        if windows and len(part) <= WINDOW / 2:
            windows[-1] += part
        else:
            windows.append(part)
    return [len(part) / sum(part) for part in windows]


@pytest.mark.parametrize("count", [1, 99, 100, 101, 149, 151, 199, 320, 1000])
def test_throughput_by_window(count: int) -> None:
    """The average is over all decisions, percentiles over windows."""
    latencies = [0.001 + 0.0001 * (number % 37) for number in range(count)]
    found = throughput(latencies)
    assert found.average == pytest.approx(count / sum(latencies), abs=0.1)
    assert [found.p50, found.p90, found.p95, found.p99] == pytest.approx(percentiles(naive_rates(latencies)), abs=0.1)


def test_the_preparation_counts() -> None:
    """Pods a second are of the preparation and the loop together; those of the loop alone are beside them."""
    timing = Timing(hosts=dict.fromkeys("abcdef"), prepare_seconds=1.0, cpu_seconds=2.0)
    assert (timing.rate, timing.loop_rate) == (2.0, 3.0)


def test_nothing_was_decided() -> None:
    """A case without pods has zeros, not an error."""
    timing = Timing()
    assert (timing.rate, timing.loop_rate) == (0.0, 0.0)
    assert (list(timing.latencies), timing.throughput.average) == ([0.0] * len(PERCENTS), 0.0)
    assert timing.quick == QuickDecisions(0.0, 0, {})
