"""A calibration as a table on stdout."""

from __future__ import annotations

from rich.text import Text

from fabricsim._terminal import new_console, new_table
from fabricsim._units import amount
from fabricsim.analyses.calibrate.records import Calibration

__all__ = ["show"]


def show(found: Calibration) -> None:
    """Print the measured and the simulated times, and the keys."""
    console = new_console()
    console.print(Text(found.sentence, style="bold"))
    if found.eager_between is not None:
        low, high = found.eager_between
        console.print(f"the eager limit lies from {low} B to below {high} B; {found.eager} B are taken", markup=False)
    table = new_table(
        ["size (B)", "measured", "simulated", "off by", "use"], numbers=("size (B)", "measured", "simulated", "off by")
    )
    for point in found.points:
        times = (amount(point.measured_ns, "ns"), amount(point.simulated_ns, "ns"))
        table.add_row(f"{point.size:,}", *times, f"{100 * point.error:+.1f} %", "check" if point.held_out else "fit")
    console.print(table)
    console.print(found.toml(), markup=False, highlight=False)
