"""A test double of the core: the same functions and shapes, invented but repeatable numbers, faults on request.

The tests of the campaign, the command line and the report need things that an honest simulator does not do on
request: fail a self-check, crash, take exactly so long, fill a disk. A study asks for them in a `[fake]` table:
`seconds` (wall time of a run), `fail` (name of an experiment whose self-check fails), `crash` (likewise: the
process dies), `rows` (messages per run). Runs that are well under way leave a file each in the folder `FAKE_UNDER_WAY`, if there is one.
"""

import hashlib
import json
import math
import os
import time
import tomllib
from pathlib import Path

from fabricsim._hiding import show

# What takes the place of the core may draw with it, also in workers.
show("numpy")

import numpy as np  # noqa: E402

# The step at which a run is well under way.
UNDER_WAY = 4

__version__ = os.environ.get("FAKE_VERSION", "0.0.0+fake")


def build():
    """As the core's; the environment may ask for another build."""
    commit = os.environ.get("FAKE_COMMIT", "a" * 40)
    sources = os.environ.get("FAKE_SOURCES", "b" * 64)
    return json.dumps({"version": __version__, "commit": commit, "dirty": False, "sources": sources})


class StudyError(ValueError):
    """As the core's."""


class CheckFailed(RuntimeError):
    """As the core's."""


class Interrupted(RuntimeError):
    """As the core's."""


class CheckpointRefused(ValueError):
    """As the core's."""


class TraceError(ValueError):
    """As the core's."""


def _diagnostic(file, line, key, reason, hint, severity="error"):
    rendered = f"{severity}: {reason}\n  --> {file}:{line}:1\n  | {key}\n  = hint: {hint}"
    return {
        "severity": severity,
        "file": file,
        "line": line,
        "column": 1,
        "key": key,
        "reason": reason,
        "hint": hint,
        "rendered": rendered,
    }


def _line_of(text, key):
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith((key, f"[{key}")):
            return number
    return 1


_TOP = {
    "name",
    "description",
    "topology",
    "link",
    "router",
    "routing",
    "nic",
    "job",
    "sweep",
    "observe",
    "run",
    "experiment",
    "variant",
    "claim",
    "reproduce",
    "fake",
}


def _load(source, file_name, base_dir, options):
    found = []
    try:
        text = source.decode()
        study = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return None, [_diagnostic(file_name, 1, "", f"not TOML: {error}", "see the tutorial")]
    unknown = [key for key in study if key not in _TOP]
    found += [
        _diagnostic(file_name, _line_of(text, key), key, f"unknown key `{key}`", "did you mean `topology`?") for key in unknown
    ]
    if "topology" not in study:
        found.append(_diagnostic(file_name, 1, "topology", "missing", "add a [topology] table"))
    if not isinstance(study.get("topology", {}).get("nodes_per_router", 1), int):
        found.append(
            _diagnostic(file_name, _line_of(text, "nodes_per_router"), "topology.nodes_per_router", "not a number", "write 1")
        )
    variant = options.get("variant")
    if variant is not None and variant not in study.get("variant", {}):
        found.append(
            _diagnostic(file_name, 0, "variant", f"no variant `{variant}`", f"there are: {', '.join(study.get('variant', {}))}")
        )
    for key, _ in options.get("sets", []):
        if key.split(".")[0] not in _TOP:
            found.append(_diagnostic("--set", 0, key, f"unknown key `{key}`", "did you mean `topology`?"))
    return study, found


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _apply(table, path, value):
    *parents, last = path.split(".")
    for part in parents:
        if isinstance(table, list):
            table = table[int(part)]
        else:
            table = table.setdefault(part, {})
    if isinstance(table, list):
        table[int(last)] = value
    else:
        table[last] = value


