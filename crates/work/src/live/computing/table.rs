//! Tables of what computing takes, by region and place: read from comma-separated text, or measured and written.
//!
//! Columns, in any order: `region`, `place`, `time_ns`, `spread_ns` and those that say how they were measured (`count`, `function`), which
//! mean nothing here. An empty region or place stands for all; of the rows that fit a stretch the one that names both wins, then one that names its
//! place, then one that names its region.

use super::CallPlace;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Columns of the table, in the order in which it is written.
const COLUMNS: [&str; 6] = ["region", "place", "time_ns", "spread_ns", "count", "function"];
/// Longest time of a row (ns): an hour.
const LONGEST: f64 = 3.6e12;

/// What stretches take by region and place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StretchTable {
    /// By region, then by place.
    rows: HashMap<String, HashMap<String, (u64, f64)>>,
}

impl StretchTable {
    /// Reads the table of a file.
    ///
    /// # Errors
    /// It cannot be read, or what is wrong with it.
    pub fn of_file(path: &Path) -> Result<StretchTable, String> {
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        StretchTable::read(&text).map_err(|wrong| format!("{}: {}", path.display(), wrong.join("; ")))
    }

    /// Reads a table; what is wrong with it, line by line.
    ///
    /// # Errors
    /// Columns that are not there or not known, cells that are no times, rows that are there twice.
    pub fn read(text: &str) -> Result<StretchTable, Vec<String>> {
        let mut lines = (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((_, head)) = lines.next() else {
            return Err(vec![
                "line 1: the table is empty; its columns are region, place, time_ns and spread_ns".to_owned(),
            ]);
        };
        let names: Vec<&str> = head.split(',').map(str::trim).collect();
        let mut wrong = Vec::new();
        for name in names.iter().filter(|name| !COLUMNS.contains(name)) {
            wrong.push(format!(
                "line 1: there is no column {name:?}; columns are {}",
                COLUMNS.join(", ")
            ));
        }
        if !names.contains(&"time_ns") {
            wrong.push("line 1: there is no column time_ns".to_owned());
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut table = StretchTable::default();
        for (number, line) in lines {
            if let Err(reason) = table.add(&names, line) {
                wrong.push(format!("line {number}: {reason}"));
            }
        }
        if wrong.is_empty() { Ok(table) } else { Err(wrong) }
    }

    fn add(&mut self, names: &[&str], line: &str) -> Result<(), String> {
        // The last column may have commas: a function of C++.
        let cells: Vec<&str> = line.splitn(names.len(), ',').map(str::trim).collect();
        if cells.len() != names.len() {
            return Err(format!("{} cells in place of {}", cells.len(), names.len()));
        }
        let cell = |name: &str| {
            names
                .iter()
                .position(|known| *known == name)
                .map_or("", |place| cells[place])
        };
        let number = |name: &str, otherwise: Option<f64>| match (cell(name), otherwise) {
            ("", Some(otherwise)) => Ok(otherwise),
            (text, _) => match text.parse::<f64>() {
                Ok(number) if (0.0..=LONGEST).contains(&number) => Ok(number),
                _ => Err(format!(
                    "{name} is {text:?}; it is a number of nanoseconds, 0 to {LONGEST:e}"
                )),
            },
        };
        let (time, spread) = (number("time_ns", None)?, number("spread_ns", Some(0.0))?);
        let value = ((time * 1e3).round() as u64, spread * 1e3);
        let places = self.rows.entry(cell("region").to_owned()).or_default();
        match places.insert(cell("place").to_owned(), value) {
            None => Ok(()),
            Some(_) => Err("there is a row for this region and place before".to_owned()),
        }
    }

    /// Whether rows name places.
    pub fn has_places(&self) -> bool {
        self.rows
            .values()
            .flat_map(HashMap::keys)
            .any(|place| !place.is_empty())
    }

    /// Time and spread of a stretch (ps), 0 where no row fits.
    pub fn find(&self, region: &str, after: Option<&CallPlace>) -> (u64, f64) {
        let place = after.map_or("", CallPlace::text);
        let keys = [(region, place), ("", place), (region, ""), ("", "")];
        let found = keys
            .into_iter()
            .find_map(|(region, place)| self.rows.get(region)?.get(place));
        found.copied().unwrap_or((0, 0.0))
    }
}

/// What stretches took that were measured, by region and place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::live) struct MeasuredStretches {
    rows: BTreeMap<(String, CallPlace), MeasuredRow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MeasuredRow {
    count: u64,
    /// Of times (ns), and of their squares.
    sum: f64,
    squares: f64,
}

impl MeasuredStretches {
    /// A stretch of `time` ps.
    pub fn add(&mut self, region: &str, after: &CallPlace, time: u64) {
        let time = time as f64 / 1e3;
        let row = self.rows.entry((region.to_owned(), after.clone())).or_default();
        row.count += 1;
        row.sum += time;
        row.squares += time * time;
    }

    /// Takes in those of another rank.
    pub fn merge(&mut self, other: &MeasuredStretches) {
        for (key, row) in &other.rows {
            let own = self.rows.entry(key.clone()).or_default();
            own.count += row.count;
            own.sum += row.sum;
            own.squares += row.squares;
        }
    }

    /// Writes a table of it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = self.text(|place| place.function().unwrap_or_default());
        std::fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    /// As a table; `name` says which function has a place.
    fn text(&self, name: impl Fn(&CallPlace) -> String) -> String {
        let mut text = String::from(
            "# What the program computed after each call of MPI, mean and standard deviation of one stretch.\n",
        );
        text += &COLUMNS.join(",");
        text.push('\n');
        for ((region, place), row) in &self.rows {
            let mean = row.sum / row.count as f64;
            let spread = (row.squares / row.count as f64 - mean * mean).max(0.0).sqrt();
            let function = name(place);
            text += &format!(
                "{region},{},{mean:.1},{spread:.1},{},{function}\n",
                place.text(),
                row.count
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_says_most_wins() {
        let text = "# a comment\nplace,region,time_ns,spread_ns\n,,1,\nx+0x10,,2,0.5\n,solve,3,\nx+0x10,solve,4.25,1\n";
        let table = StretchTable::read(text).unwrap();
        let (here, there) = (CallPlace::new("x", 16), CallPlace::new("x", 17));
        assert!(table.has_places());
        let time = |region, place| table.find(region, place).0;
        assert_eq!(time("solve", Some(&here)), 4_250);
        assert_eq!(time("other", Some(&here)), 2_000);
        assert_eq!(time("solve", Some(&there)), 3_000);
        assert_eq!([time("", Some(&there)), time("other", None)], [1_000; 2]);
        assert_eq!(table.find("", Some(&here)).1, 500.0);
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let wrong = |text: &str| StretchTable::read(text).unwrap_err();
        assert!(wrong("")[0].starts_with("line 1: the table is empty"));
        assert!(wrong("place,times\n")[0].contains("no column \"times\""));
        let all = wrong("place,time_ns\na,1\n\nb,-1\na,2\nc\nd,inf\n");
        assert_eq!(all.len(), 4, "{all:?}");
        assert!(all[0].starts_with("line 4: time_ns is \"-1\"") && all[1].starts_with("line 5: there is a row"));
        assert!(all[2].starts_with("line 6: 1 cells") && all[3].starts_with("line 7: "));
    }

    #[test]
    fn what_is_measured_is_a_table_that_can_be_read() {
        let (mut one, mut two) = (MeasuredStretches::default(), MeasuredStretches::default());
        let place = CallPlace::new("a.out", 0x1234);
        one.add("solve", &place, 1_000_000);
        two.add("solve", &place, 3_000_000);
        two.add("", &place, 500_000);
        one.merge(&two);
        let text = one.text(|place| format!("f<{}, 5>(int, int)", place.text().len()));
        assert!(
            text.contains("solve,a.out+0x1234,2000.0,1000.0,2,f<12, 5>(int, int)\n"),
            "{text}"
        );
        let table = StretchTable::read(&text).unwrap();
        assert_eq!(table.find("solve", Some(&place)), (2_000_000, 1e6));
        assert_eq!(table.find("x", Some(&place)), (500_000, 0.0));
    }
}
