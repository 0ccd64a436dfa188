//! Allocators: who of those that ask gets which of what they ask for, one matching per call (Dally and Towles 2004, chapter 19).
//!
//! Inputs ask for outputs. Sets are bits in words, a grant is a rotation and a count of trailing zeros. What an allocator remembers lies
//! with its inputs and outputs ([`Pointers`]) and in a number of the router.

use crate::spec::{Allocator, Matcher};
use des::mix;
use des::rng::below;

/// A set of numbers below `64 N`.
pub(super) type Set<const N: usize> = [u64; N];

/// Puts a number into a set.
#[inline(always)]
pub(super) fn put<const N: usize>(set: &mut Set<N>, member: usize) {
    set[member / 64 % N] |= 1 << (member % 64);
}

/// Takes a number out of a set.
#[inline(always)]
pub(super) fn drop_from<const N: usize>(set: &mut Set<N>, member: usize) {
    set[member / 64 % N] &= !(1 << (member % 64));
}

/// Whether a set has a number.
#[inline(always)]
pub(super) fn has<const N: usize>(set: &Set<N>, member: usize) -> bool {
    set[member / 64 % N] >> (member % 64) & 1 != 0
}

/// Whether it has none.
#[inline(always)]
pub(super) fn is_empty<const N: usize>(set: &Set<N>) -> bool {
    let mut all = 0;
    for word in set {
        all |= word;
    }
    all == 0
}

/// What two sets have in common.
#[inline(always)]
pub(super) fn both<const N: usize>(one: &Set<N>, other: &Set<N>) -> Set<N> {
    let mut common = *one;
    let mut word = 0;
    while word < N {
        common[word] &= other[word];
        word += 1;
    }
    common
}

/// The lowest number of a set.
#[inline(always)]
pub(super) fn lowest<const N: usize>(set: &Set<N>) -> Option<usize> {
    let mut index = 0;
    while index < N {
        if set[index] != 0 {
            return Some(index * 64 + set[index].trailing_zeros() as usize);
        }
        index += 1;
    }
    None
}

/// Takes the lowest number out of a set.
#[inline(always)]
pub(super) fn pop<const N: usize>(set: &mut Set<N>) -> Option<usize> {
    let member = lowest(set)?;
    set[member / 64 % N] &= set[member / 64 % N].wrapping_sub(1);
    Some(member)
}

/// The first number of a set at or after `from`, from 0 on again behind the last.
#[inline(always)]
pub(super) fn first_from<const N: usize>(set: &Set<N>, from: usize) -> Option<usize> {
    if N == 1 {
        let behind = set[0] & if from < 64 { !0 << from } else { 0 };
        let word = if behind != 0 { behind } else { set[0] };
        return (word != 0).then(|| word.trailing_zeros() as usize);
    }
    if from < 64 * N {
        let mut behind = *set;
        behind[..from / 64].fill(0);
        behind[from / 64 % N] &= !0 << (from % 64);
        if let Some(member) = lowest(&behind) {
            return Some(member);
        }
    }
    lowest(set)
}

/// Where the searches of inputs and outputs begin.
pub(super) trait Pointers {
    /// The search of an output among inputs.
    fn grant(&self, output: usize) -> usize;
    /// The search of an input among outputs.
    fn accept(&self, input: usize) -> usize;
    /// From here on the search of an output begins at one place, and that of an input at another.
    fn turn(&mut self, output_to: (usize, usize), input_to: (usize, usize));
    /// Both begin behind each other.
    #[inline(always)]
    fn pass(&mut self, output: usize, input: usize) {
        self.turn((output, input + 1), (input, output + 1));
    }
}

/// Who asks for what: at least one input for at least one output.
pub(super) struct Asked<'a, const I: usize, const O: usize> {
    /// The inputs that ask.
    pub inputs: Set<I>,
    /// The outputs that are asked for.
    pub outputs: Set<O>,
    /// Who asks for each output.
    pub of_output: &'a [Set<I>],
    /// What each input asks for.
    pub of_input: &'a [Set<O>],
}

