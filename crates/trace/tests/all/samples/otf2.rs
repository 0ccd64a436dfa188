//! Archives of OTF2 from a writer of a few lines, which shares nothing with the product's.

use super::Sample;

/// Fields as OTF2 writes them.
#[derive(Clone, Default)]
pub struct Fields {
    pub big: bool,
    pub bytes: Vec<u8>,
}

impl Fields {
    pub fn new(big: bool) -> Fields {
        Fields { big, bytes: Vec::new() }
    }

    /// The begin of a file or chunk.
    pub fn begin(big: bool) -> Fields {
        let bytes = vec![3, if big { 0x23 } else { 0x42 }];
        Fields { big, bytes }
    }

    pub fn u8(mut self, byte: u8) -> Fields {
        self.bytes.push(byte);
        self
    }

    pub fn whole(mut self, number: u64) -> Fields {
        let bytes = if self.big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        };
        self.bytes.extend(bytes);
        self
    }

    pub fn text(mut self, text: &str) -> Fields {
        self.bytes.extend(text.as_bytes());
        self.u8(0)
    }

    pub fn n(mut self, number: u64) -> Fields {
        if number == u64::MAX {
            return self.u8(0xFF);
        }
        let n = 8 - number.leading_zeros() as usize / 8;
        self.bytes.push(n as u8);
        match self.big {
            true => self.bytes.extend(&number.to_be_bytes()[8 - n..]),
            false => self.bytes.extend(&number.to_le_bytes()[..n]),
        }
        self
    }

    pub fn all(self, numbers: &[u64]) -> Fields {
        numbers.iter().fold(self, |fields, number| fields.n(*number))
    }

    /// An undefined number of 32 bits.
    pub fn none(self) -> Fields {
        self.u8(0xFF)
    }

    /// A record with its length: short where it fits, or always long.
    pub fn record(mut self, id: u8, body: Fields, long: bool) -> Fields {
        self.bytes.push(id);
        self = match u8::try_from(body.bytes.len()) {
            Ok(length) if length < 0xFF && !long => self.u8(length),
            _ => self.u8(0xFF).whole(body.bytes.len() as u64),
        };
        self.bytes.extend(body.bytes);
        self
    }
}

/// A file of events or definitions in chunks.
pub struct Chunked {
    big: bool,
    chunk: usize,
    bytes: Vec<u8>,
    current: Fields,
    time: Option<u64>,
}

impl Chunked {
    pub fn new(big: bool, chunk: usize) -> Chunked {
        let (bytes, time) = (Vec::new(), None);
        let current = Fields::begin(big).whole(1).whole(0);
        Chunked {
            big,
            chunk,
            bytes,
            current,
            time,
        }
    }

    fn put(&mut self, time: Option<u64>, record: Fields) {
        let stamp = |fields: Fields, now: u64| fields.u8(5).whole(now);
        let needed = record.bytes.len() + 9 + 1;
        if self.current.bytes.len() + needed > self.chunk {
            let mut full = std::mem::replace(&mut self.current, Fields::begin(self.big).whole(1).whole(0));
            assert!(full.bytes.len() < self.chunk, "a record is longer than a chunk");
            full.bytes.resize(self.chunk, 0);
            self.bytes.extend(full.bytes);
            self.time = None;
        }
        if let Some(now) = time
            && self.time != time
        {
            self.current = stamp(std::mem::take(&mut self.current), now);
            self.time = time;
        }
        self.current.bytes.extend(record.bytes);
    }

    /// A record with a length.
    pub fn long(&mut self, time: u64, id: u8, body: impl FnOnce(Fields) -> Fields) -> &mut Chunked {
        let body = body(Fields::new(self.big));
        self.put(Some(time), Fields::new(self.big).record(id, body, false));
        self
    }

    /// A record of a number.
    pub fn short(&mut self, time: u64, id: u8, number: u64) -> &mut Chunked {
        self.put(Some(time), Fields::new(self.big).u8(id).n(number));
        self
    }

    /// A call: a region around what is recorded in it.
    pub fn call(&mut self, begin: u64, end: u64, region: u64, inside: impl FnOnce(&mut Chunked)) -> &mut Chunked {
        self.short(begin, 12, region);
        inside(self);
        self.short(end, 13, region)
    }

    /// A definition.
    pub fn define(&mut self, id: u8, body: impl FnOnce(Fields) -> Fields) -> &mut Chunked {
        let body = body(Fields::new(self.big));
        self.put(None, Fields::new(self.big).record(id, body, false));
        self
    }

