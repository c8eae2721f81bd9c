//! A result as an SVG chart: results from here are filled, the InArt paper's are hollow, bounds are dashed.

use std::collections::BTreeSet;

use inart_planner_aggregation::schemes;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::catalog::Axis;
use crate::palette;
use crate::quantity::Quantity;
use crate::result::{PanelResult, Row, RunResult};
use crate::series::Series;
use crate::statistics::significant;

const PANEL: (u32, u32) = (560, 430);
/// Height of the head without its legend, in pixels.
const HEAD: u32 = 100;
const MARGIN: i32 = 24;
/// Sizes of text, in pixels. The smallest has 9 pixels when the picture is shown at half its width.
pub(crate) const TEXT: u32 = 18;
pub(crate) const HEADING: u32 = 20;
pub(crate) const TITLE: u32 = 26;
/// Height of a row of a legend, in pixels.
pub(crate) const LEGEND_ROW: i32 = 28;
/// Mean width of a character of the smallest text, in pixels.
const CHARACTER: f64 = 9.8;
/// `SVGBackend` writes the size of a font divided by this number.
const BACKEND_SCALE: f64 = 1.24;
const FONT: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";
pub(crate) const INK: RGBColor = RGBColor(31, 41, 55);
pub(crate) const FAINT: RGBColor = RGBColor(107, 114, 128);
const GRID: RGBColor = RGBColor(229, 231, 235);

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws all panels of a result.
pub fn svg(result: &RunResult) -> String {
    let mut text = String::new();
    let columns = if result.panels.len() == 4 { 2 } else { result.panels.len().max(1) };
    let rows = result.panels.len().div_ceil(columns).max(1);
    let width = PANEL.0 * columns as u32;
    let labels: Vec<String> = legend_rows(result).iter().map(label).collect();
    let (places, legend_rows) = legend_places(&labels, width as i32);
    let head = HEAD + LEGEND_ROW as u32 * legend_rows as u32;
    let size = (width, head + PANEL.1 * rows as u32);
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let entries: Vec<_> = labels.into_iter().zip(places).collect();
        draw(&root, result, &entries, head, (rows, columns)).expect("drawing into memory does not fail");
    }
    text.push('\n');
    let names = result.panels.iter().map(|panel| axis_name(panel.quantity)).collect::<BTreeSet<_>>();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    with_title(&text, result.title, &format!("{}: {names} for each scheme and bound.", result.experiment))
}

/// An entry of a legend, and its left edge and middle line.
type LegendEntry = (String, (i32, i32));

/// Returns the document with a title and a description for readers that cannot see the picture.
pub(crate) fn with_title(svg: &str, title: &str, description: &str) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (title, description) = (escaped(title), escaped(description));
    let (root, rest) = svg.split_once(">\n").expect("begins with the root's tag");
    format!("{root} role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n{rest}")
}

/// Returns the text with a capital first letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The quantity's name on the axis of y.
fn axis_name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::SendingRate { .. } => "Sending rate per worker",
        Quantity::ServerIngress => "Traffic into servers per iteration",
        other => other.name(),
    }
}

fn draw(
    root: &Area<'_>,
    result: &RunResult,
    entries: &[LegendEntry],
    head: u32,
    (rows, columns): (usize, usize),
) -> Drawn {
    root.fill(&WHITE)?;
    let (head, body) = root.split_vertically(head);
    head.draw_text(result.title, &font(TITLE, INK), (MARGIN, 18))?;
    let seeds = match result.seeds {
        1 => "one seed".to_owned(),
        n => format!("{n} seeds: mean, least and greatest"),
    };
    let figure = result
        .figure
        .map_or(String::new(), |figure| format!(" Hollow marks: the InArt paper, Fig. {figure}."));
    let line = format!("{}, {seeds}.{figure}", result.experiment);
    head.draw_text(&line, &font(TEXT, FAINT), (MARGIN, 58))?;
    legend(&head, result, entries)?;
    for (panel, area) in result.panels.iter().zip(body.split_evenly((rows, columns))) {
        // One scale for panels that compare, unless one would be lost in it.
        let like = result.panels.iter().filter(|other| other.name == panel.name).map(greatest);
        let top = like.filter(|&top| top <= 2.0 * greatest(panel)).fold(0.0, f64::max);
        draw_panel(&area, panel, 1.06 * top)?;
    }
    root.present()
}

pub(crate) fn font(size: u32, color: RGBColor) -> TextStyle<'static> {
    (FONT, f64::from(size) * BACKEND_SCALE).into_font().color(&color)
}

