//! Summaries of figures and studies, from the files of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use inart_experiments::{
    EMBEDDED_SWITCH, Experiment, Panel, Series, Statistics, experiment, read_measured, study,
};

type Row = BTreeMap<String, String>;

/// Returns the command of a file of results, and its rows in order.
fn results(name: &str) -> (String, Vec<Row>) {
    let path = format!("{}/experiments/results/{name}.csv", env!("INART_ROOT"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; run make experiments"));
    let command = text.lines().next().unwrap().trim_start_matches("# ").to_owned();
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    (command, reader.deserialize().map(Result::unwrap).collect())
}

/// Returns a row of a Markdown table.
fn cells(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<_> = texts.into_iter().map(|text| text.replace('|', "\\|")).collect();
    format!("| {} |\n", texts.join(" | "))
}

/// Returns a table whose first `names` columns are texts, all others numbers.
fn table(head: Vec<String>, names: usize, rows: Vec<Vec<String>>) -> String {
    let align: String = (0..head.len()).map(|at| if at < names { "---|" } else { "--:|" }).collect();
    let rows: String = rows.into_iter().map(cells).collect();
    format!("{}|{align}\n{rows}", cells(head))
}

/// Returns the mean of a row with its deviation, or its words.
fn entry(row: &Row) -> String {
    let number = |column: &str| row[column].parse::<f64>();
    match (number("mean"), number("deviation")) {
        (Ok(mean), Ok(deviation)) => {
            let [least, greatest] = ["least", "greatest"].map(|column| number(column).unwrap());
            Statistics { mean, least, greatest, deviation, values: Vec::new() }.to_string()
        }
        _ => row["mean"].clone(),
    }
}

/// Returns where all numbers are.
fn source(name: &str, command: &str) -> String {
    format!("All numbers: [{name}.csv](../../experiments/results/{name}.csv), or `{command}`.")
}

/// Returns the panels whose numbers the InArt paper shows, or all if it shows none.
fn shown(figure: &Experiment) -> Vec<&Panel> {
    let published: Vec<_> = figure.panels.iter().filter(|panel| panel.paper == Some(panel.key)).collect();
    if published.is_empty() { figure.panels.iter().collect() } else { published }
}

/// Returns the measured value of a scheme at a place, with three digits.
fn measured(panel: &Panel, x: &str, series: Series) -> Option<String> {
    let Series::Scheme(scheme) = series else { return None };
    let point = panel.points.iter().find(|point| point.x == x)?;
    let key = point.key(EMBEDDED_SWITCH, scheme).filter(|_| panel.is_measurable())?;
    let text =
        fs::read_to_string(format!("{}/experiments/results/measured.csv", env!("INART_ROOT"))).unwrap();
    let rows = read_measured(&text).unwrap();
    let [own, _] = rows.iter().find(|row| row.key() == key)?.figures(panel.quantity)?;
    Some(Statistics::of(&[own]).to_string())
}

/// Returns the summary of a figure of the InArt paper at one place on its axis.
pub fn print_figure(name: &str, x: &str) -> String {
    let figure = experiment(name).unwrap_or_else(|| panic!("{name}: no such figure"));
    let (command, rows) = results(name);
    let find = |panel: &Panel, series: &str| {
        rows.iter().find(|row| [&row["panel"], &row["series"], &row["x"]] == [panel.key, series, x])
    };
    let panels = shown(&figure);
    let series = panels[0].series.iter().filter(|series| find(panels[0], series.name()).is_some());
    let is_published = panels[0].paper.is_some();
    let is_measured = panels.iter().any(|panel| panel.is_measurable());
    let (quantity, axis) = (panels[0].quantity, panels[0].axis.name());
    let place = if x.parse::<u32>().is_ok() { format!("{x} {axis}") } else { format!("{axis} {x}") };
    let mut head = vec![format!("{}, {}, {place}", quantity.name(), quantity.unit())];
    for panel in &panels {
        let columns = [("InArt paper", is_published), ("planned here", true), ("measured here", is_measured)];
        let columns = columns.into_iter().filter(|(_, is_shown)| *is_shown);
        head.extend(columns.map(|(column, _)| format!("`{}`: {column}", panel.key)));
    }
    let mut marks = BTreeSet::new();
    let line = |series: &Series| {
        let mut line = vec![format!("`{}`", series.name())];
        for panel in &panels {
            let row = find(panel, series.name()).unwrap_or_else(|| panic!("{name} {x}: no {series}"));
            let mark = match &*row["beyond"] {
                "bound" => "†",
                "lp" => "‡",
                _ => "",
            };
            marks.insert(mark);
            line.extend(is_published.then(|| format!("{}{mark}", row["paper"])));
            line.push(entry(row));
            line.extend(is_measured.then(|| measured(panel, x, *series).unwrap_or_default()));
        }
        line
    };
    let table = table(head, 1, series.map(line).collect());
    let notes =
        [("†", "† above the proven bound of unsplit plans. "), ("‡", "‡ above the LP bound of all plans. ")];
    let notes: String =
        notes.iter().filter(|(mark, _)| marks.contains(mark)).map(|(_, text)| *text).collect();
    let seeds = &rows[0]["seeds"];
    let over = format!("Mean ± standard deviation over {seeds} seeds");
    let over = if is_measured { format!("{over}; measured on seed 1") } else { over };
    format!("{table}\n{over}. {notes}\\\n{}", source(name, &command))
}

/// Reports whether a row of a study has all these names.
fn has_names(row: &Row, names: &str) -> bool {
    let parts: Vec<_> = row["x"].split(", ").collect();
    names.split(", ").all(|name| parts.contains(&name))
}

/// Returns the summary of a study: its table, and where it differs.
pub fn print_study(name: &str, names: Option<&str>) -> String {
    let study = study(name).unwrap_or_else(|| panic!("{name}: no such study"));
    let (command, rows) = results(name);
    let is_words = !rows[0].contains_key("series");
    // A scheme relative to itself is no finding.
    let is_base = |row: &Row| row["x"].ends_with(", bsp") && row["paper"] == "1";
    let is_wanted = |row: &Row| match names {
        Some(names) => has_names(row, names),
        None => !row["paper"].is_empty() && (is_words || !is_base(row)),
    };
    let mut keys: Vec<[&str; 2]> = Vec::new();
    for row in rows.iter().filter(|row| is_wanted(row)) {
        let key = [&*row["panel"], &*row["x"]];
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    assert!((1..=16).contains(&keys.len()), "{name} {names:?}: {} rows; name other rows", keys.len());
    let line = |&[panel, x]: &[&str; 2]| {
        let all: Vec<_> = rows.iter().filter(|row| [&*row["panel"], &*row["x"]] == [panel, x]).collect();
        if is_words {
            return [x, &all[0]["paper"], &all[0]["here"], &all[0]["optimized"]].map(str::to_owned).into();
        }
        let find = |series: &str| all.iter().find(|row| row["series"] == series);
        let of = |series: &str| find(series).map(|row| entry(row)).unwrap_or_default();
        let unit = if all[0]["unit"].is_empty() { String::new() } else { format!(", {}", all[0]["unit"]) };
        let paper = find("here").map(|row| row["paper"].clone()).unwrap_or_default();
        vec![
            format!("{}{unit} (`{panel}`)", all[0]["quantity"]),
            x.to_owned(),
            paper,
            of("here"),
            of("optimized"),
        ]
    };
    let numbers = [format!("{} paper", study.paper), "here".to_owned(), "`optimized`".to_owned()];
    let heads: &[&str] = if is_words { &[""] } else { &["quantity (panel)", "row"] };
    let head: Vec<_> = heads.iter().map(|&head| head.to_owned()).chain(numbers).collect();
    let is_text = is_words || keys.iter().any(|[panel, _]| *panel == "best" && name == "netstorm-fig20");
    let count = if is_text { head.len() } else { heads.len() };
    let table = table(head, count, keys.iter().map(line).collect());
    let unreached = study.unreached.map(|text| format!("\n\nNot reproduced: {text}")).unwrap_or_default();
    let over =
        rows[0].get("seeds").map(|seeds| format!("Mean ± standard deviation over {seeds} seeds. \\\n"));
    let over = over.unwrap_or_default();
    format!("{table}\n{}{unreached}\n\n{over}{}", study.differs, source(name, &command))
}

#[test]
fn rows_are_chosen_by_whole_names() {
    let row = |x: &str| Row::from([("x".to_owned(), x.to_owned())]);
    assert!(has_names(&row("ssp = 1, LSTM, SELMCAST"), "LSTM, SELMCAST"));
    assert!(!has_names(&row("0.1, groups by the rule"), "1, groups by the rule"));
}