/// What an allocation depends on besides requests and pointers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    /// Tells this allocation from all others, for random choices.
    pub word: u64,
    /// Number of the step, by which searches that move on at every call begin.
    pub step: u64,
    /// Where the wavefront begins.
    pub diagonal: u32,
    /// Inputs and outputs there are.
    pub sizes: (usize, usize),
    /// The place of output 0 among all of them.
    pub first_output: usize,
    /// Inputs are numbered `(port << shift) + channel`, of so many channels per port; `None`: one after the other.
    pub channels: Option<(u32, usize)>,
}

impl Occasion {
    /// The number of an input without gaps.
    fn dense(&self, input: usize) -> usize {
        match self.channels {
            None => input,
            Some((shift, channels)) => (input >> shift) * channels + (input & ((1 << shift) - 1)),
        }
    }

    /// The input with such a number.
    fn spread(&self, dense: usize) -> usize {
        match self.channels {
            None => dense,
            Some((shift, channels)) => ((dense / channels) << shift) + dense % channels,
        }
    }
}

/// Matches inputs with outputs: calls `give` with each pair.
#[inline(always)]
pub(super) fn allocate<const I: usize, const O: usize, const PI: usize, const PO: usize, P: Pointers>(
    matcher: Matcher,
    requests: &Asked<'_, I, O>,
    pointers: &mut P,
    occasion: &Occasion,
    give: impl FnMut(usize, usize),
) {
    match matcher.rule {
        Allocator::Islip => islip::<I, O, PI, PO, P>(matcher.rounds, requests, pointers, give),
        Allocator::SeparableOutputFirst => islip::<I, O, PI, PO, P>(1, requests, pointers, give),
        Allocator::SeparableInputFirst => input_first::<I, O, PO, P>(requests, pointers, give),
        Allocator::Pim => pim::<I, O, PI>(matcher.rounds, requests, occasion, give),
        Allocator::Loa => lonely_output::<I, O, PO, P>(requests, pointers, give),
        Allocator::Wavefront => wavefront(requests, occasion, give),
        Allocator::MaxSize => max_size::<I, O, PI, PO>(requests, occasion, give),
        Allocator::RandomGreedy => random_greedy(requests, occasion, give),
    }
}

/// Rounds of an allocator that does what iSLIP does.
#[inline(always)]
pub(super) fn rounds_of_islip(matcher: Matcher) -> Option<u8> {
    match matcher.rule {
        Allocator::Islip => Some(matcher.rounds),
        Allocator::SeparableOutputFirst => Some(1),
        Allocator::SeparableInputFirst
        | Allocator::Pim
        | Allocator::Loa
        | Allocator::Wavefront
        | Allocator::MaxSize
        | Allocator::RandomGreedy => None,
    }
}

/// McKeown 1999: every free output grants, every input accepts; pointers move behind what is accepted in the first round. It does not look at
/// what each input asks for.
#[inline(always)]
pub(super) fn islip<const I: usize, const O: usize, const PI: usize, const PO: usize, P: Pointers>(
    rounds: u8,
    requests: &Asked<'_, I, O>,
    pointers: &mut P,
    mut give: impl FnMut(usize, usize),
) {
    let (mut inputs, mut outputs) = (requests.inputs, requests.outputs);
    // What each input is offered; of few outputs in small words, whose table is cleared sooner.
    let few = PO <= 16;
    let (mut offers, mut few_offers) = ([[0; O]; PI], [0u16; PI]);
    for round in 0..rounds {
        let mut offered = [0; I];
        let mut granting = outputs;
        while let Some(output) = pop(&mut granting) {
            let asking = both(&requests.of_output[output], &inputs);
            match first_from(&asking, pointers.grant(output)) {
                Some(input) if few => {
                    put(&mut offered, input);
                    few_offers[input % PI] |= 1 << (output % 16);
                }
                Some(input) => {
                    put(&mut offered, input);
                    put(&mut offers[input], output);
                }
                None => drop_from(&mut outputs, output),
            }
        }
        if is_empty(&offered) {
            return;
        }
        while let Some(input) = pop(&mut offered) {
            let mut offer = [0; O];
            if few {
                offer[0] = std::mem::take(&mut few_offers[input % PI]).into();
            } else {
                std::mem::swap(&mut offers[input], &mut offer);
            }
            let Some(output) = first_from(&offer, pointers.accept(input)) else {
                continue;
            };
            drop_from(&mut inputs, input);
            drop_from(&mut outputs, output);
            if round == 0 {
                pointers.pass(output, input);
            }
            give(input, output);
        }
    }
}

