//! What computing between two calls of MPI takes: nothing, the time of the CPU, what a table says, or what was recorded.
//!
//! A stretch begins where a call ends and ends where the next begins. It is known by the call before it ([`CallPlace`]) and by the region of
//! the program that it is in (`MPI_Pcontrol(1, "name")`), and its number among those of its rank.

mod of_rank;
mod recorded;
mod table;

pub(super) use of_rank::RankComputing;
pub use recorded::RecordedStretches;
pub(super) use table::MeasuredStretches;
pub use table::StretchTable;

use des::mix;
use std::sync::Arc;
use study::choice;

/// Where stretches have their times from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProgramTimes {
    /// They take none.
    #[default]
    Zero,
    /// The time of the CPU, where that is more than `floor` (ps).
    Cpu {
        /// What is below takes no time.
        floor: u64,
        /// Whose time it is.
        threads: CountedThreads,
    },
    /// What a table says of their place and region.
    Table(Arc<StretchTable>),
    /// What an earlier run recorded.
    Recorded(Arc<RecordedStretches>),
}

choice! {
    /// Whose CPU time computing takes, of programs with threads.
    #[derive(Default)]
    pub enum CountedThreads {
        #[default]
        Caller = "caller", "That of the thread that calls MPI.";
        Sum = "sum", "That of all threads of a rank, as if they computed one after the other.";
        Wall = "wall", "That of all threads divided by OMP_NUM_THREADS, as if each had a core to itself and all had the same to do.";
    }
}

/// How computing is turned into time.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputingWish {
    /// Where the times are from.
    pub times: ProgramTimes,
    /// Factor of all of them.
    pub scale: f64,
    /// What comes on top at random.
    pub noise: ComputingNoise,
}

impl std::default::Default for ComputingWish {
    fn default() -> ComputingWish {
        ComputingWish {
            times: ProgramTimes::Zero,
            scale: 1.0,
            noise: ComputingNoise::default(),
        }
    }
}

/// Factors of stretches, drawn from (seed, rank, number of the stretch): the same on every engine, network and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComputingNoise {
    /// Standard deviation of the factor's logarithm; its mean is 1.
    pub sigma: f64,
    /// Share of the stretches that take [`TAIL`] times as long.
    pub tail: f64,
    /// Seed of the draws.
    pub seed: u64,
}

/// How many times as long a stretch of the tail takes.
pub const TAIL: f64 = 10.0;

impl ComputingNoise {
    /// A stretch of `time` ps with noise; `spread` is the standard deviation that its table gives it (ps).
    pub fn of(&self, time: u64, spread: f64, (rank, number): (u32, u64)) -> u64 {
        let own = if time > 0 { spread / time as f64 } else { 0.0 };
        if time == 0 || (self.sigma == 0.0 && own == 0.0 && self.tail == 0.0) {
            return time;
        }
        let key = mix(mix(self.seed ^ 0x5EED_0F57_7E7C_4E5A).wrapping_add(u64::from(rank)) ^ number.rotate_left(32));
        let unit = |place: u64| (mix(key.wrapping_add(place)) >> 11) as f64 / (1_u64 << 53) as f64;
        // Box and Muller; the logarithm's argument is not 0.
        let normal = (-2.0 * (1.0 - unit(1)).ln()).sqrt() * (std::f64::consts::TAU * unit(2)).cos();
        let sigma = (self.sigma * self.sigma + (own * own).ln_1p()).sqrt();
        let mut factor = (sigma * normal - sigma * sigma / 2.0).exp();
        if unit(3) < self.tail {
            factor *= TAIL;
        }
        (time as f64 * factor).round() as u64
    }
}

/// A call in the program: the file that has it and the address there, which are the same in every run of the same build.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallPlace {
    /// As tables have it: `name+0xaddress`, without the folder of the file.
    text: String,
    file: String,
    address: u64,
}

