//! A comparison as an SVG chart: a row of bars per number, each in the color of its scheme; numbers of a
//! paper are hollow marks.

use std::collections::BTreeSet;

use plotters::prelude::*;

use crate::chart::{
    Area, Drawn, FAINT, HEADING, INK, LEGEND_ROW, TEXT, TITLE, font, hollow_mark, legend_places, rgb,
    sentence, with_title,
};
use crate::comparison::{Comparison, ComparisonPanel, ComparisonRow, Entry};
use crate::palette;
use crate::published::PublishedValue;
use crate::statistics::{Statistics, significant};

const WIDTH: u32 = 1000;
/// Height of the lines below the title, and of the head without its legend, in pixels.
const LINE: i32 = 26;
const HEAD: i32 = 100;
/// The name of InArt's own scheme.
const OPTIMIZED: &str = "optimized";
/// Left edge of the bars, and the room for the number next to the longest bar, in pixels.
const LEFT: i32 = 430;
const NUMBER: i32 = 100;
/// Height of a panel's title, in pixels.
const PANEL_HEAD: i32 = 76;
/// Height of a row of one or two bars, and of a bar, in pixels.
const ROW: i32 = 52;
const BAR: i32 = 20;
/// Radius of the marks of a paper's numbers.
const MARK: i32 = 6;

/// Draws the panels with numbers of a comparison, one below the other.
pub fn comparison_svg(comparison: &Comparison) -> String {
    let own = own_scheme(comparison);
    let panels: Vec<Panel<'_>> = comparison.panels.iter().filter_map(|panel| Panel::of(panel, own)).collect();
    let keys = keys(&panels);
    let labels: Vec<String> = keys.iter().map(|key| label(key)).collect();
    let (places, rows) = legend_places(&labels, WIDTH as i32);
    let head = HEAD + LINE + LEGEND_ROW * rows;
    let height = head + panels.iter().map(Panel::height).sum::<i32>();
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height as u32)).into_drawing_area();
        let drawn = draw_head(&root, comparison, &keys, &places)
            .and_then(|()| draw_panels(&root, &panels, head))
            .and_then(|()| root.present());
        drawn.expect("drawing into memory does not fail");
    }
    text.push('\n');
    let panels = panels.iter().map(|panel| panel.of.quantity).collect::<BTreeSet<_>>();
    let panels = panels.into_iter().collect::<Vec<_>>().join("; ");
    with_title(&text, comparison.study.title, &format!("{}: {panels}.", comparison.study.name))
}

/// Returns the scheme of rows without a scheme: that of the study's paper.
fn own_scheme(comparison: &Comparison) -> &'static str {
    let study = &comparison.study;
    let titles = comparison.panels.iter().map(|panel| &*panel.title).chain([study.title]);
    match study.paper {
        "NETSTORM" => "netstorm",
        "SELMCAST" => "selmcast",
        _ if titles.into_iter().any(|title| title.contains("client")) => "fl-r2sp",
        _ => "r2sp",
    }
}

/// Returns the first scheme of the list that contains a paper's scheme.
fn list_of(own: &'static str) -> &'static str {
    if own == "fl-r2sp" { "r2sp" } else { own }
}

/// A bar: its scheme, and the statistics over the seeds.
struct Bar<'p> {
    scheme: &'static str,
    statistics: &'p Statistics,
}

/// A row of bars: its name, the number of the study's paper, the results from here.
struct Line<'p> {
    name: &'p str,
    paper: Option<f64>,
    bars: Vec<Bar<'p>>,
}

struct Panel<'p> {
    of: &'p ComparisonPanel,
    lines: Vec<Line<'p>>,
    greatest: f64,
}

fn number(entry: &Option<Entry>) -> Option<&Statistics> {
    match entry {
        Some(Entry::Number(statistics)) => Some(statistics),
        _ => None,
    }
}

fn printed(row: &ComparisonRow) -> Option<f64> {
    match row.paper.as_ref()?.entry {
        PublishedValue::Value(value) => Some(value),
        PublishedValue::Words(_) => None,
    }
}

