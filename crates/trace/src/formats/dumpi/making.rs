//! What a rank's calls tell of groups and communicators: read in a first pass, for all ranks, as the members of a communicator are known
//! from what all of them called.

use super::functions as f;
use super::record::CallRecord;
use std::collections::HashMap;
use std::rc::Rc;

/// The communicator of nobody, in the numbers of a file.
pub(super) const NULL: u16 = 1;
/// That of all ranks.
pub(super) const WORLD: u16 = 2;
/// That of each rank alone.
pub(super) const SELF: u16 = 3;
/// The group of nobody.
const EMPTY_GROUP: u16 = 2;

/// Lists of ranks, each kept once.
pub(super) struct RankLists {
    /// Ranks of the trace: no group has more.
    most: usize,
    lists: Vec<Rc<[u32]>>,
    numbers: HashMap<Rc<[u32]>, u32>,
}

impl RankLists {
    /// Of a trace of so many ranks.
    pub(super) fn new(most: u32) -> RankLists {
        RankLists {
            most: most as usize,
            lists: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The number of a list.
    pub(super) fn number(&mut self, list: Vec<u32>) -> u32 {
        let list: Rc<[u32]> = list.into();
        if let Some(&number) = self.numbers.get(&list) {
            return number;
        }
        let number = self.lists.len() as u32;
        self.lists.push(list.clone());
        self.numbers.insert(list, number);
        number
    }

    /// A list.
    pub(super) fn get(&self, number: u32) -> Rc<[u32]> {
        self.lists[number as usize].clone()
    }
}

/// How a communicator is made of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// With the same members.
    Dup,
    /// Of a group.
    Create { group: u16 },
    /// Of those who say the same colour, in the order of their keys.
    Split { color: i32, key: i32 },
    /// Of the first ranks, in a grid; with its dimensions.
    Cart { dims: u32 },
    /// Of so many first ranks.
    Graph { nodes: i32 },
    /// Of those who share the dimensions of a grid that are left out; with which remain.
    CartSub { remain: u32 },
}

impl How {
    /// The function that does it.
    pub(super) fn name(&self) -> &'static str {
        f::name(match self {
            How::Dup => f::COMM_DUP,
            How::Create { .. } => f::COMM_CREATE,
            How::Split { .. } => f::COMM_SPLIT,
            How::Cart { .. } => f::CART_CREATE,
            How::Graph { .. } => f::GRAPH_CREATE,
            How::CartSub { .. } => f::CART_SUB,
        })
    }
}

/// How two groups make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairOfGroups {
    Union,
    Intersection,
    Difference,
}

/// A call that makes a group or a communicator; lists by their number in [`RankLists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    /// The group of a communicator.
    Group { comm: u16, group: u16 },
    /// A group of some of another's.
    Include { of: u16, ranks: u32, group: u16 },
    /// A group without some of another's.
    Exclude { of: u16, ranks: u32, group: u16 },
    /// A group of two.
    Combine {
        pair: PairOfGroups,
        of: [u16; 2],
        group: u16,
    },
    /// A group that is not known.
    NoGroup { group: u16 },
    /// A communicator, made by all of another one.
    Comm {
        record: u64,
        from: u16,
        how: How,
        comm: u16,
    },
    /// A communicator whose members are not told.
    NoComm { comm: u16 },
    /// A communicator is given up.
    Free { comm: u16 },
}

/// What a call makes.
pub(super) fn making(record: &CallRecord, at: u64, lists: &mut RankLists) -> Option<Making> {
    let number = |i: usize| record.value(i) as u16;
    let ranks = |list: &[i32]| list.iter().map(|&rank| rank as u32).collect::<Vec<u32>>();
    let comm = |from: usize, how: How, comm: usize| Making::Comm {
        record: at,
        from: number(from),
        how,
        comm: number(comm),
    };
    Some(match record.function {
        f::COMM_GROUP => Making::Group {
            comm: number(0),
            group: number(1),
        },
        f::GROUP_INCL | f::GROUP_RANGE_INCL | f::GROUP_EXCL | f::GROUP_RANGE_EXCL => {
            let (of, group) = (number(0), number(2));
            let list = match record.function {
                f::GROUP_INCL | f::GROUP_EXCL => ranks(record.list(0)),
                _ => match of_ranges(record.list(0), lists.most) {
                    Some(list) => list,
                    None => return Some(Making::NoGroup { group }),
                },
            };
            let ranks = lists.number(list);
            match record.function {
                f::GROUP_INCL | f::GROUP_RANGE_INCL => Making::Include { of, ranks, group },
                _ => Making::Exclude { of, ranks, group },
            }
        }
        f::GROUP_UNION | f::GROUP_INTERSECTION | f::GROUP_DIFFERENCE => Making::Combine {
            pair: match record.function {
                f::GROUP_UNION => PairOfGroups::Union,
                f::GROUP_INTERSECTION => PairOfGroups::Intersection,
                _ => PairOfGroups::Difference,
            },
            of: [number(0), number(1)],
            group: number(2),
        },
        f::COMM_REMOTE_GROUP | f::WIN_GET_GROUP => Making::NoGroup { group: number(1) },
        f::COMM_DUP => comm(0, How::Dup, 1),
        f::COMM_CREATE => comm(0, How::Create { group: number(1) }, 2),
        f::COMM_SPLIT => {
            let (color, key) = (record.value(1) as i32, record.value(2) as i32);
            comm(0, How::Split { color, key }, 3)
        }
        f::CART_CREATE => {
            let dims = lists.number(ranks(record.list(0)));
            comm(0, How::Cart { dims }, 3)
        }
        f::GRAPH_CREATE => {
            let nodes = record.value(2) as i32;
            comm(1, How::Graph { nodes }, 4)
        }
        f::CART_SUB => {
            let remain = lists.number(ranks(record.list(0)));
            comm(1, How::CartSub { remain }, 2)
        }
        f::INTERCOMM_CREATE => Making::NoComm { comm: number(5) },
        f::INTERCOMM_MERGE => Making::NoComm { comm: number(2) },
        f::COMM_ACCEPT | f::COMM_CONNECT => Making::NoComm { comm: number(3) },
        f::COMM_GET_PARENT => Making::NoComm { comm: number(0) },
        f::COMM_JOIN => Making::NoComm { comm: number(1) },
        f::COMM_SPAWN => Making::NoComm { comm: number(3) },
        f::COMM_SPAWN_MULTIPLE => Making::NoComm { comm: number(4) },
        f::COMM_FREE | f::COMM_DISCONNECT => Making::Free { comm: number(0) },
        _ => return None,
    })
}