impl CallPlace {
    /// An address in a file.
    pub fn new(file: &str, address: u64) -> CallPlace {
        let name = file.rsplit('/').next().unwrap_or(file);
        CallPlace {
            text: format!("{name}+{address:#x}"),
            file: file.to_owned(),
            address,
        }
    }

    /// As tables have it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The function that has it, where the file says so.
    fn function(&self) -> Option<String> {
        super::report::place::named(&self.file, self.address)
    }
}

/// Computing of the rank before an entry.
pub(super) struct Stretch<'a> {
    /// What the CPU took, now or when it was recorded (ps).
    pub measured: u64,
    /// The call before it, where that is known.
    pub after: Option<&'a CallPlace>,
    /// The innermost region.
    pub region: &'a str,
    /// Its rank, and its number there.
    pub number: (u32, u64),
}

impl ComputingWish {
    /// Whether the CPU is to be measured.
    pub fn measures_cpu(&self) -> bool {
        matches!(self.times, ProgramTimes::Cpu { .. })
    }

    /// Whose time is measured.
    pub(super) fn counted(&self) -> Option<CountedThreads> {
        match self.times {
            ProgramTimes::Cpu { threads, .. } => Some(threads),
            ProgramTimes::Zero | ProgramTimes::Table(_) | ProgramTimes::Recorded(_) => None,
        }
    }

    /// Whether places of calls are to be known.
    pub(super) fn needs_places(&self) -> bool {
        matches!(&self.times, ProgramTimes::Table(table) if table.has_places())
    }

    /// What a stretch takes (ps).
    pub(super) fn time(&self, stretch: &Stretch<'_>) -> u64 {
        let (time, spread) = match &self.times {
            ProgramTimes::Zero => (0, 0.0),
            ProgramTimes::Cpu { floor, .. } if stretch.measured < *floor => (0, 0.0),
            ProgramTimes::Cpu { .. } | ProgramTimes::Recorded(_) => (stretch.measured, 0.0),
            ProgramTimes::Table(table) => table.find(stretch.region, stretch.after),
        };
        let scaled = match self.scale == 1.0 {
            true => time,
            false => (time as f64 * self.scale).round() as u64,
        };
        self.noise.of(scaled, spread * self.scale, stretch.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_its_mean_and_its_deviation_and_depends_on_seed_rank_and_number_alone() {
        let noise = ComputingNoise {
            sigma: 0.2,
            tail: 0.0,
            seed: 7,
        };
        let draw =
            |noise: ComputingNoise, rank| (0..40_000).map(move |n| noise.of(1_000_000, 0.0, (rank, n)) as f64 / 1e6);
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        let all: Vec<f64> = draw(noise, 3).collect();
        assert_eq!(all, draw(noise, 3).collect::<Vec<_>>());
        assert_ne!(all[..9], draw(noise, 4).take(9).collect::<Vec<_>>()[..]);
        assert_ne!(
            all[..9],
            draw(ComputingNoise { seed: 8, ..noise }, 3).take(9).collect::<Vec<_>>()[..]
        );
        // Six standard errors: 0.2 / sqrt(40,000) is 0.001.
        assert!((mean(&all) - 1.0).abs() < 0.006, "{}", mean(&all));
        let logarithms: Vec<f64> = all.iter().map(|factor| factor.ln()).collect();
        let squares: Vec<f64> = logarithms.iter().map(|l| (l - mean(&logarithms)).powi(2)).collect();
        assert!((mean(&squares).sqrt() - 0.2).abs() < 0.005);
        let tailed = ComputingNoise {
            sigma: 0.0,
            tail: 0.05,
            seed: 7,
        };
        let long = draw(tailed, 0).filter(|factor| *factor > 9.0).count();
        assert!(
            (1_740..2_260).contains(&long),
            "{long} of 40,000 are expected to be 2,000"
        );
        assert_eq!(ComputingNoise::default().of(12_345, 0.0, (0, 0)), 12_345);
    }
}