impl<'p> Panel<'p> {
    /// Returns the panel's bars, `None` for words. Where `optimized` is the same in all rows, it gets one row
    /// of its own. A row that names no scheme belongs to the panel's scheme, or else to `own`.
    fn of(panel: &'p ComparisonPanel, own: &'static str) -> Option<Self> {
        let named = |text: &str| palette::scheme_in(text, list_of(own));
        let of_panel = named(&panel.title).unwrap_or(own);
        let optimized: Vec<Option<&Statistics>> =
            panel.rows.iter().map(|row| number(&row.optimized)).collect();
        let is_one = optimized.len() > 1 && optimized.iter().all(|one| one.is_some() && *one == optimized[0]);
        let bar = |scheme| move |statistics| Bar { scheme, statistics };
        let line = |(row, optimized): (&'p ComparisonRow, &Option<&'p Statistics>)| {
            let scheme = named(&row.x).unwrap_or(of_panel);
            let optimized = optimized.filter(|_| !is_one).map(bar(OPTIMIZED));
            Line {
                name: &row.x,
                paper: printed(row),
                bars: number(&row.here).map(bar(scheme)).into_iter().chain(optimized).collect(),
            }
        };
        let mut lines: Vec<_> = panel.rows.iter().zip(&optimized).map(line).collect();
        if let Some(one) = optimized.first().copied().flatten().filter(|_| is_one) {
            lines.push(Line {
                name: OPTIMIZED,
                paper: None,
                bars: vec![Bar { scheme: OPTIMIZED, statistics: one }],
            });
        }
        lines.retain(|line| !line.bars.is_empty());
        let numbers = lines
            .iter()
            .flat_map(|line| line.bars.iter().map(|bar| bar.statistics.greatest).chain(line.paper));
        let greatest = numbers.fold(0.0, f64::max);
        (greatest > 0.0).then_some(Panel { of: panel, lines, greatest })
    }

    fn height(&self) -> i32 {
        PANEL_HEAD + ROW * self.lines.len() as i32 + 24
    }
}

/// Returns the schemes of all bars, our own last.
fn keys(panels: &[Panel<'_>]) -> Vec<&'static str> {
    let mut keys: Vec<&'static str> = Vec::new();
    let bars = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.bars);
    for scheme in bars.map(|bar| bar.scheme) {
        if !keys.contains(&scheme) {
            keys.push(scheme);
        }
    }
    keys.sort_by_key(|scheme| *scheme == OPTIMIZED);
    keys
}

fn label(scheme: &str) -> String {
    if scheme == OPTIMIZED {
        format!("{scheme} (the default; the lower of two bars)")
    } else {
        scheme.to_owned()
    }
}

fn draw_head(root: &Area<'_>, comparison: &Comparison, keys: &[&str], places: &[(i32, i32)]) -> Drawn {
    root.fill(&WHITE)?;
    let study = &comparison.study;
    root.draw_text(study.title, &font(TITLE, INK), (24, 18))?;
    let lines = [
        format!("{}, {} seeds: mean, least and greatest of schemes run here.", study.name, comparison.seeds),
        format!("Hollow marks: the {} paper, {}.", study.paper, study.place),
    ];
    for (line, at) in lines.iter().zip(0..) {
        root.draw_text(line, &font(TEXT, FAINT), (24, 58 + LINE * at))?;
    }
    for (key, &(x, y)) in keys.iter().zip(places) {
        let y = y + LINE;
        root.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], rgb(key).filled()))?;
        root.draw_text(&label(key), &font(TEXT, INK), (x + 22, y - 9))?;
    }
    Ok(())
}

fn draw_panels(root: &Area<'_>, panels: &[Panel<'_>], head: i32) -> Drawn {
    let mut top = head;
    for panel in panels {
        draw_panel(root, panel, top)?;
        top += panel.height();
    }
    Ok(())
}

fn draw_panel(root: &Area<'_>, panel: &Panel<'_>, top: i32) -> Drawn {
    let ComparisonPanel { title, quantity, unit, .. } = panel.of;
    root.draw_text(&sentence(&format!("{quantity} ({unit})")), &font(HEADING, INK), (24, top + 12))?;
    root.draw_text(&sentence(title), &font(TEXT, FAINT), (24, top + 40))?;
    let scale = f64::from(WIDTH as i32 - LEFT - NUMBER) / panel.greatest;
    let at = |value: f64| LEFT + (value.max(0.0) * scale).round() as i32;
    for (place, line) in (0..).zip(&panel.lines) {
        let above = top + PANEL_HEAD + ROW * place;
        root.draw_text(line.name, &font(TEXT, INK), (24, above + (BAR * line.bars.len() as i32 - 16) / 2))?;
        // A paper's mark is on the first bar; numbers are next to both.
        let mark = line.paper.map_or(0, |paper| at(paper) + MARK);
        for (n, Bar { scheme, statistics }) in (0..).zip(&line.bars) {
            let up = above + n * (BAR + 1);
            let end = at(statistics.mean);
            root.draw(&Rectangle::new([(LEFT, up), (end, up + BAR)], rgb(scheme).filled()))?;
            let mut after = end.max(mark);
            if !statistics.is_constant() {
                let (least, most) = (at(statistics.least), at(statistics.greatest));
                let middle = up + BAR / 2;
                root.draw(&PathElement::new([(least, middle), (most, middle)], INK.mix(0.6)))?;
                after = after.max(most);
            }
            root.draw_text(&significant(statistics.mean, 3), &font(TEXT, FAINT), (after + 8, up + 2))?;
        }
        if let Some(paper) = line.paper {
            for circle in hollow_mark((at(paper), above + BAR / 2), INK) {
                root.draw(&circle)?;
            }
        }
    }
    Ok(())
}
