//! What a number of the results is called, what it is of, how it becomes one of many, and how it is shown: said once, where its field is
//! declared. Columns, axes, claims, tables and the reference page have it from here.

use serde::Serialize;

/// What a figure is measured in; how it is shown follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A simulated time in nanoseconds.
    Nanoseconds,
    /// The same in picoseconds, where nothing is to be rounded.
    Picoseconds,
    /// A time of the machine that simulates, in seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// MiB/s.
    MebibytesPerSecond,
    /// Of something per second of the machine that simulates.
    PerSecond,
    /// A fraction of what nodes can inject.
    Load,
    /// A part of a whole, 0 to 1.
    Share,
    /// Dollars.
    Dollars,
    /// Watts.
    Watts,
    /// Joules.
    Joules,
    /// A number of things.
    Count,
    /// A text.
    Text,
    /// Yes or no.
    Flag,
    /// Figures of its own.
    Group,
    /// Several of what its figures tell of one; `NAME.0` is the first.
    List,
}

impl Measure {
    /// Its unit on axes and in tables; empty where it has none.
    pub const fn unit(self) -> &'static str {
        match self {
            Measure::Nanoseconds => "ns",
            Measure::Picoseconds => "ps",
            Measure::Seconds => "s",
            Measure::Bytes => "B",
            Measure::MebibytesPerSecond => "MiB/s",
            Measure::PerSecond => "1/s",
            Measure::Dollars => "USD",
            Measure::Watts => "W",
            Measure::Joules => "J",
            Measure::Load | Measure::Share | Measure::Count => "",
            Measure::Text | Measure::Flag | Measure::Group | Measure::List => "",
        }
    }
}

/// How several values of a figure become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Together {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// The greatest of them.
    Greatest,
    /// The least of them.
    Least,
    /// From all that they are of, as if it had been seen in one place.
    Pooled,
    /// They stay apart.
    Apart,
}

/// A figure of the results.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its key, below that of the group it belongs to: `latency_ns` has `mean`, together `latency_ns.mean`.
    pub name: &'static str,
    /// What it is measured in.
    pub measure: Measure,
    /// The unit of that; empty where there is none.
    pub unit: &'static str,
    /// Its name on an axis or above a column, without the unit.
    pub word: &'static str,
    /// What it is, and of what.
    pub line: &'static str,
    /// How values of several seeds become one.
    pub seeds: Together,
    /// How the parts of a run that workers and ranks have become one.
    pub parts: Together,
    /// Figures of its own.
    pub figures: Vec<Figure>,
}

impl Figure {
    /// A figure whose values of several seeds are averaged, and which is of all parts of a run alike.
    pub const fn new(name: &'static str, measure: Measure, word: &'static str, line: &'static str) -> Figure {
        Figure {
            name,
            measure,
            unit: measure.unit(),
            word,
            line,
            seeds: match measure {
                Measure::Text | Measure::Flag | Measure::Group | Measure::List => Together::Apart,
                _ => Together::Mean,
            },
            parts: Together::Pooled,
            figures: Vec::new(),
        }
    }

    /// The same figure, of which several seeds have that together.
    pub fn seeds(self, seeds: Together) -> Figure {
        Figure { seeds, ..self }
    }

    /// The same figure, of which several parts of a run have that together.
    pub fn parts(self, parts: Together) -> Figure {
        Figure { parts, ..self }
    }

    /// The same figure with figures of its own.
    pub(crate) fn with(self, figures: Vec<Figure>) -> Figure {
        Figure { figures, ..self }
    }
}

