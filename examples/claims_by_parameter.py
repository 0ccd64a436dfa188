"""Which claims of a study hang on what its paper leaves open: one thing at a time is chosen otherwise, and all claims are judged again.

python claims_by_parameter.py                           two choices on small networks, in seconds
python claims_by_parameter.py open-16 results/16        all choices with 16 nodes, in minutes
python claims_by_parameter.py open results/all 1 2 20   the first, the second and the 20th on all networks
"""

import json
import sys
from pathlib import Path

import fabricsim as fs
from fabricsim.reproduce import judge_results

WORK = "job.0.work."
CHOICES = {
    "as in the study": {},
    "1 access under way": {WORK + "outstanding": 1},
    "2 accesses": {WORK + "outstanding": 2},
    "4 accesses": {WORK + "outstanding": 4},
    "8 accesses": {WORK + "outstanding": 8},
    "64 accesses": {WORK + "outstanding": 64, WORK + "misses": 256},
    "links 2 ns": {"link.latency": "2 ns"},
    "links 200 ns": {"link.latency": "200 ns"},
    "flits of 72 B": {"router.flit": "72 B"},
    "cut-through routers": {"router": {"model": "credit"}},
    "memory 10 ns": {WORK + "memory_latency": "10 ns"},
    "memory 200 ns": {WORK + "memory_latency": "200 ns"},
    "directory 50 ns": {WORK + "directory_latency": "50 ns"},
    "shared cache 20 ns": {WORK + "l2_latency": "20 ns"},
    "lines of 32 B": {WORK + "line": "32 B"},
    "lines of 128 B": {WORK + "line": "128 B", WORK + "l1_ways": 2, WORK + "l2_ways": 4},
    "headers of 32 B": {WORK + "control": "32 B", WORK + "header": "32 B"},
    "an access per 0.5 ns": {WORK + "issue": "500 ps"},
    "another seed": {"run.seeds": [2]},
    "1 access, memory 200 ns": {WORK + "outstanding": 1, WORK + "memory_latency": "200 ns"},
    "2 accesses, memory 200 ns": {WORK + "outstanding": 2, WORK + "memory_latency": "200 ns"},
}


def main(variant: str = "quick", out: str = "by-parameter", *numbers: str) -> None:
    """Run the study once per choice, or for the choices with some numbers; + agrees, - differs, a point was not measured."""
    chosen = [int(number) for number in numbers] or range(1, 3 if variant == "quick" else len(CHOICES) + 1)
    names = [list(CHOICES)[number - 1] for number in chosen]
    found = {}
    for number, name in zip(chosen, names, strict=True):
        study = fs.load("dsm-topology", variant=variant, sets=CHOICES[name])
        results = study.run(out=Path(out) / name.replace(" ", "-"), progress=False)
        found[name] = {verdict.id: (verdict.verdict, verdict.value) for verdict in judge_results(results)}
        print(f"{number:2} {name}", flush=True)
    signs = {"agrees": "+", "differs": "-"}
    print(" " * 26, *(f"{number:2}" for number in chosen))
    for claim in found[names[0]]:
        print(f"{claim:26}", *(f"{signs.get(found[name][claim][0], '.'):>2}" for name in names))
    Path(out, "values.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
