"""Workload files of upstream's scheduler_perf: test cases of operations, run on this scheduler.

``files`` finds the workloads of a file, ``fields`` and ``ops`` read their operations, ``templates`` and ``objects`` make documents of
them, ``timeline`` says what happens when, and ``phases`` is the result, which :mod:`kubeclassic.simulation.bench.bench` plays and times.

No API server and no clock is there. An operation that waits, waits until all pods so far were decided. A decision counts as one
millisecond of virtual time, by which churn goes on; ``sleep`` lets virtual time pass.

Upstream: test/integration/scheduler_perf/scheduler_perf_test.go
"""
