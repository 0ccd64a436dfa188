//! Tables that run, and what is said of those that cannot.

use super::*;
use crate::motif::tests::play::play;

fn table(ranks: u32, text: &str) -> Result<OpTable, Vec<Mistake>> {
    OpTable::new(
        ranks,
        vec![Communicator::Lines { size: 2, stride: 1 }],
        &read_csv(text)?,
    )
}

/// "line: reason (hint)" of every mistake.
fn mistakes(ranks: u32, text: &str) -> Vec<String> {
    let mistakes = table(ranks, text).err().unwrap_or_default();
    let line = |mistake: &Mistake| mistake.line.map_or("-".into(), |line| line.to_string());
    let texts = mistakes
        .iter()
        .map(|mistake| format!("{}: {} ({})", line(mistake), mistake.reason, mistake.hint));
    texts.collect()
}

const EXCHANGE: &str = "
# Rank 3 does nothing but the collectives.
rank, op, peer, bytes, tag, request, time_ps, communicator, source
0, compute,,,,, 500,,
1, irecv, any, 64, any, 7,,,
0, send, 1, 64, 5,,,,
1, wait,,,, 7,,,
2, irecv, 0, 8,,,,,
2, waitall,,,,,,,
0, isend, 2, 8,,,,,
0, waitany,,,,,,,
0, sendrecv, 1, 9,,,,, 2
1, sendrecv, 2, 9,,,,, 0
2, sendrecv, 0, 9,,,,, 1
0, alltoall,, 100,,,, 1,
1, alltoall,, 100,,,, 1,
0, bcast, 3, 32,,,,,
1, bcast, 3, 32,,,,,
2, bcast, 3, 32,,,,,
3, bcast, 3, 32,,,,,
";

#[test]
fn a_table_runs_in_the_order_of_each_rank() {
    let program = table(4, EXCHANGE).unwrap();
    let first = [0, 1, 2].map(|index| program.op(0, 0, index));
    let send = Transfer {
        tag: 5,
        ..Transfer::new(1, 64)
    };
    assert_eq!(first[0], Some(Op::Compute { time: 500 }));
    assert_eq!(first[1], Some(Op::Send(send)));
    let receive = Transfer {
        tag: ANY_TAG,
        request: 7,
        ..Transfer::new(ANY_SOURCE, 64)
    };
    assert_eq!(program.op(1, 0, 0), Some(Op::Irecv(receive)));
    assert_eq!((program.op(3, 0, 1), program.op(3, 9, 0).is_some()), (None, true));
    let played = play(&program, 2).unwrap();
    // Two iterations of 64 + 8 + 9 from rank 0, and 100 to its partner.
    assert_eq!(played.sent, [2 * 181, 2 * 109, 2 * 9, 0]);
    assert_eq!(
        played.collectives.iter().map(Vec::len).collect::<Vec<_>>(),
        [4, 4, 2, 2]
    );
    // Peers 1 and 2; two rounds each way in a broadcast among four.
    assert_eq!(program.peers(), 2 + 4);
}

#[test]
fn every_row_that_cannot_be_is_named_with_its_line() {
    let text = "rank,op,peer,bytes,tag,request,communicator
4,send,1,1,,,
0,sned,1,1,,,
0,frobnicate,,,,,
0,send,9,1,,,
0,send,0,1,,,
0,send,any,1,,,
0,isend,,1,,,
0,irecv,1,1,,,9
1,wait,,,,,
1,reduce,2,8,,,1
1,alltoallv,,8,,,
";
    let all = "operations are compute, send, isend, ssend, issend, recv, irecv, sendrecv, wait, waitall, waitany, waitnews, test, barrier, bcast, \
               reduce, allreduce, gather, scatter, allgather, reduce-scatter, alltoall, alltoallv, ibarrier, ibcast, ireduce, iallreduce, igather, \
               iscatter, iallgather, ireduce-scatter, ialltoall, ialltoallv";
    assert_eq!(
        mistakes(4, text),
        [
            "2: there is no rank 4 (ranks are 0..=3)",
            "3: there is no operation \"sned\" (did you mean \"send\"?)",
            &format!("4: there is no operation \"frobnicate\" ({all})"),
            "5: there is no rank 9 to talk to (ranks are 0..=3)",
            "6: rank 0 talks to itself (leave the row out: it needs no network)",
            "7: send to any rank or with any tag (only receives may leave it open)",
            "8: isend does not say whom to send to (fill in peer)",
            "9: there is no communicator 9 (communicators are 0..=1)",
            "10: wait does not say for which request (fill in request)",
            "11: the root 2 of reduce is not in a communicator of 2 (its ranks are 0..=1)",
            "12: a table has no place for the sizes of an alltoallv (take alltoall, or isend and irecv)",
        ]
    );
}