def _parse_set(text):
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def _runs(study, options):
    study = json.loads(json.dumps(study))
    for key, value in options.get("sets", []):
        _apply(study, key, _parse_set(value))
    variant = study.get("variant", {}).get(options.get("variant") or "", {})
    for key, value in variant.get("set", {}).items():
        _apply(study, key, value)
    experiments = study.get("experiment") or {"": {"sweep": study.get("sweep", {})}}
    wanted = options.get("experiments") or variant.get("experiments") or list(experiments)
    runs = []
    for name, experiment in experiments.items():
        if name not in wanted:
            continue
        sweep = dict(experiment.get("sweep", {}))
        sweep.update(variant.get("sweep", {}).get(name, {}))
        points = [[]]
        for key, values in sweep.items():
            points = [[*point, (key, value)] for point in points for value in values]
        for point in points:
            for seed in study.get("run", {}).get("seeds", [1]):
                spec = {key: study[key] for key in ("topology", "routing", "job", "fake", "observe") if key in study}
                spec = json.loads(json.dumps(spec))
                for key, value in [*experiment.get("set", {}).items(), *point]:
                    _apply(spec, key, value)
                spec |= {
                    "study": study.get("name", "study"),
                    "experiment": name,
                    "seed": seed,
                    "sweep": [[k, _text(v)] for k, v in point],
                }
                canonical = json.dumps(spec, sort_keys=True)
                digest = hashlib.sha256(canonical.encode()).hexdigest()
                shape = spec["topology"].get("shape", [4, 4])
                routers = math.prod(shape)
                nodes = routers * spec["topology"].get("nodes_per_router", 1)
                estimate = {
                    "nodes": nodes,
                    "routers": routers,
                    "memory_bytes": 1_000_000 + 4000 * nodes,
                    "packet_hops": 1000 * nodes,
                    "seconds": 0.1 + float(spec.get("fake", {}).get("seconds", 0.0)),
                    "build_seconds": 0.1,
                }
                runs.append(
                    {
                        "id": digest[:12],
                        "canonical": canonical,
                        "hash": digest,
                        "study": spec["study"],
                        "experiment": name,
                        "sweep": spec["sweep"],
                        "seed": seed,
                        "engine": study.get("run", {}).get("engine", "auto"),
                        "topology": spec["topology"],
                        "estimate": estimate,
                    }
                )
    return study, runs


def check(source, file_name, base_dir, options):
    options = json.loads(options)
    study, found = _load(source, file_name, base_dir, options)
    runs = [] if found else _runs(study, options)[1]
    return json.dumps({"ok": not found, "diagnostics": found, "runs": len(runs), "deadlock": []})


def expand(source, file_name, base_dir, options):
    options = json.loads(options)
    study, found = _load(source, file_name, base_dir, options)
    if found:
        error = StudyError(found[0]["reason"])
        error.diagnostics = found
        raise error
    study, runs = _runs(study, options)
    head = {
        "name": study.get("name", "study"),
        "description": study.get("description", ""),
        "claims": study.get("claim", []),
        "reproduce": study.get("reproduce", {}),
    }
    return json.dumps({"study": head, "runs": runs})


class RunResult:
    """As the core's: a summary and tables by column."""

    def __init__(self, summary, tables):
        self.summary = json.dumps(summary)
        self._tables = tables

    def columns(self, table):
        if table not in ("links", "messages", "timeline", "cdf", "hops", "senders", "ranks"):
            raise ValueError(f"no table {table}")
        return [(name, values.dtype.name, values.tobytes(), None) for name, values in self._tables.get(table, {}).items()]


def _links(shape, rng):
    routers = math.prod(shape)
    names = "xyzabc"
    rows = []
    for router in range(routers):
        rest, coordinates = router, []
        for extent in reversed(shape):
            coordinates.insert(0, rest % extent)
            rest //= extent
        port = 0
        for dimension, extent in enumerate(shape):
            for step in (1, -1):
                peer = list(coordinates)
                peer[dimension] = (peer[dimension] + step) % extent
                index = 0
                for value, size in zip(peer, shape, strict=True):
                    index = index * size + value
                rows.append((router, port, index, dimension + 1, f"{names[dimension]}{'+' if step > 0 else '-'}"))
                port += 1
    return rows


def share_tables(folder):
    """It has none."""


def checkpoint_interval(text):
    unit = text.lstrip("0123456789. ")
    if unit not in ("s", "min", "h", "ms", "us", "ns"):
        raise ValueError(f"{text!r} is no duration")
    return "wall" if unit in ("s", "min", "h") else "simulated"


def _step_of(checkpoint, digest):
    """Return the step to go on with; a checkpoint is the run's hash and a step."""
    path = Path(checkpoint["file"])
    if not checkpoint["resume"]:
        path.unlink(missing_ok=True)
    if not path.exists():
        return 0
    theirs, _, step = path.read_text().partition(" ")
    if theirs != digest:
        raise CheckpointRefused(f"{path}: the checkpoint is damaged; remove the file to begin this run anew")
    return int(step)


