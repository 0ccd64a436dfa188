//! Tables of flows.

use super::Sample;

/// With every column.
pub const TABLE: &str = "# flows
id, after,  bytes, source, destination, time
a,  ,       1000,  0,      1,           1.5 us
b,  a,      2000,  1,      2,
c,  a; b,   10,    0,      3,           2000000
,   c,      20,    2,      0,           3 us
";

/// All of them.
pub fn all() -> Vec<Sample> {
    let sample = |name, text: &str| Sample {
        format: "flows",
        name,
        files: vec![("flows.csv".into(), text.into())],
        open: "flows.csv",
    };
    vec![
        sample("every column", TABLE),
        sample(
            "times only",
            "time_ns,source,destination,bytes\n0.5,3,0,8\n0.5,3,1,8\n7,0,1,9\n",
        ),
    ]
}