/// Anderson et al. 1993: as islip, every search begins anew at random.
fn pim<const I: usize, const O: usize, const PI: usize>(
    rounds: u8,
    requests: &Asked<'_, I, O>,
    occasion: &Occasion,
    mut give: impl FnMut(usize, usize),
) {
    let (mut inputs, mut outputs) = (requests.inputs, requests.outputs);
    let mut offers = [[0; O]; PI];
    for round in 0..rounds {
        let start = |side: u64, place: usize, n: usize| {
            let place = place as u64;
            let word = mix(occasion.word ^ u64::from(round) << 40 ^ side << 32 ^ place);
            below(word, n.max(1) as u64) as usize
        };
        let mut offered = [0; I];
        let mut granting = outputs;
        while let Some(output) = pop(&mut granting) {
            let asking = both(&requests.of_output[output], &inputs);
            if let Some(input) = first_from(&asking, occasion.spread(start(0, output, occasion.sizes.0))) {
                put(&mut offered, input);
                put(&mut offers[input], output);
            }
        }
        while let Some(input) = pop(&mut offered) {
            let offer = std::mem::replace(&mut offers[input], [0; O]);
            let among_all = start(1, input, occasion.sizes.1);
            if let Some(output) = first_from(&offer, among_all.saturating_sub(occasion.first_output)) {
                drop_from(&mut inputs, input);
                drop_from(&mut outputs, output);
                give(input, output);
            }
        }
    }
}

/// Every input picks an output, every output one of those that picked it; the pointers of both move behind each other.
fn input_first<const I: usize, const O: usize, const PO: usize, P: Pointers>(
    requests: &Asked<'_, I, O>,
    pointers: &mut P,
    mut give: impl FnMut(usize, usize),
) {
    let mut picks = [[0; I]; PO];
    let mut picked = [0; O];
    let mut inputs = requests.inputs;
    while let Some(input) = pop(&mut inputs) {
        if let Some(output) = first_from(&requests.of_input[input], pointers.accept(input)) {
            put(&mut picked, output);
            put(&mut picks[output], input);
        }
    }
    while let Some(output) = pop(&mut picked) {
        if let Some(input) = first_from(&picks[output], pointers.grant(output)) {
            pointers.pass(output, input);
            give(input, output);
        }
    }
}

