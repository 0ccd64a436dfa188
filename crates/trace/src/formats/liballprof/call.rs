//! A line: a call with its times and arguments.

/// Calls whose arguments are needed, in the order of their names, with a letter for each argument: `p` pointer, `i` integer, `d` datatype,
/// `c` communicator, `o` operator or group, `r` where a request is, `n` where numbers for each rank are. After a pointer to numbers
/// these may stand themselves, set apart by commas.
const CALLS: [(&str, &str); 52] = [
    ("MPI_Allgather", "pidpidc"),
    ("MPI_Allgatherv", "pidpnndc"),
    ("MPI_Allreduce", "ppidoc"),
    ("MPI_Alltoall", "pidpidc"),
    ("MPI_Alltoallv", "pnndpnndc"),
    ("MPI_Barrier", "c"),
    ("MPI_Bcast", "pidic"),
    ("MPI_Bsend", "pidiic"),
    ("MPI_Bsend_init", "pidiicr"),
    ("MPI_Cancel", "r"),
    ("MPI_Cart_create", "cippip"),
    ("MPI_Cart_sub", "cpp"),
    ("MPI_Comm_create", "cop"),
    ("MPI_Comm_dup", "cp"),
    ("MPI_Comm_split", "ciip"),
    ("MPI_Exscan", "ppidoc"),
    ("MPI_Gather", "pidpidic"),
    ("MPI_Gatherv", "pidpnndic"),
    ("MPI_Graph_create", "cippip"),
    ("MPI_Ibsend", "pidiicr"),
    ("MPI_Irecv", "pidiicr"),
    ("MPI_Irsend", "pidiicr"),
    ("MPI_Isend", "pidiicr"),
    ("MPI_Issend", "pidiicr"),
    ("MPI_Probe", "iicp"),
    ("MPI_Recv", "pidiicp"),
    ("MPI_Recv_init", "pidiicr"),
    ("MPI_Reduce", "ppidoic"),
    ("MPI_Reduce_scatter", "ppndoc"),
    ("MPI_Reduce_scatter_block", "ppidoc"),
    ("MPI_Request_free", "r"),
    ("MPI_Rsend", "pidiic"),
    ("MPI_Rsend_init", "pidiicr"),
    ("MPI_Scan", "ppidoc"),
    ("MPI_Scatter", "pidpidic"),
    ("MPI_Scatterv", "pnndpidic"),
    ("MPI_Send", "pidiic"),
    ("MPI_Send_init", "pidiicr"),
    ("MPI_Sendrecv", "pidiipidiicp"),
    ("MPI_Sendrecv_replace", "pidiiiicp"),
    ("MPI_Ssend", "pidiic"),
    ("MPI_Ssend_init", "pidiicr"),
    ("MPI_Start", "r"),
    ("MPI_Startall", "ir"),
    ("MPI_Test", "rpp"),
    ("MPI_Testall", "irpp"),
    ("MPI_Testany", "irppp"),
    ("MPI_Testsome", "irppp"),
    ("MPI_Wait", "rp"),
    ("MPI_Waitall", "irp"),
    ("MPI_Waitany", "irpp"),
    ("MPI_Waitsome", "irppp"),
];

/// A communicator as a call names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedComm {
    pub(super) number: i128,
    /// The rank's own number in it.
    pub(super) rank: u32,
    pub(super) size: u32,
}

/// A call.
#[derive(Debug)]
pub(super) struct MpiCall<'a> {
    /// Its name, if its arguments matter; of a collective that does not wait, that of the one that does.
    pub(super) name: &'static str,
    /// A collective that does not wait.
    pub(super) has_request: bool,
    /// Begin and end (ps), by the rank's clock.
    pub(super) begin: Option<i128>,
    pub(super) end: Option<i128>,
    fields: Vec<&'a str>,
    letters: &'static str,
    /// Numbers for each rank stand behind their pointers.
    with_lists: bool,
}

/// A time in microseconds as picoseconds.
pub(super) fn time(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let (Ok(whole), true, true) = (whole.parse::<u64>(), plain(whole), plain(part)) {
        // A float would not keep microseconds of our time.
        let digits = part.bytes().chain([b'0'; 6]).take(6);
        let part = digits.fold(0, |part, digit| 10 * part + i128::from(digit - b'0'));
        return Some(sign * (i128::from(whole) * 1_000_000 + part));
    }
    let microseconds = text.parse::<f64>().ok().filter(|time| time.abs() < 1e20)?;
    Some((microseconds * 1e6) as i128)
}

