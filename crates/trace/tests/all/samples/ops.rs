//! Tables of operations.

use super::Sample;
use super::chakra::gzip;

pub const TABLE: &str = "\u{feff}# two ranks\r
op,rank,peer,source,bytes,tag,communicator,request,time_ps\r
\r
compute,0,,,,,,,1500
isend , 0 , 1 ,,64,3,,7,
irecv,1,any,,,any,,8,
wait,0,,,,,,7,
waitall,1,,,,,,,
sendrecv,0,1,1,32,5,2,,
sendrecv,1,0,0,32,5,2,,
reduce,0,1,,16,,,,
reduce,1,1,,16,,,,
";

pub fn all() -> Vec<Sample> {
    let sample = |name, open: &'static str, bytes| Sample {
        format: "ops",
        name,
        files: vec![(open.into(), bytes)],
        open,
    };
    vec![
        sample("a table", "table.csv", TABLE.into()),
        sample("a packed one", "table.csv.gz", gzip(TABLE.as_bytes())),
    ]
}
