//! Where a rank is in its graph, as bytes, for checkpoints: words with their tasks, lanes with those that wait for them in their order, lists
//! with their items.

use super::state::{EMPTY, GraphColumns, GraphProgress, RankLane, TASK, Task, task_of};
use des::checkpoint::{put, take};
use des::lists::NONE;
use des::{NoJournal, Torn};

/// Appends what a rank remembers of its graph, its items excepted.
pub fn pack(st: &GraphColumns, slot: u32, out: &mut Vec<u8>) {
    let own = *st.progress.get(slot);
    put(out, [own.n_words, own.n_lanes, own.n_lists(), own.ended, own.entered]);
    put(out, [own.began, own.spent]);
    for place in own.words..own.words + own.n_words {
        let word = *st.words.get(place);
        match task_of(word) {
            None => put(out, word),
            Some(task) => {
                put(out, TASK);
                let (left, right, depth) = (NONE, NONE, 1);
                put(
                    out,
                    Task {
                        left,
                        right,
                        depth,
                        ..*st.tasks.get(task)
                    },
                );
            }
        }
    }
    for lane in own.lanes..own.lanes + own.n_lanes {
        let RankLane { holder, first } = *st.lanes.get(lane);
        let mut waiting = Vec::new();
        let mut to_see = Vec::from_iter((first != NONE).then_some(first));
        while let Some(slot) = to_see.pop() {
            let task = st.tasks.get(slot);
            waiting.push(task.key());
            to_see.extend([task.left, task.right].into_iter().filter(|&below| below != NONE));
        }
        waiting.sort_unstable();
        put(out, [holder, waiting.len() as u32]);
        waiting.iter().for_each(|(_, operation)| put(out, *operation));
    }
}

/// Sets what a rank remembers of its graph to what [`pack`] has written.
///
/// # Errors
/// Bytes that are of no such rank.
pub fn unpack(st: &mut GraphColumns, slot: u32, input: &mut &[u8]) -> Result<(), Torn> {
    let j = &mut NoJournal;
    let own = *st.progress.get(slot);
    let [n_words, n_lanes, n_lists, ended, entered] = take::<[u32; 5]>(input)?;
    let [began, spent] = take(input)?;
    if [n_words, n_lanes, n_lists] != [own.n_words, own.n_lanes, own.n_lists()] {
        return Err(Torn("a rank in it has another graph"));
    }
    let read = GraphProgress {
        ended,
        entered,
        began,
        spent,
        ..own
    };
    st.progress.set(j, slot, read);
    for place in own.words..own.words + n_words {
        let word = match take(input)? {
            TASK => {
                let task: Task = take(input)?;
                st.tasks.push(j, task) | TASK
            }
            word if task_of(word).is_none() => word,
            _ => return Err(Torn("an operation in it is in no state")),
        };
        st.words.set(j, place, word);
    }
    for lane in own.lanes..own.lanes + n_lanes {
        let [holder, count] = take::<[u32; 2]>(input)?;
        let mut read = RankLane { holder, first: NONE };
        let mut last = NONE;
        for _ in 0..count {
            let operation: u32 = take(input)?;
            let word = (operation < n_words).then(|| *st.words.get(own.words + operation));
            let task = word.and_then(task_of);
            let task = task.ok_or(Torn("what waits for a lane in it is no operation"))?;
            // In their order each is the only one behind the one before it.
            match last {
                NONE => read.first = task,
                _ => st.tasks.edit(j, last).left = task,
            }
            last = task;
        }
        st.lanes.set(j, lane, read);
    }
    (own.lists..own.lists + n_lists).for_each(|list| st.lists.set(j, list, EMPTY));
    Ok(())
}
