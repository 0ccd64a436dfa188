//! `torus-2QoS.conf`: what OpenSM's torus-2QoS is told of a torus, line by line (torus-2QoS.conf(5)).
//!
//! | line | what it says |
//! |---|---|
//! | `torus X Y Z`, `mesh X Y Z` | switches along each axis; `t`, `m` behind a number: rings, open lines |
//! | `xp_link FROM TO`, `xm_link`, `yp_link`, ... | by GUIDs: the way from a switch to another one is up or down the axis |
//! | `x_dateline N`, ... | the origin, and with it the dateline, is N places from the switch that the links begin at |
//! | `next_seed` | links and datelines below are another seed, for when a switch of the former lacks |
//! | `portgroup_max_ports N` | most parallel cables, and most hosts of a switch with its own port (16) |
//! | `port_order P ...` | hosts of a switch are dealt over parallel cables in this order of their ports |
//! | `max_changes N` | how many changes a manager reports: nothing here |
//!
//! What stands behind these words is left out, as OpenSM does, and told in [`TorusConf::notes`] where it does not begin with `#`.

use super::super::Subnet;
use super::super::mistakes::{Mistakes, lines};
use super::TorusMisfit;
use std::io::BufRead;

pub(super) const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// An axis as a file says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredAxis {
    /// Switches along it.
    pub size: u32,
    /// Whether its lines are rings; never with two switches.
    pub loops: bool,
}

/// A pair of switches that tells a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedLink {
    /// GUID of the switch that it begins at.
    pub from: u64,
    /// GUID of the next switch.
    pub to: u64,
    /// The file's line.
    pub line: usize,
}

/// Links from one switch that tell the axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TorusSeed {
    /// By axis: up.
    pub up: [Option<SeedLink>; 3],
    /// By axis: down.
    pub down: [Option<SeedLink>; 3],
    /// By axis: where the origin is, seen from the switch.
    pub datelines: [i32; 3],
}

impl TorusSeed {
    /// All links.
    pub fn links(&self) -> impl Iterator<Item = &SeedLink> {
        self.up.iter().chain(&self.down).flatten()
    }
}

/// What a `torus-2QoS.conf` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TorusConf {
    /// x, y and z.
    pub axes: [ConfiguredAxis; 3],
    /// The line that says so.
    pub line: usize,
    /// Seeds, the first of which all switches are there counts.
    pub seeds: Vec<TorusSeed>,
    /// Most parallel cables, and most hosts of a switch with its own port.
    pub portgroup_max_ports: u32,
    /// Ports of hosts that come first, in this order.
    pub port_order: Vec<u16>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

const MANUAL: &str = "see torus-2QoS.conf(5)";

impl TorusConf {
    /// Reads a file.
    ///
    /// # Errors
    /// All mistakes, each with its line, a reason and a hint.
    pub fn read(file: impl BufRead) -> Result<TorusConf, Mistakes> {
        let mut reader = ConfReader {
            conf: TorusConf {
                portgroup_max_ports: 16,
                ..TorusConf::default()
            },
            mistakes: Mistakes::default(),
            seed_lines: Vec::new(),
        };
        for (number, line) in (1..).zip(lines(file)) {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    reader.mistakes.add(number, format!("cannot read on: {error}"), "");
                    break;
                }
            };
            let mut words = line.split_whitespace();
            match words.next() {
                None => {}
                Some(word) if word.starts_with('#') => {}
                Some(word) => {
                    let result = reader.line(number, word, &mut words);
                    if let Err((reason, hint)) = result {
                        reader.mistakes.add(number, reason, hint);
                    } else if let Some(rest) = words.next().filter(|rest| !rest.starts_with('#')) {
                        let note = format!("line {number}: `{rest}` and what follows is left out, as OpenSM does");
                        reader.conf.notes.push(note);
                    }
                }
            }
        }
        reader.whole();
        reader.mistakes.done()?;
        Ok(reader.conf)
    }

    /// Whether the file can be that of a subnet, apart from its cables.
    pub(super) fn check(&self, subnet: &Subnet) -> Result<(), TorusMisfit> {
        let (n, sizes) = (u64::from(subnet.n_switches()), self.axes.map(|axis| axis.size));
        let places: u64 = sizes.iter().map(|&size| u64::from(size)).product();
        if places < n || 4 * n < 3 * places {
            let reason = format!(
                "line {}: {} are {places} switches, there are {n}",
                self.line,
                super::lattice::words(&sizes)
            );
            return Err(TorusMisfit::new(
                reason,
                "give the switches along x, y and z, 1 where there is no such axis",
            ));
        }
        let names = subnet.switch_names();
        let most = self.portgroup_max_ports as usize;
        for (s, switch) in (0u32..).zip(&subnet.switches) {
            let name = &names[s as usize];
            let mut peers: Vec<u32> = subnet.cables(s).map(|(_, peer, _)| peer).collect();
            peers.sort_unstable();
            let parallel = peers.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0);
            // The switch's own port, by which its manager talks to it, counts as a host's.
            let hosts = subnet.hosts_at(s).count() + 1;
            if parallel > most || hosts > most {
                let reason = match parallel > most {
                    true => format!("`{name}` has {parallel} cables to one other switch"),
                    false => format!("`{name}` has {} hosts, with its own port {hosts}", hosts - 1),
                };
                let hint = "raise portgroup_max_ports: OpenSM leaves out what is beyond it";
                return Err(TorusMisfit::new(
                    format!("{reason}, of which portgroup_max_ports allows {most}"),
                    hint,
                ));
            }
            if let Some(port) = self
                .port_order
                .iter()
                .find(|&&port| usize::from(port) >= switch.ports.len())
            {
                let reason = format!(
                    "port_order has port {port}, `{name}` has ports up to {}",
                    switch.ports.len() - 1
                );
                return Err(TorusMisfit::new(reason, "name ports that every switch has"));
            }
        }
        Ok(())
    }

    /// Hosts in the order in which they are dealt over parallel cables: that of [`TorusConf::port_order`], then by port.
    pub(in crate::subnet) fn place_in_order(&self, port: u16) -> (usize, u16) {
        let listed = self.port_order.iter().position(|&listed| listed == port);
        (listed.unwrap_or(usize::MAX), port)
    }
}