fn color_of(series: Series) -> RGBColor {
    match series {
        Series::Scheme(_) | Series::TwoLevels => rgb(series.name()),
        Series::Bound => INK,
        Series::Lp => FAINT,
        Series::TwoLevelsBound => rgb(Series::TwoLevels.name()),
    }
}

/// Returns a scheme's color in all charts.
pub(crate) fn rgb(scheme: &str) -> RGBColor {
    let color = palette::color(scheme);
    let part = |at: usize| u8::from_str_radix(&color[at..at + 2], 16).unwrap_or_default();
    RGBColor(part(1), part(3), part(5))
}

/// Returns the lengths of dashes and of the gaps between them, which differ between bounds.
fn dashes(series: Series) -> (i32, i32) {
    if series == Series::Lp { (2, 5) } else { (8, 8) }
}

fn legend_rows(result: &RunResult) -> &[Row] {
    result.panels.first().map_or(&[][..], |panel| &panel.rows)
}

/// Returns the label of a row in the legend.
fn label(row: &Row) -> String {
    let name = row.series.name();
    // A published name needs no explanation.
    let published_as = row.published_as.filter(|paper| !paper.eq_ignore_ascii_case(name));
    match (published_as, row.series) {
        (Some(paper), _) => format!("{name} (paper: {paper})"),
        (None, Series::Scheme(scheme)) if scheme == schemes::DEFAULT => format!("{name} (the default)"),
        (None, Series::Bound) => "bound of unsplit plans".to_owned(),
        (None, Series::Lp) => "LP bound".to_owned(),
        (None, Series::TwoLevelsBound) => "bound of unsplit plans of two levels".to_owned(),
        (None, _) => name.to_owned(),
    }
}

/// Returns the left edge and the middle line of each label's mark in a legend, and the number of rows.
pub(crate) fn legend_places(labels: &[String], width: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut row) = (MARGIN, 0);
    let mut all = Vec::new();
    for label in labels {
        let own = 48 + (CHARACTER * label.chars().count() as f64) as i32;
        if x > MARGIN && x + own > width {
            (x, row) = (MARGIN, row + 1);
        }
        all.push((x, HEAD as i32 + LEGEND_ROW * row));
        x += own;
    }
    (all, row + 1)
}

fn legend(head: &Area<'_>, result: &RunResult, entries: &[LegendEntry]) -> Drawn {
    for (row, (label, (x, y))) in legend_rows(result).iter().zip(entries) {
        let (x, y) = (*x, *y);
        let color = color_of(row.series);
        if row.series.is_reached() {
            head.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], color.filled()))?;
        } else {
            let (long, gap) = dashes(row.series);
            for dash in (0..14).step_by((long + gap) as usize / 2) {
                let ends = [(x + dash, y), (x + dash + long / 2 + 1, y)];
                head.draw(&PathElement::new(ends, color.stroke_width(2)))?;
            }
        }
        head.draw_text(label, &font(TEXT, INK), (x + 22, y - 9))?;
    }
    Ok(())
}

/// Returns the greatest number of a panel.
fn greatest(panel: &PanelResult) -> f64 {
    let cells = panel.rows.iter().flat_map(|row| &row.cells);
    cells
        .flat_map(|cell| [cell.here.greatest, cell.paper.as_ref().map_or(0.0, |paper| paper.value)])
        .fold(0.0, f64::max)
}

