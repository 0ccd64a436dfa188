//! The anchor and the global definitions of an archive that is written.

use super::encode::{CHUNK_HEAD, FieldWriter};
use super::event_file::EVENT_CHUNK;
use super::functions::FUNCTIONS;
use crate::header::TraceHeader;

/// Ticks per second: a tick is a picosecond.
const RESOLUTION: u64 = 1_000_000_000_000;
/// Sizes of chunks of definitions that OTF2 allows.
const CHUNKS: std::ops::RangeInclusive<usize> = 1 << 18..=1 << 24;
/// Role of a function of the program.
const FUNCTION: u8 = 1;
/// Paradigms of the user and of MPI.
const USER: u8 = 1;
const MPI: u8 = 4;
/// Kinds of groups: locations that communicate, and some of them.
const COMMUNICATING: u8 = 4;
const SOME: u8 = 5;

/// Global definitions: their file, the size of its chunks and their number.
pub struct GlobalDefinitions {
    /// The file.
    pub bytes: Vec<u8>,
    /// Bytes of a chunk.
    pub chunk: usize,
    /// Number of definitions.
    pub records: u64,
}

/// DefinitionRecords until their chunks are known.
#[derive(Default)]
struct DefinitionRecords {
    records: Vec<Vec<u8>>,
    strings: u32,
}

impl DefinitionRecords {
    fn add(&mut self, id: u8, fields: &FieldWriter) {
        let mut record = FieldWriter::default();
        record.record(id, fields);
        self.records.push(record.bytes);
    }

    fn string(&mut self, text: &str) -> u32 {
        let number = self.strings;
        self.strings += 1;
        self.add(10, FieldWriter::default().number(number).text(text));
        number
    }

    fn region(&mut self, number: u32, name: &str, role: u8, paradigm: u8) {
        let name = self.string(name);
        let mut fields = FieldWriter::default();
        fields.number(number).number(name).number(0).byte(0);
        fields.number(u32::MAX).number(0).number(0).number(name);
        self.add(15, fields.byte(role).byte(paradigm).number(0));
    }

    fn group(&mut self, number: u32, kind: u8, members: impl ExactSizeIterator<Item = u32>) {
        let mut fields = FieldWriter::default();
        fields.number(number).number(0).byte(0).number(members.len() as u32);
        for member in members {
            fields.number(member);
        }
        self.add(18, fields.byte(kind).byte(MPI).number(0));
    }
}

/// The definitions of a trace of a length (ps) with so many events for each rank, and names of regions.
///
/// # Errors
/// More ranks in a communicator than a definition can have.
pub fn definitions(
    header: &TraceHeader,
    names: &[String],
    events: &[u64],
    length: u64,
) -> Result<GlobalDefinitions, String> {
    let mut all = DefinitionRecords::default();
    all.add(
        5,
        FieldWriter::default()
            .long(RESOLUTION)
            .long(0)
            .long(length)
            .long(u64::MAX),
    );
    all.string("");
    let machine = all.string("machine");
    all.add(
        12,
        FieldWriter::default()
            .number(0)
            .number(machine)
            .number(machine)
            .number(u32::MAX),
    );
    let thread = all.string("Master thread");
    for (rank, events) in (0..).zip(events) {
        let name = all.string(&format!("MPI Rank {rank}"));
        let mut group = FieldWriter::default();
        all.add(13, group.number(rank).number(name).byte(1).number(0).number(u32::MAX));
        let mut location = FieldWriter::default();
        all.add(
            14,
            location.number(rank).number(thread).byte(1).long(*events).number(rank),
        );
    }
    for (number, (name, role)) in (0..).zip(FUNCTIONS) {
        all.region(number, name, role, MPI);
    }
    for (number, name) in (FUNCTIONS.len() as u32..).zip(names) {
        all.region(number, name, FUNCTION, USER);
    }
    all.group(0, COMMUNICATING, (0..events.len()).map(|rank| rank as u32));
    for (number, members) in (0..).zip(&header.communicators) {
        let members: Vec<u32> = members.iter().collect();
        all.group(number + 1, SOME, members.into_iter());
        let name = match number {
            0 => all.string("MPI_COMM_WORLD"),
            _ => all.string(&format!("communicator {number}")),
        };
        let mut fields = FieldWriter::default();
        fields.number(number).number(name).number(number + 1);
        all.add(22, fields.number(if number == 0 { u32::MAX } else { 0 }).number(0));
        // A window for each, with its number.
        all.add(
            24,
            FieldWriter::default()
                .number(number)
                .number(name)
                .number(number)
                .number(0),
        );
    }
    let longest = all.records.iter().map(Vec::len).max().unwrap_or(0);
    let chunk = (longest + CHUNK_HEAD + 2).next_power_of_two().max(*CHUNKS.start());
    if !CHUNKS.contains(&chunk) {
        return Err(format!(
            "a definition has {longest} bytes, and a chunk of OTF2 at most {}",
            CHUNKS.end()
        ));
    }
    let records = all.records.len() as u64;
    Ok(GlobalDefinitions {
        bytes: chunks(&all.records, chunk),
        chunk,
        records,
    })
}

/// A file of definitions.
fn chunks(records: &[Vec<u8>], chunk: usize) -> Vec<u8> {
    let mut file = FieldWriter::default();
    file.chunk(0, 0);
    let mut begin = 0;
    for record in records {
        if file.bytes.len() + record.len() + 2 > begin + chunk {
            begin += chunk;
            file.bytes.resize(begin, 0);
            file.chunk(0, 0);
        }
        file.bytes.extend(record);
    }
    file.end();
    file.bytes
}

/// A file of definitions with none.
pub fn no_definitions() -> Vec<u8> {
    chunks(&[], *CHUNKS.start())
}

/// The anchor of an archive with so many ranks.
pub fn anchor(definitions: &GlobalDefinitions, ranks: u32, creator: &str) -> Vec<u8> {
    let mut file = FieldWriter::begin();
    file.text("OTF2").byte(3).byte(2).byte(3).byte(0).byte(3);
    file.whole(EVENT_CHUNK as u64)
        .whole(definitions.chunk as u64)
        .byte(1)
        .byte(1);
    file.whole(ranks.into()).whole(definitions.records);
    file.text("").text(creator).text("");
    // No properties; a number that tells traces apart; neither snapshots nor thumbnails.
    let mark = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    let trace = definitions.bytes.iter().fold(0xCBF2_9CE4_8422_2325, mark);
    file.half(0).whole(trace).half(0).half(0);
    file.byte(2);
    file.bytes
}
