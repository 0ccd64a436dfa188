//! Time-independent traces of SimGrid.

use super::Sample;

/// A program of ranks, each with its lines, as one text: ranks take turns.
pub fn together(ranks: &[Vec<String>]) -> String {
    let longest = ranks.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = "# all ranks\n\n".to_owned();
    for i in 0..longest {
        for (rank, lines) in ranks.iter().enumerate() {
            if let Some(line) = lines.get(i) {
                text += &format!("{rank} {line}\n");
            }
        }
    }
    text
}

/// The same as a file for each rank and a list of them.
pub fn apart(ranks: &[Vec<String>]) -> Vec<(String, Vec<u8>)> {
    let names: Vec<String> = (0..ranks.len())
        .map(|rank| format!("trace_files/{rank}_rank-{rank}.txt"))
        .collect();
    let mut files = vec![("trace".to_owned(), names.join("\n").into_bytes())];
    for (rank, lines) in ranks.iter().enumerate() {
        let text: String = lines.iter().map(|line| format!("{rank} {line}\n")).collect();
        files.push((names[rank].clone(), text.into_bytes()));
    }
    files
}

/// Four ranks that do a bit of all.
pub fn everything() -> Vec<Vec<String>> {
    let rank = |me: u32| {
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let lines = [
            "init 1".to_owned(),
            "comm_size 4".to_owned(),
            "location main.c 17".to_owned(),
            "compute 1.5e6".to_owned(),
            "sleep 0.25".to_owned(),
            "barrier".to_owned(),
            format!("irecv {last} 7 -1"),
            format!("isend {next} 7 1e3"),
            format!("wait {last} {me} 7"),
            format!("test {me} {next} 7"),
            format!("wait {me} {next} 7"),
            format!("sendRecv 10 {next} 10 {last} 1 1"),
            "bcast 100 2 6".to_owned(),
            "reduce 10 500 1".to_owned(),
            "allreduce 32 21827181 1".to_owned(),
            "alltoallv 20 1 2 3 4 20 2 2 2 2".to_owned(),
            "gatherv 5 5 5 5 5 3 6 6".to_owned(),
            "scatterv 1 2 3 4 2 0 6 6".to_owned(),
            "allgatherv 2 2 2 2 2 6 6".to_owned(),
            "reducescatter 1 1 1 1 1000 6".to_owned(),
            format!("isend {next} 9 1 6"),
            format!("irecv {last} 9 1 6"),
            "waitall".to_owned(),
            "finalize".to_owned(),
        ];
        lines.to_vec()
    };
    (0..4).map(rank).collect()
}

/// Samples.
pub fn all() -> Vec<Sample> {
    let one = ("all.txt".to_owned(), together(&everything()).into_bytes());
    vec![
        Sample {
            format: "simgrid",
            name: "all ranks in one file",
            files: vec![one],
            open: "all.txt",
        },
        Sample {
            format: "simgrid",
            name: "a file for each rank",
            files: apart(&everything()),
            open: "trace",
        },
    ]
}
