"""Puts the times of a study's runs into a table that stays: `python tools/study_times.py RESULTS docs/studies/ecp-times.csv`.

The runs of a long study take machine hours, and not all at one time. Their times by run are what its page says, and with them its claims can
be judged again. Rows of runs that the results do not have stay; a run whose digest is another one than in the table stops the tool, unless
`--replace` is given.
"""

import argparse
import csv
import sys
from pathlib import Path

import fabricsim as fs
from fabricsim._recorded import RunRecord

#: Beside the experiment and the run's id; what a sweep sets with a value that is a table is left out, it has a name beside it.
COLUMNS = ("job.0.name", "topology.preset", "job.0.ranks_per_node", "routing.kind", "link.bandwidth", "job.0.placement")


def row_of(record: RunRecord) -> dict[str, str]:
    """Return the row of a run."""
    swept = dict(record.run.sweep)
    if not record.ok:
        raise SystemExit(f"{record.label}: a self-check failed")
    return {
        "experiment": record.run.experiment,
        **{key: swept.get(key, "") for key in COLUMNS},
        "seed": str(record.run.seed),
        "run": record.id,
        "jobs.0.time_ns": repr(record.value("jobs.0.time_ns")),
        "digest": str(record.value("digest")),
    }


def main() -> None:
    """Read results, merge their rows into the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--replace", action="store_true", help="results that differ from the table go before it")
    asked = parser.parse_args()
    results = fs.Results.open(asked.results)
    order = [entry["id"] for entry in results.manifest["runs"]]
    rows = {row["run"]: row for row in csv.DictReader(asked.table.open())} if asked.table.exists() else {}
    order += [run for run in rows if run not in order]
    for record in results.records:
        row = row_of(record)
        if not asked.replace and rows.get(record.id, row) != row:
            sys.exit(f"{record.label}: the table has {rows[record.id]}, the results {row}")
        rows[record.id] = row
    with asked.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(next(iter(rows.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[run] for run in order if run in rows)
    print(f"{asked.table}: {len(rows)} runs")


if __name__ == "__main__":
    main()