/// Every input asks the output that fewest ask for, the first of them from its pointer on; every output grants. Both pointers move on by one.
fn lonely_output<const I: usize, const O: usize, const PO: usize, P: Pointers>(
    requests: &Asked<'_, I, O>,
    pointers: &mut P,
    mut give: impl FnMut(usize, usize),
) {
    let mut picks = [[0; I]; PO];
    let mut picked = [0; O];
    let mut inputs = requests.inputs;
    while let Some(input) = pop(&mut inputs) {
        let start = pointers.accept(input);
        let mut wanted = requests.of_input[input];
        let mut best: Option<(u32, bool, usize)> = None;
        while let Some(output) = pop(&mut wanted) {
            let asking: u32 = requests.of_output[output].iter().map(|word| word.count_ones()).sum();
            let key = (asking, output < start, output);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        if let Some((.., output)) = best {
            put(&mut picked, output);
            put(&mut picks[output], input);
        }
    }
    while let Some(output) = pop(&mut picked) {
        let start = pointers.grant(output);
        if let Some(input) = first_from(&picks[output], start) {
            let next = pointers.accept(input) + 1;
            pointers.turn((output, start + 1), (input, next));
            give(input, output);
        }
    }
}

/// Tamir and Chi 1993: what is free on a diagonal is granted, diagonal after diagonal.
fn wavefront<const I: usize, const O: usize>(
    requests: &Asked<'_, I, O>,
    occasion: &Occasion,
    mut give: impl FnMut(usize, usize),
) {
    let n = occasion.sizes.0.max(occasion.sizes.1).max(1);
    let (mut inputs, mut outputs) = (requests.inputs, requests.outputs);
    for turn in 0..n {
        let diagonal = (occasion.diagonal as usize + turn) % n;
        let mut left = inputs;
        while let Some(input) = pop(&mut left) {
            let place = (diagonal + n - occasion.dense(input) % n) % n;
            let Some(output) = place
                .checked_sub(occasion.first_output)
                .filter(|&output| output < 64 * O)
            else {
                continue;
            };
            if has(&outputs, output) && has(&requests.of_input[input], output) {
                drop_from(&mut inputs, input);
                drop_from(&mut outputs, output);
                give(input, output);
            }
        }
        if is_empty(&inputs) || is_empty(&outputs) {
            return;
        }
    }
}

/// As many pairs as there can be: shortest augmenting paths, begun at an input that moves on from step to step.
fn max_size<const I: usize, const O: usize, const PI: usize, const PO: usize>(
    requests: &Asked<'_, I, O>,
    occasion: &Occasion,
    mut give: impl FnMut(usize, usize),
) {
    const NOBODY: u16 = u16::MAX;
    let start = (occasion.step % occasion.sizes.0.max(1) as u64) as usize;
    let (mut of_input, mut of_output) = ([NOBODY; PI], [NOBODY; PO]);
    let (mut here, mut next) = ([0u16; PI], [0u16; PI]);
    'paths: loop {
        let mut from = [NOBODY; PO];
        let mut n_here = 0;
        let mut begin = |input: usize| {
            if of_input[input] == NOBODY {
                here[n_here] = input as u16;
                n_here += 1;
            }
        };
        let (mut behind, mut before) = (requests.inputs, requests.inputs);
        while let Some(input) = pop(&mut behind) {
            if occasion.dense(input) >= start {
                begin(input);
            }
        }
        while let Some(input) = pop(&mut before) {
            if occasion.dense(input) < start {
                begin(input);
            }
        }
        while n_here > 0 {
            let mut n_next = 0;
            for &input in &here[..n_here] {
                let mut wanted = requests.of_input[usize::from(input)];
                while let Some(output) = pop(&mut wanted) {
                    if usize::from(of_input[usize::from(input)]) == output || from[output] != NOBODY {
                        continue;
                    }
                    from[output] = input;
                    if of_output[output] != NOBODY {
                        next[n_next] = of_output[output];
                        n_next += 1;
                        continue;
                    }
                    let mut end = output;
                    loop {
                        let input = from[end];
                        let old = std::mem::replace(&mut of_input[usize::from(input)], end as u16);
                        of_output[end] = input;
                        if old == NOBODY {
                            continue 'paths;
                        }
                        end = usize::from(old);
                    }
                }
            }
            std::mem::swap(&mut here, &mut next);
            n_here = n_next;
        }
        break;
    }
    let mut inputs = requests.inputs;
    while let Some(input) = pop(&mut inputs) {
        if of_input[input] != NOBODY {
            give(input, usize::from(of_input[input]));
        }
    }
}

/// Asked in random order, each granted if both its ends are free: the next is always any of those that still can be.
fn random_greedy<const I: usize, const O: usize>(
    requests: &Asked<'_, I, O>,
    occasion: &Occasion,
    mut give: impl FnMut(usize, usize),
) {
    let (mut inputs, mut outputs) = (requests.inputs, requests.outputs);
    for draw in 0u64.. {
        let mut all = 0;
        let mut left = inputs;
        while let Some(input) = pop(&mut left) {
            let wanted = both(&requests.of_input[input], &outputs);
            all += wanted.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        if all == 0 {
            return;
        }
        let mut place = below(mix(occasion.word ^ draw), all);
        let mut left = inputs;
        'search: while let Some(input) = pop(&mut left) {
            let mut wanted = both(&requests.of_input[input], &outputs);
            while let Some(output) = pop(&mut wanted) {
                if place == 0 {
                    drop_from(&mut inputs, input);
                    drop_from(&mut outputs, output);
                    give(input, output);
                    break 'search;
                }
                place -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
