//! Every kind of chart: texts are legible, do not overlap and stay inside, axes have names with units,
//! screen readers have a title and a description, and a scheme has its color everywhere.

mod events;
mod picture;
mod pictures;

use inart_experiments::palette::color;

use picture::Picture;

/// All schemes of the charts.
const SCHEMES: [&str; 24] = [
    "optimized",
    "atp",
    "atp-unlimited",
    "inart",
    "lbmm",
    "r-inart",
    "optimal",
    "netstorm",
    "netstorm+",
    "fapt",
    "star",
    "mst",
    "bkt",
    "gloo",
    "selmcast",
    "orpheus",
    "optimal",
    "r2sp",
    "fl-r2sp",
    "asp",
    "bsp",
    "ssp",
    "safa",
    "two-levels",
];

#[test]
fn no_text_is_on_another_or_leaves_the_picture() {
    let mut problems = Vec::new();
    for (name, svg) in pictures::all() {
        if let Ok(folder) = std::env::var("INART_CHART_SAMPLES") {
            std::fs::write(format!("{folder}/{name}.svg"), svg).unwrap();
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
        let picture = Picture::read(svg);
        assert!(picture.texts.len() > 5, "{name} has no texts");
        assert!(!svg.contains("<path") && !svg.contains("<image"), "{name}: texts must be <text> elements");
        for tag in ["title", "desc"] {
            let text = svg.split(&format!("<{tag}>")).nth(1).and_then(|text| text.split("</").next());
            assert!(text.is_some_and(|text| !text.is_empty()), "{name} has no <{tag}>");
        }
        problems.extend(picture.problems().into_iter().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Checks the charts of the documentation and of the results.
#[test]
fn no_text_of_a_committed_chart_is_on_another_or_leaves_the_picture() {
    let mut problems = Vec::new();
    let mut count = 0;
    for folder in ["docs/images", "docs/images/diagrams", "experiments/results"] {
        let folder = format!("{}/{folder}", env!("INART_ROOT"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "svg") {
                continue;
            }
            count += 1;
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let svg = std::fs::read_to_string(&path).unwrap();
            if !svg.contains("<title>") || !svg.contains("<desc>") {
                problems.push(format!("{name}: has no <title> or no <desc>"));
            }
            let picture = Picture::read(&svg);
            problems.extend(picture.problems().into_iter().map(|problem| format!("{name}: {problem}")));
        }
    }
    assert!(count > 50, "{count} charts");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Axes by chart: names of quantities have units in parentheses, and begin with a capital letter.
#[test]
fn axes_have_names_with_units() {
    let axes: [(&str, &[&str]); 8] = [
        ("timeline", &["Goodput per worker (Gbps)", "Time (s)"]),
        ("sites", &["Time per round (s)", "Link rate (Mbps): minimum, mean and maximum of all directions"]),
        ("peers", &["Time of the longest multicast per round (s); thin gray: planned", "Time (s)"]),
        ("orders", &["Test accuracy (%)", "Share of updates (%)", "Staleness (model versions)", "Time (s)"]),
        ("aggregation", &["Sending rate per worker (line: planned)", "Training loss (log scale)", "Round"]),
        ("inart-fig4", &["Time per iteration (s)", "Number of workers"]),
        ("inart-fig13", &["Traffic into servers per iteration (MB)", "Model"]),
        ("r2sp-fig8", &["Throughput over MXNET's (times)"]),
    ];
    for (name, expected) in axes {
        let (_, svg) = pictures::all().iter().find(|(other, _)| other == name).unwrap();
        let picture = Picture::read(svg);
        for text in expected {
            assert!(picture.texts.iter().any(|found| found.text == *text), "{name}: no axis {text:?}");
        }
        // Ticks are numbers: the unit is in the axis' name.
        let is_tick_with_unit = |text: &str| {
            let (number, unit) = text.split_once(' ').unwrap_or_default();
            number.parse::<f64>().is_ok() && ["s", "%", "bps", "Mbps", "Gbps"].contains(&unit)
        };
        let is_list = name == "timeline" || name == "aggregation";
        let found = picture.texts.iter().find(|text| is_tick_with_unit(&text.text));
        assert!(is_list || found.is_none(), "{name}: {found:?}");
    }
}

/// The mark nearest to the name of a scheme, in bars and legends, has the scheme's color.
#[test]
fn a_scheme_has_one_color_in_all_charts() {
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for (name, svg) in pictures::all() {
        let picture = Picture::read(svg);
        for text in &picture.texts {
            let first = text.text.split([' ', ':', ',']).next().unwrap_or_default();
            let Some(&scheme) = SCHEMES.iter().find(|scheme| **scheme == first) else { continue };
            let Some(found) = picture.color_beside(text) else { continue };
            assert_eq!(found, color(scheme), "{name}: {:?}", text.text);
            *seen.entry(scheme).or_default() += 1;
        }
    }
    let unseen: Vec<_> = SCHEMES.iter().filter(|scheme| !seen.contains_key(**scheme)).collect();
    assert!(unseen.is_empty() && seen["optimized"] > 4, "{unseen:?} have no color anywhere: {seen:?}");
}

/// Each kind of problem is found, for turned texts too; neighbors are not a problem.
#[test]
fn what_is_wrong_in_a_picture_is_found() {
    // Positions for texts of 10 pixels, times 1.8: the smallest legible text has 18 pixels.
    let text = |x: f64, y: f64, more: &str, text: &str| {
        let (x, y) = (1.8 * x, 1.8 * y);
        format!("<text x=\"{x}\" y=\"{y}\" font-size=\"18\" {more}>{text}</text>\n")
    };
    let problems = |body: &str| {
        let head = "<svg xmlns=\"x\" width=\"360\" height=\"180\">\n<rect x=\"0\" y=\"0\" width=\"9\" height=\"9\" fill=\"#ffffff\"/>";
        Picture::read(&format!("{head}\n{body}</svg>\n")).problems().len()
    };
    let one = text(50.0, 50.0, "", "98.1%, 96.9%");
    assert_eq!(problems(&one), 0);
    assert_eq!(problems(&(one.clone() + &text(80.0, 52.0, "", "one host"))), 1);
    assert_eq!(problems(&(one.clone() + &text(50.0, 61.0, "", "one host"))), 0);
    assert_eq!(problems(&(one.clone() + &text(48.0, 50.0, "text-anchor=\"end\"", "optimized"))), 0);
    assert_eq!(
        problems(&(one.clone() + "<circle cx=\"108\" cy=\"83\" r=\"5\" fill=\"none\" stroke=\"#000000\"/>")),
        1
    );
    assert_eq!(problems(&text(180.0, 50.0, "", "goes out")), 1);
    assert_eq!(problems(&text(10.0, 5.0, "", "too high")), 1);
    let small = one.replace("\"18\"", "\"17.9\"");
    assert_eq!(problems(&small), 1);
    let turned = "dy=\"0.76em\" text-anchor=\"middle\" transform=\"rotate(270, 36, 90)\"";
    assert_eq!(problems(&text(20.0, 50.0, turned, "sixteen letters!")), 0);
    assert_eq!(problems(&text(20.0, 20.0, turned, "sixteen letters!")), 1);
}
