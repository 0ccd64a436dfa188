//! How fast a trace is read: `cargo run --release -p fabricsim-trace --example rate -- FILE...`

use std::time::Instant;
use trace::{Header, Lists, Operation, Progress, Reader, Sink, Stop};

/// Counts operations and what they wait for.
#[derive(Default)]
struct Counted {
    operations: u64,
    waits: u64,
}

impl Sink for Counted {
    fn begin(&mut self, _header: &Header) -> Result<(), Stop> {
        Ok(())
    }

    fn operation(&mut self, _rank: u32, _record: u64, _operation: &Operation, lists: &Lists<'_>) -> Result<(), Stop> {
        self.operations += 1;
        self.waits += (lists.after.len() + lists.after_start.len()) as u64;
        Ok(())
    }

    fn end(&mut self, _names: &[String]) -> Result<(), Stop> {
        Ok(())
    }
}

fn main() {
    for file in std::env::args().skip(1) {
        let (mut counted, mut watch) = (Counted::default(), |_: Progress| true);
        let begun = Instant::now();
        let mut reader = Reader::new(&mut counted, &mut watch);
        let result = trace::read(file.as_ref(), None, &mut reader);
        let problems = reader.into_problems().0.len();
        let seconds = begun.elapsed().as_secs_f64();
        let Counted { operations, waits } = counted;
        println!(
            "{file}: {result:?}, {problems} problems, {operations} operations and {waits} dependencies in {seconds:.3} s: {:.2} million operations/s",
            operations as f64 / seconds / 1e6
        );
    }
}
