//! Colors of schemes: one per scheme, in every chart. Color-blind readers can tell them apart.

/// Colors of charts, for any seven schemes of one system.
pub const COLORS: [&str; 7] = ["#2266ee", "#dd3311", "#222266", "#665555", "#ddaaee", "#550000", "#22ff33"];

/// Color of the reference that schemes are compared with: a broad band behind their curves.
pub const BAND: &str = "#ccddcc";

/// Schemes by system, each with the index of its color. The first of a list is the scheme that the system's
/// paper proposes.
const SCHEMES: [&[(&str, usize)]; 5] = [
    &[
        ("optimized", 0),
        ("atp", 1),
        ("inart", 2),
        ("lbmm", 3),
        ("r-inart", 4),
        ("atp-unlimited", 5),
        ("optimal", 6),
    ],
    &[("optimized", 0), ("two-levels", 1)],
    &[("netstorm", 1), ("fapt", 2), ("star", 3), ("mst", 4), ("bkt", 5), ("gloo", 6)],
    &[("selmcast", 1), ("orpheus", 2), ("optimal", 6)],
    &[("r2sp", 1), ("asp", 2), ("bsp", 3), ("ssp", 4), ("safa", 5), ("fl-r2sp", 6)],
];

/// Names that papers give to schemes.
const CALLED: [(&str, &str); 2] = [("mxnet", "star"), ("r²sp", "r2sp")];
/// InArt next to systems of other papers is the default scheme.
const ELSEWHERE: (&str, &str) = ("inart", "optimized");

/// Returns the color of a scheme by its name. Further words of the name, and a plus behind it (auxiliary
/// paths), change nothing.
pub fn color(scheme: &str) -> &'static str {
    let all = || SCHEMES.iter().flat_map(|schemes| schemes.iter());
    let place = |name: &str| all().find(|(known, _)| *known == name).map(|(_, place)| *place);
    let first = scheme.split_whitespace().next().unwrap_or_default();
    let plain = first.trim_end_matches('+');
    COLORS[place(scheme).or_else(|| place(plain)).unwrap_or(COLORS.len() - 1)]
}

/// Returns the scheme that a text names first, of those that are compared with `own`, a published scheme.
pub(crate) fn scheme_in(text: &str, own: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let schemes = SCHEMES.iter().find(|schemes| schemes[0].0 == own)?;
    let known = |name: &str| {
        let name = CALLED.iter().find(|(called, _)| *called == name).map_or(name, |(_, scheme)| scheme);
        let name = if name == ELSEWHERE.0 { ELSEWHERE.1 } else { name };
        let of_all = schemes.iter().chain(SCHEMES[0].iter().take(1));
        of_all.map(|(known, _)| *known).find(|known| *known == name)
    };
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '²');
    words.flat_map(|word| known(word).or_else(|| known(word.split('-').next()?))).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
    /// Deficiency" (2009), severity 1.0: protanopia, deuteranopia, tritanopia; and no deficiency.
    const VISION: [[[f64; 3]; 3]; 4] = [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ];
    /// Linear sRGB to XYZ, divided by the white point D65.
    const XYZ: [[f64; 3]; 3] = [
        [0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883],
    ];

    fn times(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// CIELAB of a color as someone with that vision sees it.
    fn lab(hex: &str, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a color")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let seen = times(vision, [channel(1), channel(3), channel(5)]).map(|value| value.clamp(0.0, 1.0));
        let [x, y, z] = times(&XYZ, seen)
            .map(|t| if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// CIEDE2000 (Sharma, Wu and Dalal, 2005).
    fn delta_e([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
        let seven = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
        let g = 0.5 * (1.0 - seven((a1.hypot(b1) + a2.hypot(b2)) / 2.0));
        let (a1, a2) = ((1.0 + g) * a1, (1.0 + g) * a2);
        let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
        let hue = |a: f64, b: f64| {
            if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) }
        };
        let (h1, h2) = (hue(a1, b1), hue(a2, b2));
        let turn = if c1 * c2 == 0.0 { 0.0 } else { (h2 - h1 + 180.0).rem_euclid(360.0) - 180.0 };
        let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
        let (l, c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
        let h = match () {
            () if c1 * c2 == 0.0 => h1 + h2,
            () if (h1 - h2).abs() <= 180.0 => (h1 + h2) / 2.0,
            () => ((h1 + h2 + 360.0) / 2.0).rem_euclid(360.0),
        };
        let cos = |degrees: f64| degrees.to_radians().cos();
        let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
            - 0.20 * cos(4.0 * h - 63.0);
        let turned = 30.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
        let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
        let (dl, dc, dh) = ((l2 - l1) / sl, (c2 - c1) / (1.0 + 0.045 * c), dh / (1.0 + 0.015 * c * t));
        let rt = -(2.0 * turned).to_radians().sin() * 2.0 * seven(c);
        (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
    }

    /// Pairs from the test data of Sharma, Wu and Dalal.
    #[test]
    fn the_difference_is_as_published() {
        for (one, other, expected) in [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
            ([22.7233, 20.0904, -46.6940], [23.0331, 14.9730, -42.5619], 2.0373),
        ] {
            let found = delta_e(one, other);
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
        }
    }

    #[test]
    fn every_reader_can_tell_any_two_colors_of_a_chart_apart() {
        for schemes in SCHEMES {
            let ours = ["optimized"].into_iter().filter(|_| schemes[0].1 != 0);
            let colors: Vec<_> =
                schemes.iter().map(|(name, _)| *name).chain(ours).map(color).chain([BAND]).collect();
            for (at, one) in colors.iter().enumerate() {
                for other in &colors[at + 1..] {
                    for vision in &VISION {
                        let apart = delta_e(lab(one, vision), lab(other, vision));
                        assert!(apart >= 20.0, "{one} and {other} are {apart:.1} apart");
                    }
                }
            }
        }
    }

    #[test]
    fn a_scheme_has_one_color_however_it_is_run() {
        for (name, place) in SCHEMES.iter().flat_map(|schemes| schemes.iter()) {
            assert_eq!(color(name), COLORS[*place], "{name}");
        }
        assert_eq!(color("netstorm node-disjoint"), color("netstorm"));
        assert_eq!(color("netstorm+"), color("netstorm"));
        assert_eq!(color("optimized"), COLORS[0]);
    }

    #[test]
    fn rows_of_papers_name_their_scheme() {
        for (text, own, expected) in [
            ("NETSTORM (pro)", "netstorm", Some("netstorm")),
            ("NetStorm-lite", "netstorm", Some("netstorm")),
            ("MXNET (star)", "netstorm", Some("star")),
            ("FAPT over STAR, the better network", "netstorm", Some("fapt")),
            ("n = 50, Orpheus", "selmcast", Some("orpheus")),
            ("ResNet20, fl-r2sp", "r2sp", Some("fl-r2sp")),
            ("0.1, InArt alone", "r2sp", Some("optimized")),
            ("0.1, R²SP alone", "r2sp", Some("r2sp")),
            ("even shares", "netstorm", None),
            ("bound 1, queue 2", "netstorm", None),
        ] {
            assert_eq!(scheme_in(text, own), expected, "{text}");
        }
    }
}
