//! The report in a real browser. Where there is none, each claim is listed as ignored.

mod browser;
#[path = "../cli/program.rs"]
#[allow(dead_code, reason = "other tests start the program in other ways")]
mod program;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

use crate::browser::Browser;
use crate::program::edgepace_in;

fn main() -> ExitCode {
    let there = browser::program().is_some();
    if !there {
        eprintln!("ignored: no Chromium on the path; EDGEPACE_BROWSER names a browser");
    }
    let pages = Arc::new(Pages::default());
    let claim = |name: &str, claim: fn(&Pages)| {
        let pages = Arc::clone(&pages);
        let test = move || {
            claim(&pages);
            Ok(())
        };
        Trial::test(name, test).with_ignored_flag(!there)
    };
    let trials = vec![
        claim("every_chart_is_drawn_on_desktop_and_phone_in_light_and_dark", every_chart_is_drawn),
        claim("the_slider_plays_the_curriculum", the_slider_plays_the_curriculum),
        claim("hover_and_click_tell_of_nodes_and_edges", hover_and_click_tell),
        claim("the_table_of_edges_is_sorted_searched_and_linked_with_the_drawing", the_table_works),
        claim("the_theme_can_be_chosen", the_theme_can_be_chosen),
        claim("names_that_mean_harm_do_none", names_that_mean_harm_do_none),
        claim("without_webgl_the_rest_works", without_webgl_the_rest_works),
        // Half a minute, for the figures in docs/report.md.
        claim("a_large_graph_opens_and_moves", a_large_graph_opens_and_moves).with_ignored_flag(true),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Pages that several claims look at, each made once.
#[derive(Default)]
struct Pages {
    folder: OnceLock<TempDir>,
    compared: OnceLock<PathBuf>,
    hostile: OnceLock<PathBuf>,
}

impl Pages {
    fn folder(&self) -> &Path {
        self.folder.get_or_init(|| tempfile::tempdir().expect("a folder")).path()
    }

    fn works(&self, line: &str) {
        let run = edgepace_in(self.folder(), line.split(' '));
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    }

    /// Two methods on graphs with and without fake edges.
    fn compared(&self) -> &Path {
        self.compared.get_or_init(|| {
            let graph = "synthetic:homophily=0.5,nodes=400,edges=2400 --epochs 60 --seeds 0..2";
            for method in ["rcl", "vanilla"] {
                self.works(&format!("train {graph} --method {method} --noise fake=0.5 --out {method}-50"));
                self.works(&format!("train {graph} --method {method} --out {method}-0"));
            }
            self.works("report rcl-50 vanilla-50 rcl-0 vanilla-0 -o compared.html");
            self.folder().join("compared.html")
        })
    }

    /// A graph of one's own whose names mean harm.
    fn hostile(&self) -> &Path {
        self.hostile.get_or_init(|| {
            let evil = "</script><img src=x onerror=\"document.title='harm'\">'`\u{202e}";
            let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
            let name = |node: usize| quoted(format!("{evil}{node}"));
            let nodes: Vec<String> = (0..60)
                .map(|node| format!("{},{},{},{}", name(node), quoted(format!("{evil}{}", node % 3)), node % 3, node % 7))
                .collect();
            let edges: Vec<String> = (0..60)
                .flat_map(|node| [1, 3, 6].map(|step| format!("{},{}", name(node), name((node + step) % 60))))
                .collect();
            std::fs::write(self.folder().join("n.csv"), format!("id,label,x,y\n{}\n", nodes.join("\n"))).expect("a file");
            std::fs::write(self.folder().join("e.csv"), format!("source,target\n{}\n", edges.join("\n"))).expect("a file");
            self.works("train --edges e.csv --nodes n.csv --label label --split fraction:0.5:0.25 --epochs 30 --report hostile.html");
            self.folder().join("hostile.html")
        })
    }
}

const DESKTOP: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

/// The place of an element in the window, scrolled to: its middle.
fn middle(browser: &mut Browser, selector: &str) -> (f64, f64) {
    let found = browser.value(&format!(
        "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
         const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
    ));
    (found[0].as_f64().expect("a place"), found[1].as_f64().expect("a place"))
}

/// How many pixels of the drawing are not the background, and how many colours they have. The key asks for a drawing, and is
/// pressed first: what was drawn can be read in the same frame only.
const PIXELS: &str = "new Promise(done => requestAnimationFrame(() => { \
    const c = document.getElementById('canvas'), gl = c.getContext('webgl2'); \
    c.dispatchEvent(new KeyboardEvent('keydown', { key: '0' })); \
    requestAnimationFrame(() => { const p = new Uint8Array(4 * c.width * c.height); \
    gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, p); \
    let n = 0; const seen = new Set(); for (let i = 0; i < p.length; i += 4) { \
    const v = p[i] << 16 | p[i + 1] << 8 | p[i + 2]; seen.add(v); if (v !== (p[0] << 16 | p[1] << 8 | p[2])) n++; } \
    done([n, seen.size]); }); }))";

fn drawn(browser: &mut Browser) -> (f64, f64) {
    let found = browser.value(PIXELS);
    (found[0].as_f64().expect("a count"), found[1].as_f64().expect("a count"))
}

fn every_chart_is_drawn(pages: &Pages) {
    let file = pages.compared();
    let mut browser = Browser::start(true);
    for (name, size, phone) in [("desktop", DESKTOP, false), ("phone", PHONE, true)] {
        for dark in [false, true] {
            browser.window(size, phone, dark);
            let took = browser.open(file);
            assert!(took < Duration::from_secs(30), "{name}: {took:?}");
            let charts = browser.number("document.querySelectorAll('figure svg').length");
            assert!(charts >= 9.0, "{name}: {charts} charts");
            let empty = browser.number(
                "[...document.querySelectorAll('figure svg')].filter(svg => { const b = svg.getBoundingClientRect(); \
                 return b.width < 200 || b.height < 60 || svg.querySelectorAll('path,rect,circle').length < 2; }).length",
            );
            assert_eq!(empty, 0.0, "{name}: charts that show nothing");
            let wide = browser.number("document.documentElement.scrollWidth - innerWidth");
            assert!(wide <= 0.0, "{name}: {wide} pixels wider than the window");
            let (pixels, colours) = drawn(&mut browser);
            assert!(pixels > 1000.0 && colours > 20.0, "{name}: {pixels} pixels in {colours} colours");
            let theme = if dark { "dark" } else { "light" };
            let light =
                browser.number("parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])");
            assert_eq!(light < 128.0, dark, "{name}, {theme}: {light}");
            browser.picture(&format!("{name}-{theme}"), true);
        }
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
    assert!(
        browser.requests.iter().all(|url| url.starts_with("file://") && url.ends_with("compared.html")),
        "{:?}",
        browser.requests
    );
}

fn the_slider_plays_the_curriculum(pages: &Pages) {
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    browser.open(pages.compared());
    let at_the_end = drawn(&mut browser).0;
    browser.value("(() => { const s = document.getElementById('time'); s.value = 0; s.dispatchEvent(new Event('input')); })()");
    let at_first = drawn(&mut browser).0;
    assert!(at_first < 0.7 * at_the_end, "{at_first} pixels at first, {at_the_end} at the end");
    browser.picture("slider-first", false);
    let place = middle(&mut browser, "#play");
    browser.click(place);
    browser.wait_for("Number(document.getElementById('time').value) > 5");
    browser.picture("slider-plays", false);
    let frames = browser.number("Number(document.getElementById('canvas').dataset.frames)");
    browser.wait_for(&format!("Number(document.getElementById('canvas').dataset.frames) > {frames} + 5"));
    browser.click(place);
    assert!(browser.text("document.getElementById('epoch').textContent").contains(" of 60"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn hover_and_click_tell(pages: &Pages) {
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    browser.open(pages.compared());
    let (x, y) = middle(&mut browser, "#canvas");
    // From the middle outwards until there is a node.
    let mut hit = None;
    'search: for ring in 0..40 {
        for turn in 0..12 {
            let (sine, cosine) = libm::sincos(f64::from(turn) * 0.52);
            let place = (x + 7.0 * f64::from(ring) * cosine, y + 7.0 * f64::from(ring) * sine);
            browser.mouse("mouseMoved", place);
            if !browser.holds("document.getElementById('tip').hidden") {
                hit = Some(place);
                break 'search;
            }
        }
    }
    let place = hit.expect("a node near the middle");
    let tip = browser.text("document.getElementById('tip').textContent");
    assert!(tip.contains("predicted:") && tip.contains("true class:") && tip.contains("edges"), "{tip}");
    browser.click(place);
    let details = browser.text("document.getElementById('details').textContent");
    assert!(
        details.contains("Predicted") && details.contains("True class") && details.contains("suspicion"),
        "{details}"
    );
    assert!(browser.number("document.querySelectorAll('#details .bar').length") >= 5.0, "probabilities");
    browser.picture("node", false);
    browser.value("document.querySelector('#details .own tbody tr').click()");
    let details = browser.text("document.getElementById('details').textContent");
    for part in ["Why", "agreement", "features", "neighbourhood", "more suspicious than"] {
        assert!(details.contains(part), "no {part} in {details}");
    }
    browser.picture("edge", false);
    assert!(browser.text("document.getElementById('canvas').dataset.chosen").contains("edge"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn the_table_works(pages: &Pages) {
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    browser.open(pages.compared());
    let column = |browser: &mut Browser, number: u32| -> Vec<f64> {
        let found = browser.value(&format!(
            "[...document.querySelectorAll('#edge-table tbody tr')].map(row => Number(row.cells[{number}].textContent))"
        ));
        found.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
    };
    let at_first = column(&mut browser, 2);
    assert_eq!(at_first.len(), 25);
    assert!(at_first.is_sorted_by(|a, b| a >= b), "the most suspicious first: {at_first:?}");
    browser.value("document.querySelectorAll('#edge-table th button')[2].click()");
    let turned = column(&mut browser, 2);
    assert!(turned.is_sorted() && turned[0] < at_first[24], "the least first: {turned:?}");
    browser.value("document.querySelectorAll('#edge-table th button')[0].click()");
    assert!(column(&mut browser, 0).is_sorted(), "by number of node");
    let all = browser.text("document.getElementById('matches').textContent");
    browser.value("(() => { const s = document.getElementById('search'); s.value = 'fake'; s.dispatchEvent(new Event('input')); })()");
    browser.wait_for(&format!("document.getElementById('matches').textContent !== {all:?}"));
    assert!(browser.holds("[...document.querySelectorAll('#edge-table tbody tr')].every(row => row.textContent.includes('fake'))"));
    browser.value("document.getElementById('after').click()");
    assert!(browser.text("document.getElementById('page').textContent").starts_with("page 2"));
    browser.value("document.querySelector('#edge-table tbody tr').click()");
    let edge = browser.text("document.querySelector('#edge-table tbody tr').dataset.edge");
    assert_eq!(
        browser.text("document.getElementById('canvas').dataset.chosen"),
        format!("{{\"edge\":{edge}}}")
    );
    assert!(browser.text("document.getElementById('details').textContent").contains("marked as fake"));
    browser.value("(() => { const s = document.getElementById('search'); s.value = 'no such name'; s.dispatchEvent(new Event('input')); })()");
    browser.wait_for("document.getElementById('matches').textContent.startsWith('0 of')");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn the_theme_can_be_chosen(pages: &Pages) {
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    browser.open(pages.compared());
    let colour = "getComputedStyle(document.body).backgroundColor";
    let light = browser.text(colour);
    let before = browser.value(PIXELS);
    for _ in 0..2 {
        browser.value("document.getElementById('theme').click()");
    }
    assert_ne!(browser.text(colour), light, "dark");
    assert_ne!(browser.value(PIXELS), before, "the drawing too");
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.text(colour), light, "as the system has it");
    // On paper it is light, whatever the screen.
    browser.value("document.documentElement.dataset.theme = 'dark'");
    browser.call("Emulation.setEmulatedMedia", serde_json::json!({ "media": "print" }));
    assert_eq!(
        browser.text("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"),
        "#ffffff"
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn names_that_mean_harm_do_none(pages: &Pages) {
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    browser.open(pages.hostile());
    browser.value("document.querySelector('#edge-table tbody tr').click()");
    browser.value("document.querySelector('#details button').click()");
    assert!(
        browser.text("document.getElementById('details').textContent").contains("</script><img src=x"),
        "shown as it is"
    );
    assert_eq!(browser.number("document.querySelectorAll('img').length"), 0.0);
    assert_ne!(browser.text("document.title"), "harm");
    assert!(!browser.holds("document.documentElement.outerHTML.includes('\\u202e')"));
    browser.picture("hostile", false);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn without_webgl_the_rest_works(pages: &Pages) {
    let mut browser = Browser::start(false);
    browser.window(DESKTOP, false, false);
    browser.open(pages.compared());
    assert!(
        browser.holds(
            "!document.getElementById('no-webgl').hidden && document.getElementById('graph-box').hidden"
        )
    );
    browser.value("document.querySelector('#edge-table tbody tr').click()");
    assert!(browser.text("document.getElementById('details').textContent").contains("Why"));
    browser.picture("no-webgl", false);
}

/// Moves the view until so many more frames were drawn. Returns frames per second, and edges in the last one.
fn moved(browser: &mut Browser, frames: u32) -> [f64; 2] {
    let found = browser.value(&format!(
        "new Promise(done => {{ const c = document.getElementById('canvas'), begin = performance.now(); \
         const first = Number(c.dataset.frames); const tick = now => {{ const drawn = Number(c.dataset.frames) - first; \
         if (drawn >= {frames}) {{ done([1000 * drawn / (now - begin), Number(c.dataset.edges)]); return; }} \
         c.dispatchEvent(new KeyboardEvent('keydown', {{ key: Math.floor(drawn / 10) % 2 ? 'ArrowLeft' : 'ArrowRight' }})); \
         requestAnimationFrame(tick); }}; requestAnimationFrame(tick); }})"
    ));
    [0, 1].map(|place| found[place].as_f64().expect("a number"))
}

/// Frames over which the pace is measured.
const FRAMES: u32 = 40;

fn a_large_graph_opens_and_moves(pages: &Pages) {
    let whole = 100_000.0;
    pages.works("train synthetic:homophily=0.5,nodes=20000,edges=100000 --epochs 20 --report large.html");
    let mut browser = Browser::start(true);
    browser.window(DESKTOP, false, false);
    let begin = std::time::Instant::now();
    browser.open(&pages.folder().join("large.html"));
    browser.wait_for("Number(document.getElementById('canvas').dataset.frames) > 0");
    let opened = begin.elapsed();
    middle(&mut browser, "#canvas");
    let edges = "Number(document.getElementById('canvas').dataset.edges)";
    assert_eq!(browser.number(edges), whole, "it is drawn whole at first");
    // The pace is found within a few frames.
    moved(&mut browser, 15);
    let before = browser.processor_seconds().expect("Linux");
    let [per_second, drawn] = moved(&mut browser, FRAMES);
    let processor = browser.processor_seconds().expect("Linux") - before;
    let per_processor_second = f64::from(FRAMES) / processor;
    eprintln!(
        "opened in {opened:.2?}; while it moves {per_second:.1} frames per second, {per_processor_second:.1} per second of \
         processor time, with {drawn} of {whole} edges in the last"
    );
    browser.wait_for(&format!("{edges} === {whole}"));
    assert!(per_processor_second > 5.0, "{FRAMES} frames in {processor} s of processor time");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
