"""Which volumes a pod's claims get, on which nodes, and what is assumed of them."""
