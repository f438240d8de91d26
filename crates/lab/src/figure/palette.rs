//! Colours that readers with any colour vision can tell apart, on white and on black.
//!
//! Series have the colours of Okabe and Ito (2008), yellow left out, then some of Paul Tol's; in the dark each is a lighter one
//! of the same hue.

/// Where a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// In a file of its own: black on white.
    File,
    /// In a page: colours are classes, which the page's style sheet gives values, so that they follow its theme.
    Page,
}

/// What something is coloured as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colour {
    /// Titles and names.
    Text,
    /// Labels of axes.
    Faint,
    /// Lines of the grid.
    Grid,
    /// What is behind everything.
    Paper,
    /// One of several kinds, numbered from 0. From [`Colour::KINDS`] on they are there again.
    Kind(usize),
    /// From easy, 0, to hard, 1, in [`Colour::STEPS`] steps.
    Difficulty(f64),
}

/// Light and dark, by number of kind.
pub(crate) const SERIES: [[&str; 2]; 10] = [
    ["#0072b2", "#5fb4ea"],
    ["#d55e00", "#ff8f4d"],
    ["#009e73", "#3fcf9f"],
    ["#b8578f", "#e59ac6"],
    ["#c98500", "#f0b840"],
    ["#3f9fd8", "#8fd0f7"],
    ["#5b3fa0", "#a994e8"],
    ["#7f7f2a", "#c6c65c"],
    ["#882255", "#d97aa8"],
    ["#555555", "#b0b0b0"],
];

/// Light and dark, from easy to hard: blue over grey to vermillion.
pub(crate) const DIFFICULTY: [[&str; 2]; 9] = [
    ["#0a5f9e", "#4aa8ec"],
    ["#3579ad", "#6cb0e2"],
    ["#5c92b8", "#86b4d4"],
    ["#86a8bd", "#9ab4c4"],
    ["#a8a8a4", "#b0b0ac"],
    ["#c09c7c", "#cfaa86"],
    ["#cd8553", "#e29d66"],
    ["#d46c2a", "#f28d49"],
    ["#cf4f00", "#ff7a2e"],
];

const TEXT: [&str; 2] = ["#1d2329", "#e8eaed"];
const FAINT: [&str; 2] = ["#59626c", "#a3abb5"];
const GRID: [&str; 2] = ["#dfe3e7", "#343a41"];
const PAPER: [&str; 2] = ["#ffffff", "#17191c"];

impl Colour {
    /// How many kinds have a colour of their own.
    pub const KINDS: usize = SERIES.len();
    /// How many shades there are from easy to hard.
    pub const STEPS: usize = DIFFICULTY.len();

    fn step(share: f64) -> usize {
        ((share.clamp(0.0, 1.0) * (Self::STEPS - 1) as f64).round() as usize).min(Self::STEPS - 1)
    }

    /// On white.
    pub(crate) fn light(self) -> &'static str {
        match self {
            Self::Text => TEXT[0],
            Self::Faint => FAINT[0],
            Self::Grid => GRID[0],
            Self::Paper => PAPER[0],
            Self::Kind(kind) => SERIES[kind % SERIES.len()][0],
            Self::Difficulty(share) => DIFFICULTY[Self::step(share)][0],
        }
    }

    /// Its name in the classes of a page: `f-NAME` fills, `s-NAME` strokes.
    pub(crate) fn class(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Faint => "faint".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Paper => "paper".to_owned(),
            Self::Kind(kind) => format!("k{}", kind % SERIES.len()),
            Self::Difficulty(share) => format!("d{}", Self::step(share)),
        }
    }

    /// All that there are.
    fn all() -> Vec<(Self, [&'static str; 2])> {
        let named = [(Self::Text, TEXT), (Self::Faint, FAINT), (Self::Grid, GRID), (Self::Paper, PAPER)];
        let kinds = SERIES.iter().enumerate().map(|(kind, &pair)| (Self::Kind(kind), pair));
        let shade = |step: usize| Self::Difficulty(step as f64 / (Self::STEPS - 1) as f64);
        let shades = DIFFICULTY.iter().enumerate().map(|(step, &pair)| (shade(step), pair));
        named.into_iter().chain(kinds).chain(shades).collect()
    }

    fn values(theme: usize) -> String {
        let of = |(colour, pair): (Self, [&'static str; 2])| format!("--{}:{};", colour.class(), pair[theme]);
        Self::all().into_iter().map(of).collect()
    }

    /// The style sheet that a page needs for its figures: `--NAME` for each colour, and classes with them. The theme is that of
    /// the system, or what `data-theme` of the root says, and light on paper.
    pub fn style_sheet() -> String {
        let (light, dark) = (Self::values(0), Self::values(1));
        let mut sheet = format!(
            ":root{{color-scheme:light;{light}}}\n@media screen{{\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
             @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n}}\n"
        );
        for (colour, _) in Self::all() {
            let name = colour.class();
            sheet += &format!(".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}\n");
        }
        sheet
    }
}
