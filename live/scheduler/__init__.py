"""The live scheduler: it watches an API server, decides as a release does, and writes what follows.

* :mod:`.scheduler`: the loop: the next pod, its cycle, what follows; :mod:`.state`: what its parts share
* :mod:`.failures`: what follows an attempt that failed, per generation, and how victims leave
* :mod:`.bindings`: the binding of a pod, beside other cycles; :mod:`.volumewrites`: the volumes and devices
  that it waits for
* :mod:`.writes`: the requests, and their bodies; the same without any request
* :mod:`.shadow`: beside the cluster's own scheduler: on which pods do the two differ?
* :mod:`.election`, :mod:`.events`, :mod:`.metrics`, :mod:`.endpoints`, :mod:`.flags`: what surrounds it
"""
