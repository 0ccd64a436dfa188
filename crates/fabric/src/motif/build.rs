//! From the keys of a study file to a program.

use super::*;
use crate::mpi::Program;
use crate::spec::{Motif, MotifValue};
use std::sync::Arc;
use study::Named;

/// The program of a motif for a job with room for `room` ranks, or why it cannot be; the field is the key in the study file. `order`
/// is that of ranks which have orders of their own: those of the motif if it says so, and all with `always`.
pub fn program(motif: &Motif, room: u32, (order, always): (Order, bool)) -> Result<Arc<dyn Program>, Misfit> {
    let keys = Keys(motif);
    let ranks = keys.number("ranks").map_or(room, |ranks| ranks as u32);
    let order = match keys.choice("order").unwrap_or_default() {
        OrderWord::Common if !always => Order::Common,
        OrderWord::Common | OrderWord::Shuffled => order,
    };
    build(&keys, ranks, order).map_err(|misfit| Misfit {
        field: keys.key_of(misfit.field),
        ..misfit
    })
}

/// The keys of a motif as they were given.
struct Keys<'a>(&'a Motif);

impl Keys<'_> {
    /// The key that a parameter of a motif is read from.
    fn key_of(&self, field: &'static str) -> &'static str {
        match field {
            "grid" => "process_grid",
            "cells" => "grid",
            "sizes" => "messages",
            "bytes" if self.0.values.contains_key("messages") => "messages",
            "bytes" => "message",
            other => other,
        }
    }

    fn get(&self, key: &str) -> Option<&MotifValue> {
        self.0.values.get(key)
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(MotifValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    fn real(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(MotifValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn word(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(MotifValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The value that a word stands for; `None` without the key.
    fn choice<T: Named>(&self, key: &str) -> Option<T> {
        T::named(self.word(key)?)
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        match self.get(key) {
            Some(MotifValue::Flag(flag)) => *flag,
            _ => default,
        }
    }

    fn list(&self, key: &str) -> Option<&[u64]> {
        match self.get(key) {
            Some(MotifValue::List(list)) => Some(list),
            _ => None,
        }
    }

    /// A list of as many numbers as there are dimensions.
    fn sides<const N: usize>(&self, key: &'static str) -> Result<Option<[u64; N]>, Misfit> {
        let Some(list) = self.list(key) else {
            return Ok(None);
        };
        let wrong = |_| {
            let hint = format!("give {N} numbers such as {:?}", [8; N]);
            Misfit::new(key, format!("has {} numbers, not {N}", list.len()), hint)
        };
        <[u64; N]>::try_from(list).map(Some).map_err(wrong)
    }

    fn process_grid<const N: usize>(&self) -> Result<Option<[u32; N]>, Misfit> {
        let sides = self.sides::<N>("process_grid")?;
        Ok(sides.map(|sides| sides.map(|side| u32::try_from(side).unwrap_or(u32::MAX))))
    }

    fn compute(&self) -> Result<Compute, Misfit> {
        match (
            self.real("flop_per_cell"),
            self.real("flop_rate"),
            self.number("compute"),
        ) {
            (None, None, time) => Ok(Compute::Time(time.unwrap_or(0))),
            (Some(per_cell), Some(rate), None) => Ok(Compute::Flops { per_cell, rate }),
            _ => {
                let hint = "give compute alone, or flop_per_cell together with flop_rate";
                Err(Misfit::new("compute", "is said twice, or half", hint))
            }
        }
    }

    fn block<const N: usize>(&self, ranks: u32, order: Order) -> Result<Block<N>, Misfit> {
        let default = Block::default();
        Ok(Block {
            ranks,
            grid: self.process_grid()?,
            cells: self.sides("grid")?.unwrap_or(default.cells),
            vars: self.number("vars").unwrap_or(default.vars),
            value: self.number("value").unwrap_or(default.value),
            compute: self.compute()?,
            order,
        })
    }

    fn message(&self) -> u64 {
        self.number("message").unwrap_or(1 << 10)
    }

    fn messages(&self, default: u64) -> Vec<u64> {
        self.list("messages").map_or_else(|| vec![default], <[u64]>::to_vec)
    }
}

fn build(keys: &Keys<'_>, ranks: u32, order: Order) -> Result<Arc<dyn Program>, Misfit> {
    let kind = keys.0.kind.as_str();
    // Those whose operations the motif itself knows take a rate alone.
    let compute = match kind == Hpl::NAME || Application::named(kind).is_some() {
        true => Compute::Time(0),
        false => keys.compute()?,
    };
    Ok(match kind {
        Halo3d::NAME => Arc::new(Halo3d::new(&keys.block(ranks, order)?)?.periodic(keys.flag("periodic", false))),
        Halo3d26::NAME => {
            let neighbours = keys.choice("neighbours").unwrap_or(Neighbours::TwentySix);
            Arc::new(Halo3d26::new(&keys.block(ranks, order)?, neighbours)?)
        }
        Sweep3d::NAME => Arc::new(Sweep3d::new(&sweep3d::Parameters {
            ranks,
            grid: keys.process_grid()?,
            cells: keys.sides("grid")?.unwrap_or([50, 50, 100]),
            kba: keys.number("kba").unwrap_or(10),
            vars: keys.number("vars").unwrap_or(1),
            value: keys.number("value").unwrap_or(8),
            compute,
        })?),
        Suba2a::NAME => Arc::new(Suba2a::new(&suba2a::Parameters {
            ranks,
            grid: keys.process_grid()?,
            bytes: match keys.list("messages") {
                None => [32 << 10; 3],
                Some(&[one]) => [one; 3],
                Some(_) => keys.sides("messages")?.unwrap_or([0; 3]),
            },
            compute,
        })?),
        Fft3d::NAME => Arc::new(Fft3d::new(&fft3d::Parameters {
            ranks,
            grid: keys.process_grid()?,
            cells: keys.sides("grid")?.unwrap_or([100; 3]),
            value: keys.number("value").unwrap_or(16),
            compute,
        })?),
        Stencil::<3>::NAME => Arc::new(Stencil::<3>::new(&keys.block(ranks, order)?)?),
        Stencil::<4>::NAME => Arc::new(Stencil::<4>::new(&keys.block(ranks, order)?)?),
        AllPingPong::NAME => Arc::new(AllPingPong::new(&all_ping_pong::Parameters {
            ranks,
            bytes: keys.message(),
            compute,
        })?),
        PingPong::NAME => Arc::new(PingPong::new(&ping_pong::Parameters {
            ranks,
            partner: keys
                .number("partner")
                .map_or(ranks.saturating_sub(1), |rank| rank as u32),
            sizes: keys.messages(1 << 10),
            repeat: keys.number("repeat").unwrap_or(1) as u32,
        })?),
        Ring::NAME => Arc::new(Ring::new(&ring::Parameters {
            ranks,
            bytes: keys.message(),
            compute,
        })?),
        Incast::NAME => Arc::new(Incast::new(&incast::Parameters {
            ranks,
            target: keys.number("target").unwrap_or(0) as u32,
            sources: keys.number("sources").map(|sources| sources as u32),
            count: keys.number("count").unwrap_or(1) as u32,
            bytes: keys.message(),
        })?),
        AllreduceLoop::NAME => Arc::new(AllreduceLoop::new(&allreduce_loop::Parameters {
            ranks,
            sizes: keys.messages(1 << 10),
            compute,
        })?),
        CollectiveLoop::NAME => Arc::new(CollectiveLoop::new(&collective_loop::Parameters {
            ranks,
            kind: keys
                .word("collective")
                .and_then(CollectiveKind::from_name)
                .unwrap_or(CollectiveKind::Barrier),
            bytes: keys.message(),
            root: keys.number("root").unwrap_or(0) as u32,
            groups: None,
            compute,
        })?),
        RandomNeighbours::NAME => Arc::new(RandomNeighbours::new(&random_neighbours::Parameters {
            ranks,
            degree: match keys.list("degree") {
                None => (6, 6),
                Some(&[one]) => (one as u32, one as u32),
                Some(_) => {
                    let [least, most] = keys.sides("degree")?.unwrap_or([6, 6]);
                    (least as u32, most as u32)
                }
            },
            bytes: keys.message(),
            mutual: keys.flag("mutual", true),
            redraw: keys.flag("redraw", false),
            receives: keys.choice("receives").unwrap_or(Receives::Named),
            seed: keys.number("seed").unwrap_or(1),
            order,
            compute,
        })?),
        MpiGraph::NAME => Arc::new(MpiGraph::new(&mpi_graph::Parameters {
            ranks,
            bytes: keys.number("message").unwrap_or(1 << 20),
            window: keys.number("window").unwrap_or(1) as u32,
            barrier: keys.flag("barrier", true),
            compute,
        })?),
        Ebb::NAME => Arc::new(Ebb::new(&ebb::Parameters {
            ranks,
            bytes: keys.number("message").unwrap_or(1 << 20),
            both: keys.flag("both", false),
            seed: keys.number("seed").unwrap_or(1),
        })?),
        Hpl::NAME => Arc::new(Hpl::new(&hpl::Parameters {
            ranks,
            grid: keys.process_grid()?,
            rows: keys.number("rows").unwrap_or(8192),
            block: keys.number("block").unwrap_or(192),
            rate: keys.real("flop_rate").unwrap_or(hpl::RATE),
        })?),
        Bfs::NAME => Arc::new(Bfs::new(&bfs::Parameters {
            ranks,
            scale: keys.number("scale").unwrap_or(20) as u32,
            edge_factor: keys.number("edge_factor").unwrap_or(16),
            rate: keys.real("edge_rate").unwrap_or(bfs::RATE),
        })?),
        "ops" => {
            let text = keys.word("table").unwrap_or("");
            let key = if keys.word("file").is_some() { "file" } else { "table" };
            let first = |mistakes| {
                let (reason, hint) = study::rows::first(mistakes, text, key == "file");
                Misfit::new(key, reason, hint)
            };
            let rows = op_table::read_csv(text).map_err(first)?;
            Arc::new(OpTable::new(ranks, Vec::new(), &rows).map_err(first)?)
        }
        other if let Some(application) = Application::named(other) => {
            Arc::new(application.program(&applications::Parameters {
                ranks,
                cells: keys.list("grid").map(<[u64]>::to_vec),
                time: keys.number("compute"),
                rate: keys.real("flop_rate").unwrap_or(applications::RATE),
                order,
            })?)
        }
        other => {
            let hint = "`fabricsim list motif` tells which there are";
            return Err(Misfit::new("kind", format!("there is no motif {other:?}"), hint));
        }
    })
}
