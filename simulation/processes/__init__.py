"""What runs tasks: this process, others of this machine, or Dask."""
