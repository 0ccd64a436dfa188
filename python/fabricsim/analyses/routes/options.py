"""What routes are asked, for the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AddressOfHost", "Compare", "Lanes", "Lmc", "Rack", "Samples", "Seed", "Shift", "TorusFile"]

Compare = Annotated[bool, typer.Option("--compare", help="All engines; those that refuse the fabric say why.")]
Shift = Annotated[int | None, typer.Option("--shift", min=1, metavar="K", help="Also look at host i sending to host i + K.")]
Rack = Annotated[
    int | None,
    typer.Option("--rack", min=2, metavar="HOSTS", help="Also mpiGraph within racks of so many consecutive hosts."),
]
Samples = Annotated[int, typer.Option("--samples", min=2, metavar="N", help="Random matchings of the bisection bandwidth.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the matchings.")]
Lanes = Annotated[int, typer.Option("--lanes", min=1, max=15, help="Virtual lanes that engines may use.")]
Lmc = Annotated[int | None, typer.Option("--lmc", min=0, max=7, help="2^LMC addresses per host \\[default: the fabric's].")]
AddressOfHost = Annotated[int, typer.Option("--path", min=0, help="Which of a host's addresses senders use.")]
TorusFile = Annotated[
    Path | None,
    typer.Option("--torus", metavar="FILE", help="OpenSM's torus-2QoS.conf, for the engine torus-2qos \\[default: by cables]."),
]