impl<'a> MpiCall<'a> {
    /// A line as a call. Of one whose arguments do not matter the name is empty.
    pub(super) fn of(line: &'a str) -> Result<MpiCall<'a>, String> {
        let mut fields = line.split(':').map(str::trim);
        let name = fields.next().unwrap_or_default();
        if !is_name(name) {
            return Err(format!("`{name}` is no call of MPI"));
        }
        let mut fields: Vec<&str> = fields.collect();
        let (Some(end), false) = (fields.pop(), fields.is_empty()) else {
            return Err(format!("{name} has no times"));
        };
        let begin = fields.remove(0);
        let read = |text: &str| match text {
            "-" => Ok(None),
            text => time(text).map(Some).ok_or_else(|| format!("`{text}` is no time")),
        };
        let call = MpiCall {
            name: "",
            has_request: false,
            begin: read(begin)?,
            end: read(end)?,
            fields,
            letters: "",
            with_lists: false,
        };
        let known = |name: &str| {
            CALLS
                .binary_search_by_key(&name, |(known, _)| known)
                .ok()
                .map(|place| CALLS[place])
        };
        let blocking = || {
            let blocking = format!("MPI_{}{}", name.get(5..6)?.to_ascii_uppercase(), name.get(6..)?);
            let found = known(&blocking).filter(|(_, letters)| letters.contains('c') && name.starts_with("MPI_I"));
            found.filter(|(name, _)| !matches!(*name, "MPI_Probe" | "MPI_Send" | "MPI_Recv"))
        };
        let (call, expected) = match known(name) {
            Some((name, letters)) => (MpiCall { name, letters, ..call }, letters.len()),
            None => match blocking() {
                Some((name, letters)) => {
                    let has_request = true;
                    let call = MpiCall {
                        name,
                        letters,
                        has_request,
                        ..call
                    };
                    (call, letters.len() + 1)
                }
                None => return Ok(call),
            },
        };
        let lists = call.letters.bytes().filter(|letter| *letter == b'n').count();
        let found = call.fields.len();
        if found != expected && found != expected + lists {
            return Err(format!("{name} has {found} arguments, and not {expected}"));
        }
        let with_lists = found != expected;
        Ok(MpiCall { with_lists, ..call })
    }

    /// An argument by its number among those of C.
    fn field(&self, i: usize) -> Result<&'a str, String> {
        let before = self.letters.bytes().take(i).filter(|letter| *letter == b'n').count();
        let place = if self.with_lists { i + before } else { i };
        let field = self.fields.get(place).copied();
        field.ok_or_else(|| format!("{} has no argument {}", self.name, i + 1))
    }

    /// An integer.
    pub(super) fn integer(&self, i: usize) -> Result<i64, String> {
        let field = self.field(i)?;
        field
            .parse()
            .map_err(|_| format!("argument {} of {}, `{field}`, is no integer", i + 1, self.name))
    }

    /// An address.
    pub(super) fn address(&self, i: usize) -> Result<u64, String> {
        let field = self.field(i)?;
        field
            .parse()
            .map_err(|_| format!("argument {} of {}, `{field}`, is no address", i + 1, self.name))
    }

    /// Size of a datatype (bytes).
    pub(super) fn datatype(&self, i: usize) -> Result<u64, String> {
        let field = self.field(i)?;
        let mut parts = field.split(',').map(str::trim);
        let size = parts.nth(1).and_then(|size| size.parse().ok());
        let whole = size.filter(|_| parts.count() == 1);
        whole.ok_or_else(|| format!("argument {} of {}, `{field}`, is no datatype", i + 1, self.name))
    }

    /// A communicator.
    pub(super) fn comm(&self, i: usize) -> Result<NamedComm, String> {
        let field = self.field(i)?;
        let parts: Vec<&str> = field.split(',').map(str::trim).collect();
        let comm = match parts[..] {
            [number, rank, size] => match (number.parse(), rank.parse(), size.parse()) {
                (Ok(number), Ok(rank), Ok(size)) if rank < size => Some(NamedComm { number, rank, size }),
                _ => None,
            },
            _ => None,
        };
        comm.ok_or_else(|| format!("argument {} of {}, `{field}`, is no communicator", i + 1, self.name))
    }

    /// Numbers for each rank of a communicator; nothing where only their place is told.
    pub(super) fn list(&self, i: usize) -> Result<Option<Vec<i64>>, String> {
        if !self.with_lists {
            return Ok(None);
        }
        let before = self.letters.bytes().take(i).filter(|letter| *letter == b'n').count();
        let field = self.fields.get(i + before + 1).copied().unwrap_or_default();
        let numbers: Result<Vec<i64>, _> = field.split(',').map(|number| number.trim().parse()).collect();
        let numbers =
            numbers.map_err(|_| format!("argument {} of {}, `{field}`, is no list of integers", i + 1, self.name))?;
        Ok(Some(numbers))
    }

    /// Whether it begins something that is waited for elsewhere.
    pub(super) fn begins(&self) -> bool {
        self.letters.ends_with('r')
    }

    /// Which argument is where a request is.
    pub(super) fn request_place(&self) -> Option<usize> {
        match self.has_request {
            true => Some(self.letters.len()),
            false => self.letters.bytes().position(|letter| letter == b'r'),
        }
    }

    /// Which argument is a communicator.
    pub(super) fn comm_place(&self) -> Option<usize> {
        self.letters.bytes().position(|letter| letter == b'c')
    }
}

/// Whether a word is a name of MPI's.
pub(super) fn is_name(word: &str) -> bool {
    let rest = word.strip_prefix("MPI_").unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_in_the_order_of_their_names() {
        assert!(CALLS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(
            CALLS
                .iter()
                .all(|(_, letters)| letters.bytes().all(|letter| b"pidcorn".contains(&letter)))
        );
    }

    #[test]
    fn times_are_kept_to_the_picosecond() {
        let ps = 1_000_000i128;
        assert_eq!(time("1225632902659657.000001"), Some(1_225_632_902_659_657 * ps + 1));
        assert_eq!(
            (time("12"), time("0.5"), time("-3.25")),
            (Some(12 * ps), Some(ps / 2), Some(-13 * ps / 4))
        );
        assert_eq!((time("1e3"), time("0.12345678")), (Some(1000 * ps), Some(123_456)));
        assert_eq!(
            (time("x"), time(""), time("1e40"), time("nan")),
            (None, None, None, None)
        );
    }
}
