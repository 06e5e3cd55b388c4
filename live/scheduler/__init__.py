"""The live scheduler: it watches an API server, decides as a release does, and writes what follows.

* :mod:`.scheduler`: the loop: the next pod, its cycle, its binding beside other cycles
* :mod:`.consequences`: what follows an attempt that failed, per generation, and how victims leave
* :mod:`.state`: the state that its parts share; requests and their bodies, and the same without any request
* :mod:`.volumewrites`: the volumes and devices that a binding waits for
* :mod:`.shadow`: beside the cluster's own scheduler: on which pods do the two differ?
* :mod:`.election`, :mod:`.events`, :mod:`.following`, :mod:`.flags`: its surroundings
"""
