"""Which volumes a pod's claims get, on which nodes, and what the scheduler assumes of volumes and claims."""
