"""Commands about study files and what can stand in them: new, check, expand, show, list, schema."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from fabricsim._host import available_cores
from fabricsim.cli._base import (
    INPUT,
    OK,
    ExperimentOption,
    InputError,
    JsonOption,
    SetOption,
    StudyArgument,
    VariantOption,
    app,
    example,
    load_study,
    parse_sets,
    put,
    say,
)


@app.command(epilog=example("new my.toml --template ai-cluster"))
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write.")] = Path("study.toml"),
    template: Annotated[
        str, typer.Option("--template", metavar="NAME|list", help="What it is about; `list` tells what there is.")
    ] = "torus",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented study to start from, and what it needs beside it."""
    from fabricsim._files import atomic_write
    from fabricsim._starter import starter_files, templates

    known = templates()
    if template == "list":
        for name, about in known.items():
            put(f"{name:12} {about}")
        return
    if template not in known:
        near = get_close_matches(template, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"no template {template}; there are: {', '.join(known)}{meant}")
    files = starter_files(template, path)
    for file in files:
        if file.exists() and not force:
            raise InputError(f"{file} exists; choose another name, or --force")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}")
    for file, text in files.items():
        atomic_write(file, text)
    put(
        f"{' and '.join(map(str, files))} written; next: fabricsim check {shlex.quote(str(path))}, then fabricsim run {shlex.quote(str(path))}"
    )


