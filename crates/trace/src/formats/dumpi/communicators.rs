//! The communicators of a trace, rebuilt from what every rank called.
//!
//! A file names communicators by numbers of its rank. What the n-th call that makes a communicator of another one makes is known when all
//! members of that other one have made theirs: ranks are led through their calls until each waits for others or is done.

use super::making::{GroupLists, How, Making, NULL, RankLists, SELF, WORLD};
use crate::header::Members;
use crate::problem::Problem;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A communicator as one of its members has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mine {
    /// Its number in the trace.
    pub(super) communicator: u32,
    /// The rank's number in it.
    pub(super) number: u32,
}

/// Communicators of all ranks.
pub(super) struct RebuiltCommunicators {
    /// Members by number.
    pub(super) members: Vec<Members>,
    /// Of each rank, what each of its calls that make one gave it.
    pub(super) made: Vec<Vec<Option<Mine>>>,
    /// What is wrong.
    pub(super) problems: Vec<Problem>,
}

/// A rank on its way through its calls.
struct RankWalk {
    calls: Vec<Making>,
    next: usize,
    comms: HashMap<u16, Mine>,
    groups: GroupLists,
    made: Vec<Option<Mine>>,
    /// Communicators that were made of each, by its number.
    turns: HashMap<u32, u32>,
}

/// A member of a communicator that makes another one.
#[derive(Clone, Copy)]
struct Arrival {
    rank: u32,
    /// Its number in the communicator that it is made of.
    number: u32,
    record: u64,
    how: How,
    /// The rank's name of the new one.
    comm: u16,
}

/// A communicator that is made: places of its members among those who came, and its grid if it has one.
type New = (Vec<usize>, Option<Vec<u32>>);

/// Leads all ranks through their calls.
struct MadeTogether<'a> {
    ranks: Vec<RankWalk>,
    lists: &'a mut RankLists,
    /// Members of communicators, by their list.
    comms: Vec<u32>,
    /// Dimensions of those that are grids.
    grids: HashMap<u32, Vec<u32>>,
    /// Who has come, by communicator and turn.
    waiting: BTreeMap<(u32, u32), Vec<Arrival>>,
    problems: Vec<Problem>,
    /// The file of each rank.
    files: &'a [String],
}

impl RebuiltCommunicators {
    /// Rebuilds them from the calls of each rank.
    pub(super) fn of(calls: Vec<Vec<Making>>, mut lists: RankLists, files: &[String]) -> RebuiltCommunicators {
        let count = calls.len() as u32;
        let world = lists.number((0..count).collect());
        let ranks = calls.into_iter().enumerate().map(|(rank, calls)| RankWalk {
            comms: match calls.is_empty() {
                true => HashMap::new(),
                false => HashMap::from([(
                    WORLD,
                    Mine {
                        communicator: 0,
                        number: rank as u32,
                    },
                )]),
            },
            calls,
            next: 0,
            groups: GroupLists::default(),
            made: Vec::new(),
            turns: HashMap::new(),
        });
        let mut builder = MadeTogether {
            ranks: ranks.collect(),
            lists: &mut lists,
            comms: vec![world],
            grids: HashMap::new(),
            waiting: BTreeMap::new(),
            problems: Vec::new(),
            files,
        };
        builder.run();
        builder.tell_who_waits();
        let (comms, problems) = (
            std::mem::take(&mut builder.comms),
            std::mem::take(&mut builder.problems),
        );
        let made = builder
            .ranks
            .iter_mut()
            .map(|rank| std::mem::take(&mut rank.made))
            .collect();
        let members = comms.iter().enumerate().map(|(i, &list)| match i {
            0 => Members::all(count),
            _ => Members::of(lists.get(list).to_vec()),
        });
        RebuiltCommunicators {
            members: members.collect(),
            made,
            problems,
        }
    }
}