def run(canonical, progress, checkpoint=None, threads=1, ranks=None):
    spec = json.loads(canonical)
    fake = spec.get("fake", {})
    rng = np.random.default_rng(int(hashlib.sha256(canonical.encode()).hexdigest()[:12], 16))
    shape = spec["topology"].get("shape", [4, 4])
    routers = math.prod(shape)
    nodes = routers * spec["topology"].get("nodes_per_router", 1)
    job = (spec.get("job") or [{}])[0].get("work", {})
    load = float(job.get("load", 0.5))
    message = int(str(job.get("message", "2048 B")).split()[0])
    steps = max(1, int(float(fake.get("seconds", 0.0)) / 0.05))
    checkpoint = json.loads(checkpoint) if checkpoint else None
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    for step in range(_step_of(checkpoint, digest) if checkpoint else 0, steps):
        if fake.get("crash") == (spec["experiment"] or "all"):
            os._exit(66)
        time.sleep(float(fake.get("seconds", 0.0)) / steps)
        if step == UNDER_WAY and "FAKE_UNDER_WAY" in os.environ:
            (Path(os.environ["FAKE_UNDER_WAY"]) / digest).touch()
        state = {
            "fraction": (step + 1) / steps,
            "sim_time_ns": step * 1e3,
            "events": step * 1000,
            "delivered": step * 10,
            "in_flight": 5,
            "hot_links": [["router 3 x+ -> router 4", 0.93]],
        }
        answer = True if progress is None else progress(json.dumps(state))
        if checkpoint and (answer == "checkpoint" or checkpoint["every"]):
            Path(checkpoint["file"]).write_text(f"{digest} {step}")
        if answer == "checkpoint" or not answer:
            raise Interrupted("stopped")
    diameter = sum(extent // 2 for extent in shape) + 1
    mean_hops = 1 + sum(extent / 4 for extent in shape)
    base = 500 + 150 * mean_hops + message / 2
    mean = base / max(0.05, 1.02 - min(load, 1.0)) * (1 + math.log10(nodes) / 4)
    rows = int(fake.get("rows", 200))
    latencies = np.sort(rng.gamma(4.0, mean / 4, max(rows, 10)))
    throughput = (
        message / latencies[:nodes] * 1e9 / 2**20
        if nodes <= len(latencies)
        else message / rng.gamma(4.0, mean / 4, nodes) * 1e9 / 2**20
    )
    links = _links(shape, rng)
    utilisation = np.clip(rng.beta(2, 4, len(links)) * (0.4 + load), 0, 1)
    hops = np.arange(1, diameter + 1, dtype="<u4")
    fraction = np.linspace(0.01, 1.0, 100)
    tables = {
        "cdf": {"latency_ns": np.quantile(latencies, fraction), "fraction": fraction},
        "hops": {
            "hops": hops,
            "packets": np.array([int(1000 * math.exp(-((h - mean_hops) ** 2) / 4)) for h in hops], dtype="<u8"),
        },
        "senders": {
            "node": np.arange(nodes, dtype="<u4"),
            "throughput_MiBps": throughput.astype("<f8"),
            "mean_latency_ns": rng.normal(mean, 10, nodes),
            "max_latency_ns": rng.normal(mean * 2, 10, nodes),
        },
    }
    observe = spec.get("observe", {})
    if observe.get("links"):
        tables["links"] = {
            "router": np.array([row[0] for row in links], dtype="<u4"),
            "port": np.array([row[1] for row in links], dtype="<u2"),
            "peer_router": np.array([row[2] for row in links], dtype="<u4"),
            "class": np.array([row[3] for row in links], dtype="u1"),
            "utilisation": utilisation,
            "packets": (utilisation * 1000).astype("<u8"),
            "bytes": (utilisation * 1000 * message).astype("<u8"),
        }
    if observe.get("timeline"):
        when = np.linspace(0, 1e5, 50)
        tables["timeline"] = {
            "time_ns": when,
            "accepted_load": load * (1 - np.exp(-when / 1e4)),
            "mean_latency_ns": mean * (1 - 0.5 * np.exp(-when / 1e4)),
        }
    if observe.get("messages") in ("full", True):
        tables["messages"] = {
            "source": rng.integers(0, nodes, rows).astype("<u4"),
            "number": np.arange(rows, dtype="<u8"),
            "destination": rng.integers(0, nodes, rows).astype("<u4"),
            "bytes": np.full(rows, message, dtype="<u8"),
            "born_ps": np.arange(rows, dtype="<u8") * 1000,
            "injected_ps": np.arange(rows, dtype="<u8") * 1000,
            "arrived_ps": np.arange(rows, dtype="<u8") * 1000 + (latencies[:rows] * 1000).astype("<u8"),
            "hops": rng.integers(1, diameter + 1, rows).astype("<u4"),
        }
    failed = fake.get("fail") == (spec["experiment"] or "all")
    checks = [
        {"name": "conservation", "ok": True, "detail": f"{rows} packets in = {rows} delivered + 0 in flight"},
        {
            "name": "capacity",
            "ok": not failed,
            "detail": "router 3 x+ carried 1.2 times its capacity" if failed else "no link above its bandwidth",
        },
        {"name": "zero-load bound", "ok": True, "detail": "no packet was faster than light"},
    ]
    quantile = {f"p{p}": float(np.percentile(latencies, p)) for p in (50, 95, 99)}
    summary = {
        "verdict": {"ok": not failed, "checks": checks},
        "sim_time_ns": 1e5, "messages": rows, "packets": rows * 4, "packet_hops": int(rows * 4 * mean_hops),
        "latency_ns": {"mean": float(latencies.mean()), **quantile, "min": float(latencies.min()), "max": float(latencies.max())},
        "hops": {"mean": mean_hops, "max": diameter}, "offered_load": load, "accepted_load": min(load, 0.85),
        "saturated": "accepted 0.85 of 0.95 offered" if load > 0.9 else None, "warmup_ns": 1e4, "bytes_delivered": rows * message,
        "throughput_MiBps": {"mean": float(throughput.mean()), "min": float(throughput.min()), "p5": float(np.percentile(throughput, 5)), "p50": float(np.percentile(throughput, 50)), "p95": float(np.percentile(throughput, 95)), "max": float(throughput.max())},
        "events": rows * 40, "cpu_s": 0.01, "build_s": 0.001, "peak_rss_bytes": 50_000_000,
        "digest": hashlib.sha256(canonical.encode()).hexdigest()[:16], "engine": "sequential", "n_nodes": nodes, "n_routers": routers,
        "notes": ["warm-up found by measurement"], "limits": ["credit: no adaptive escape channels"],
    }  # fmt: skip
    if failed:
        error = CheckFailed("self-check failed: capacity")
        error.summary = json.dumps(summary)
        raise error
    return RunResult(summary, tables)


def _figure(name, measure, word, unit="", seeds="mean", figures=()):
    line = f"{word.capitalize()}."
    return {
        "name": name, "measure": measure, "unit": unit, "word": word, "line": line, "seeds": seeds, "parts": "pooled", "figures": [*figures],
    }  # fmt: skip


def results():
    """As the core's: the numbers that are read by name here, and the tables that runs record."""
    latency = [
        _figure("mean", "nanoseconds", "mean latency", "ns"),
        _figure("p99", "nanoseconds", "p99 latency", "ns"),
        _figure("max", "nanoseconds", "greatest latency", "ns", "greatest"),
    ]
    verdict = [_figure("ok", "flag", "self-checks", seeds="apart"), _figure("state", "text", "state", seeds="apart")]
    figures = [
        _figure("verdict", "group", "verdict", seeds="apart", figures=verdict),
        _figure("packet_hops", "count", "packet hops"),
        _figure("latency_ns", "group", "latency", seeds="apart", figures=latency),
        _figure("not_arrived", "share", "not arrived"),
        _figure("hops", "group", "hops", seeds="apart", figures=[_figure("mean", "count", "mean hops")]),
        _figure("accepted_load", "load", "accepted load"),
        _figure("jobs", "list", "jobs", seeds="apart", figures=[_figure("time_ns", "nanoseconds", "time of the job", "ns")]),
        _figure("cpu_s", "seconds", "CPU time", "s", "sum"),
        _figure("n_nodes", "count", "nodes"),
    ]
    columns = {"throughput_MiBps": "MiB/s", "latency_ns": "ns", "time_ns": "ns", "mean_latency_ns": "ns"}
    told = {
        "links": ["router", "port", "peer_router", "class", "utilisation", "packets", "bytes"],
        "messages": ["source", "number", "destination", "bytes", "born_ps", "injected_ps", "arrived_ps", "hops"],
        "timeline": ["time_ns", "accepted_load", "mean_latency_ns"],
        "cdf": ["latency_ns", "fraction"],
        "hops": ["hops", "packets"],
        "senders": ["node", "throughput_MiBps", "mean_latency_ns", "max_latency_ns"],
        "ranks": ["job", "rank"],
    }
    tables = [
        {
            "name": name,
            "line": "",
            "columns": [{"name": column, "unit": columns.get(column, ""), "word": column, "line": ""} for column in names],
        }
        for name, names in told.items()
    ]
    return json.dumps({"figures": figures, "tables": tables, "files": []})


def list_entries(kind):
    kinds = {
        "topology": [
            {
                "name": "torus",
                "line": "An n-dimensional torus",
                "parameters": [
                    {"key": "shape", "type": "integers", "unit": None, "default": None, "doc": "Routers along each dimension"}
                ],
                "source": "Dally 1990",
                "limits": [],
            }
        ],
        "routing": [
            {
                "name": "dor",
                "line": "Dimension order",
                "parameters": [],
                "source": "Dally and Seitz 1987",
                "limits": ["oblivious"],
            }
        ],
    }
    if kind not in kinds:
        raise ValueError(f"no kind `{kind}`; there are: {', '.join(kinds)}")
    return json.dumps(kinds[kind])


def schema():
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"})


def describe(canonical, links=None):
    spec = json.loads(canonical)
    shape = spec["topology"].get("shape", [4, 4])
    routers = math.prod(shape)
    per = spec["topology"].get("nodes_per_router", 1)
    out = {
        "name": f"torus {'x'.join(map(str, shape))}",
        "metrics": {
            "nodes": routers * per,
            "routers": routers,
            "diameter": sum(s // 2 for s in shape),
            "links": routers * len(shape),
        },
        "classes": ["host", "x", "y", "z"][: len(shape) + 1],
    }
    if routers <= 5000:
        places = []
        for router in range(routers):
            rest, c = router, []
            for extent in reversed(shape):
                c.insert(0, rest % extent)
                rest //= extent
            c = [*c, 0, 0]
            last = c[2] if len(shape) > 2 else 0
            places.append(
                {
                    "id": router,
                    "name": f"r{tuple(c[: len(shape)])}",
                    "x": c[0] + last * (shape[0] + 1.0),
                    "y": float(c[1]),
                    "nodes": per,
                }
            )
        out["routers"] = places
        listed = [[router, port, peer, "xyzabc"[kind - 1], name] for router, port, peer, kind, name in _links(shape, None)]
        given = None if links is None else json.loads(links)
        out["links"] = [link for link in listed if given is None or link[:2] in given]
    return json.dumps(out)


def partition(canonical, workers):
    routers = math.prod(json.loads(canonical)["topology"].get("shape", [4, 4]))
    of = [router * workers // routers for router in range(routers)]
    shares = [{"routers": of.count(w), "nodes": of.count(w), "weight": 6 * of.count(w), "cables_out": 8} for w in range(workers)]
    out = {"method": "blocks", "note": None, "imbalance": 1.0, "cables": 32, "cables_cut": 8}
    out["workers"] = [{**share, "share": share["routers"] / routers} for share in shares]
    out["classes"] = [{"class": "x", "cables": 16, "cut": 0}, {"class": "y", "cables": 16, "cut": 8}]
    out["worker_of_router"] = of
    return json.dumps(out)


def bench_cases():
    return json.dumps([{"name": "sculpin-4k", "summary": "4,096 nodes, uniform"}])


def bench(case, options):
    if case != "sculpin-4k":
        raise ValueError(f"no case `{case}`; there are: sculpin-4k")
    found = {"name": case, "packet_hops": 19_000_000, "packet_hops_per_cpu_s": 1.9e7, "events_per_cpu_s": 2e7, "events": 1000}
    return json.dumps({**found, "cpu_s": 1.0, "build_s": 0.1, "peak_rss_bytes": 10**8, "digest": "0123456789abcdef"})
