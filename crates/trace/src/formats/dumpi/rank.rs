//! A rank on its way: what its calls so far have made known, and the operations that they become.

use super::communicators::Mine;
use super::completions::{Given, ahead};
use super::datatypes::Datatypes;
use super::file::DumpiFile;
use super::making::{NULL, SELF, WORLD};
use super::record::CallRecord;
use crate::header::Members;
use crate::operation::{Kind, Lists, NONE, Operation, UNKNOWN_SIZE};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::{HashMap, HashSet};

/// The communicator of a rank alone, which has no number in a trace.
const ALONE: u32 = u32::MAX;

/// What a request is of.
#[derive(Clone, Copy)]
pub(super) enum OpenRequest {
    /// A message.
    Message,
    /// Nothing that the network has to do with.
    Nothing,
    /// A message that may be started again and again; nothing where nobody is at its other end.
    Persistent {
        operation: Option<Operation>,
        any: bool,
        active: bool,
    },
}

/// Names of regions, each once.
#[derive(Default)]
pub(super) struct RegionNames {
    /// In the order of their numbers.
    pub(super) list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl RegionNames {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// A rank on its way.
pub(super) struct Teller<'r, 'w> {
    pub(super) rank: u32,
    pub(super) reader: &'r mut TraceReader<'w>,
    pub(super) requests: HashMap<i32, OpenRequest>,
    pub(super) windows: HashMap<i64, Mine>,
    pub(super) types: Datatypes,
    pub(super) comms: HashMap<i64, Mine>,
    /// The number of the call in the file.
    pub(super) at: u64,
    /// Some call told its times.
    pub(super) timed: bool,
    file: &'r DumpiFile,
    members: &'r [Members],
    /// What calls that make communicators give, in order; and how many of them have been.
    made: &'r [Option<Mine>],
    makings: usize,
    names: &'r mut RegionNames,
    addresses: Option<HashMap<u64, u32>>,
    regions: Vec<u32>,
    /// What receives from anybody are given, once one has been seen; and how many have begun.
    given: Option<Vec<Given>>,
    receives: usize,
    /// When the trace begins, and when the last call returned (ns).
    begin: u64,
    returned: Option<u64>,
    thread: u16,
    /// Time between calls that has not been told (ns), and when it began.
    between: u64,
    between_from: u64,
    told: HashSet<(&'static str, i64)>,
}

impl<'r, 'w> Teller<'r, 'w> {
    pub(super) fn new(
        rank: u32,
        file: &'r DumpiFile,
        reader: &'r mut TraceReader<'w>,
        (members, made): (&'r [Members], &'r [Option<Mine>]),
        names: &'r mut RegionNames,
        begin: u64,
    ) -> Self {
        let world = Mine {
            communicator: 0,
            number: rank,
        };
        let alone = Mine {
            communicator: ALONE,
            number: 0,
        };
        Teller {
            rank,
            reader,
            requests: HashMap::new(),
            windows: HashMap::new(),
            types: Datatypes::new(file.sizes.clone()),
            comms: HashMap::from([(WORLD.into(), world), (SELF.into(), alone)]),
            at: 0,
            timed: false,
            file,
            members,
            made,
            makings: 0,
            names,
            addresses: None,
            regions: Vec::new(),
            given: None,
            receives: 0,
            begin,
            returned: None,
            thread: 0,
            between: 0,
            between_from: 0,
            told: HashSet::new(),
        }
    }

    /// Tells of a problem at this call.
    pub(super) fn problem(&mut self, reason: impl Into<String>, hint: &str) {
        let problem = Problem::new(&self.file.name, reason, hint);
        self.reader.problem(problem.of_rank(self.rank).at(self.at));
    }

    /// The same, once for a rank and what it is about.
    pub(super) fn problem_once(&mut self, of: (&'static str, i64), reason: impl Into<String>, hint: &str) {
        if self.told.insert(of) {
            self.problem(reason, hint);
        }
    }

    /// Takes note of when a call was.
    pub(super) fn note_time(&mut self, record: &CallRecord) {
        let Some((entry, end)) = record.times else {
            return;
        };
        self.timed = true;
        let before = self.returned.unwrap_or(entry);
        let on = entry.saturating_sub(before);
        if on > 0 && self.between == 0 {
            self.between_from = before;
        }
        self.between = self.between.saturating_add(on);
        if end < entry || (entry < before && record.thread == self.thread) {
            let reason = "the time of the call is before that of the one before it";
            self.problem_once(
                ("time", 0),
                reason,
                "computations that would be less than nothing are left out",
            );
        }
        self.thread = record.thread;
        self.returned = Some(before.max(end));
    }

    /// Picoseconds from the begin of the trace.
    fn since(&self, time: u64) -> u64 {
        time.saturating_sub(self.begin).saturating_mul(1000)
    }

    /// Tells of the time between calls.
    pub(super) fn tell_computation(&mut self) -> Result<(), ReadStop> {
        let between = std::mem::take(&mut self.between);
        if between == 0 {
            return Ok(());
        }
        let operation = Operation {
            start: self.since(self.between_from),
            region: self.region(),
            ..Operation::compute(between.saturating_mul(1000))
        };
        self.reader.operation(self.rank, self.at, &operation, &Lists::default())
    }

    /// Tells of an operation, and of the computation before it.
    pub(super) fn tell(&mut self, record: &CallRecord, operation: Operation, values: &[u64]) -> Result<(), ReadStop> {
        self.tell_computation()?;
        let (entry, end) = record.times.unwrap_or((self.begin, self.begin));
        let operation = Operation {
            start: self.since(entry),
            time: end.saturating_sub(entry).saturating_mul(1000),
            region: match operation.region {
                NONE => self.region(),
                region => region,
            },
            ..operation
        };
        let lists = Lists {
            values,
            ..Lists::default()
        };
        self.reader.operation(self.rank, self.at, &operation, &lists)
    }

    fn region(&self) -> u32 {
        self.regions.last().copied().unwrap_or(NONE)
    }

    /// A function of the program begins or ends.
    pub(super) fn function(&mut self, record: &CallRecord, kind: Kind) -> Result<(), ReadStop> {
        let address = record.value(0) as u64;
        let region = self.name_of(address);
        if kind == Kind::Leave && !self.regions.contains(&region) {
            self.problem_once(("leave", address as i64), "a function ends that has not begun", "");
            return Ok(());
        }
        let operation = Operation {
            region,
            ..Operation::new(kind)
        };
        self.tell(record, operation, &[])?;
        if kind == Kind::Enter {
            self.regions.push(region);
        } else {
            while self.regions.pop().is_some_and(|last| last != region) {}
        }
        Ok(())
    }

    /// The number of the name of a function.
    fn name_of(&mut self, address: u64) -> u32 {
        if self.addresses.is_none() {
            let list = self.file.names().unwrap_or_else(|fault| {
                let (reason, hint) = fault.words();
                self.problem(format!("names of functions: {reason}"), &hint);
                Vec::new()
            });
            let numbers = list
                .into_iter()
                .map(|(address, name)| (address, self.names.number(&name)));
            self.addresses = Some(numbers.collect());
        }
        let addresses = self.addresses.get_or_insert_default();
        let names = &mut self.names;
        *addresses
            .entry(address)
            .or_insert_with(|| names.number(&format!("{address:#x}")))
    }

    /// The communicator of a number of the file; nothing, and a problem, if it is not known who is in it.
    pub(super) fn comm(&mut self, number: i64) -> Option<Mine> {
        let comm = self.comms.get(&number).copied();
        if comm.is_none() {
            let reason = format!("who is in the communicator {number} is not known");
            self.problem_once(("comm", number), reason, "what goes over it is left out");
        }
        comm
    }

    /// How many ranks a communicator has, and its number in the trace; nothing for that of the rank alone.
    pub(super) fn known(&self, comm: Mine) -> Option<(u32, u32)> {
        let members = self.members.get(comm.communicator as usize)?;
        Some((comm.communicator, members.len()))
    }

    /// The rank with a number in a communicator; nothing, and a problem, if there is none.
    pub(super) fn peer(&mut self, comm: Mine, number: i64) -> Option<u32> {
        let peer = match comm.communicator {
            ALONE => (number == 0).then_some(self.rank),
            known => u32::try_from(number)
                .ok()
                .and_then(|number| self.members[known as usize].rank(number)),
        };
        if peer.is_none() {
            self.problem(
                format!("there is no rank {number} in the communicator"),
                "the call is left out",
            );
        }
        peer
    }

    /// The number of a communicator in the trace.
    pub(super) fn number(comm: Mine) -> u32 {
        match comm.communicator {
            ALONE => crate::operation::WORLD,
            known => known,
        }
    }

    /// Bytes of so many of a datatype.
    pub(super) fn bytes(&mut self, count: i64, datatype: i64) -> u64 {
        if count < 0 {
            self.problem(format!("{count} is no count"), "it is taken as 0");
        }
        let bytes = self.types.bytes(count, datatype);
        if bytes == UNKNOWN_SIZE {
            let reason = format!("the size of the datatype {datatype} is not told");
            self.problem_once(("type", datatype), reason, "sizes of messages of it are not known");
        }
        bytes
    }

    /// What the next receive from anybody is given.
    pub(super) fn next_given(&mut self) -> Given {
        let file = self.file;
        let given = self.given.get_or_insert_with(|| ahead(file));
        let next = given.get(self.receives).copied();
        self.receives += 1;
        next.unwrap_or_else(|| Given::of(None))
    }

    /// What a call made gets its number: in the first pass it was found out who is in it.
    pub(super) fn made(&mut self, record: &CallRecord, from: i64, comm: i64) -> Result<(), ReadStop> {
        let mine = self.made.get(self.makings).copied().flatten();
        self.makings += 1;
        let parent = self.comm(from);
        self.bind(comm, mine);
        match parent.and_then(|parent| self.known(parent)) {
            Some((number, _)) => self.tell(record, Operation::collective(Kind::CommCreate, number, 0), &[]),
            None => Ok(()),
        }
    }

    /// Gives a communicator its number.
    pub(super) fn bind(&mut self, comm: i64, mine: Option<Mine>) {
        if comm == i64::from(NULL) {
            return;
        }
        match mine {
            Some(mine) => self.comms.insert(comm, mine),
            None => self.comms.remove(&comm),
        };
    }
}
