//! Demands: who sends how much to whom, from a file, and what it does to the channels.

use super::{Paths, Spread};
use crate::subnet::Subnet;
use crate::subnet::mistakes::Mistakes;
use serde::Serialize;
use std::collections::HashMap;

/// Amounts between hosts: source, destination, amount (bytes, say; only their proportions count).
pub type Demand = Vec<(u32, u32, f64)>;

/// What a demand comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DemandFigures {
    /// Pairs with a demand.
    pub pairs: u64,
    /// Sum of the amounts.
    pub total: f64,
    /// Amounts per channel.
    pub load: Spread,
    /// Mean channels on the way, weighted by amount; `None` if a part does not arrive or there is none.
    pub mean_hops: Option<f64>,
    /// The most that a host sends or receives.
    pub busiest_host: f64,
    /// Highest load of a channel divided by `busiest_host`: how many times longer the demand takes than hosts alone would need, at
    /// least 1; `None` if a part does not arrive, which no time is enough for.
    pub slowdown: Option<f64>,
    /// Amounts whose path does not arrive.
    pub lost: f64,
}

/// Reads a demand matrix from CSV: a line `source,destination,amount` per pair, hosts by name or number, `#` before comments, and a
/// heading if its amount is no number. A pair that comes again adds to it.
///
/// # Errors
/// All mistakes with their lines.
pub fn read_demand(text: &str, subnet: &Subnet) -> Result<Demand, Mistakes> {
    let mut names: HashMap<&str, Vec<u32>> = HashMap::new();
    for (h, host) in (0u32..).zip(&subnet.hosts) {
        names.entry(host.name.as_str()).or_default().push(h);
    }
    let (mut demand, mut mistakes, mut heading) = (Vec::new(), Mistakes::default(), true);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = text.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let first = std::mem::take(&mut heading);
        let [from, to, amount] = fields[..] else {
            mistakes.add(
                line,
                format!("{} fields", fields.len()),
                "write source,destination,amount",
            );
            continue;
        };
        let amount: f64 = match amount.parse() {
            Ok(amount) if f64::is_finite(amount) && amount >= 0.0 => amount,
            Err(_) if first => continue,
            _ => {
                mistakes.add(line, format!("`{amount}` is no amount"), "amounts are numbers from 0");
                continue;
            }
        };
        let mut host = |name: &str| -> Option<u32> {
            let number = || name.parse::<u32>().ok().filter(|&h| h < subnet.n_hosts());
            match names.get(name).map(Vec::as_slice) {
                Some([host]) => Some(*host),
                Some(_) => {
                    mistakes.add(
                        line,
                        format!("several hosts are called `{name}`"),
                        "give the host's number instead",
                    );
                    None
                }
                None => number().or_else(|| {
                    let hint = "give a host's name, or its number from 0";
                    mistakes.add(line, format!("no host is called `{name}`"), hint);
                    None
                }),
            }
        };
        if let (Some(from), Some(to)) = (host(from), host(to)) {
            demand.push((from, to, amount));
        }
    }
    mistakes.done()?;
    if demand.is_empty() {
        return Err(Mistakes::one(
            "it states no demand",
            "write a line source,destination,amount for each pair",
        ));
    }
    Ok(demand)
}

impl Paths<'_> {
    /// Loads of the channels under a demand, and figures of it. What a host sends to itself loads nothing.
    pub fn demand(&self, demand: &[(u32, u32, f64)]) -> (Vec<f64>, DemandFigures) {
        let mut load = vec![0.0; self.channels.len()];
        let n = self.subnet.hosts.len();
        let (mut out, mut into) = (vec![0.0; n], vec![0.0; n]);
        let (mut total, mut weighted, mut lost, mut pairs) = (0.0, 0.0, 0.0, 0);
        for &(from, to, amount) in demand.iter().filter(|d| d.0 != d.1 && d.2 > 0.0) {
            pairs += 1;
            total += amount;
            out[from as usize] += amount;
            into[to as usize] += amount;
            if !self.each(from, to, |channel| load[channel as usize] += amount) {
                lost += amount;
                continue;
            }
            weighted += amount * f64::from(self.hops(from, to).unwrap_or(0));
        }
        let busiest = out.iter().chain(&into).copied().fold(0.0, f64::max);
        let spread = Spread::of(&load);
        let figures = DemandFigures {
            pairs,
            total,
            mean_hops: (lost == 0.0 && total > 0.0).then(|| weighted / total),
            busiest_host: busiest,
            slowdown: (lost == 0.0).then(|| match busiest > 0.0 {
                true => (spread.max / busiest).max(1.0),
                false => 1.0,
            }),
            load: spread,
            lost,
        };
        (load, figures)
    }
}
