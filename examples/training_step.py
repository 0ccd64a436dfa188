"""A training step with data, tensor and pipeline parallelism, as Chakra execution traces: one file for each rank.

The model is a decoder of `--layers` layers of `--hidden` values. Ranks are counted along the tensor group first, then the
data group, then the pipeline, as Megatron-LM does. Every stage does its micro-batches one forward, one backward (Narayanan et
al. 2021); a layer has two all-reduces of its tensor group in each direction (Shoeybi et al. 2019); gradients are all-reduced in the
data group, layer by layer, as the last micro-batch has passed. What computations take follows from their floating-point operations,
`--teraflops` and a jitter that `--seed` decides. Groups are in `groups.json` beside the traces.

    python training_step.py --data 8 --tensor 8 --pipeline 16 --layers 96 --hidden 12288 --sequence 2048 --micro-batches 32
"""

import argparse
import json
import random
from functools import cache
from pathlib import Path

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE = 0
#: Streams of the accelerator: what is on one is done one after the other.
STREAMS = {"compute": 0, "tensor": 1, "data": 2, "pipeline": 3}


def varint(number):
    """Return a number of variable length, as protocol buffers have it."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """Return a field of a message: a whole number, or the bytes of a text or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


@cache
def attribute(name, value):
    """Return an attribute of a node, a flag, a text or a whole number of 64 bits, as a field of the node."""
    kind = 27 if isinstance(value, bool) else 29 if isinstance(value, str) else 9
    return field(10, field(1, name.encode()) + field(kind, value.encode() if kind == 29 else int(value)))


class Trace:
    """The nodes of a rank as they are written; each is known by its number from 1 on."""

    def __init__(self):
        """Begin with the version of the schema."""
        metadata = field(1, b"0.0.4")
        self.parts = [varint(len(metadata)), metadata]
        self.nodes = 0

    def add(self, name, kind, after, *, micros=0, **attributes):
        """Add a node that comes after others, and return its number."""
        self.nodes += 1
        parts = [field(1, self.nodes), field(2, name.encode()), field(3, kind)]
        parts += [field(5, number) for number in after if number]
        if micros:
            parts.append(field(7, micros))
        parts.append(attribute("is_cpu_op", False))
        parts += [attribute(key, value) for key, value in attributes.items()]
        node = b"".join(parts)
        self.parts += [varint(len(node)), node]
        return self.nodes


