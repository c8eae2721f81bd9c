//! A comparison as an SVG chart: a row of bars per number, the paper's as hollow marks.

use plotters::prelude::*;

use crate::chart::{Area, Drawn, FAINT, INK, font, hollow_mark};
use crate::comparison::{Beside, Compared, Comparison, Entry};
use crate::published::PrintedEntry;
use crate::statistics::{Statistics, significant};

const WIDTH: u32 = 860;
const HEAD: u32 = 104;
const LEFT: i32 = 340;
const ROW: i32 = 34;
const BAR: i32 = 13;
const OURS: RGBColor = RGBColor(217, 119, 6);
const INART: RGBColor = RGBColor(37, 99, 235);

/// Draws the panels with numbers of a comparison, one below the other.
pub fn comparison_svg(comparison: &Comparison) -> String {
    let panels: Vec<Panel<'_>> = comparison.panels.iter().filter_map(Panel::of).collect();
    let height = HEAD + panels.iter().map(|panel| panel.height() as u32).sum::<u32>();
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&root, comparison, &panels).expect("drawing into memory does not fail");
    }
    text.push('\n');
    text
}

/// A bar: what it is, and over the seeds.
struct Line<'p> {
    name: &'p str,
    paper: Option<f64>,
    bars: Vec<(RGBColor, Statistics)>,
}

struct Panel<'p> {
    of: &'p Compared,
    lines: Vec<Line<'p>>,
    greatest: f64,
}

fn number(entry: &Option<Entry>) -> Option<Statistics> {
    match entry {
        Some(Entry::Number(statistics)) => Some(*statistics),
        _ => None,
    }
}

fn printed(row: &Beside) -> Option<f64> {
    match row.paper.as_ref()?.entry {
        PrintedEntry::Value(value) => Some(value),
        PrintedEntry::Words(_) => None,
    }
}

impl<'p> Panel<'p> {
    /// Nothing for words. Where `inart` is the same in all rows it gets one row of its own.
    fn of(panel: &'p Compared) -> Option<Self> {
        let inart: Vec<Option<Statistics>> = panel.rows.iter().map(|row| number(&row.inart)).collect();
        let is_one = inart.len() > 1 && inart.iter().all(|one| one.is_some() && *one == inart[0]);
        let line = |(row, inart): (&'p Beside, &Option<Statistics>)| {
            let inart = inart.filter(|_| !is_one).map(|statistics| (INART, statistics));
            let bars = number(&row.ours).map(|statistics| (OURS, statistics)).into_iter().chain(inart);
            Line { name: &row.x, paper: printed(row), bars: bars.collect() }
        };
        let mut lines: Vec<_> = panel.rows.iter().zip(&inart).map(line).collect();
        if let Some(one) = inart.first().copied().flatten().filter(|_| is_one) {
            lines.push(Line { name: "inart", paper: None, bars: vec![(INART, one)] });
        }
        lines.retain(|line| !line.bars.is_empty());
        let numbers = lines
            .iter()
            .flat_map(|line| line.bars.iter().map(|(_, statistics)| statistics.greatest).chain(line.paper));
        let greatest = numbers.fold(0.0, f64::max);
        (greatest > 0.0).then_some(Panel { of: panel, lines, greatest })
    }

    fn height(&self) -> i32 {
        44 + ROW * self.lines.len() as i32 + 20
    }
}

fn draw(root: &Area<'_>, comparison: &Comparison, panels: &[Panel<'_>]) -> Drawn {
    root.fill(&WHITE)?;
    root.draw_text(comparison.study.title, &font(22, INK), (24, 16))?;
    let line = format!(
        "{}, {} seeds: mean, least and greatest. Hollow marks: the paper, {}.",
        comparison.study.name, comparison.seeds, comparison.study.place
    );
    root.draw_text(&line, &font(14, FAINT), (24, 48))?;
    for (x, colour, label) in [(24, OURS, "the paper's scheme here (ours)"), (280, INART, "inart")] {
        root.draw(&Rectangle::new([(x, 78), (x + 14, 88)], colour.filled()))?;
        root.draw_text(label, &font(13, INK), (x + 20, 76))?;
    }
    let mut top = HEAD as i32;
    for panel in panels {
        draw_panel(root, panel, top)?;
        top += panel.height();
    }
    root.present()
}

fn draw_panel(root: &Area<'_>, panel: &Panel<'_>, top: i32) -> Drawn {
    let Compared { title, quantity, unit, .. } = panel.of;
    root.draw_text(&format!("{quantity}, {unit}: {title}"), &font(15, INK), (24, top + 12))?;
    // Room for the number behind the longest bar.
    let scale = f64::from(WIDTH as i32 - LEFT - 90) / panel.greatest;
    let at = |value: f64| LEFT + (value.max(0.0) * scale).round() as i32;
    for (place, line) in (0..).zip(&panel.lines) {
        let above = top + 44 + ROW * place;
        root.draw_text(line.name, &font(13, INK), (24, above + 6))?;
        for (n, &(colour, statistics)) in (0..).zip(&line.bars) {
            let up = above + n * (BAR + 1);
            let end = at(statistics.mean);
            root.draw(&Rectangle::new([(LEFT, up), (end, up + BAR)], colour.filled()))?;
            let mut after = end;
            if !statistics.is_constant() {
                let (least, most) = (at(statistics.least), at(statistics.greatest));
                let middle = up + BAR / 2;
                root.draw(&PathElement::new([(least, middle), (most, middle)], INK.mix(0.6)))?;
                after = after.max(most);
            }
            root.draw_text(&significant(statistics.mean, 3), &font(12, FAINT), (after + 6, up))?;
        }
        if let Some(paper) = line.paper {
            for circle in hollow_mark((at(paper), above + BAR / 2), INK) {
                root.draw(&circle)?;
            }
        }
    }
    Ok(())
}