@app.command(epilog=example('check my.toml --set link.bandwidth="50 GB/s"'))
def check(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a study without running it: keys, values, the network, freedom from deadlock."""
    loaded = load_study(study, sets, variant)
    found = loaded.check(experiments=experiment)
    if as_json:
        from dataclasses import asdict

        runs = loaded.expand(experiments=experiment).runs if found.ok else ()
        predictions = [{"id": entry.id, "label": entry.label, "seed": entry.seed, **entry.estimate} for entry in runs]
        put(json.dumps({**asdict(found), "predictions": predictions}))
    else:
        for diagnostic in found.diagnostics:
            say(str(diagnostic))
        for cycle in found.deadlock:
            say(f"deadlock: {cycle if isinstance(cycle, str) else json.dumps(cycle)}")
        if found.ok:
            from fabricsim._forecast import Forecast, overview_line

            put(f"{loaded.file_name}: fine, {found.runs} run{'s' if found.runs != 1 else ''}")
            put(overview_line(loaded.expand(experiments=experiment).runs, Forecast()))
    raise typer.Exit(OK if found.ok else INPUT)


@app.command(epilog=example("expand ecp --experiment adaptive"))
def expand(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a study with their size, without running them."""
    plan = load_study(study, sets, variant).expand(experiments=experiment)
    if as_json:
        put(
            json.dumps(
                {
                    "study": {
                        "name": plan.name,
                        "description": plan.description,
                        "claims": plan.claims,
                        "reproduce": plan.reproduce,
                        "sample": plan.sample,
                    },
                    "hash": plan.hash,
                    "runs": [entry.to_dict() for entry in plan.runs],
                }
            )
        )
    else:
        from fabricsim._text import expansion_text

        expansion_text(plan)


@app.command(epilog=example("show tsubame2-hyperx --out hyperx.svg"))
def show(
    study: Annotated[str, typer.Argument(metavar="STUDY|PRESET", help="A study file, a packaged study, or a topology preset.")],
    sets: SetOption = None,
    variant: VariantOption = None,
    run_id: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Which run of the study \\[default: the first].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Draw the network into this .svg, .png or .pdf file.")
    ] = None,
    shares: Annotated[
        bool, typer.Option("--partition", help="Also show which worker gets which routers; a drawing is coloured by worker.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, max=1024, help="Workers of --partition \\[default: those of the study, else the cores]."
        ),
    ] = None,
    jobs: Annotated[bool, typer.Option("--placement", help="Also show how many nodes each job has in each group.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a network: its metrics, who gets which router, where jobs are, and a drawing with --out."""
    from fabricsim.registry import describe, partition
    from fabricsim.study import Study, find_study

    pairs = parse_sets(sets)
    try:
        find_study(study)
        loaded = load_study(study, sets, variant)
    except FileNotFoundError:
        if Path(study).suffix == ".toml" or "/" in study:
            raise
        loaded = Study({"name": study, "topology": {"preset": study}}, sets=dict(pairs), variant=variant)
    plan = loaded.expand()
    chosen = [entry for entry in plan.runs if entry.id.startswith(run_id or "")]
    if not chosen:
        raise InputError(f"no run {run_id} in {study}; `fabricsim expand {study}` lists them")
    network = describe(chosen[0].canonical)
    if shares or workers is not None:
        count = workers or json.loads(chosen[0].canonical)["control"].get("workers") or max(2, available_cores())
        network["partition"] = partition(chosen[0].canonical, count)
    if out is not None:
        from fabricsim.plots import network as draw
        from fabricsim.plots import save

        if "routers" not in network:
            raise InputError(f"{network.get('name', study)} has too many routers to draw (the limit is 5,000)")
        try:
            save(draw(network), out)
        except ValueError as error:
            raise InputError(str(error)) from error
    if as_json:
        put(json.dumps(network))
    else:
        from fabricsim._text import network_text, partition_text, placement_text

        network_text(network, others=len(plan.runs) - 1)
        if jobs:
            placement_text(network["jobs"])
        if "partition" in network:
            partition_text(network["partition"])
        if out is not None:
            put(f"drawn into {out}")


@app.command(epilog=example('cost my.toml --set cost.port_price="500 USD"'))
def cost(study: StudyArgument, sets: SetOption = None, variant: VariantOption = None, as_json: JsonOption = False) -> None:
    """Tell what every network of a study costs and draws, and what it saves, without running it."""
    from fabricsim._prices import priced_networks
    from fabricsim._text import prices_text

    found = priced_networks(load_study(study, sets, variant).expand().runs)
    if as_json:
        put(json.dumps([network.to_json() for network in found]))
    else:
        prices_text(found)


def _kinds_meant(kind: str, known: Sequence[str]) -> list[str]:
    """Return the kinds that a word means: one, or several with the same last word, such as presets."""
    said = kind.strip().lower().replace("_", "-").replace(" ", "-")
    singular = {f"{one[:-1]}ies" if one.endswith("y") else f"{one}es" if one.endswith("s") else f"{one}s": one for one in known}
    if said in ("study", "studies"):
        return ["studies"]
    said = singular.get(said, said)
    if said in known:
        return [said]
    ends = [one for one in known if one.endswith((f"-{said}", f"-{said.removesuffix('s')}"))]
    return ends or [kind]


def _studies(name: str | None) -> list[dict[str, Any]]:
    """Return the studies that come with fabricsim, or the one of a name."""
    import tomllib

    from fabricsim.study import packaged_studies

    found = []
    for study, path in packaged_studies().items():
        try:
            description = str(tomllib.loads(path.read_text()).get("description", ""))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            description = f"cannot be read: {error}"
        if name in (None, study):
            found.append({"name": study, "summary": description.strip().split("\n")[0], "file": str(path)})
    return found


@app.command("list", epilog=example("list routing ugal"))
def list_command(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="topology, routing, ..., result, or studies; all by default.")
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Only the one of this name; of result any column or key of a file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what there is: topologies, routings, router models, patterns, presets, numbers of results, studies."""
    from fabricsim._text import registry_text
    from fabricsim.registry import KINDS, list_entries

    found: dict[str, list[dict[str, Any]]] = {}
    unknown = ""
    for each in ["studies", *KINDS] if kind is None else _kinds_meant(kind, (*KINDS, "motif")):
        if each == "studies":
            found[each] = _studies(name)
            continue
        try:
            found[each] = list_entries(each)
        except ValueError as error:
            if kind is None:
                continue  # a kind that this core does not have yet
            raise InputError(f"{error} (and: result, studies)") from error
        if name is not None:
            try:
                found[each] = list_entries(each, name)
            except ValueError as error:
                del found[each]
                unknown = unknown or str(error)
    if unknown and not any(found.values()):
        raise InputError(unknown)
    if as_json:
        put(json.dumps(found))
    else:
        registry_text(found, details=kind is not None)


@app.command("schema", epilog=example("schema > fabricsim.schema.json"))
def schema_command() -> None:
    """Print the JSON schema of study files, for editors."""
    from fabricsim.registry import schema as read_schema

    put(json.dumps(read_schema(), indent=1))
