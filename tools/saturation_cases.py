"""What `fabricsim saturation` finds on thirty networks whose routing looks at no queue, against the load at which links are full.

The table of docs/validation.md. Usage: .venv/bin/python tools/saturation_cases.py FOLDER (a results directory that is gone on with).
"""

import sys
from pathlib import Path
from typing import Any

import fabricsim as fs

UNIFORM, TRANSPOSE, TORNADO, COMPLEMENT = ({"kind": kind} for kind in ("uniform", "transpose", "tornado", "bit-complement"))
RING = {"kind": "ring", "routers": 8, "nodes_per_router": 2}
DRAGONFLY = {"kind": "dragonfly", "groups": 9, "routers_per_group": 4, "nodes_per_router": 2}
TREE = {"kind": "fat-tree", "down": [8, 8], "up": [4]}


def shift(by: int) -> dict[str, Any]:
    """Return the pattern in which node i sends to node i + `by`."""
    return {"kind": "shift", "by": by}


def lattice(kind: str, *shape: int, nodes: int = 1, **more: object) -> dict[str, Any]:
    """Return a lattice of this shape."""
    return {"kind": kind, "shape": list(shape), "nodes_per_router": nodes, **more}


CASES = {
    "ring 8, 2 nodes, uniform": (RING, "dor", UNIFORM),
    "ring 8, 2 nodes, shift by 3 routers": (RING, "dor", shift(6)),
    "ring 8, 2 nodes, next router": (RING, "dor", shift(2)),
    "ring 9, 2 nodes, uniform": ({**RING, "routers": 9}, "dor", UNIFORM),
    "mesh 8, 2 nodes, uniform": (lattice("mesh", 8, nodes=2), "dor", UNIFORM),
    "mesh 6x6, uniform": (lattice("mesh", 6, 6), "dor", UNIFORM),
    "mesh 4x4, transpose": (lattice("mesh", 4, 4), "dor", TRANSPOSE),
    "mesh 8x8, transpose": (lattice("mesh", 8, 8), "dor", TRANSPOSE),
    "mesh 8x8, bit complement": (lattice("mesh", 8, 8), "dor", COMPLEMENT),
    "mesh 4x4x2, 2 nodes, uniform, minimal": (lattice("mesh", 4, 4, 2, nodes=2), "minimal", UNIFORM),
    "torus 4x4, 2 nodes, uniform": (lattice("torus", 4, 4, nodes=2), "dor", UNIFORM),
    "torus 7x7, 2 nodes, uniform": (lattice("torus", 7, 7, nodes=2), "dor", UNIFORM),
    "torus 8x8, uniform": (lattice("torus", 8, 8), "dor", UNIFORM),
    "torus 8x8, tornado": (lattice("torus", 8, 8), "dor", TORNADO),
    "torus 8x8, transpose": (lattice("torus", 8, 8), "dor", TRANSPOSE),
    "torus 8x8, transpose, RDR": (lattice("torus", 8, 8), "rdr", TRANSPOSE),
    "torus 4x4x4, 2 nodes, uniform": (lattice("torus", 4, 4, 4, nodes=2), "dor", UNIFORM),
    "torus 4x4, width 2, 4 nodes, uniform": (lattice("torus", 4, 4, nodes=4, width=[2, 2]), "dor", UNIFORM),
    "HyperX 4x4, 8 nodes, uniform": (lattice("hyperx", 4, 4, nodes=8), "dor", UNIFORM),
    "HyperX 3x5, width 2 and 1, 9 nodes, uniform": (lattice("hyperx", 3, 5, nodes=9, width=[2, 1]), "dor", UNIFORM),
    "HyperX 4x4, 4 nodes, next router": (lattice("hyperx", 4, 4, nodes=4), "dor", shift(4)),
    "HyperX 4x4, 4 nodes, shift by 5 routers, DFSSSP": (lattice("hyperx", 4, 4, nodes=4), "dfsssp", shift(20)),
    "dragonfly 9 x 4, 4 nodes, uniform": ({**DRAGONFLY, "nodes_per_router": 4}, "minimal", UNIFORM),
    "dragonfly 9 x 4, 2 nodes, next group": (DRAGONFLY, "minimal", shift(8)),
    "dragonfly 9 x 4, 2 nodes, 2 links a pair, next group": ({**DRAGONFLY, "links_per_pair": 2}, "minimal", shift(8)),
    "dragonfly+ 5 x (2 + 2), 8 nodes, uniform": (
        {"kind": "dragonfly+", "groups": 5, "leaves": 2, "spines": 2, "nodes_per_leaf": 8, "links_per_pair": 2, "local_width": 2},
        "minimal",
        UNIFORM,
    ),
    "fat-tree 8:4, uniform, D-mod-k": (TREE, "d-mod-k", UNIFORM),
    "fat-tree 8:4, next leaf, D-mod-k": (TREE, "d-mod-k", shift(8)),
    "fat-tree 8:4, uniform, scatter": (TREE, "scatter", UNIFORM),
    "fat-tree 4:2, 4:4, 2, next leaf, ftree": ({"kind": "fat-tree", "down": [4, 4, 2], "up": [2, 4]}, "ftree", shift(4)),
}


def study() -> fs.Study:
    """Return one study with every case as an experiment."""
    sets = {
        f"case-{number:02}": {
            "set": {"topology": topology, "routing.kind": routing, "job.0.work": {"message": "2 KiB", "load": 0.5, **work}}
        }
        for number, (topology, routing, work) in enumerate(CASES.values(), 1)
    }
    return fs.Study(
        {
            "name": "saturation-cases",
            "router": {"buffer": "256 KiB"},
            "job": [{}],
            "run": {"end": "1 ms"},
            "experiment": sets,
        }
    )


def main() -> None:
    """Search all cases and print the table."""
    folder = Path(sys.argv[1])
    found = fs.saturation(study(), out=folder)
    cpu = {}
    for record in fs.Results.open(folder):
        cpu[record.run.experiment] = cpu.get(record.run.experiment, 0.0) + record.summary["cpu_s"]
    print("| case | bound | found | of the bound | runs | CPU s | limited by |")
    print("|---|---|---|---|---|---|---|")
    for name, one in zip(CASES, found, strict=True):
        share = f"{one.load / one.bound:.3f}" if one.load is not None and one.bound else "-"
        words = one.links.words if one.links is not None else one.reason
        spent = cpu.get(dict(one.point)["experiment"], 0.0)
        bound = f"{one.bound:.4f}" if one.bound is not None else "-"
        print(f"| {name} | {bound} | {one.value} | {share} | {one.runs} | {spent:.1f} | {words} |")


if __name__ == "__main__":
    main()
