//! The language has no content of its own: here it speaks of meals.

use serde_json::json;
use study::diagnostic::{Findings, Severity, Sources, render};
use study::open::{LoadOptions, Refused, open};
use study::reader::{Source, read};
use study::units::Unit;
use study::{
    Chosen, Default, Entry, Examples, Family, Form, Parameter, SAMPLE, Section, TopLevel, Type, Vocabulary, When, key,
    time,
};

static DISHES: Family = Family {
    name: "dish",
    key: "dish.kind",
    by_name: false,
    groups: &[&[
        Entry {
            name: "soup",
            line: "Hot and liquid.",
            groups: &[&[key("salt", SALT, Default::Text("4 B"), "Salt.")]],
            source: "Grandmother",
            limits: "",
        },
        Entry {
            name: "salad",
            line: "Cold and green.",
            groups: &[],
            source: "",
            limits: "Does not keep.",
        },
    ]],
};

static SPOONS: Family = Family {
    name: "spoon",
    key: "table.spoon",
    by_name: true,
    groups: &[&[
        Entry {
            name: "wooden",
            line: "Of wood.",
            groups: &[],
            source: "",
            limits: "",
        },
        Entry {
            name: "silver",
            line: "For guests.",
            groups: &[],
            source: "",
            limits: "",
        },
    ]],
};

const SALT: Type = Type::Quantity {
    unit: Unit::Size,
    min: 0,
    max: 1_000,
};

const TABLE: &[Parameter] = &[
    key(
        "guests",
        Type::Integer { min: 1, max: 12 },
        Default::Text("4"),
        "How many come.",
    ),
    key(
        "spoon",
        Type::Of(&SPOONS),
        Default::Text("wooden"),
        "What they eat with.",
    ),
    key("wait", time(10_000), Default::Text("1 ns"), "Until they start.").when(&[When {
        key: "spoon",
        values: &["wooden"],
    }]),
];

const DISH: Chosen = Chosen {
    family: &DISHES,
    common: &[key("kind", Type::Of(&DISHES), Default::Required, "Which.")],
    line: "What there is.",
};

static MEALS: Vocabulary = Vocabulary {
    top_level: &[
        top("name", Form::Text),
        top("dish", Form::Chosen(&DISH)),
        top("table", Form::Table),
        top("sweep", Form::Sweep),
        top("sample", Form::Sample),
        top("experiment", Form::Experiments),
        top("variant", Form::Variants),
    ],
    sections: &[
        Section {
            name: "table",
            header: "[table]",
            line: "Where it is eaten.",
            parameters: TABLE,
            families: &[(&SPOONS, "spoon")],
        },
        SAMPLE,
    ],
    examples: Examples {
        key: "table.guests",
        value: "3",
        sweep: "\"dish.kind\" = [\"soup\", \"salad\"]",
        range: "\"table.guests\" = { from = 1, to = 9 }",
    },
    introduction: "# Meals\n",
    conclusion: "\nEnjoy.\n",
};

const fn top(key: &'static str, form: Form) -> TopLevel {
    TopLevel {
        key,
        line: "A key.",
        form,
    }
}

/// Guests and waiting times of every meal, or what is told.
fn meals(text: &str, sets: &[&str]) -> Result<Vec<(u64, Option<u64>)>, String> {
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let options = LoadOptions {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..LoadOptions::default()
    };
    let opened = open(
        text.as_bytes(),
        "meal.toml",
        &options,
        &MEALS,
        &mut sources,
        &mut findings,
    );
    let parameters: Vec<&Parameter> = TABLE.iter().collect();
    let runs = opened.map(|opened| {
        opened.runs(&sources, &mut findings, |point, _, findings| {
            let before = findings.n_errors();
            let empty = study::document::Table::default();
            let source = Source::section(&point.table, "table", &empty, findings);
            let values = read(source, &parameters, &[], &[], findings);
            match values.integer("guests") {
                Some(guests) if findings.n_errors() == before => Ok(vec![(guests, values.quantity("wait"))]),
                _ => Err(Refused::Mistaken),
            }
        })
    });
    let told = findings.into_diagnostics(&sources);
    let failed = told.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    runs.filter(|_| !failed).ok_or_else(|| render(&told))
}

#[test]
fn sweeps_samples_and_settings_are_of_any_content() {
    assert_eq!(meals("[dish]\nkind = \"soup\"\n", &[]), Ok(vec![(4, Some(1_000))]));
    let swept = "[table]\nwait = \"2 ns\"\n[sweep]\n\"table.guests\" = [2, 3]\n";
    assert_eq!(meals(swept, &[]), Ok(vec![(2, Some(2_000)), (3, Some(2_000))]));
    assert_eq!(meals(swept, &["table.guests=9"]), Ok(vec![(9, Some(2_000))]));
    assert_eq!(meals("[table]\nspoon = \"silver\"\n", &[]), Ok(vec![(4, None)]));
    let sampled = "[sample]\npoints = 3\n[sample.table.guests]\nfrom = 1\nto = 3\n";
    let mut guests: Vec<u64> = meals(sampled, &[])
        .unwrap()
        .into_iter()
        .map(|(guests, _)| guests)
        .collect();
    guests.sort_unstable();
    assert_eq!(guests, [1, 2, 3]);
}

#[test]
fn hints_show_what_this_content_has() {
    let told = meals("[tabel]\n[sweep]\nguests = [1]\n", &["x"]).unwrap_err();
    let parts = [
        "did you mean `table`?",
        "did you mean `table.guests`?",
        "write --set table.guests=3",
    ];
    for part in parts {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = meals("[table]\nguests = 13\nspoon = \"golden\"\n", &[]).unwrap_err();
    for part in ["13 is too large", "use one of \"wooden\", \"silver\""] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn schema_and_reference_are_those_of_the_vocabulary() {
    let schema = study::schema(&MEALS);
    assert_eq!(schema["required"], json!(["dish"]));
    let spoon = &schema["properties"]["table"]["properties"]["spoon"];
    assert_eq!(spoon["enum"], json!(["wooden", "silver"]));
    let forms = schema["properties"]["dish"]["oneOf"].as_array();
    assert_eq!(forms.map(Vec::len), Some(3));
    let page = study::reference(&MEALS);
    let parts = [
        "# Meals",
        "### dish `kind = \"soup\"`",
        "Source: Grandmother.",
        "| `table.spoon` | meaning | source |",
        "| `guests` | whole number from 1 to 12 | `4` | How many come. |",
        "Enjoy.",
    ];
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}