    pub fn end(mut self) -> Vec<u8> {
        self.bytes.extend(self.current.u8(2).u8(1).bytes);
        self.bytes
    }
}

/// Bytes of a chunk of definitions, where one of events has so many.
pub fn definition_chunk(chunk: usize) -> usize {
    chunk.max(4096)
}

/// The anchor of an archive.
pub fn anchor(big: bool, chunk: usize, locations: u64, definitions: u64) -> Vec<u8> {
    let fields = Fields::begin(big).text("OTF2").u8(3).u8(2).u8(3).u8(0).u8(3);
    let fields = fields
        .whole(chunk as u64)
        .whole(definition_chunk(chunk) as u64)
        .u8(1)
        .u8(1);
    let fields = fields.whole(locations).whole(definitions);
    let mut fields = fields
        .text("machine")
        .text("tests")
        .text("")
        .u8(0)
        .u8(0)
        .u8(0)
        .u8(0)
        .whole(7);
    fields.bytes.extend([0; 8]);
    fields.u8(2).bytes
}

/// Names of regions by number, with their paradigms.
pub const REGIONS: [(&str, u8); 17] = [
    ("main", 1),
    ("solve", 2),
    ("MPI_Init", 4),
    ("MPI_Irecv", 4),
    ("MPI_Isend", 4),
    ("MPI_Waitall", 4),
    ("MPI_Bcast", 4),
    ("MPI_Ibarrier", 4),
    ("MPI_Wait", 4),
    ("MPI_Sendrecv", 4),
    ("MPI_Ssend", 4),
    ("MPI_Recv", 4),
    ("MPI_Allreduce", 4),
    ("MPI_Waitany", 4),
    ("MPI_Test", 4),
    ("!$omp parallel", 7),
    ("MPI_Put", 4),
];

pub const MAIN: u64 = 0;
pub const SOLVE: u64 = 1;
pub const INIT: u64 = 2;
pub const IRECV: u64 = 3;
pub const ISEND: u64 = 4;
pub const WAITALL: u64 = 5;
pub const BCAST: u64 = 6;
pub const IBARRIER: u64 = 7;
pub const WAIT: u64 = 8;
pub const SENDRECV: u64 = 9;
pub const SSEND: u64 = 10;
pub const RECV: u64 = 11;
pub const ALLREDUCE: u64 = 12;
pub const WAITANY: u64 = 13;
pub const TEST: u64 = 14;
pub const PARALLEL: u64 = 15;
pub const PUT: u64 = 16;

/// Number of the world, of a pair of ranks 2 and 0, of what each rank is by itself, and of one between groups.
pub const WORLD: u64 = 40;
pub const PAIR: u64 = 41;
pub const OWN: u64 = 42;
pub const BETWEEN: u64 = 43;
/// Number of a window of the pair.
pub const WINDOW: u64 = 3;
/// Locations of the ranks, in their order.
pub const LOCATIONS: [u64; 3] = [5, 0, 2];
/// When the trace begins; a second has 10^9 ticks.
pub const BEGIN: u64 = 1_000_000;