impl MadeTogether<'_> {
    fn run(&mut self) {
        let mut ready: VecDeque<u32> = (0..self.ranks.len() as u32).collect();
        while let Some(rank) = ready.pop_front() {
            while let Some(&call) = self.ranks[rank as usize].calls.get(self.ranks[rank as usize].next) {
                let Some(others) = self.take(rank, call) else {
                    break;
                };
                self.ranks[rank as usize].next += 1;
                for other in others.into_iter().filter(|other| *other != rank) {
                    self.ranks[other as usize].next += 1;
                    ready.push_back(other);
                }
            }
        }
    }

    /// Takes a call of a rank: whose calls are over with it, or nothing where the rank has to wait.
    fn take(&mut self, rank: u32, call: Making) -> Option<Vec<u32>> {
        let this = &mut self.ranks[rank as usize];
        match call {
            Making::Comm {
                record,
                from,
                how,
                comm,
            } => {
                let arrival = |number| Arrival {
                    rank,
                    number,
                    record,
                    how,
                    comm,
                };
                if from == SELF {
                    self.make_alone(arrival(0));
                    return Some(Vec::new());
                }
                let Some(&mine) = this.comms.get(&from) else {
                    this.made.push(None);
                    this.comms.remove(&comm);
                    return Some(Vec::new());
                };
                let turn = this.turns.entry(mine.communicator).or_default();
                let key = (mine.communicator, *turn);
                *turn += 1;
                let waiting = self.waiting.entry(key).or_default();
                waiting.push(arrival(mine.number));
                let all = self.lists.get(self.comms[mine.communicator as usize]);
                if waiting.len() < all.len() {
                    return None;
                }
                let mut arrivals = self.waiting.remove(&key).unwrap_or_default();
                arrivals.sort_unstable_by_key(|arrival| arrival.number);
                self.make(mine.communicator, &arrivals);
                Some(arrivals.iter().map(|arrival| arrival.rank).collect())
            }
            Making::NoComm { comm } => {
                this.comms.remove(&comm);
                Some(Vec::new())
            }
            Making::Free { comm } => {
                this.comms.remove(&comm);
                Some(Vec::new())
            }
            group => {
                let comms = &self.comms;
                let list = |comm: u16| this.comms.get(&comm).map(|mine| comms[mine.communicator as usize]);
                this.groups.note(group, self.lists, list);
                Some(Vec::new())
            }
        }
    }

    /// What a rank makes of the communicator of itself alone.
    fn make_alone(&mut self, arrival: Arrival) {
        let mine = (arrival.comm != NULL).then(|| self.add(vec![arrival.rank]));
        if let (Some(communicator), How::Cart { dims }) = (mine, arrival.how) {
            let dims = self.lists.get(dims);
            if dims.iter().all(|dim| *dim == 1) {
                self.grids.insert(communicator, dims.to_vec());
            }
        }
        let mine = mine.map(|communicator| Mine {
            communicator,
            number: 0,
        });
        self.give(&arrival, mine);
    }

    /// A communicator of these ranks.
    fn add(&mut self, ranks: Vec<u32>) -> u32 {
        let list = self.lists.number(ranks);
        self.comms.push(list);
        self.comms.len() as u32 - 1
    }

    /// Gives a rank what its call has made.
    fn give(&mut self, arrival: &Arrival, mine: Option<Mine>) {
        let rank = &mut self.ranks[arrival.rank as usize];
        rank.made.push(mine);
        match mine {
            Some(mine) => rank.comms.insert(arrival.comm, mine),
            None => rank.comms.remove(&arrival.comm),
        };
    }

    /// Makes what all members of a communicator, in their order, have called for.
    fn make(&mut self, from: u32, arrivals: &[Arrival]) {
        let first = arrivals[0];
        let other = arrivals
            .iter()
            .find(|other| std::mem::discriminant(&other.how) != std::mem::discriminant(&first.how));
        let made = match other {
            Some(other) => Err((
                *other,
                format!(
                    "{} here is {} on rank {}",
                    other.how.name(),
                    first.how.name(),
                    first.rank
                ),
            )),
            None => self.groups_of(from, arrivals),
        };
        let mut mine: Vec<Option<Mine>> = vec![None; arrivals.len()];
        match made {
            Err((arrival, reason)) => self.tell(&arrival, reason),
            Ok(made) => {
                for (members, grid) in made {
                    let ranks = members.iter().map(|&i| arrivals[i].rank).collect();
                    let communicator = self.add(ranks);
                    if let Some(grid) = grid {
                        self.grids.insert(communicator, grid);
                    }
                    for (number, &i) in members.iter().enumerate() {
                        mine[i] = Some(Mine {
                            communicator,
                            number: number as u32,
                        });
                    }
                }
            }
        }
        for (arrival, mine) in arrivals.iter().zip(mine) {
            self.give(arrival, mine.filter(|_| arrival.comm != NULL));
        }
    }

    /// Places in `arrivals` of the members of each new communicator, with its grid if it has one.
    fn groups_of(&self, from: u32, arrivals: &[Arrival]) -> Result<Vec<New>, (Arrival, String)> {
        let all = || (0..arrivals.len()).collect::<Vec<usize>>();
        Ok(match arrivals[0].how {
            How::Dup => vec![(all(), self.grids.get(&from).cloned())],
            How::Create { .. } => self.of_groups(arrivals)?,
            How::Split { .. } => {
                let colour = |arrival: &Arrival| match arrival.how {
                    How::Split { color, key } if arrival.comm != NULL => Some((color, key)),
                    _ => None,
                };
                let parts = split(arrivals.iter().map(colour));
                parts.into_iter().map(|part| (part, None)).collect()
            }
            How::Cart { dims } => {
                let dims = self.lists.get(dims);
                let places = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim as usize));
                match places {
                    Some(places) if places <= arrivals.len() => vec![((0..places).collect(), Some(dims.to_vec()))],
                    _ => {
                        let reason = format!("a grid of {dims:?} is made of {} ranks", arrivals.len());
                        return Err((arrivals[0], reason));
                    }
                }
            }
            How::Graph { nodes } => match usize::try_from(nodes) {
                Ok(nodes) if nodes <= arrivals.len() => vec![((0..nodes).collect(), None)],
                _ => {
                    let reason = format!("a graph of {nodes} is made of {} ranks", arrivals.len());
                    return Err((arrivals[0], reason));
                }
            },
            How::CartSub { remain } => {
                let remain = self.lists.get(remain);
                let grid = match self.grids.get(&from) {
                    Some(grid) if grid.len() == remain.len() => grid,
                    _ => {
                        return Err((
                            arrivals[0],
                            "it is made of what is no grid of as many dimensions".to_owned(),
                        ));
                    }
                };
                let colour = |place: usize| {
                    let mut left = place as u32;
                    let mut colour = 0u32;
                    // The last dimension is the one that goes fastest.
                    for (&dim, &keep) in grid.iter().zip(remain.iter()).rev() {
                        if keep == 0 {
                            colour = colour * dim + left % dim;
                        }
                        left /= dim;
                    }
                    colour as i32
                };
                let rest: Vec<u32> = grid
                    .iter()
                    .zip(remain.iter())
                    .filter(|(_, keep)| **keep != 0)
                    .map(|(dim, _)| *dim)
                    .collect();
                let parts = split((0..arrivals.len()).map(|place| Some((colour(place), 0))));
                parts.into_iter().map(|part| (part, Some(rest.clone()))).collect()
            }
        })
    }

    /// What MPI_Comm_create makes: a communicator of each group that is named.
    fn of_groups(&self, arrivals: &[Arrival]) -> Result<Vec<New>, (Arrival, String)> {
        let mut made: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let place: HashMap<u32, usize> = arrivals
            .iter()
            .enumerate()
            .map(|(i, arrival)| (arrival.rank, i))
            .collect();
        for arrival in arrivals.iter().filter(|arrival| arrival.comm != NULL) {
            let How::Create { group } = arrival.how else {
                continue;
            };
            let Some(list) = self.ranks[arrival.rank as usize].groups.get(group) else {
                return Err((*arrival, format!("who is in the group {group} is not told")));
            };
            if made.contains_key(&list) {
                continue;
            }
            let ranks = self.lists.get(list);
            let places: Option<Vec<usize>> = ranks.iter().map(|rank| place.get(rank).copied()).collect();
            let distinct = |places: &Vec<usize>| HashSet::<&usize>::from_iter(places).len() == places.len();
            let Some(places) = places.filter(|places| !places.is_empty() && distinct(places)) else {
                let reason = format!("the group {group} has ranks twice, or that the communicator has not");
                return Err((*arrival, reason));
            };
            made.insert(list, places);
        }
        Ok(made.into_values().map(|places| (places, None)).collect())
    }

    fn tell(&mut self, arrival: &Arrival, reason: String) {
        let file = self.files.get(arrival.rank as usize).cloned().unwrap_or_default();
        let hint = "what is sent over the new communicator is left out";
        let problem = Problem::new(file, reason, hint).of_rank(arrival.rank);
        self.problems.push(problem.at(arrival.record));
    }

    /// Ranks that wait for others for ever.
    fn tell_who_waits(&mut self) {
        for ((communicator, _), arrivals) in std::mem::take(&mut self.waiting) {
            let all = self.lists.get(self.comms[communicator as usize]);
            let come: HashSet<u32> = arrivals.iter().map(|arrival| arrival.rank).collect();
            let Some(missing) = all.iter().find(|rank| !come.contains(rank)) else {
                continue;
            };
            let first = arrivals[0];
            let reason = format!(
                "{} is called by {} of {} ranks, and not by rank {missing}",
                first.how.name(),
                arrivals.len(),
                all.len()
            );
            self.tell(&first, reason);
        }
    }
}

/// Places by colour, in the order of their keys.
fn split(colours: impl Iterator<Item = Option<(i32, i32)>>) -> Vec<Vec<usize>> {
    let mut parts: BTreeMap<i32, Vec<(i32, usize)>> = BTreeMap::new();
    for (place, colour) in colours.enumerate() {
        if let Some((colour, key)) = colour {
            parts.entry(colour).or_default().push((key, place));
        }
    }
    let ordered = parts.into_values().map(|mut part| {
        part.sort_unstable();
        part.into_iter().map(|(_, place)| place).collect()
    });
    ordered.collect()
}