#[test]
fn a_request_is_made_before_it_is_waited_for() {
    let text = "rank,op,peer,request
0,isend,1,3
1,irecv,0,4
1,wait,,3
0,wait,,3
1,wait,,4
";
    assert_eq!(
        mistakes(2, text),
        ["4: rank 1 has made no request 3 before (name it in an isend or irecv above)"]
    );
}

#[test]
fn ranks_of_a_communicator_come_to_the_same_collectives() {
    let text = "rank,op,bytes,communicator
0,allreduce,8,0
0,barrier,0,0
1,barrier,0,0
1,allreduce,8,0
0,alltoall,8,1
1,alltoall,9,1
";
    let hint = "all ranks of a communicator come to its collectives in the same order, with the same size and root";
    assert_eq!(
        mistakes(2, text),
        [
            format!(
                "4: barrier of 0 B, root 0, of rank 1 meets allreduce of 8 B, root 0, of rank 0 in line 2 ({hint})"
            ),
            format!(
                "5: allreduce of 8 B, root 0, of rank 1 meets barrier of 0 B, root 0, of rank 0 in line 3 ({hint})"
            ),
            format!(
                "7: alltoall of 9 B, root 0, of rank 1 meets alltoall of 8 B, root 0, of rank 0 in line 6 ({hint})"
            ),
        ]
    );
    let absent = "rank,op\n0,barrier\n0,barrier\n1,barrier\n";
    assert_eq!(
        mistakes(2, absent),
        [
            "3: rank 1 comes to 1 collectives of communicator 0, rank 0 to 2 (every rank of a communicator takes part in all of \
          them)"
        ]
    );
    // The groups of a communicator are apart: ranks 2 and 3 need not do what 0 and 1 do.
    assert_eq!(mistakes(4, "rank,op,communicator\n0,barrier,1\n1,barrier,1\n"), [""; 0]);
}

#[test]
fn collectives_that_are_begun_have_requests_and_meet_those_that_are_begun() {
    let good = "rank,op,peer,bytes,request
0,ibarrier,,,5
0,ibcast,1,64,6
1,ibarrier,,,0
1,compute,,,
1,ibcast,1,64,1
1,wait,,,0
0,waitall,,,
1,waitany,,,
";
    let program = table(2, good).unwrap();
    let begun = |kind, bytes, root, request| {
        let collective = Collective {
            kind,
            communicator: 0,
            bytes,
            root,
        };
        Some(Op::Icollective { collective, request })
    };
    assert_eq!(program.op(0, 0, 0), begun(CollectiveKind::Barrier, 0, 0, 5));
    assert_eq!(program.op(1, 0, 2), begun(CollectiveKind::Bcast, 64, 1, 1));
    assert_eq!(
        play(&program, 2)
            .unwrap()
            .collectives
            .iter()
            .map(Vec::len)
            .collect::<Vec<_>>(),
        [4, 4]
    );
    let text = "rank,op,bytes,request
0,ibarrier,,
0,ialltoallv,8,3
0,iallreduce,8,3
";
    assert_eq!(
        mistakes(2, text),
        [
            "2: ibarrier does not say for which request (fill in request)",
            "3: a table has no place for the sizes of an alltoallv (take alltoall, or isend and irecv)",
        ]
    );
    let text = "rank,op,bytes,request
0,iallreduce,8,3
0,iallreduce,8,3
1,allreduce,8,
1,iallreduce,8,1
";
    let hint = "all ranks of a communicator come to its collectives in the same order, with the same size and root";
    assert_eq!(
        mistakes(2, text),
        [
            "3: rank 0 makes request 3 again, which is pending since line 2 (wait for it before, or take another number)".to_owned(),
            format!("4: allreduce of 8 B, root 0, of rank 1 meets iallreduce of 8 B, root 0, of rank 0 in line 2 ({hint})"),
        ]
    );
}