/// Global definitions: three ranks, a thread (location 7) and a metric (location 9).
pub fn definitions(big: bool, chunk: usize, whole: bool) -> (Vec<u8>, u64) {
    let mut file = Chunked::new(big, chunk);
    let mut n = 0;
    let mut define = |id: u8, body: &dyn Fn(Fields) -> Fields| {
        n += 1;
        file.define(id, body);
    };
    define(5, &|f| f.all(&[1_000_000_000, BEGIN, 50_000]).none());
    define(10, &|f| f.n(0).text(""));
    define(10, &|f| f.n(1).text("MPI_COMM_WORLD"));
    define(10, &|f| f.n(2).text("thread"));
    for (i, (name, _)) in (100..).zip(REGIONS) {
        define(10, &|f| f.n(i).text(name));
    }
    define(11, &|f| f.all(&[2, 2]).u8(4).n(0));
    define(12, &|f| f.all(&[0, 0, 0]).none());
    for (i, location) in (0..).zip(LOCATIONS) {
        define(13, &|f| f.all(&[i, 2]).u8(1).n(0).none());
        define(14, &|f| f.all(&[location, 2]).u8(1).all(&[1, i]));
    }
    define(14, &|f| f.all(&[7, 2]).u8(1).all(&[1, 0]));
    define(14, &|f| f.all(&[9, 2]).u8(3).all(&[1, 0]));
    for (i, (name, paradigm)) in (0..).zip(REGIONS) {
        assert!(!name.is_empty());
        // Who reads fields that it does not know would lose its way here.
        define(15, &|f| {
            f.all(&[i, 100 + i, 0])
                .u8(0)
                .all(&[0, 1, 2, 100 + i])
                .u8(0)
                .u8(paradigm)
                .n(0)
                .text("later")
        });
    }
    define(18, &|f| f.all(&[0, 0]).u8(0).all(&[3]).all(&LOCATIONS).u8(4).u8(4).n(0));
    define(18, &|f| f.all(&[1, 0]).u8(0).all(&[3, 0, 1, 2]).u8(5).u8(4).n(0));
    define(18, &|f| f.all(&[2, 0]).u8(0).all(&[2, 2, 0]).u8(5).u8(4).n(0));
    define(18, &|f| f.all(&[3, 0]).u8(0).all(&[0]).u8(6).u8(4).n(0));
    define(22, &|f| f.all(&[WORLD, 1, 1]).none().n(0));
    define(22, &|f| f.all(&[PAIR, 0, 2, WORLD, 0]));
    define(22, &|f| f.all(&[OWN, 0, 3]).none().n(0));
    if !whole {
        define(43, &|f| f.all(&[BETWEEN, 0, 1, 2, WORLD, 0]));
    }
    define(24, &|f| f.all(&[WINDOW, 0, PAIR, 0]));
    define(250, &|f| f.all(&[1; 300]));
    (file.end(), n)
}

fn collective(f: Fields, op: u8, communicator: u64, root: Option<u64>, sizes: [u64; 2]) -> Fields {
    let f = f.u8(op).n(communicator);
    let f = match root {
        Some(root) => f.n(root),
        None => f.none(),
    };
    f.all(&sizes)
}

/// Events of rank 0: everything that has a meaning of its own.
fn rank_0(big: bool, chunk: usize) -> Vec<u8> {
    let t = |time: u64| BEGIN + time;
    let mut file = Chunked::new(big, chunk);
    file.long(t(0), 6, |f| f.all(&[1, 2]).u8(4).n(3));
    file.long(t(0), 83, |f| f.all(&[0, 0])).short(t(10), 12, MAIN);
    file.call(t(20), t(120), INIT, |file| {
        file.long(t(30), 87, |f| f.n(WORLD));
        file.long(t(40), 23, |f| collective(f, 17, WORLD, None, [0, 0]));
    });
    file.call(t(200), t(210), IRECV, |file| {
        file.short(t(205), 17, 11);
    });
    file.call(t(220), t(230), IRECV, |file| {
        file.short(t(222), 17, 12);
    });
    file.short(t(230), 12, SOLVE).short(t(240), 12, PARALLEL);
    file.long(t(250), 200, |f| f.all(&[1; 40]))
        .short(t(260), 24, 4)
        .short(t(270), 13, PARALLEL);
    file.call(t(300), t(330), ISEND, |file| {
        // An address for a request, as TAU writes it.
        file.long(t(310), 15, |f| f.all(&[2, WORLD, 9, 5000, 0x7FFF_0000_1234]));
    });
    file.call(t(400), t(500), WAITALL, |file| {
        file.long(t(450), 19, |f| f.all(&[1, WORLD, 8, 300, 12]))
            .short(t(460), 16, 0x7FFF_0000_1234);
        file.long(t(470), 19, |f| f.all(&[0, PAIR, 7, 200, 11]));
    });
    file.short(t(510), 13, SOLVE);
    file.long(t(520), 10, |f| f.whole(t(580)));
    file.call(t(600), t(650), BCAST, |file| {
        file.short(t(600), 22, 0)
            .long(t(640), 23, |f| collective(f, 1, WORLD, Some(0), [12_288, 4096]));
    });
    file.call(t(650), t(660), IBARRIER, |file| {
        file.long(t(655), 85, |f| f.n(13));
    });
    file.call(t(670), t(680), TEST, |file| {
        file.short(t(675), 20, 13);
    });
    file.call(t(700), t(710), WAIT, |file| {
        file.long(t(705), 86, |f| collective(f, 0, WORLD, None, [0, 0]).n(13));
    });
    file.call(t(710), t(740), SENDRECV, |file| {
        file.long(t(710), 14, |f| f.all(&[1, WORLD, 3, 64]))
            .long(t(735), 18, |f| f.all(&[2, WORLD, 4, 32]));
    });
    file.call(t(740), t(750), SSEND, |file| {
        file.long(t(741), 14, |f| f.all(&[0, PAIR, u64::from(u32::MAX - 7), 1 << 40]));
    });
    file.call(t(750), t(760), PUT, |file| {
        file.long(t(751), 46, |f| f.all(&[WINDOW, 0, 77, 1]));
    });
    file.short(t(800), 13, MAIN).long(t(850), 84, |f| f.n(0));
    file.end()
}

