//! How a process finds the memory: a variable of its environment.

use crate::layout::VERSION;

/// The name of the variable.
pub const VARIABLE: &str = "FABRICSIM_MPI";
/// The name of the variable of a rank that is to wait for a debugger.
pub const WAIT_VARIABLE: &str = "FABRICSIM_MPI_WAIT";

/// What a process has to know to be a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankSeat {
    /// The open file of the shared memory.
    pub file: i32,
    /// Its rank.
    pub rank: u32,
    /// How many there are.
    pub ranks: u32,
}

impl RankSeat {
    /// The variable's value.
    pub fn value(&self) -> String {
        format!("{VERSION}:{}:{}:{}", self.file, self.rank, self.ranks)
    }

    /// The seat that a value describes.
    ///
    /// # Errors
    /// It is no such value, or of another version.
    pub fn of(value: &str) -> Result<RankSeat, String> {
        let broken = || format!("{VARIABLE}={value} is not what fabricsim mpirun sets");
        let parts: Vec<&str> = value.split(':').collect();
        let [version, file, rank, ranks] = parts[..] else {
            return Err(broken());
        };
        if version != VERSION.to_string() {
            return Err(format!(
                "fabricsim mpirun speaks version {version}, its MPI library version {VERSION}: take both from one installation"
            ));
        }
        let seat = RankSeat {
            file: file.parse().map_err(|_| broken())?,
            rank: rank.parse().map_err(|_| broken())?,
            ranks: ranks.parse().map_err(|_| broken())?,
        };
        match seat.rank < seat.ranks && seat.file >= 0 {
            true => Ok(seat),
            false => Err(broken()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_reads_back_as_it_was_and_anything_else_is_refused() {
        let seat = RankSeat {
            file: 3,
            rank: 62,
            ranks: 64,
        };
        assert_eq!(RankSeat::of(&seat.value()), Ok(seat));
        for value in ["", "1", "1:3:4:4", "1:-3:0:4", "9:3:0:4", "1:3:0:4:5", "1:a:0:4"] {
            assert!(RankSeat::of(value).is_err(), "{value}");
        }
    }
}
