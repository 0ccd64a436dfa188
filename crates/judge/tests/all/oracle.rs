//! The simulator against a second implementation that shares no code with it: every message of random studies leaves and arrives when
//! `crates/oracle` says, to the picosecond. A study that differs is made small and printed as two files. And against itself: what must
//! stay when a study is changed.
//!
//! Compares 500 studies as a test. `FABRICSIM_ORACLE_SECONDS` says how long to go on instead, `FABRICSIM_ORACLE_FROM` with which study to
//! begin (0).

use crate::clock::cpu_time;
use crate::oracle_studies::Case;
use crate::oracle_studies::against::{Defect, Outcome, compare};
use fabric::observe::MessageTimes;
use fabric::spec::{JobSpec, Placement, Work};
use judge::run::{RunError, run};
use std::time::{Duration, Instant};
use study::units::Unit;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A study in which the two differ, made small, as the files that show it.
fn shown(case: Case, defect: Option<Defect>) -> String {
    let small = case.shrunk(|case| matches!(compare(case, defect), Outcome::Different(_)));
    let Outcome::Different(how) = compare(&small, defect) else {
        return "it differs no more: the run is not a function of its study".to_owned();
    };
    format!(
        "{how}\n--- study.toml\n{}--- messages.csv\n{}",
        small.study(),
        small.table()
    )
}

