use fabric::spec::FastForward;
use vocabulary::{LoadOptions, load_study, render};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let study = load_study(
        text.as_bytes(),
        "s.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    let study = study.map_err(|f| render(&f)).unwrap();
    for spec in study.runs {
        let mut both = vec![];
        for way in [FastForward::Exact, FastForward::Off] {
            if args.len() > 2 && (args[2] == "exact") != (way == FastForward::Exact) {
                continue;
            }
            let mut spec = spec.clone();
            spec.control.fast_forward = way;
            let begun = std::time::Instant::now();
            let run = judge::run::run(&spec, &mut |_| true);
            let took = begun.elapsed().as_secs_f64();
            match run {
                Ok(run) => {
                    let mut json = serde_json::to_value(&run.summary).unwrap();
                    let ex = json["execution"].take();
                    for k in ["cpu_s", "build_s", "peak_rss_bytes", "wall_s"] {
                        json[k] = serde_json::Value::Null;
                    }
                    println!(
                        "{way:?} {took:.3} s digest {} events {} skipped {}",
                        json["digest"], json["events"], ex["skipped_periods"]
                    );
                    both.push(json);
                }
                Err(e) => println!("{way:?} ERR {e}"),
            }
        }
        if both.len() == 2 && both[0] != both[1] {
            for (k, v) in both[0].as_object().unwrap() {
                if *v != both[1][k] {
                    println!(
                        "DIFF {k}: {} | {}",
                        v.to_string().chars().take(600).collect::<String>(),
                        both[1][k].to_string().chars().take(600).collect::<String>()
                    );
                }
            }
        }
    }
}
