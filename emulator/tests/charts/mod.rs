//! Every kind of chart: no text is on another or leaves the picture, and a scheme has its color in all of
//! them.

mod picture;
mod pictures;

use inart_experiments::palette::color;

use picture::Picture;

/// All schemes that charts show.
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
        problems.extend(picture.problems().into_iter().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Charts of the documentation and of the results.
#[test]
fn no_text_of_a_committed_chart_is_on_another_or_leaves_the_picture() {
    let mut problems = Vec::new();
    let mut count = 0;
    for folder in ["docs/images", "experiments/results"] {
        let folder = format!("{}/{folder}", env!("INART_ROOT"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "svg") {
                continue;
            }
            count += 1;
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let picture = Picture::read(&std::fs::read_to_string(&path).unwrap());
            problems.extend(picture.problems().into_iter().map(|problem| format!("{name}: {problem}")));
        }
    }
    assert!(count > 50, "{count} charts");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What stands beside the name of a scheme, in bars and legends, has the scheme's color.
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

/// A text on another one, one under a mark and one outside are found, also turned ones; neighbours are not.
#[test]
fn what_is_wrong_in_a_picture_is_found() {
    let text = |x: f64, y: f64, more: &str, text: &str| {
        format!("<text x=\"{x}\" y=\"{y}\" font-size=\"10\" {more}>{text}</text>\n")
    };
    let problems = |body: &str| {
        let head = "<svg xmlns=\"x\" width=\"200\" height=\"100\">\n<rect x=\"0\" y=\"0\" width=\"9\" height=\"9\" fill=\"#ffffff\"/>";
        Picture::read(&format!("{head}\n{body}</svg>\n")).problems().len()
    };
    let one = text(50.0, 50.0, "", "98.1%, 96.9%");
    assert_eq!(problems(&one), 0);
    assert_eq!(problems(&(one.clone() + &text(80.0, 52.0, "", "one host"))), 1);
    assert_eq!(problems(&(one.clone() + &text(50.0, 61.0, "", "one host"))), 0);
    assert_eq!(problems(&(one.clone() + &text(48.0, 50.0, "text-anchor=\"end\"", "optimized"))), 0);
    assert_eq!(
        problems(&(one.clone() + "<circle cx=\"60\" cy=\"46\" r=\"5\" fill=\"none\" stroke=\"#000000\"/>")),
        1
    );
    assert_eq!(problems(&text(180.0, 50.0, "", "goes out")), 1);
    assert_eq!(problems(&text(10.0, 5.0, "", "too high")), 1);
    let turned = "dy=\"0.76em\" text-anchor=\"middle\" transform=\"rotate(270, 20, 50)\"";
    assert_eq!(problems(&text(20.0, 50.0, turned, "sixteen letters!")), 0);
    assert_eq!(problems(&text(20.0, 20.0, turned, "sixteen letters!")), 1);
}
