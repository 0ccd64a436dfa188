"""What a trace has, as tables on stdout."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from fabricsim._terminal import new_console, new_table
from fabricsim._units import amount, counted, format_bytes, format_count

__all__ = ["info_text"]

#: Pairs of ranks and regions that are shown; --json has more.
_MOST = 10


def _time(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else amount(nanoseconds, "ns")


def info_text(found: dict[str, Any]) -> None:
    """Print what `fabricsim trace info` tells."""
    console = new_console()

    def put(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    recorded = f", recorded as {found['recorded_as']}" if found["recorded_as"] not in ("", found["format"]) else ""
    known = f"{found['format']}{recorded}, {found['form']}" if found["format"] else "no trace"
    put(f"{found['file']}: {known}")
    put(", ".join(counted(found[f"{noun}s"], noun) for noun in ("rank", "communicator", "record")))
    work = counted(found["instructions"], "instruction") if found["compute_ns"] is None and found["instructions"] else ""
    if found["compute_ns"] is not None:
        work = f"{_time(found['compute_ns'])} of computation"
    put(", ".join(filter(None, [work, f"{format_bytes(found['bytes_sent'])} sent from rank to rank (all ranks together)"])))
    if found["operations"]:
        table = new_table(["operation", "number"], numbers=["number"])
        for kind, number in found["operations"].items():
            table.add_row(kind, f"{number:,}")
        console.print(table)
    if found["pairs"]:
        pairs = found["number_of_pairs"]
        many = (
            "many pairs of ranks have"
            if pairs is None
            else counted(pairs, "pair", f" of ranks {'has' if pairs == 1 else 'have'}")
        )
        put(f"who sends most ({many} messages)")
        table = new_table(["from", "to", "messages", "bytes"], numbers=["from", "to", "messages", "bytes"])
        for pair in found["pairs"][:_MOST]:
            table.add_row(str(pair["from"]), str(pair["to"]), f"{pair['messages']:,}", format_bytes(pair["bytes"]))
        console.print(table)
    elif found["number_of_pairs"] is None:
        put("too many pairs of ranks have messages to list who sends most")
    if found["time_in_regions"]:
        put("where the time goes (all ranks together)")
        table = new_table(["region", "operations", "computation", "other"], numbers=["operations", "computation", "other"])
        for region in found["time_in_regions"][:_MOST]:
            work = _time(region["compute_ns"]) or f"{format_count(region['instructions'])} instructions"
            table.add_row(Text(region["region"] or "(none)"), f"{region['operations']:,}", work, _time(region["other_ns"]))
        console.print(table)
    unmatched = {
        ("send", ""): found["unmatched_sends"],
        ("receive", ""): found["unmatched_receives"],
        ("operation", " of collectives"): found["unmatched_collectives"],
    }
    for (noun, more), number in unmatched.items():
        if number:
            put(f"{counted(number, noun, more)} {'matches' if number == 1 else 'match'} nothing")
    for text in found["problems"]:
        put(f"problem: {text}")
    if found["more_problems"]:
        put(f"and {counted(found['more_problems'], 'problem')} more")
    if found["complete"]:
        put("complete")
    elif any(unmatched.values()):
        put("NOT complete: the file is read to its end; what does not match is listed above")
    else:
        put("NOT complete: the figures are of what could be read")
