//! Allocators by hand, and what all of them have in common.

use super::*;

/// Pointers of a few ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Plain {
    grant: [usize; 8],
    accept: [usize; 8],
}

impl Pointers for Plain {
    fn grant(&self, output: usize) -> usize {
        self.grant[output]
    }
    fn accept(&self, input: usize) -> usize {
        self.accept[input]
    }
    fn turn(&mut self, (output, grant): (usize, usize), (input, accept): (usize, usize)) {
        self.grant[output] = grant;
        self.accept[input] = accept;
    }
}

const RULES: [Allocator; 8] = [
    Allocator::Islip,
    Allocator::Pim,
    Allocator::SeparableInputFirst,
    Allocator::SeparableOutputFirst,
    Allocator::Wavefront,
    Allocator::MaxSize,
    Allocator::Loa,
    Allocator::RandomGreedy,
];

/// Pairs of one call among `n` ports: `wants[input]` is the set of outputs.
fn call(rule: Allocator, rounds: u8, n: usize, wants: &[u64], pointers: &mut Plain, step: u64) -> Vec<(usize, usize)> {
    let (mut of_output, mut of_input) = ([[0u64; 1]; 64], [[0u64; 1]; 64]);
    let (mut inputs, mut outputs) = ([0], [0]);
    for (input, &set) in wants.iter().enumerate().filter(|(_, set)| **set != 0) {
        put(&mut inputs, input);
        outputs[0] |= set;
        of_input[input] = [set];
        let mut each = [set];
        while let Some(output) = pop(&mut each) {
            put(&mut of_output[output], input);
        }
    }
    let requests = Asked {
        inputs,
        outputs,
        of_output: &of_output,
        of_input: &of_input,
    };
    let occasion = Occasion {
        word: mix(step),
        step,
        diagonal: (step % n as u64) as u32,
        sizes: (n, n),
        first_output: 0,
        channels: None,
    };
    let mut pairs = Vec::new();
    let matcher = Matcher { rule, rounds };
    allocate::<1, 1, 64, 64, _>(matcher, &requests, pointers, &occasion, |input, output| {
        pairs.push((input, output));
    });
    pairs.sort_unstable();
    pairs
}

#[test]
fn islip_among_two_that_ask_for_all_matches_one_then_two() {
    let mut pointers = Plain::default();
    let pairs: Vec<usize> = (0..3)
        .map(|step| call(Allocator::Islip, 1, 2, &[3, 3], &mut pointers, step).len())
        .collect();
    assert_eq!(pairs, [1, 2, 2]);
    // A second round finds what the first has left, and leaves the pointers where they are.
    let mut pointers = Plain::default();
    assert_eq!(
        call(Allocator::Islip, 2, 2, &[3, 3], &mut pointers, 0),
        [(0, 0), (1, 1)]
    );
    assert_eq!(
        (pointers.grant, pointers.accept),
        ([1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0])
    );
}

#[test]
fn pointers_of_who_wins_nothing_stay() {
    let mut pointers = Plain::default();
    // Both inputs pick output 0, input 0 wins.
    assert_eq!(
        call(Allocator::SeparableInputFirst, 1, 2, &[3, 3], &mut pointers, 0),
        [(0, 0)]
    );
    assert_eq!((pointers.accept[0], pointers.accept[1], pointers.grant[0]), (1, 0, 1));
    assert_eq!(
        call(Allocator::SeparableInputFirst, 1, 2, &[3, 3], &mut pointers, 1),
        [(0, 1), (1, 0)]
    );
}

#[test]
fn a_lonely_output_is_asked_first() {
    let mut pointers = Plain::default();
    // Output 2 is asked for by input 0 alone, which therefore leaves output 0 to the others.
    assert_eq!(
        call(Allocator::Loa, 1, 3, &[0b101, 0b001, 0b001], &mut pointers, 0),
        [(0, 2), (1, 0)]
    );
    assert_eq!((pointers.grant[0], pointers.grant[2], pointers.accept[0]), (1, 1, 1));
}

#[test]
fn the_wavefront_takes_diagonal_after_diagonal() {
    let mut pointers = Plain::default();
    // Diagonal 0 of three is (0, 0), (1, 2), (2, 1).
    let all = [0b111; 3];
    assert_eq!(
        call(Allocator::Wavefront, 1, 3, &all, &mut pointers, 0),
        [(0, 0), (1, 2), (2, 1)]
    );
    assert_eq!(
        call(Allocator::Wavefront, 1, 3, &all, &mut pointers, 1),
        [(0, 1), (1, 0), (2, 2)]
    );
}

#[test]
fn augmenting_paths_find_a_pair_for_all() {
    let mut pointers = Plain::default();
    for step in 0..4 {
        // One way only: 0 has to leave output 0 to 1, which has to leave 1 to 2, and so on.
        let wants = [0b1001, 0b0011, 0b0110, 0b0010];
        assert_eq!(
            call(Allocator::MaxSize, 1, 4, &wants, &mut pointers, step).len(),
            4,
            "{step}"
        );
    }
}

#[test]
fn every_allocator_matches_what_is_asked_for_and_nothing_twice() {
    for rule in RULES {
        let mut pointers = Plain::default();
        for step in 0..500 {
            let n = 1 + (mix(step) % 8) as usize;
            let wants: Vec<u64> = (0..n)
                .map(|i| mix(step << 8 | i as u64) & mix(step << 8 | 64 | i as u64) & ((1 << n) - 1))
                .collect();
            let pairs = call(rule, 1 + (step % 3) as u8, n, &wants, &mut pointers, step);
            let (mut inputs, mut outputs) = (0u64, 0u64);
            for &(input, output) in &pairs {
                assert!(wants[input] >> output & 1 != 0, "{rule:?} {step}");
                assert!(
                    inputs >> input & 1 == 0 && outputs >> output & 1 == 0,
                    "{rule:?} {step}"
                );
                inputs |= 1 << input;
                outputs |= 1 << output;
            }
            assert_eq!(pairs.is_empty(), wants.iter().all(|&set| set == 0), "{rule:?} {step}");
            if matches!(
                rule,
                Allocator::Wavefront | Allocator::RandomGreedy | Allocator::MaxSize
            ) {
                // Nothing more could be added.
                let more = (0..n).any(|i| inputs >> i & 1 == 0 && wants[i] & !outputs != 0);
                assert!(!more, "{rule:?} {step}");
            }
        }
    }
}

#[test]
fn sets_of_several_words_go_round() {
    let mut set = [0u64; 4];
    for member in [3, 64, 70, 255] {
        put(&mut set, member);
    }
    let from = |from| first_from(&set, from);
    assert_eq!(
        [from(0), from(4), from(65), from(71), from(255), from(256)],
        [3, 64, 70, 255, 255, 3].map(Some)
    );
    assert_eq!(pop(&mut set), Some(3));
    assert_eq!(lowest(&set), Some(64));
}
