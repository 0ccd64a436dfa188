"""How long will this work take on that network, why, and what would change it.

A packet-level simulator of HPC and AI interconnects: a Rust core and this Python face.

Examples
--------
>>> import fabricsim as fs
>>> study = fs.Study({"name": "first", "topology": {"kind": "torus", "shape": [4, 4]}})
>>> len(study.sweep({"topology.shape": [[4, 4], [8, 8]]}).expand())
2
"""

import lazy_loader

# The names stand in the stub beside this file; each is loaded when it is first asked for, so that what needs no table starts in half
# the time.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
