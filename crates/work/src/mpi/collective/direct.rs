//! Every block goes straight from its origin to where it is wanted.

use super::Call;
use super::step::{Script, VectorSpan};

/// Partners that a [`window`] talks to at a time.
pub(super) const WINDOW: u32 = 32;

/// The root asks for all blocks at once.
pub(super) fn gather(call: &Call, script: &mut Script) {
    if call.me == call.root {
        script.rounds(call.size - 1, 1, |script, i| {
            let from = call.after(i + 1);
            script.recv(from, call.blocks(from, 1));
        });
    } else {
        script.send(call.root, call.blocks(call.me, 1));
    }
    script.wait();
}

/// The root calls one rank after another: it sends a signal, gets the first segment of its block, and calls the next one while the rest comes.
pub(super) fn gather_called(call: &Call, script: &mut Script) {
    let first_bytes = call.segment.min(call.bytes);
    let first = |of: u32| VectorSpan {
        start: u64::from(of) * call.bytes,
        bytes: first_bytes,
    };
    let rest = |of: u32| VectorSpan {
        start: u64::from(of) * call.bytes + first_bytes,
        bytes: call.bytes - first_bytes,
    };
    if call.me != call.root {
        script.recv(call.root, VectorSpan::NONE);
        script.wait();
        for part in [first(call.me), rest(call.me)] {
            script.send(call.root, part);
            script.wait();
        }
        return;
    }
    // The others in the order of their numbers.
    let other = |i: u32| i + u32::from(i >= call.root);
    let ask = |script: &mut Script, of: u32| {
        script.recv(of, first(of));
        script.send(of, VectorSpan::NONE);
    };
    ask(script, other(0));
    script.wait();
    script.rounds(call.size - 2, 4, |script, i| {
        script.recv(other(i), rest(other(i)));
        ask(script, other(i + 1));
        script.wait();
    });
    script.recv(other(call.size - 2), rest(other(call.size - 2)));
    script.wait();
}

/// The root takes in one contribution after another, that of the last rank first.
pub(super) fn reduce(call: &Call, script: &mut Script) {
    if call.me != call.root {
        script.send(call.root, call.whole());
        script.wait();
        return;
    }
    script.rounds(call.size - 1, 3, |script, i| {
        let from = call.size - 1 - i;
        script.recv(from - u32::from(from <= call.root), call.whole());
        script.wait();
        script.combine(call.whole());
    });
}

/// The root sends all blocks at once.
pub(super) fn scatter(call: &Call, script: &mut Script) {
    if call.me == call.root {
        script.rounds(call.size - 1, 1, |script, i| {
            let to = call.after(i + 1);
            script.send(to, call.blocks(to, 1));
        });
    } else {
        script.recv(call.root, call.blocks(call.me, 1));
    }
    script.wait();
}

/// Round by round one rank farther: its block goes there, a contribution to one's own block comes.
pub(super) fn reduce_scatter(call: &Call, script: &mut Script) {
    let own = call.blocks(call.me, 1);
    script.rounds(call.size - 1, 4, |script, i| {
        let (from, to) = (call.before(i + 1), call.after(i + 1));
        script.recv(from, own);
        script.send(to, call.blocks(to, 1));
        script.wait();
        script.combine(own);
    });
}

/// One exchange after another: round i with the rank whose number differs by XOR i if there is a power of two of them, else to the
/// rank i ahead and from the rank i before.
pub(super) fn pairwise(call: &Call, script: &mut Script) {
    if !call.size.is_power_of_two() {
        return shift(call, script);
    }
    exchanges(call, script, |i| (call.me ^ i, call.me ^ i));
}

/// One exchange after another: round i to the rank i ahead and from the rank i before, whatever the number of ranks.
pub(super) fn shift(call: &Call, script: &mut Script) {
    exchanges(call, script, |i| (call.before(i), call.after(i)));
}

/// Rounds from 1 on, each from and to whom `partners` says.
fn exchanges(call: &Call, script: &mut Script, partners: impl Fn(u32) -> (u32, u32)) {
    script.rounds(call.size - 1, 3, |script, i| {
        let (from, to) = partners(i + 1);
        script.recv(from, call.pair_from(from));
        script.send(to, call.pair_to(to));
        script.wait();
    });
}

/// All receives, all sends, the nearest rank ahead first, and one wait.
pub(super) fn spread(call: &Call, script: &mut Script) {
    some(call, script, 0, call.size - 1);
}

/// The same for [`WINDOW`] partners at a time.
pub(super) fn window(call: &Call, script: &mut Script) {
    let (full, rest) = ((call.size - 1) / WINDOW, (call.size - 1) % WINDOW);
    script.rounds(full, 2 * WINDOW + 1, |script, i| some(call, script, i * WINDOW, WINDOW));
    if rest > 0 {
        some(call, script, full * WINDOW, rest);
    }
}

/// The `count` ranks behind the `first` nearest ones.
fn some(call: &Call, script: &mut Script, first: u32, count: u32) {
    script.rounds(count, 1, |script, i| {
        let from = call.before(first + i + 1);
        script.recv(from, call.pair_from(from));
    });
    script.rounds(count, 1, |script, i| {
        let to = call.after(first + i + 1);
        script.send(to, call.pair_to(to));
    });
    script.wait();
}
