//! A chart, read from its SVG alone: its texts as boxes, its marks, and their colors. Reads the SVG of this
//! workspace's charts, not all of SVG.

/// Left, top, right, bottom, in pixels.
pub type Rectangle = [f64; 4];

/// Smallest size of a text when the picture is shown at half its width, in pixels.
const LEGIBLE: f64 = 9.0;

/// Least width of a node of a topology, in pixels; circles of numbers are smaller.
const NODE: f64 = 20.0;

/// A text and its box, estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    pub text: String,
    /// Size of its font, in pixels.
    pub size: f64,
    pub room: Rectangle,
}

/// A filled or stroked shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub kind: String,
    /// `#rrggbb`, in small letters.
    pub color: String,
    pub room: Rectangle,
}

/// A chart, taken apart.
#[derive(Debug)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    pub texts: Vec<Text>,
    pub marks: Vec<Mark>,
}

/// Widths of the printable characters of Helvetica from the space on, in thousandths of the size (Adobe's
/// font metrics).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Width of all other characters.
const OTHERS: u16 = 600;
/// Width of Inter, the first font of the charts, over that of Helvetica; and of bold text over plain text.
const WIDER: f64 = 1.06;
/// Above and below the line on which a text stands, in parts of its size.
const ASCENT: f64 = 0.72;
const DESCENT: f64 = 0.2;
/// Half the height of an x.
const HALF_X: f64 = 0.26;

fn width(text: &str, size: f64, is_bold: bool) -> f64 {
    let of = |letter: char| WIDTHS.get((letter as usize).wrapping_sub(32)).copied().unwrap_or(OTHERS);
    let sum: f64 = text.chars().map(|letter| f64::from(of(letter))).sum();
    sum * size / 1000.0 * if is_bold { WIDER * WIDER } else { WIDER }
}

/// An attribute's value.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let at = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[at..].split('"').next()
}

fn number(tag: &str, name: &str) -> Option<f64> {
    attribute(tag, name)?.parse().ok()
}

fn plain(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&quot;", "\""), ("&amp;", "&")];
    pairs.iter().fold(text.trim().to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

impl Text {
    fn read(root: &str, tag: &str, text: &str) -> Self {
        let of = |name: &str| attribute(tag, name).or_else(|| attribute(root, name));
        let size: f64 = of("font-size").unwrap().parse().unwrap();
        let (x, y) = (number(tag, "x").unwrap(), number(tag, "y").unwrap());
        let down = match attribute(tag, "dy") {
            Some(dy) if dy.ends_with("em") => size * dy[..dy.len() - 2].parse::<f64>().unwrap(),
            Some(_) => size * HALF_X,
            None => 0.0,
        };
        let is_bold = attribute(tag, "font-weight") == Some("600");
        let text = plain(text);
        let width = width(&text, size, is_bold);
        let left = match of("text-anchor") {
            Some("middle") => -width / 2.0,
            Some("end") => -width,
            _ => 0.0,
        };
        let [dx, dy, dx2, dy2] = [left, down - ASCENT * size, left + width, down + DESCENT * size];
        let room = match attribute(tag, "transform") {
            // Turned by 270 degrees about where it begins.
            Some(_) => [x + dy, y - dx2, x + dy2, y - dx],
            None => [x + dx, y + dy, x + dx2, y + dy2],
        };
        Text { text, size, room }
    }
}

fn mark(tag: &str) -> Option<Mark> {
    let kind = tag.split_whitespace().next()?.trim_start_matches('<').to_owned();
    let of = |name: &str| number(tag, name);
    let room = match &*kind {
        "rect" => {
            let (x, y) = (of("x")?, of("y")?);
            [x, y, x + of("width")?, y + of("height")?]
        }
        "line" => [of("x1")?, of("y1")?, of("x2")?, of("y2")?],
        "circle" => {
            let (x, y, radius) = (of("cx")?, of("cy")?, of("r")?);
            [x - radius, y - radius, x + radius, y + radius]
        }
        "polyline" => {
            let points = attribute(tag, "points")?.split_whitespace();
            let points: Vec<[f64; 2]> = points
                .filter_map(|point| {
                    let (x, y) = point.split_once(',')?;
                    Some([x.parse().ok()?, y.parse().ok()?])
                })
                .collect();
            let edge = |at: usize, pick: fn(f64, f64) -> f64, start| {
                points.iter().map(|point| point[at]).fold(start, pick)
            };
            let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
            [
                edge(0, f64::min, least),
                edge(1, f64::min, least),
                edge(0, f64::max, most),
                edge(1, f64::max, most),
            ]
        }
        _ => return None,
    };
    let mut paint = ["fill", "stroke"].into_iter().filter_map(|name| attribute(tag, name));
    let color = paint.rfind(|paint| paint.starts_with('#'))?.to_lowercase();
    Some(Mark { kind, color, room })
}

impl Picture {
    pub fn read(svg: &str) -> Self {
        let root = svg.split('>').next().unwrap();
        let mut picture = Picture {
            width: number(root, "width").unwrap(),
            height: number(root, "height").unwrap(),
            texts: Vec::new(),
            marks: Vec::new(),
        };
        for tag in svg.split('<').skip(2) {
            let Some((attributes, content)) = tag.split_once('>') else { continue };
            if attributes.starts_with("text ") {
                let text = Text::read(root, attributes, content);
                picture.texts.extend((!text.text.is_empty()).then_some(text));
            } else {
                picture.marks.extend(mark(attributes));
            }
        }
        picture
    }

    /// Returns texts that leave the picture or are too small, and texts that are on each other or under a
    /// mark.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        // Larger circles are nodes, which have their name inside.
        let is_number = |mark: &&Mark| mark.kind == "circle" && mark.room[2] - mark.room[0] < NODE;
        let circles = self.marks.iter().filter(is_number);
        for (at, Text { text, size, room }) in self.texts.iter().enumerate() {
            let [left, top, right, bottom] = *room;
            if size / 2.0 < LEGIBLE - 1e-9 {
                found.push(format!("{text:?} has {:.1} pixels at half the width", size / 2.0));
            }
            if left < 0.0 || top < 0.0 || right > self.width || bottom > self.height {
                found.push(format!("{text:?} leaves the picture: {room:.0?}"));
            }
            for other in &self.texts[at + 1..] {
                if overlap(room, &other.room) {
                    found.push(format!("{text:?} and {:?} are on each other at {room:.0?}", other.text));
                }
            }
            if circles.clone().any(|mark| overlap(room, &mark.room)) {
                found.push(format!("a mark is on {text:?} at {room:.0?}"));
            }
        }
        found
    }

    /// Returns the color of the mark nearest to a text on its line: in a legend, that of the name.
    pub fn color_beside(&self, text: &Text) -> Option<&str> {
        let [left, top, right, bottom] = text.room;
        let middle = |room: &Rectangle| (room[1] + room[3]) / 2.0;
        let beside = self.marks.iter().filter(|mark| {
            let height = mark.room[3] - mark.room[1];
            mark.kind != "circle" && height < 40.0 && (top..bottom).contains(&middle(&mark.room))
        });
        let far = |mark: &&Mark| (left - mark.room[2]).max(mark.room[0] - right);
        let near = beside.filter(|mark| (-1.0..45.0).contains(&far(mark)));
        near.min_by(|one, other| far(one).total_cmp(&far(other))).map(|mark| &*mark.color)
    }
}

/// Returns whether two boxes share more than an edge.
pub fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
    let shared = |low: usize, high: usize| one[high].min(other[high]) - one[low].max(other[low]);
    shared(0, 2) > 0.5 && shared(1, 3) > 0.5
}
