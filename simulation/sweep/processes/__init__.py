"""What runs the runs of a sweep: this process, others of this machine, or Dask."""