fn draw_panel(area: &Area<'_>, panel: &PanelResult, top: f64) -> Drawn {
    let bars = panel.axis == Axis::Model || panel.x.len() <= 3;
    let count = panel.x.len() as f64;
    let width = if bars { 0.0..count } else { -0.25..count - 0.75 };
    let mut chart = ChartBuilder::on(area)
        .margin_top(8)
        .margin_right(20)
        .margin_left(12)
        .margin_bottom(12)
        .caption(sentence(panel.title), font(HEADING, INK))
        .x_label_area_size(66)
        .y_label_area_size(88)
        .build_cartesian_2d(width, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .y_label_formatter(&|y| if *y == 0.0 { "0".to_owned() } else { trimmed(*y) })
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(FAINT)
        .label_style(font(TEXT, FAINT))
        .axis_desc_style(font(TEXT, INK))
        .y_desc(format!("{} ({})", axis_name(panel.quantity), panel.unit))
        .draw()?;
    let offset = if bars { 0.5 } else { 0.0 };
    x_labels(area, &chart, panel, offset)?;
    if bars { grouped_bars(&mut chart, panel) } else { curves(&mut chart, panel) }
}

/// Formats a number without trailing zeros.
fn trimmed(value: f64) -> String {
    let text = significant(value, 3);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn x_labels(area: &Area<'_>, chart: &Chart<'_, '_>, panel: &PanelResult, offset: f64) -> Drawn {
    let style = font(TEXT, INK).pos(Pos::new(HPos::Center, VPos::Top));
    let (left, above) = area.get_base_pixel();
    for (index, x) in panel.x.iter().enumerate() {
        let (px, py) = chart.backend_coord(&(index as f64 + offset, 0.0));
        area.draw_text(x, &style, (px - left, py - above + 8))?;
    }
    let (px, py) = chart.backend_coord(&(panel.x.len() as f64 / 2.0 + offset - 0.5, 0.0));
    let name = match panel.axis {
        Axis::Workers => "Number of workers",
        Axis::Servers => "Number of parameter servers",
        Axis::Model => "Model",
    };
    area.draw_text(name, &style, (px - left, py - above + 34))
}

fn curves(chart: &mut Chart<'_, '_>, panel: &PanelResult) -> Drawn {
    let (schemes, bounds): (Vec<&Row>, Vec<&Row>) =
        panel.rows.iter().rev().partition(|row| row.series.is_reached());
    for row in &schemes {
        let color = color_of(row.series);
        let points = || row.cells.iter().enumerate().map(|(i, cell)| (i as f64, cell));
        for (x, cell) in points().filter(|(_, cell)| !cell.here.is_constant()) {
            let ends = [(x, cell.here.least), (x, cell.here.greatest)];
            chart.draw_series([PathElement::new(ends, color.mix(0.45).stroke_width(3))])?;
        }
        let mean = points().map(|(x, cell)| (x, cell.here.mean));
        chart.draw_series(LineSeries::new(mean.clone(), color.stroke_width(2)))?;
        chart.draw_series(mean.map(|at| Circle::new(at, 4, color.filled())))?;
    }
    // On top of the schemes: where one meets its bound, both show.
    for row in bounds {
        let mean = row.cells.iter().enumerate().map(|(i, cell)| (i as f64, cell.here.mean));
        let (long, gap) = dashes(row.series);
        chart.draw_series(DashedLineSeries::new(mean, long, gap, color_of(row.series).stroke_width(2)))?;
    }
    for row in schemes {
        let color = color_of(row.series);
        let cells = row.cells.iter().enumerate();
        let paper = cells.filter_map(|(i, cell)| Some((i as f64, cell.paper.as_ref()?.value)));
        chart.draw_series(LineSeries::new(paper.clone(), color.mix(0.5).stroke_width(1)))?;
        for at in paper {
            hollow(chart, at, color)?;
        }
    }
    Ok(())
}

/// Draws a mark for a number of the InArt paper.
fn hollow(chart: &mut Chart<'_, '_>, at: (f64, f64), color: RGBColor) -> Drawn {
    chart.draw_series(hollow_mark(at, color))?;
    Ok(())
}

pub(crate) fn hollow_mark<C>(at: C, color: RGBColor) -> [Circle<C, i32>; 2]
where
    C: Copy,
{
    [Circle::new(at, 5, WHITE.filled()), Circle::new(at, 5, color.stroke_width(2))]
}

fn grouped_bars(chart: &mut Chart<'_, '_>, panel: &PanelResult) -> Drawn {
    let schemes: Vec<&Row> = panel.rows.iter().filter(|row| row.series.is_reached()).collect();
    let width = 0.84 / schemes.len().max(1) as f64;
    for (n, row) in schemes.iter().enumerate() {
        let color = color_of(row.series);
        for (i, cell) in row.cells.iter().enumerate() {
            let left = i as f64 + 0.08 + width * n as f64;
            let (right, middle) = (left + 0.86 * width, left + 0.43 * width);
            chart.draw_series([Rectangle::new([(left, 0.0), (right, cell.here.mean)], color.filled())])?;
            if !cell.here.is_constant() {
                let ends = [(middle, cell.here.least), (middle, cell.here.greatest)];
                chart.draw_series([PathElement::new(ends, INK.mix(0.7).stroke_width(1))])?;
            }
            if let Some(paper) = &cell.paper {
                hollow(chart, (middle, paper.value), INK)?;
            }
        }
    }
    for row in panel.rows.iter().filter(|row| !row.series.is_reached()) {
        for (i, cell) in row.cells.iter().enumerate() {
            let ends = [(i as f64 + 0.04, cell.here.mean), (i as f64 + 0.96, cell.here.mean)];
            let (long, gap) = dashes(row.series);
            chart.draw_series(DashedLineSeries::new(
                ends,
                long,
                gap / 2,
                color_of(row.series).stroke_width(2),
            ))?;
        }
    }
    Ok(())
}