/// Events of rank 1, whose numbers and clock are its own: its region 0 is MPI_Allreduce, its communicator 5 the world.
fn rank_1(big: bool, chunk: usize) -> Vec<u8> {
    let mut file = Chunked::new(big, chunk);
    file.call(500, 600, 0, |file| {
        file.long(590, 23, |f| collective(f, 11, 5, None, [24, 24]));
    });
    // Received without having been posted, as some recorders write it.
    file.long(700, 19, |f| f.all(&[2, 5, 1, 10, 99]));
    file.end()
}

fn rank_1_definitions(big: bool, chunk: usize) -> Vec<u8> {
    let mut file = Chunked::new(big, chunk);
    file.define(5, |f| f.u8(3).n(1).u8(0).n(ALLREDUCE));
    file.define(5, |f| f.u8(6).n(2).u8(1).all(&[5, WORLD, 3, PAIR]));
    // 100 ticks fast in 1000.
    file.define(6, |f| f.whole(0).n(BEGIN).whole(0))
        .define(6, |f| f.whole(1000).n(BEGIN - 100).whole(0));
    file.end()
}

/// Events of rank 2: what waits for one of several, and what cannot be replayed.
fn rank_2(big: bool, chunk: usize, whole: bool) -> Vec<u8> {
    let t = |time: u64| BEGIN + time;
    let mut file = Chunked::new(big, chunk);
    file.call(t(100), t(110), IRECV, |file| {
        file.short(t(100), 17, 1).short(t(101), 17, 2).short(t(102), 17, 3);
    });
    file.call(t(110), t(200), WAITANY, |file| {
        file.short(t(190), 20, 1)
            .long(t(195), 19, |f| f.all(&[0, WORLD, 5, 50, 2]));
    });
    file.call(t(200), t(210), TEST, |file| {
        file.long(t(205), 19, |f| f.all(&[1, WORLD, 6, 60, 1]));
    });
    file.call(t(210), t(220), RECV, |file| {
        // Of the pair this rank is 0, and it sends to itself.
        file.long(t(215), 14, |f| f.all(&[0, OWN, 1, 8]))
            .long(t(216), 18, |f| f.all(&[0, OWN, 1, 8]));
    });
    file.short(t(230), 21, 3);
    if !whole {
        file.long(t(240), 14, |f| f.all(&[0, BETWEEN, 1, 8]))
            .long(t(250), 14, |f| f.all(&[3, WORLD, 1, 8]));
        file.short(t(260), 16, 77).short(t(270), 17, 78).short(t(265), 13, MAIN);
    }
    file.end()
}

/// The files of an archive: of one that is whole, or of one with records that cannot be replayed.
pub fn files(big: bool, chunk: usize, whole: bool) -> Vec<(String, Vec<u8>)> {
    let (global, n) = definitions(big, definition_chunk(chunk), whole);
    let nothing = || Chunked::new(big, chunk).end();
    let mut metric = Chunked::new(big, chunk);
    metric.long(BEGIN, 11, |f| f.u8(1));
    [
        ("a.otf2", anchor(big, chunk, 5, n)),
        ("a.def", global),
        ("a/5.evt", rank_0(big, chunk)),
        ("a/5.def", Chunked::new(big, definition_chunk(chunk)).end()),
        ("a/0.evt", rank_1(big, chunk)),
        ("a/0.def", rank_1_definitions(big, definition_chunk(chunk))),
        ("a/2.evt", rank_2(big, chunk, whole)),
        ("a/7.evt", nothing()),
        ("a/9.evt", metric.end()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

/// Archives of both byte orders, one of them in many chunks.
pub fn all() -> Vec<Sample> {
    [
        ("little endian", false, 1 << 18),
        ("big endian in many chunks", true, 256),
    ]
    .map(|(name, big, chunk)| Sample {
        format: "otf2",
        name,
        files: files(big, chunk, true),
        open: "a.otf2",
    })
    .into()
}