class Step:
    """A training step: who is where, and how much there is to do and to send."""

    def __init__(self, options):
        """Work out sizes in bytes and floating-point operations from the sizes of the model."""
        self.options = options
        self.ranks = options.data * options.tensor * options.pipeline
        hidden, tokens = options.hidden, options.micro_batch * options.sequence
        self.activations = tokens * hidden * options.bytes
        attention = 8 * tokens * hidden**2 + 4 * tokens * options.sequence * hidden
        feed_forward = 16 * tokens * hidden**2
        self.halves = {"attention": attention // options.tensor, "mlp": feed_forward // options.tensor}
        self.logits = 2 * tokens * hidden * options.vocabulary // options.tensor
        self.gradients = 12 * hidden**2 // options.tensor * options.bytes
        self.groups = {}
        for rank in range(self.ranks):
            for group in (self.tensor_group(rank), self.data_group(rank)):
                self.groups.setdefault(group, len(self.groups))

    def place(self, rank):
        """Return the number of a rank in its tensor group, in its data group and in its pipeline."""
        tensor, data = self.options.tensor, self.options.data
        return rank % tensor, rank // tensor % data, rank // (tensor * data)

    def tensor_group(self, rank):
        """Return the ranks that share the layers of a rank."""
        first = rank - rank % self.options.tensor
        return tuple(range(first, first + self.options.tensor))

    def data_group(self, rank):
        """Return the ranks that have the same parameters as a rank."""
        own, _, stage = self.place(rank)
        size = self.options.tensor * self.options.data
        return tuple(range(stage * size + own, (stage + 1) * size, self.options.tensor))

    def schedule(self, stage):
        """Return (is forward, micro-batch) in the order of a stage: some forward, then in turn, then what is left."""
        batches = self.options.micro_batches
        ahead = min(self.options.pipeline - 1 - stage, batches)
        order = [(True, batch) for batch in range(ahead)]
        for batch in range(batches):
            if ahead + batch < batches:
                order.append((True, ahead + batch))
            order.append((False, batch))
        return order


class Rank:
    """What a rank does in a step."""

    def __init__(self, step, rank):
        """Begin with nothing done."""
        self.step, self.rank, self.trace = step, rank, Trace()
        self.random = random.Random(f"{step.options.seed} {rank}")
        self.last = 0
        self.stage = step.place(rank)[2]
        self.names = {kind: str(step.groups[group(rank)]) for kind, group in self.group_kinds().items()}
        self.reduced = []

    def group_kinds(self):
        """Return who is in the groups of a rank, by their kind."""
        return {"tensor": self.step.tensor_group, "data": self.step.data_group}

    def compute(self, name, operations, after=0):
        """Add a computation after the last one."""
        options = self.step.options
        jitter = 1 + options.jitter * (2 * self.random.random() - 1)
        micros = max(1, round(operations / (options.teraflops * 1e6) * jitter))
        self.work(name, {self.last, after}, micros=micros, operations=operations)

    def work(self, name, after, *, micros, operations):
        """Add a computation after others."""
        self.last = self.trace.add(name, COMPUTE, sorted(after), micros=micros, tid=STREAMS["compute"], num_ops=operations)

    def all_reduce(self, name, kind, size):
        """Add an all-reduce of a group after the last computation, if the group has others."""
        if getattr(self.step.options, kind) == 1:
            return self.last
        sizes = {"comm_type": ALL_REDUCE, "comm_size": size, "pg_name": self.names[kind]}
        return self.trace.add(name, COLLECTIVE, [self.last], tid=STREAMS[kind], **sizes)

    def message(self, name, kind, stage, batch, *, forward):
        """Add the message of a micro-batch to or from the same place in another stage, if there is that stage."""
        options = self.step.options
        if not 0 <= stage < options.pipeline:
            return 0
        other = self.rank + (stage - self.stage) * options.tensor * options.data
        end = {"comm_dst": other} if kind == SEND else {"comm_src": other}
        tag = 2 * batch + (0 if forward else 1)
        after = [self.last] if kind == SEND else []
        stream = STREAMS["pipeline"]
        return self.trace.add(name, kind, after, tid=stream, comm_size=self.step.activations, comm_tag=tag, **end)

    def pass_batch(self, batch, *, forward):
        """Add a micro-batch in one direction."""
        step, options = self.step, self.step.options
        direction = "forward" if forward else "backward"
        before, behind = (self.stage - 1, self.stage + 1) if forward else (self.stage + 1, self.stage - 1)
        # Backward, the gradients of inputs and of parameters are worked out: twice as much.
        times = 1 if forward else 2
        is_last_stage = self.stage == options.pipeline - 1
        arrived = self.message(f"receive {direction} {batch}", RECEIVE, before, batch, forward=forward)
        if is_last_stage and not forward:
            self.compute(f"logits backward {batch}", 2 * step.logits, arrived)
        for layer in range(options.layers // options.pipeline):
            for half, operations in step.halves.items():
                self.compute(f"{half} {direction} {batch}.{layer}", times * operations, arrived)
                arrived = self.all_reduce(f"{half} all-reduce {direction} {batch}.{layer}", "tensor", step.activations)
            if not forward and batch == options.micro_batches - 1:
                self.reduced.append(self.all_reduce(f"gradients {layer}", "data", step.gradients))
        if is_last_stage and forward:
            self.compute(f"logits forward {batch}", step.logits, arrived)
        elif arrived != self.last:
            # What is sent is what has been reduced.
            self.work(f"{direction} {batch} done", {self.last, arrived}, micros=1, operations=1)
        self.message(f"send {direction} {batch}", SEND, behind, batch, forward=forward)

    def write(self, path):
        """Write the trace of the whole step."""
        for forward, batch in self.step.schedule(self.stage):
            self.pass_batch(batch, forward=forward)
        layers = self.step.options.layers // self.step.options.pipeline
        parameters = 12 * self.step.options.hidden**2 // self.step.options.tensor * layers
        after = {self.last, *self.reduced}
        micros = max(1, round(20 * parameters / (self.step.options.teraflops * 1e6)))
        self.work("optimizer", after, micros=micros, operations=20 * parameters)
        path.write_bytes(b"".join(self.trace.parts))
        return self.trace.nodes


def read_options():
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = {
        "data": (2, "ranks that share the batch"),
        "tensor": (2, "ranks that share a layer"),
        "pipeline": (2, "stages of layers"),
        "layers": (4, "layers of the model, a multiple of the stages"),
        "hidden": (1024, "values of a token"),
        "sequence": (512, "tokens of a sample"),
        "vocabulary": (32000, "tokens that there are"),
        "micro-batch": (1, "samples of a micro-batch"),
        "micro-batches": (4, "micro-batches of a step, for each data rank"),
        "bytes": (2, "bytes of a value"),
        "seed": (1, "seed of the jitter"),
    }
    for name, (default, what) in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} (%(default)s)")
    parser.add_argument("--teraflops", type=float, default=150.0, help="what an accelerator gets done (%(default)s)")
    parser.add_argument("--jitter", type=float, default=0.02, help="share by which computations differ (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("training-step"), help="folder of the traces (%(default)s)")
    options = parser.parse_args()
    for name in numbers:
        if getattr(options, name.replace("-", "_")) < (0 if name == "seed" else 1):
            parser.error(f"--{name} is at least 1")
    if options.layers % options.pipeline:
        parser.error(f"{options.layers} layers are not shared out evenly among {options.pipeline} stages")
    if options.teraflops <= 0 or not 0 <= options.jitter < 1:
        parser.error("--teraflops is above 0, and --jitter from 0 to below 1")
    return options


def main():
    """Write the traces."""
    options = read_options()
    step = Step(options)
    options.out.mkdir(parents=True, exist_ok=True)
    groups = {str(number): ranks for ranks, number in step.groups.items()}
    (options.out / "groups.json").write_text(json.dumps(groups))
    nodes = sum(Rank(step, rank).write(options.out / f"step.{rank}.et") for rank in range(step.ranks))
    print(f"{step.ranks} ranks, {nodes} nodes in {options.out}")


if __name__ == "__main__":
    main()