/// Whether a call is among those that [`making`] knows.
pub(super) const MAKERS: [f::Function; 24] = [
    f::COMM_GROUP,
    f::GROUP_INCL,
    f::GROUP_RANGE_INCL,
    f::GROUP_EXCL,
    f::GROUP_RANGE_EXCL,
    f::GROUP_UNION,
    f::GROUP_INTERSECTION,
    f::GROUP_DIFFERENCE,
    f::COMM_REMOTE_GROUP,
    f::WIN_GET_GROUP,
    f::COMM_DUP,
    f::COMM_CREATE,
    f::COMM_SPLIT,
    f::CART_CREATE,
    f::GRAPH_CREATE,
    f::CART_SUB,
    f::INTERCOMM_CREATE,
    f::INTERCOMM_MERGE,
    f::COMM_ACCEPT,
    f::COMM_CONNECT,
    f::COMM_GET_PARENT,
    f::COMM_JOIN,
    f::COMM_SPAWN,
    f::COMM_SPAWN_MULTIPLE,
];

/// Ranks of ranges: first, last and distance of each.
fn of_ranges(ranges: &[i32], most: usize) -> Option<Vec<u32>> {
    let mut ranks = Vec::new();
    for range in ranges.chunks(3) {
        let &[first, last, step] = range else {
            return None;
        };
        let steps = (i64::from(last) - i64::from(first)).checked_div(step.into())?;
        if first < 0 || last < 0 || steps < 0 {
            return None;
        }
        let place = |i: i64| (i64::from(first) + i * i64::from(step)) as u32;
        if ranks.len() as i64 + steps >= most as i64 {
            return None;
        }
        ranks.extend((0..=steps).map(place));
    }
    Some(ranks)
}

/// The groups of a rank: lists by number, nothing for those that are not known.
#[derive(Default)]
pub(super) struct GroupLists(HashMap<u16, Option<u32>>);

impl GroupLists {
    /// The list of a group.
    pub(super) fn get(&self, group: u16) -> Option<u32> {
        self.0.get(&group).copied().flatten()
    }

    /// Takes note of a group that is made; `comm` gives the members of a communicator.
    pub(super) fn note(&mut self, making: Making, lists: &mut RankLists, comm: impl Fn(u16) -> Option<u32>) {
        let members = |groups: &GroupLists, lists: &RankLists, group: u16| match group {
            EMPTY_GROUP => Some(Rc::from([])),
            _ => groups.get(group).map(|list| lists.get(list)),
        };
        let (group, list) = match making {
            Making::Group { comm: number, group } => {
                self.0.insert(group, comm(number));
                return;
            }
            Making::Include { of, ranks, group } => {
                let ranks = lists.get(ranks);
                let list = members(self, lists, of).and_then(|of| {
                    let members = ranks.iter().map(|&rank| of.get(rank as usize).copied());
                    members.collect::<Option<Vec<u32>>>()
                });
                (group, list)
            }
            Making::Exclude { of, ranks, group } => {
                let ranks = lists.get(ranks);
                let list = members(self, lists, of).map(|of| {
                    let mut kept: Vec<Option<u32>> = of.iter().copied().map(Some).collect();
                    for &rank in ranks.iter() {
                        if let Some(place) = kept.get_mut(rank as usize) {
                            *place = None;
                        }
                    }
                    kept.into_iter().flatten().collect()
                });
                (group, list)
            }
            Making::Combine { pair, of, group } => {
                let [first, second] = of.map(|group| members(self, lists, group));
                (group, first.zip(second).map(|(a, b)| combined(pair, &a, &b)))
            }
            Making::NoGroup { group } => (group, None),
            Making::Comm { .. } | Making::NoComm { .. } | Making::Free { .. } => return,
        };
        let number = list.map(|list| lists.number(list));
        self.0.insert(group, number);
    }
}

/// Two groups as one: the first's ranks before the second's.
fn combined(pair: PairOfGroups, first: &[u32], second: &[u32]) -> Vec<u32> {
    use std::collections::HashSet;
    let (in_first, in_second): (HashSet<u32>, HashSet<u32>) =
        (first.iter().copied().collect(), second.iter().copied().collect());
    let of_first = first.iter().copied();
    match pair {
        PairOfGroups::Union => of_first
            .chain(second.iter().copied().filter(|rank| !in_first.contains(rank)))
            .collect(),
        PairOfGroups::Intersection => of_first.filter(|rank| in_second.contains(rank)).collect(),
        PairOfGroups::Difference => of_first.filter(|rank| !in_second.contains(rank)).collect(),
    }
}