/// What is wrong with a line, and a hint.
type ConfMistake = (String, &'static str);

struct ConfReader {
    conf: TorusConf,
    mistakes: Mistakes,
    /// The line at which each seed begins.
    seed_lines: Vec<usize>,
}

impl ConfReader {
    fn line<'w>(
        &mut self,
        number: usize,
        word: &str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), ConfMistake> {
        let is_first = self.conf.line == 0;
        if matches!(word, "torus" | "mesh") {
            return self.radices(number, word == "torus", rest);
        }
        if is_first {
            self.conf.line = number;
            let reason = format!("`{word}` before `torus` or `mesh` and three radices");
            return Err((reason, "they come first"));
        }
        match word {
            "next_seed" => {
                // Before all links it begins the first seed.
                if !self.seed_lines.is_empty() {
                    self.seed(number);
                    self.conf.seeds.push(TorusSeed::default());
                }
                self.seed_lines.push(number);
                Ok(())
            }
            "portgroup_max_ports" => {
                self.conf.portgroup_max_ports = count(rest.next(), 1)?;
                Ok(())
            }
            "port_order" => self.port_order(number, rest),
            "max_changes" => {
                count(rest.next(), 0)?;
                let note = "max_changes is left out: it says how many changes a manager reports";
                self.conf.notes.push(format!("line {number}: {note}"));
                Ok(())
            }
            _ => match AXIS_NAMES.iter().position(|axis| word.starts_with(axis)) {
                Some(axis) => self.of_axis(number, axis, word, rest),
                None => Err(unknown(word)),
            },
        }
    }

    fn radices<'w>(
        &mut self,
        number: usize,
        loops: bool,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), ConfMistake> {
        if self.conf.line > 0 {
            return Err((
                format!("the radices stand in line {}", self.conf.line),
                "a file describes one torus",
            ));
        }
        self.conf.line = number;
        for axis in &mut self.conf.axes {
            // What is wrong with them is said once.
            *axis = ConfiguredAxis { size: 1, loops: false };
        }
        for (axis, name) in self.conf.axes.iter_mut().zip(AXIS_NAMES) {
            let word = rest.next().filter(|word| !word.starts_with('#'));
            let bare = word.map(|word| word.trim_end_matches(['t', 'T', 'm', 'M']));
            let size =
                count(bare, 1).map_err(|(reason, _)| (format!("{name}: {reason}"), "three radices: x, y and z"))?;
            if size > 1 << 20 {
                return Err((format!("{name}: {size} switches"), "at most 1,048,576"));
            }
            let loops = match word.and_then(|word| word.chars().last()) {
                Some('t' | 'T') => true,
                Some('m' | 'M') => false,
                _ => loops,
            };
            *axis = ConfiguredAxis {
                size,
                loops: loops && size > 2,
            };
        }
        Ok(())
    }

    fn seed(&mut self, number: usize) -> &mut TorusSeed {
        if self.conf.seeds.is_empty() {
            self.conf.seeds.push(TorusSeed::default());
            if self.seed_lines.is_empty() {
                self.seed_lines.push(number);
            }
        }
        let last = self.conf.seeds.len() - 1;
        &mut self.conf.seeds[last]
    }

    fn of_axis<'w>(
        &mut self,
        number: usize,
        axis: usize,
        word: &str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), ConfMistake> {
        let size = self.conf.axes[axis].size;
        match &word[1..] {
            "_dateline" => {
                let steps: i64 = whole(rest.next())?;
                if steps.unsigned_abs() >= u64::from(size) {
                    let reason = format!("{word} {steps} is not between -{size} and {size}");
                    return Err((reason, "it is less than the radix, either way"));
                }
                self.seed(number).datelines[axis] = steps as i32;
                Ok(())
            }
            side @ ("p_link" | "m_link") => {
                let mut guid = || whole::<u64>(rest.next());
                let link = SeedLink {
                    from: guid()?,
                    to: guid()?,
                    line: number,
                };
                if size == 1 {
                    let reason = format!("{word}, but {} has one switch", AXIS_NAMES[axis]);
                    return Err((reason, "take it out, or give the radix"));
                }
                let seed = self.seed(number);
                let other = seed.links().find(|other| other.from != link.from);
                if let Some(other) = other {
                    let reason = format!(
                        "{word} begins at 0x{:x}, line {} at 0x{:x}",
                        link.from, other.line, other.from
                    );
                    return Err((reason, "all links of a seed begin at one switch"));
                }
                let of_side = if side == "p_link" { &mut seed.up } else { &mut seed.down };
                match &of_side[axis] {
                    Some(first) => Err((
                        format!("{word} stands in line {} already", first.line),
                        "next_seed begins another seed",
                    )),
                    None => {
                        of_side[axis] = Some(link);
                        Ok(())
                    }
                }
            }
            _ => Err(unknown(word)),
        }
    }

    fn port_order<'w>(&mut self, number: usize, rest: &mut impl Iterator<Item = &'w str>) -> Result<(), ConfMistake> {
        let mut order: Vec<u16> = Vec::new();
        for word in rest.take_while(|word| !word.starts_with('#')) {
            let port: u16 = whole(Some(word))?;
            if order.contains(&port) {
                let note = format!("line {number}: port {port} is left out the second time");
                self.conf.notes.push(note);
            } else {
                order.push(port);
            }
        }
        if order.is_empty() {
            return Err(("port_order without a port".into(), MANUAL));
        }
        if !self.conf.port_order.is_empty() {
            return Err(("port_order stands above already".into(), "give one order"));
        }
        self.conf.port_order = order;
        Ok(())
    }

    /// What can be said once all lines are read.
    fn whole(&mut self) {
        if self.conf.line == 0 && self.mistakes.list.is_empty() {
            let hint = "give `torus` or `mesh` and three radices, then links between switches by their GUIDs";
            return self.mistakes.add(0, "the file says no torus", hint);
        }
        if !self.mistakes.list.is_empty() {
            return;
        }
        if self.conf.seeds.is_empty() {
            let axis = self.conf.axes.iter().position(|axis| axis.size > 1).unwrap_or(0);
            let hint = "one of them, which leads from a switch to the next one along it by their GUIDs";
            let reason = format!("no {0}p_link or {0}m_link", AXIS_NAMES[axis]);
            return self.mistakes.add(self.conf.line, reason, hint);
        }
        for (number, seed) in self.conf.seeds.iter().enumerate() {
            let line = self.seed_lines.get(number).copied().unwrap_or(self.conf.line);
            for (axis, name) in AXIS_NAMES.iter().enumerate() {
                let of = self.conf.axes[axis];
                let (up, down) = (seed.up[axis].is_some(), seed.down[axis].is_some());
                let reason = match (of.size, up, down) {
                    (1, ..) | (_, true, true) => continue,
                    (_, false, false) => format!("the seed from here on has no {name}p_link and no {name}m_link"),
                    (4, ..) if of.loops => {
                        format!(
                            "the seed from here on needs {name}p_link and {name}m_link, since {name} is a ring of four"
                        )
                    }
                    _ => continue,
                };
                self.mistakes.add(line, reason, MANUAL);
            }
        }
    }
}