#[test]
fn a_pending_request_is_not_made_again() {
    let text = "rank,op,peer,request
0,isend,1,3
0,irecv,1,3
1,irecv,0,7
1,isend,0,8
1,wait,,7
1,irecv,0,7
1,waitall,,
1,isend,0,7
0,waitall,,
0,isend,1,3
0,irecv,1,4
";
    let hint = "wait for it before, or take another number";
    assert_eq!(
        mistakes(2, text),
        [format!(
            "3: rank 0 makes request 3 again, which is pending since line 2 ({hint})"
        )]
    );
    // Requests without a name are as many as one likes, and whether a test found a request done shows in the run.
    let unnamed = "rank,op,peer,request\n0,isend,1,\n0,isend,1,\n1,irecv,0,1\n1,test,,1\n1,irecv,0,1\n";
    assert_eq!(mistakes(2, unnamed), [""; 0]);
}

#[test]
fn a_receive_is_not_smaller_than_its_message() {
    // In the order of both: the second receive takes the second message.
    let text = "rank,op,peer,bytes
0,send,1,100
0,send,1,200
1,recv,0,100
1,recv,0,199
";
    let hint = "give the receive at least as many bytes, or leave its bytes empty";
    assert_eq!(
        mistakes(2, text),
        [format!(
            "5: rank 1 receives 199 B of a message of 200 B, sent in line 3 ({hint})"
        )]
    );
    for fits in ["200", "1000", ""] {
        assert_eq!(mistakes(2, &text.replace("199", fits)), [""; 0], "{fits}");
    }
    // Which message a receive from anybody takes shows in the run.
    let open = "rank,op,peer,bytes\n0,send,1,100\n1,recv,any,50\n";
    assert_eq!(mistakes(2, open), [""; 0]);
}

#[test]
fn every_message_has_a_receive() {
    let lost = "rank,op,peer,tag\n0,isend,1,1\n1,irecv,0,2\n";
    assert_eq!(
        mistakes(2, lost),
        [
            "2: rank 1 never receives this message (add the receive, with the same tag and communicator)",
            "3: rank 1 receives from rank 0 (tag 2) what is never sent (add the send, or take the receive out)",
        ]
    );
    let open = "rank,op,peer,tag\n0,isend,1,1\n1,irecv,any,1\n1,irecv,any,any\n";
    assert_eq!(
        mistakes(2, open),
        ["4: nothing is left for rank 1 to receive here (add the send, or take the receive out)"]
    );
}

#[test]
fn a_table_is_accepted_exactly_if_all_of_its_messages_meet() {
    // Random messages as isend and irecv, rows in random order; every other table lacks a row.
    let mut random = des::rng::SplitMix(5);
    let mut below = |n: u64| (random.next_word() % n) as u32;
    for round in 0..200 {
        let ranks = 2 + below(5);
        let mut rows = Vec::new();
        for _ in 0..=below(12) {
            let rank = below(u64::from(ranks));
            let to = (rank + 1 + below(u64::from(ranks) - 1)) % ranks;
            let tag = below(3) as u16;
            let row = |op: &str, rank, peer| Row {
                rank,
                op: op.into(),
                peer: Some(peer),
                bytes: Some(10 + u64::from(tag)),
                tag,
                ..Row::default()
            };
            rows.push(row("isend", rank, to));
            rows.push(row("irecv", to, rank));
        }
        (1..rows.len()).for_each(|i| rows.swap(i, below(i as u64 + 1) as usize));
        let lacks = round % 2 == 1;
        if lacks {
            rows.remove(below(rows.len() as u64) as usize);
        }
        match OpTable::new(ranks, Vec::new(), &rows) {
            Ok(program) => {
                assert!(!lacks, "{rows:?}");
                assert_eq!(play(&program, 1).unwrap().messages.len(), rows.len() / 2);
            }
            Err(mistakes) => assert!(lacks && mistakes.len() == 1, "{rows:?}: {mistakes:?}"),
        }
    }
}

