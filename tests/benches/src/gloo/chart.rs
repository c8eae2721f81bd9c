//! The ratios of Gloo's and InArt's times as an SVG chart: a curve per network over the sizes of tensors.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::Pair;

const SIZE: (u32, u32) = (1000, 600);
/// Height of the head, and width of the legend, in pixels.
const HEAD: u32 = 130;
const LEGEND: u32 = 250;
/// Sizes of text, in pixels. The smallest has 9 pixels when the picture is shown at half its width.
const TEXT: u32 = 18;
const HEADING: u32 = 20;
const TITLE: u32 = 26;
/// `SVGBackend` writes the size of a font divided by this number.
const BACKEND_SCALE: f64 = 1.24;
const FONT: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(31, 41, 55);
const FAINT: RGBColor = RGBColor(107, 114, 128);
const GRID: RGBColor = RGBColor(229, 231, 235);
const COLORS: [RGBColor; 6] = [
    RGBColor(37, 99, 235),
    RGBColor(217, 119, 6),
    RGBColor(13, 148, 136),
    RGBColor(180, 83, 9),
    RGBColor(132, 204, 22),
    RGBColor(148, 163, 184),
];

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws Gloo's time over InArt's: measured ratios solid, the bound of equal links, 2 (n - 1) / n, dashed.
pub fn svg(pairs: &[Pair]) -> String {
    let mut text = String::new();
    draw(&mut text, pairs).expect("drawing into memory does not fail");
    text.push('\n');
    let (root, rest) = text.split_once(">\n").expect("begins with the root's tag");
    let title = "All-reduce time of Gloo over InArt's";
    let description = "The ratio of Gloo's to InArt's time by the size of the tensor, for each network, and the \
                       ratio of the bytes that a ring and a switch send.";
    format!("{root} role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n{rest}")
}

fn draw(text: &mut String, pairs: &[Pair]) -> Drawn {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut sizes: Vec<usize> = pairs.iter().map(|pair| 4 * pair.values).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let ratio = |pair: &Pair| pair.gloo_seconds / pair.seconds;
    let top = pairs.iter().map(|pair| ratio(pair).max(pair.network.ring_share())).fold(2.0, f64::max) * 1.3;
    let bottom = pairs.iter().map(ratio).fold(0.5, f64::min) / 1.3;
    let (head, body) = root.split_vertically(HEAD);
    head.draw_text("All-reduce: Gloo compared with InArt", &font(TITLE, INK), (20, 18))?;
    head.draw_text(
        "Dashed: 2 (n - 1) / n, the bytes that a ring sends over those of a switch",
        &font(TEXT, FAINT),
        (20, 58),
    )?;
    head.draw_text("Time of Gloo / time of InArt (log scale)", &font(HEADING, INK), (20, 100))?;
    let mut chart = ChartBuilder::on(&body)
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(70)
        .y_label_area_size(56)
        .build_cartesian_2d(-0.2..sizes.len() as f64 - 0.8, (bottom..top).log_scale())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(0)
        .y_labels(0)
        .y_label_formatter(&|_| String::new())
        .axis_style(FAINT)
        .draw()?;
    let (left, above) = body.get_base_pixel();
    let beside = font(TEXT, FAINT).pos(Pos::new(HPos::Right, VPos::Center));
    for tick in ticks(bottom, top) {
        chart.draw_series(LineSeries::new([(-0.2, tick), (sizes.len() as f64 - 0.8, tick)], GRID))?;
        let (x, y) = chart.backend_coord(&(-0.2, tick));
        body.draw_text(&tick.to_string(), &beside, (x - left - 8, y - above))?;
    }
    let middle = font(TEXT, INK).pos(Pos::new(HPos::Center, VPos::Top));
    for (index, size) in sizes.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(index as f64, bottom));
        body.draw_text(&bytes(*size), &middle, (x - left, y - above + 8))?;
    }
    let (x, y) = chart.backend_coord(&(sizes.len() as f64 / 2.0 - 0.5, bottom));
    body.draw_text("Tensor size", &middle, (x - left, y - above + 36))?;
    let names = pairs.iter().map(|pair| &pair.network.name);
    let mut seen: Vec<&String> = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name)
        }
    });
    chart.draw_series(LineSeries::new([(-0.2, 1.0), (sizes.len() as f64 - 0.8, 1.0)], FAINT))?;
    for (index, name) in seen.into_iter().enumerate() {
        let shade = COLORS[index % COLORS.len()];
        let of_network: Vec<&Pair> = pairs.iter().filter(|pair| pair.network.name == *name).collect();
        let place = |pair: &Pair| sizes.iter().position(|size| *size == 4 * pair.values).unwrap_or(0) as f64;
        let points: Vec<(f64, f64)> = of_network.iter().map(|pair| (place(pair), ratio(pair))).collect();
        let allowed = of_network.iter().map(|pair| (place(pair), pair.network.ring_share()));
        chart.draw_series(DashedLineSeries::new(allowed, 6, 6, shade.stroke_width(1)))?;
        chart.draw_series(LineSeries::new(points.clone(), shade.stroke_width(2)))?;
        chart.draw_series(points.into_iter().map(|at| Circle::new(at, 4, shade.filled())))?;
        let (x, y) = (SIZE.0 as i32 - LEGEND as i32 + 16, 24 + 28 * index as i32);
        body.draw(&PathElement::new([(x, y + 9), (x + 18, y + 9)], shade.stroke_width(3)))?;
        body.draw_text(name, &font(TEXT, INK), (x + 26, y))?;
    }
    body.present()
}

/// Returns one, two and five times powers of ten, whose neighbors have room on a logarithmic scale.
fn ticks(bottom: f64, top: f64) -> impl Iterator<Item = f64> {
    let powers = (bottom.log10().floor() as i32)..=(top.log10().ceil() as i32);
    let all = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
    all.filter(move |tick| (bottom..top).contains(tick))
}

fn font(size: u32, shade: RGBColor) -> TextStyle<'static> {
    (FONT, f64::from(size) * BACKEND_SCALE).into_font().color(&shade)
}

fn bytes(size: usize) -> String {
    match size {
        0..1_000 => format!("{size} B"),
        1_000..1_000_000 => format!("{} KB", size / 1_000),
        _ => format!("{} MB", size / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;

    #[test]
    fn every_network_has_a_curve_and_a_name() {
        let pair = |workers, values| Pair {
            network: Network::star(workers, 1e8),
            values,
            seconds: 1.0,
            gloo_seconds: 1.5,
            limit_seconds: 0.9,
            sums_checked: 1,
            gloo_values_checked: 1,
        };
        let chart = svg(&[pair(2, 250), pair(2, 250_000), pair(6, 250), pair(6, 250_000)]);
        for text in ["2 workers, 100 Mbps", "6 workers, 100 Mbps", "1 KB", "1 MB"] {
            assert!(chart.contains(text), "{text}");
        }
        assert_eq!(chart.matches("<circle").count(), 4);
        let labels = |text: &str| chart.matches(&format!("\n{text}\n")).count();
        assert_eq!([labels("1"), labels("2"), labels("9"), labels("10")], [1, 1, 0, 0], "{chart}");
        assert_eq!(ticks(0.4, 12.0).collect::<Vec<_>>(), [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert!(!chart.contains("NaN"));
    }
}
