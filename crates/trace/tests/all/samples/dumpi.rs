//! Files of DUMPI: a writer, and programs that it writes.

use super::Sample;

/// An argument of a call, as it stands in a file.
#[derive(Clone, Debug)]
pub enum Arg {
    I(i32),
    H(u16),
    B(u8),
    L(u64),
    Is(Vec<i32>),
    Hs(Vec<u16>),
    /// Characters.
    C(&'static str),
    /// Statuses: bytes, source and tag.
    S(Vec<(i32, i32, i32)>),
    /// Integers in lists.
    R(Vec<[i32; 3]>),
}

use Arg::{B, C, H, Hs, I, Is, L, R, S};

/// A call: its function and its arguments.
pub type Call = (u16, Vec<Arg>);

/// A call with how long it is since the one before, and how long it takes (ns).
pub type TimedCall = (u64, u64, Call);

/// When the first call begins (s), far from 0 as real clocks are.
pub const BIAS: u64 = 1_296_777_956;
/// How long a call takes, and how long it is until the next (ns).
pub const CALL: u64 = 1000;
pub const GAP: u64 = 500;

/// How files are written.
#[derive(Clone)]
pub struct Writer {
    pub version: [u8; 3],
    /// Sizes of datatypes; before version 0.6.6 there are none.
    pub sizes: Vec<u32>,
    /// Functions with their addresses.
    pub names: Vec<(u64, &'static str)>,
    /// What stands in the mask of every call; 8 for times of the wall, 4 for those of the processor, 64 for the thread, 1 for statuses.
    pub mask: u8,
    /// Seconds before a call, by its number.
    pub pauses: Vec<(usize, u64)>,
    /// The footer tells how often each function was called.
    pub counts: bool,
}

impl Default for Writer {
    fn default() -> Writer {
        let mut sizes = vec![
            0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
        ];
        sizes.extend([24, 0]);
        Writer {
            version: [1, 0, 0],
            sizes,
            names: Vec::new(),
            mask: 8 | 4 | 64 | 1,
            pauses: Vec::new(),
            counts: true,
        }
    }
}

fn put_list(out: &mut Vec<u8>, list: &[i32]) {
    out.extend((list.len() as u32).to_be_bytes());
    list.iter().for_each(|item| out.extend(item.to_be_bytes()));
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

impl Writer {
    fn put(&self, out: &mut Vec<u8>, arg: &Arg) {
        match arg {
            I(value) => out.extend(value.to_be_bytes()),
            H(value) => out.extend(value.to_be_bytes()),
            B(value) => out.push(*value),
            L(value) => out.extend(value.to_be_bytes()),
            Is(list) => put_list(out, list),
            Hs(list) => {
                out.extend((list.len() as u32).to_be_bytes());
                list.iter().for_each(|item| out.extend(item.to_be_bytes()));
            }
            C(text) => {
                out.extend((text.len() as u32).to_be_bytes());
                out.extend(text.as_bytes());
            }
            R(lists) => {
                out.extend((lists.len() as u32).to_be_bytes());
                lists.iter().for_each(|list| put_list(out, list));
            }
            S(statuses) if self.mask & 3 != 0 => {
                out.extend((statuses.len() as u32).to_be_bytes());
                for (bytes, source, tag) in statuses {
                    out.extend(bytes.to_be_bytes());
                    out.extend(source.to_be_bytes());
                    out.extend([0, 0]);
                    if self.version >= [0, 6, 3] {
                        out.extend(tag.to_be_bytes());
                    }
                }
            }
            S(_) => {}
        }
    }

    /// The file of a rank.
    pub fn file(&self, calls: &[Call]) -> Vec<u8> {
        let timed = calls.iter().enumerate().map(|(i, call)| {
            let pauses = self.pauses.iter().filter(|(at, _)| *at == i);
            let pause: u64 = pauses.map(|(_, seconds)| *seconds).sum();
            let gap = if i == 0 { 0 } else { GAP };
            (gap + pause * 1_000_000_000, CALL, call.clone())
        });
        self.timed_file(&timed.collect::<Vec<_>>())
    }

    /// The file of a rank whose calls have times of their own.
    pub fn timed_file(&self, calls: &[TimedCall]) -> Vec<u8> {
        let mut out = b"\xFF\xAA\xDDDUMPI".to_vec();
        let body = out.len() as u64;
        out.extend(0u32.to_be_bytes());
        out.extend((BIAS as u32).to_be_bytes());
        let mut now = 0u64;
        for (gap, took, (function, arguments)) in calls {
            now += gap;
            out.extend(function.to_be_bytes());
            out.push(self.mask);
            if self.mask & 64 != 0 {
                out.extend(0u16.to_be_bytes());
            }
            for bit in [4, 8] {
                if self.mask & bit != 0 {
                    for time in [now, now + took] {
                        out.extend(((time / 1_000_000_000) as u16).to_be_bytes());
                        out.extend(((time % 1_000_000_000) as u32).to_be_bytes());
                    }
                }
            }
            arguments.iter().for_each(|argument| self.put(&mut out, argument));
            now += took;
        }
        out.extend(293u16.to_be_bytes());
        let header = out.len() as u64;
        out.extend(self.version);
        out.extend(BIAS.to_be_bytes());
        put_text(&mut out, "node17");
        put_text(&mut out, "someone");
        put_list(&mut out, &[1, 2]);
        put_list(&mut out, &[4, 4]);
        let addresses = out.len() as u64;
        out.extend((self.names.len() as u32).to_be_bytes());
        for (address, name) in &self.names {
            out.extend(address.to_be_bytes());
            put_text(&mut out, name);
        }
        let sizes = out.len() as u64;
        out.extend((self.sizes.len() as u32).to_be_bytes());
        self.sizes.iter().for_each(|size| out.extend(size.to_be_bytes()));
        let footer = out.len() as u64;
        out.extend(0xF007_FEE7u64.to_be_bytes());
        for function in 0..291u16 {
            // As real files have it: twice what there is.
            let count = 2 * calls.iter().filter(|(_, _, call)| call.0 == function).count() as u32;
            out.extend(if self.counts { count } else { 0 }.to_be_bytes());
        }
        out.extend([0; 4 * 291]);
        out.extend(b"\xFF\xAA\xDDDUMPI");
        if self.version >= [0, 6, 6] {
            out.extend(sizes.to_be_bytes());
        }
        for place in [addresses, 0, header, body, footer, 0] {
            out.extend(place.to_be_bytes());
        }
        out
    }

    /// The files of all ranks, with what is beside them.
    pub fn files(&self, ranks: &[Vec<Call>]) -> Vec<(String, Vec<u8>)> {
        Writer::beside(ranks.iter().map(|calls| self.file(calls)).collect())
    }

    /// Files of ranks, with what is beside them.
    pub fn beside(ranks: Vec<Vec<u8>>) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![(
            "app.meta".to_owned(),
            format!(
                "hostname=node17\nnumprocs={}\nusername=someone\nfileprefix=/scratch/run/app\nversion=1\n",
                ranks.len()
            )
            .into_bytes(),
        )];
        let named = |(rank, bytes)| (format!("app-{rank:04}.bin"), bytes);
        files.extend(ranks.into_iter().enumerate().map(named));
        files
    }
}

/// What stands before and after the calls of a program.
pub fn program(calls: Vec<Call>) -> Vec<Call> {
    let mut all = vec![(124, vec![I(2), C("./app"), C("-v")]), (122, vec![])];
    all.extend(calls);
    all.push((125, vec![]));
    all
}

/// A status of a receive.
pub fn status(bytes: i32, source: i32, tag: i32) -> Arg {
    S(vec![(bytes, source, tag)])
}

/// Four ranks that do a bit of all.
pub fn everything(version: [u8; 3]) -> Vec<Vec<Call>> {
    let rank = |me: i32| {
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let half = me % 2;
        let mut calls = vec![
            (82, vec![H(2), I(me)]),
            (81, vec![H(2), I(4)]),
            (52, vec![H(2)]),
            // A ring, once with requests and once with a call that does both.
            (12, vec![I(10), H(14), I(-1), I(-1), H(2), I(5)]),
            (8, vec![I(10), H(14), I(next), I(7), H(2), I(6)]),
            (18, vec![I(2), Is(vec![5, 6]), S(vec![(80, last, 7), (0, -1, -1)])]),
            (
                33,
                vec![
                    I(3),
                    H(9),
                    I(next),
                    I(1),
                    I(3),
                    H(9),
                    I(last),
                    I(1),
                    H(2),
                    status(12, last, 1),
                ],
            ),
            (35, vec![I(3), H(14), H(28)]),
            (46, vec![H(28)]),
            // Halves: odd ranks and even ones, in reverse order.
            (86, vec![H(2), I(half), I(-me), H(4)]),
            (82, vec![H(4), I(1 - me / 2)]),
            (65, vec![I(2), H(28), B(3), H(4)]),
            (53, vec![I(100), H(5), I(0), H(4)]),
            (87, vec![H(4)]),
            (
                61,
                vec![
                    I(4),
                    Is(vec![1, 2, 3, 4]),
                    Is(vec![0; 4]),
                    H(9),
                    Is(vec![me + 1; 4]),
                    Is(vec![0; 4]),
                    H(9),
                    H(2),
                ],
            ),
        ];
        let gathered = match me {
            2 => (
                55,
                vec![
                    I(me),
                    I(4),
                    I(me),
                    H(9),
                    I(2),
                    H(2),
                    Is(vec![0, 1, 2, 3]),
                    Is(vec![0; 4]),
                    H(9),
                ],
            ),
            _ => (55, vec![I(me), I(4), I(me), H(9), I(2), H(2), H(9)]),
        };
        calls.push(gathered);
        if version >= [0, 6, 9] {
            calls.push((40, vec![I(2), Is(vec![1, 1]), Is(vec![0, 8]), Hs(vec![14, 9]), H(29)]));
        } else {
            calls.push((40, vec![I(2), Is(vec![1, 1]), I(0), Hs(vec![14, 9]), H(29)]));
        }
        calls.push((62, vec![I(1), H(29), B(3), I(3), H(2)]));
        let mut all = program(calls);
        if version < [0, 6, 2] {
            all[0].1.insert(0, I(2));
        }
        all
    };
    (0..4).map(rank).collect()
}

/// Samples.
pub fn all() -> Vec<Sample> {
    [([1, 0, 0], "all kinds of calls"), ([0, 6, 1], "an old version")]
        .into_iter()
        .map(|(version, name)| {
            let writer = Writer {
                version,
                ..Writer::default()
            };
            Sample {
                format: "dumpi",
                name,
                files: writer.files(&everything(version)),
                open: "app.meta",
            }
        })
        .collect()
}
