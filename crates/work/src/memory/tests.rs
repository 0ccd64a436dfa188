//! The protocol by itself: no time, no network, messages in any order.

mod game;
mod litmus;
mod random;

use super::protocol::{COPIES, COPY_EVENTS, CopyEvent, HOME_EVENTS, HOMES, Held, copy, home};

#[test]
fn states_and_events_are_listed_under_their_numbers() {
    assert!(COPIES.iter().enumerate().all(|(i, &state)| state as usize == i));
    assert!(COPY_EVENTS.iter().enumerate().all(|(i, &event)| event as usize == i));
    assert!(HOMES.iter().enumerate().all(|(i, &state)| state as usize == i));
    assert!(HOME_EVENTS.iter().enumerate().all(|(i, &event)| event as usize == i));
    let says = super::message::ALL;
    assert!(says.iter().enumerate().all(|(i, &say)| say as usize == i));
}

#[test]
fn accesses_find_an_answer_in_every_state() {
    for state in COPIES {
        assert!(copy(state, CopyEvent::Load).is_some(), "{state:?}");
        assert!(copy(state, CopyEvent::Store).is_some(), "{state:?}");
    }
}

#[test]
fn a_copy_that_waits_is_never_one_that_a_store_may_hit() {
    use super::protocol::Do;
    for state in COPIES {
        let (actions, _) = copy(state, CopyEvent::Store).expect("as above");
        let own = matches!(state, Held::Exclusive | Held::Modified);
        assert_eq!(actions.contains(&Do::Hit), own, "{state:?}");
    }
}

#[test]
fn a_home_that_waits_for_an_owner_does_nothing_else() {
    use super::protocol::{Act, Home};
    for state in [Home::AskedRead, Home::AskedWrite] {
        for event in HOME_EVENTS {
            if let Some((actions, next)) = home(state, event) {
                assert!(next != state || actions == [Act::Queue], "{state:?} {event:?}");
            }
        }
    }
}