#[test]
fn every_message_of_random_studies_arrives_when_the_oracle_says() {
    let until = number("FABRICSIM_ORACLE_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let from = number("FABRICSIM_ORACLE_FROM").unwrap_or(0);
    let (mut same, mut unfit, mut packets, mut reason) = (0u64, 0u64, 0, String::new());
    for k in from.. {
        if until.map_or(k - from == 500, |until| Instant::now() >= until) {
            break;
        }
        match compare(&Case::drawn(k), None) {
            Outcome::Same { packets: more } => {
                same += 1;
                packets += more;
            }
            Outcome::Unfit(why) => {
                unfit += 1;
                reason = format!("study {k}: {why}");
            }
            Outcome::Different(_) => panic!("study {k}: {}", shown(Case::drawn(k), None)),
        }
    }
    println!("{same} studies with {packets} packets agree; {unfit} do not fit, the last: {reason}");
    assert!(same >= 50, "only {same} studies were compared");
    assert!(
        unfit <= same / 5,
        "{unfit} studies do not fit, {same} do; the last: {reason}"
    );
}

#[test]
fn a_planted_defect_of_each_kind_is_found_and_made_small() {
    use Defect::{CreditLost, Melted, NotSpread, OtherTie, PacketLost, Rounded};
    for defect in [Melted, NotSpread, Rounded, PacketLost, CreditLost, OtherTie] {
        let begun = cpu_time();
        let found = (0..2_000).find(|&k| matches!(compare(&Case::drawn(k), Some(defect)), Outcome::Different(_)));
        let k = found.unwrap_or_else(|| panic!("{defect:?} is not found in 2,000 studies"));
        let text = shown(Case::drawn(k), Some(defect));
        let messages = text
            .lines()
            .rev()
            .take_while(|line| !line.starts_with("time_ps"))
            .count();
        let took = cpu_time() - begun;
        println!("{defect:?}: study {k}, {messages} messages, {took:?}");
        assert!(messages <= 6, "{defect:?} is shown with {messages} messages:\n{text}");
        assert!(took < Duration::from_secs(60), "{defect:?}: {took:?}");
    }
}

/// The messages of a case, and the digest of all its events; `None` if a network with it may stand still.
fn ran(case: &Case) -> Option<(Vec<MessageTimes>, String)> {
    let spec = case.spec().unwrap_or_else(|reason| panic!("{reason}"));
    match run(&spec, &mut |_| true) {
        Ok(result) => Some((result.messages.unwrap(), result.summary.digest)),
        Err(RunError::Build(_)) => None,
        Err(error) => panic!("{error}\n{}", case.study()),
    }
}

/// Runs `law` on many cases whose ways do not hash the births of packets; some may have no place for it.
fn holds(law: impl Fn(Case) -> Option<()>) {
    let cases = (0..200).map(Case::drawn).filter(Case::has_one_way);
    let kept = cases.filter_map(law).count();
    assert!(kept >= 40, "only {kept} studies have a place for it");
}

#[test]
fn smaller_packets_change_no_message_and_no_byte() {
    holds(|case| {
        let key = case.keys.iter().position(|(key, _)| *key == "nic.packet")?;
        let packet: u64 = case.keys[key]
            .1
            .trim_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .ok()?;
        let mut cut = case.clone();
        cut.keys[key].1 = format!("\"{} B\"", packet.div_ceil(3));
        let content = |(rows, _): (Vec<MessageTimes>, String)| {
            let row = |m: MessageTimes| {
                (
                    m.source,
                    m.number,
                    m.destination,
                    m.bytes,
                    m.born,
                    m.arrived.is_some(),
                    m.hops,
                )
            };
            rows.into_iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(content(ran(&cut)?), content(ran(&case)?), "{}", case.study());
        Some(())
    });
}

#[test]
fn a_job_that_is_idle_changes_nothing() {
    holds(|mut case| {
        // The idle job has the last node.
        let nodes = case.messages.iter().map(|m| m.1.max(m.2)).max()?;
        case.messages.retain(|m| m.1.max(m.2) < nodes);
        if case.messages.is_empty() {
            return None;
        }
        let spec = case.spec().ok()?;
        let mut alone = spec.clone();
        alone.jobs[0].nodes = Some(nodes);
        let mut beside = alone.clone();
        beside.jobs.push(JobSpec {
            name: "idle".into(),
            work: Work::Idle,
            nodes: Some(1),
            placement: Placement::Linear,
        });
        let result = |spec| match run(spec, &mut |_| true) {
            Ok(result) => Some((result.messages, result.summary.digest, result.summary.events)),
            Err(RunError::Build(_)) => None,
            Err(error) => panic!("{error}\n{}", case.study()),
        };
        let (alone, beside) = (result(&alone)?, result(&beside)?);
        assert_eq!(alone, beside, "{}", case.study());
        Some(())
    });
}

/// The case with all of its times so many ps for each ps, and rates `1 / times` of what is exact for that.
fn slower(case: &Case, times: u64) -> Case {
    let mut case = case.clone();
    for (key, value) in &mut case.keys {
        let text = value.trim_matches('"');
        if key.ends_with("bandwidth") {
            // Whole ps per byte: 1, 2 or 4.
            let bits = [8u64, 4, 2][text.len() % 3] * 1_000_000_000_000;
            *value = format!("\"{} bit/s\"", bits / times);
        } else if let Ok(ps) = Unit::Time.parse(text) {
            *value = format!("\"{} ps\"", ps * times);
        } else if let Ok(ps) = Unit::TimePerByte.parse(text) {
            *value = format!("\"{} ps/B\"", ps * times);
        }
    }
    case.messages.iter_mut().for_each(|message| message.0 *= times);
    case
}

#[test]
fn twice_the_bandwidth_and_half_of_all_times_are_half_of_all_latencies() {
    holds(|mut case| {
        case.messages.iter_mut().for_each(|message| message.0 %= 1 << 40);
        let (fast, _) = ran(&slower(&case, 1))?;
        let (slow, _) = ran(&slower(&case, 2))?;
        let times = |rows: &[MessageTimes], by: u64| -> Vec<_> {
            rows.iter()
                .map(|m| {
                    (
                        m.source,
                        m.born * by,
                        m.injected.map(|t| t * by),
                        m.arrived.map(|t| t * by),
                    )
                })
                .collect()
        };
        assert_eq!(times(&slow, 1), times(&fast, 2), "{}", case.study());
        Some(())
    });
}

#[test]
fn a_study_that_begins_later_does_the_same_later() {
    holds(|mut case| {
        let (rows, _) = ran(&case)?;
        let by = 987_654_321;
        case.messages.iter_mut().for_each(|message| message.0 += by);
        let (later, _) = ran(&case)?;
        let times = |rows: &[MessageTimes], by: u64| -> Vec<_> {
            rows.iter()
                .map(|m| {
                    (
                        m.source,
                        m.born + by,
                        m.injected.map(|t| t + by),
                        m.arrived.map(|t| t + by),
                    )
                })
                .collect()
        };
        assert_eq!(times(&later, 0), times(&rows, by), "{}", case.study());
        Some(())
    });
}
