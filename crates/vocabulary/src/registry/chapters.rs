//! The chapters of the reference page that are written by hand.

/// What the reference says first.
pub(super) const INTRODUCTION: &str = "<!-- Generated from the registry; regenerate with `FABRICSIM_BLESS=1 cargo test -p fabricsim-vocabulary reference`. -->
# Study files

A study is a TOML file that says what to simulate. Every key has a default except `[topology]`. A key that is unknown, or that has
no meaning with the others, is an error. Errors name the line, the key, the reason and what to do, all of them at once.

Quantities are texts with a unit and are exact: `\"200 Gbit/s\"`, `\"25 GB/s\"`, `\"16 KiB\"`, `\"90 ns\"`. Gbit and GB are decimal,
GiB is binary. A bare number is an error.
";

/// What the reference says of sweeps, experiments and variants.
pub(super) const SWEEPS: &str = r#"
## Sweeps, experiments and variants

`[sweep]` holds lists of values by key path. All combinations are run, in written order with the last key fastest and the seeds of
`run.seeds` innermost; a study has at most 100,000 runs. Elements of lists are reached by position or, for jobs, by
name; `job.*.placement` means every job.
A value may be a table, which then replaces the whole table; so keys of one table are swept together. Keys of different tables are
swept together with a comma between them: each point is then a list with a value per key. All of them stand in the results, a table as it is written,
or by its `name`, if it has one beside its keys: `where = { routing = "eager" }` finds the runs of `{ name = "eager", kind = "ugal", bias = 0 }`.

```toml
[sweep]
"link.bandwidth" = ["25 GB/s", "50 GB/s"]
"job.0.work.load" = [0.1, 0.5, 0.9]
router = [{ model = "sculpin" }, { model = "credit", buffer = "16 KiB" }]
"topology.preset, routing.kind" = [["ecp-8k-hyperx", "dor"], ["ecp-8k-dragonfly", "ugal"]]
```

### Samples

`[sample]` holds ranges by key path; all ranges together give `points` points. Every point is run with every combination of the sweep
and every seed. A key cannot be swept and sampled. The runs of one point have its values in their results, as those of a sweep.

```toml
[sample]
method = "sobol"
points = 64
"link.bandwidth" = { from = "1 GB/s", to = "64 GB/s", scale = "log" }
"router.buffer" = { from = "8 KiB", to = "256 KiB", step = "2 KiB" }
"job.0.work.load" = { from = 0.1, to = 0.9 }
"routing.kind" = { values = ["dor", "valiant"] }
```

`from` and `to` belong to the range. Whole numbers have equal shares; `step` (1 for whole numbers) allows `from` plus multiples of it. On
a log scale the nearest step is taken, and zero is refused. Values without a step are rounded to a round number below a 100,000th of the
range. `values` are equally likely, and may be lists for several keys: `"topology.preset, routing.kind" = { values = [["a", "b"], ...] }`.

A point is a function of method, seed, its number and the order of the keys, on every machine. More points of `sobol` keep the earlier
ones, those of `latin-hypercube` do not. A variant has its own `sample` (its keys replace those of `[sample]`), `--set sample.points=16`
(and `method`, `seed`) works as for other keys. A key that a variant or `--set` fixes is no longer sampled; the others stay as they are.

A study may hold several experiments; its runs are those of all of them. Each has `set` (values that replace those of the file),
`sweep` (added to the sweep of the file; a list replaces those of the same keys) and `description`. In `set`, dotted keys change single
keys and a value in braces replaces a whole table.

```toml
[experiment.saturation]
set = { "routing.kind" = "valiant" }
sweep = { "job.0.work.load" = [0.2, 0.4, 0.6, 0.8, 1.0] }
```

A variant is another form of the study, such as a quick one: `set`, `experiments` (those to keep), `sweep` (lists for every
experiment, or tables of lists for single ones, which replace those of the same key), `sample` and `description`.

```toml
[variant.quick]
set = { "run.end" = "10 us" }
experiments = ["saturation"]
[variant.quick.sweep.saturation]
"job.0.work.load" = [0.2, 0.8]
```

Later ones win: the file, the experiment's `set`, its sweep, the variant's `set`, `--set key=value`. A key that a variant or `--set`
fixes is no longer swept.

`[[claim]]` (each with an `id` of its own) and `[reproduce]` hold any keys; they are handed on to the tools that check and plot.
"#;