fn unknown(word: &str) -> ConfMistake {
    let hint = "known are torus, mesh, xp_link, xm_link, x_dateline and those of y and z, next_seed, portgroup_max_ports, port_order, max_changes";
    (format!("no such keyword: `{word}`"), hint)
}

/// A whole number, with 0x in hexadecimal.
fn whole<T: TryFrom<i128>>(word: Option<&str>) -> Result<T, ConfMistake> {
    let Some(word) = word.filter(|word| !word.starts_with('#')) else {
        return Err(("a number lacks".into(), MANUAL));
    };
    let read = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(i128::from),
        None => word.parse().ok(),
    };
    // By OpenSM's reading, numbers with a leading 0 are octal.
    let is_octal = word.len() > 1 && word.trim_start_matches('-').starts_with('0') && !word.contains(['x', 'X']);
    match read.and_then(|number: i128| T::try_from(number).ok()) {
        Some(number) if !is_octal || word == "-0" => Ok(number),
        Some(_) => Err((
            format!("`{word}` is octal"),
            "write it without the leading 0, or as 0x...",
        )),
        None => Err((format!("`{word}` is no such number"), MANUAL)),
    }
}

fn count(word: Option<&str>, least: u32) -> Result<u32, ConfMistake> {
    let number: u32 = whole(word)?;
    if number < least {
        return Err((format!("{number} is too few"), MANUAL));
    }
    Ok(number)
}