/// Everything that results hold, for those who show it: the figures of a run, the columns of its tables, and the names in files.
pub fn listing() -> serde_json::Value {
    let columns = |table: &super::tables::ResultTable| -> Vec<serde_json::Value> {
        let column = |column: &super::tables::TableColumn| {
            serde_json::json!({
                "name": column.name, "measure": column.measure, "unit": column.measure.unit(), "word": column.word,
                "line": column.line,
            })
        };
        table.columns.iter().map(column).collect()
    };
    let tables: Vec<serde_json::Value> = super::tables::TABLES
        .iter()
        .map(|table| serde_json::json!({ "name": table.name, "line": table.line, "columns": columns(table) }))
        .collect();
    let name = |name: &super::files::NameInFile| {
        serde_json::json!({
            "name": name.name, "measure": name.measure, "unit": name.measure.unit(), "line": name.line, "seeds": name.seeds,
        })
    };
    let files: Vec<serde_json::Value> = super::files::FILES
        .iter()
        .map(|file| {
            let names: Vec<serde_json::Value> = file.names.iter().map(name).collect();
            serde_json::json!({ "name": file.name, "line": file.line, "names": names })
        })
        .collect();
    serde_json::json!({ "figures": super::Summary::figures(), "tables": tables, "files": files })
}

/// A value of the results, which may have figures of its own.
pub trait Figures {
    /// Its figures, in the order of the documentation; none if it is one number.
    fn figures() -> Vec<Figure> {
        Vec::new()
    }
}

/// What `of` says of a run.
pub(crate) fn had<S, T>(of: impl Fn(&S) -> T, run: &S) -> T {
    of(run)
}

macro_rules! plain {
    ($($kind:ty)+) => { $(impl Figures for $kind {})+ };
}

plain!(bool f64 u32 u64 usize String &'static str);

impl<T: Figures> Figures for Option<T> {
    fn figures() -> Vec<Figure> {
        T::figures()
    }
}

impl<T: Figures> Figures for Vec<T> {
    fn figures() -> Vec<Figure> {
        T::figures()
    }
}

/// Declares a struct of figures. A line has key and type as a field does, then what it is measured in, its word, and what it is; `as` gives
/// another key than the field's, `..` before a field takes in the figures of its type as its own. With `from` a line says by which function
/// the figure is had.
macro_rules! figures {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (
        $(#[$about:meta])*
        $vis:vis struct $struct:ident from $source:ident {
            $($(#[$own:meta])* $field:ident $(as $name:literal)?: $kind:ty = $measure:ident, $word:literal, $line:literal
                $(, $how:ident $together:ident)* => $of:expr;)+
        }
    ) => {
        figures! {
            $(#[$about])*
            $vis struct $struct {
                $($(#[$own])* $field $(as $name)?: $kind = $measure, $word, $line $(, $how $together)*;)+
            }
        }

        impl $struct {
            /// All figures of a run that has ended.
            pub(crate) fn of(run: &$source<'_>) -> $struct {
                $struct { $($field: $crate::results::figure::had($of, run),)+ }
            }
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis struct $struct:ident {
            $($(#[$own:meta])* $field:ident $(as $name:literal)?: $kind:ty = $measure:ident, $word:literal, $line:literal
                $(, $how:ident $together:ident)*;)+
            $(..$flat:ident: $flat_kind:ty;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $vis struct $struct {
            $(
                #[doc = $line]
                $(#[serde(rename = $name)])?
                $(#[$own])*
                pub $field: $kind,
            )+
            $(
                #[doc = "Figures of its own."]
                #[serde(flatten)]
                pub $flat: $flat_kind,
            )*
        }

        impl $crate::results::Figures for $struct {
            fn figures() -> Vec<$crate::results::Figure> {
                let own = vec![$(
                    $crate::results::Figure::new(
                        $crate::results::figures!(@name $field $($name)?),
                        $crate::results::Measure::$measure,
                        $word,
                        $line,
                    )
                    $(.$how($crate::results::Together::$together))*
                    .with(<$kind as $crate::results::Figures>::figures()),
                )+];
                let taken_in: Vec<Vec<$crate::results::Figure>> = vec![$(<$flat_kind as $crate::results::Figures>::figures(),)*];
                own.into_iter().chain(taken_in.into_iter().flatten()).collect()
            }
        }
    };
}

pub(crate) use figures;