#[test]
fn text_that_is_no_table_is_refused_with_its_lines() {
    assert!(mistakes(2, "# nothing\n")[0].starts_with("-: the table is empty (its first line names columns: rank,op,"));
    let columns = "columns are rank, op, peer, source, bytes, tag, communicator, request, time_ps";
    assert_eq!(
        mistakes(2, "rank,rank,size\n"),
        [
            "1: the column \"rank\" comes twice (keep one)",
            &format!("1: there is no column \"size\" ({columns})"),
            "1: there is no column \"op\" (every table has it)",
        ]
    );
    let text = "rank,op,bytes,tag\n0,barrier\n,barrier,,\n0,send,-1,65535\n";
    assert_eq!(
        mistakes(2, text),
        [
            "2: 2 cells, the header has 4 columns (give every column a cell, empty if need be)",
            "3: rank is empty (say who does it)",
            "4: bytes is \"-1\" (a whole number up to 1099511562239)",
            "4: tag is \"65535\" (a whole number up to 65534)",
        ]
    );
}

#[test]
fn a_tebibyte_does_not_fit_a_notice_and_is_refused() {
    let text = |bytes: u64| format!("rank,op,peer,bytes\n0,send,1,{bytes}\n1,recv,0,{bytes}\n");
    let mistake = "2: bytes is \"1099511627776\" (a whole number up to 1099511562239)";
    assert_eq!(mistakes(2, &text(1 << 40))[0], mistake);
    assert!(mistakes(2, &text(LARGEST)).is_empty());
    // Rows that were never a text say it as well.
    let row = |rank, op: &str, peer, bytes| Row {
        rank,
        op: op.into(),
        peer: Some(peer),
        bytes: Some(bytes),
        ..Row::default()
    };
    let refused = OpTable::new(2, Vec::new(), &[row(0, "send", 1, LARGEST + 1), row(1, "recv", 0, 8)]);
    let reasons: Vec<_> = refused.unwrap_err().into_iter().map(|mistake| mistake.reason).collect();
    assert_eq!(reasons, ["1099511562240 bytes are too many"]);
}

#[test]
fn communicators_cover_the_job() {
    let reason = |ranks, communicator| {
        let mistakes = OpTable::new(ranks, vec![communicator], &[]).err().unwrap_or_default();
        mistakes
            .into_iter()
            .map(|mistake| mistake.reason)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let lines = |size, stride| Communicator::Lines { size, stride };
    assert_eq!(reason(12, lines(3, 2)), "");
    assert_eq!(
        reason(12, lines(5, 2)),
        "communicator 1: lines of 5 with stride 2 do not cover 12 ranks"
    );
    assert_eq!(
        reason(2, Communicator::World(3)),
        "communicator 1 has 3 ranks, the job has 2"
    );
    assert_eq!(reason(0, Communicator::World(0)), "a job has at least one rank");
    let listed = |of: &[(u32, u32)], groups: &[&[u32]]| Communicator::Listed {
        of: of.to_vec(),
        groups: groups.iter().map(|group| group.to_vec()).collect(),
    };
    assert_eq!(reason(3, listed(&[(0, 1), (1, 0), (0, 0)], &[&[2, 0], &[1]])), "");
    let refused = "communicator 1: its groups do not have every rank once";
    assert_eq!(reason(3, listed(&[(0, 1), (1, 0), (0, 0)], &[&[2, 1], &[1]])), refused);
    assert_eq!(reason(3, listed(&[(0, 1), (1, 0)], &[&[2, 0], &[1]])), refused);
    assert_eq!(reason(2, listed(&[(0, 0), (7, 0)], &[&[0, 1]])), refused);
}
