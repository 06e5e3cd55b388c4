"""A Dask cluster on the loopback, of processes that have this package."""

from contextlib import contextmanager

from distributed import LocalCluster


@contextmanager
def dask_cluster(workers=2):
    """The address of a Dask scheduler with this number of *workers*, of one thread each."""
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield str(cluster.scheduler_address)
