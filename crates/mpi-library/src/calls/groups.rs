//! Groups of processes.

use super::{communicators::comparison, count};
use crate::{
    arguments::{In, ResultPlace},
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    groups::{ProcessGroup, RankRange},
    library::{Library, calls},
};
use std::{ffi::c_int, rc::Rc};

/// Gives a new group to the program.
fn give<F: Face>(library: &Library, group: ProcessGroup, to: ResultPlace<F::Handle>) -> Answer {
    to.set(library.keep_group::<F>(Rc::new(group)))
}

/// A group made of two.
fn of_two<F: Face>(
    library: &Library,
    two: [F::Handle; 2],
    to: ResultPlace<F::Handle>,
    make: fn(&ProcessGroup, &ProcessGroup) -> ProcessGroup,
) -> Answer {
    let [one, other] = [library.group::<F>(two[0])?, library.group::<F>(two[1])?];
    give::<F>(library, make(&one, &other), to)
}

fn ranges(group: &ProcessGroup, number: c_int, ranges: In<RankRange>) -> Answer<Vec<i32>> {
    group.ranks_of(&ranges.list(count(number.into())?)?)
}

calls! {
    /// How many members.
    group_size = "MPI_Group_size"(group: F::Handle, size: ResultPlace<c_int>) |library| size.set(library.group::<F>(group)?.size() as c_int);

    /// This process' rank.
    group_rank = "MPI_Group_rank"(group: F::Handle, rank: ResultPlace<c_int>) |library| {
        library.running()?;
        let group = library.group::<F>(group)?;
        let me = library.link.borrow().as_ref().and_then(|link| group.rank_of(link.rank()));
        rank.set(me.map_or(F::C.undefined as c_int, |rank| rank as c_int))
    };

    /// The ranks in one group of ranks in another.
    group_translate_ranks = "MPI_Group_translate_ranks"(
        from: F::Handle, number: c_int, ranks: In<c_int>, to: F::Handle, translated: ResultPlace<c_int>,
    ) |library| {
        let (from, to) = (library.group::<F>(from)?, library.group::<F>(to)?);
        for (place, rank) in ranks.list(count(number.into())?)?.into_iter().enumerate() {
            let there = if i64::from(rank) == F::C.proc_null {
                rank
            } else {
                let Some(member) = usize::try_from(rank).ok().and_then(|rank| from.members.get(rank)) else {
                    return fault(ErrorClass::Rank, format!("rank {rank} is not in a group of {}", from.size()));
                };
                to.rank_of(*member).map_or(F::C.undefined as c_int, |rank| rank as c_int)
            };
            translated.set_at(place, there)?;
        }
        Ok(())
    };

    /// How two groups compare.
    group_compare = "MPI_Group_compare"(one: F::Handle, other: F::Handle, result: ResultPlace<c_int>) |library| {
        let (one, other) = (library.group::<F>(one)?, library.group::<F>(other)?);
        result.set(comparison::<F>(one.compare(&other)))
    };

    /// The members of both.
    group_union = "MPI_Group_union"(one: F::Handle, other: F::Handle, to: ResultPlace<F::Handle>) |library| {
        of_two::<F>(library, [one, other], to, ProcessGroup::union)
    };

    /// The members that are in both.
    group_intersection = "MPI_Group_intersection"(one: F::Handle, other: F::Handle, to: ResultPlace<F::Handle>) |library| {
        of_two::<F>(library, [one, other], to, ProcessGroup::intersection)
    };

    /// The members that are not in the other.
    group_difference = "MPI_Group_difference"(one: F::Handle, other: F::Handle, to: ResultPlace<F::Handle>) |library| {
        of_two::<F>(library, [one, other], to, ProcessGroup::difference)
    };

    /// The members with these ranks.
    group_incl = "MPI_Group_incl"(group: F::Handle, number: c_int, ranks: In<c_int>, to: ResultPlace<F::Handle>) |library| {
        let group = library.group::<F>(group)?;
        give::<F>(library, group.include(&ranks.list(count(number.into())?)?)?, to)
    };

    /// The members without these ranks.
    group_excl = "MPI_Group_excl"(group: F::Handle, number: c_int, ranks: In<c_int>, to: ResultPlace<F::Handle>) |library| {
        let group = library.group::<F>(group)?;
        give::<F>(library, group.exclude(&ranks.list(count(number.into())?)?)?, to)
    };

    /// The members with ranks in these ranges.
    group_range_incl = "MPI_Group_range_incl"(group: F::Handle, number: c_int, list: In<RankRange>, to: ResultPlace<F::Handle>) |library| {
        let group = library.group::<F>(group)?;
        give::<F>(library, group.include(&ranges(&group, number, list)?)?, to)
    };

    /// The members without ranks in these ranges.
    group_range_excl = "MPI_Group_range_excl"(group: F::Handle, number: c_int, list: In<RankRange>, to: ResultPlace<F::Handle>) |library| {
        let group = library.group::<F>(group)?;
        give::<F>(library, group.exclude(&ranges(&group, number, list)?)?, to)
    };

    /// Frees a group.
    group_free = "MPI_Group_free"(group: ResultPlace<F::Handle>) |library| {
        let handle = group.get()?;
        library.group::<F>(handle)?;
        if let Some(index) = F::index(crate::faces::HandleKind::Group, F::number(handle)) {
            library.groups.borrow_mut().remove(index);
        }
        group.set(F::handle(F::C.group_null))
    };
}
