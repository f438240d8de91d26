use std::io::Write;

use proptest::prelude::*;

use super::*;

fn read(text: &[u8], options: &Delimited, ids: Option<Ids>) -> Result<EdgeTable, DataError> {
    read_edges_from_bytes(&Threads::one(), Path::new("edges.csv"), text, 16, options, ids)
}

fn plain(text: &str) -> EdgeTable {
    read(text.as_bytes(), &Delimited::default(), None).unwrap()
}

fn refused(text: &str, ids: Option<Ids>) -> String {
    read(text.as_bytes(), &Delimited::default(), ids).unwrap_err().to_string()
}

fn edges(table: &EdgeTable) -> Vec<(u32, u32)> {
    table.sources.iter().copied().zip(table.targets.iter().copied()).collect()
}

fn names(table: EdgeTable) -> Option<Vec<String>> {
    table.ids.into_names().map(|names| names.iter().map(str::to_owned).collect())
}

#[test]
fn numbers_are_node_numbers_whatever_the_line_ends_comments_and_blanks() {
    for text in [
        "0,1\n1,2\n",
        "0,1\r\n1,2",
        "# SNAP\n% note\n\n0\t1\n \t \n1\t2\n",
        "0 1\n  1 \t  2  \n",
        "0; 1\n1 ;2\n",
        "\u{feff}source,target\n0,1\n1,2\n",
        "\"0\",\"1\"\n1,\"2\"\n",
    ] {
        let table = plain(text);
        assert_eq!(edges(&table), [(0, 1), (1, 2)], "{text:?}");
        assert!(matches!(table.ids, Ids::Numbers { nodes: 3 }), "{text:?}: {:?}", table.ids);
        assert!(table.weights.is_none());
    }
}

#[test]
fn names_and_sparse_or_wide_numbers_count_from_their_first_appearance() {
    for (text, expected) in [
        ("b,a\na,c\n", ["b", "a", "c"]),
        ("700,5\n5,90000\n", ["700", "5", "90000"]),
        ("1,2\n2,12345678901234567890\n", ["1", "2", "12345678901234567890"]),
        ("1,2\n2,03\n", ["1", "2", "03"]),
        ("\"x, y\",\"a\"\"b\"\n\"a\"\"b\",\"#\n\"\n", ["x, y", "a\"b", "#\n"]),
    ] {
        let table = plain(text);
        assert_eq!(edges(&table), [(0, 1), (1, 2)], "{text:?}");
        assert_eq!(names(table).unwrap(), expected);
    }
}

#[test]
fn weights_are_read_where_the_header_or_the_caller_names_them() {
    assert_eq!(plain("u,v,w\n0,1,0.5\n1,0,2e1\n").weights, Some(vec![0.5, 20.0]));
    assert_eq!(plain("u,v,w\n\"0\",1,0.5\n1,0,\"3\"\n").weights, Some(vec![0.5, 3.0]));
    assert_eq!(plain("0,1,0.5\n").weights, None);
    let third = Delimited { weight: Some(Column::Position(2)), ..Delimited::default() };
    assert_eq!(read(b"0,1,0.5\r\n1,2,1\n", &third, None).unwrap().weights, Some(vec![0.5, 1.0]));
}

#[test]
fn files_compressed_by_gzip_are_read_as_what_they_hold() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"source,target\na,b\nb,c\n").unwrap();
    let bytes = gzip.finish().unwrap();
    let table = read(&bytes, &Delimited::default(), None).unwrap();
    assert_eq!(edges(&table), [(0, 1), (1, 2)]);
    let cut = read(&bytes[..bytes.len() - 9], &Delimited::default(), None).unwrap_err();
    assert!(matches!(cut, DataError::Io { .. }), "{cut}");
}

#[test]
fn with_a_nodes_table_its_order_counts_and_other_ids_are_refused() {
    let table = |rows: &[&str]| Some(Ids::of_rows(rows).unwrap());
    for text in ["c,a\na,b\n", "\"c\",a\na,b\n"] {
        let read = read(text.as_bytes(), &Delimited::default(), table(&["a", "b", "c"])).unwrap();
        assert_eq!(edges(&read), [(2, 0), (0, 1)]);
    }
    assert_eq!(
        refused("0,1\n\n1,3\n", table(&["0", "1", "2"])),
        "edges.csv, line 3, field `target`: expected the id of a node in the nodes table, found `3`: \
         add the node to the table or remove the edge"
    );
    assert!(
        refused("from,to\nz,a\n", table(&["a"])).starts_with("edges.csv, line 2, field `from`: expected")
    );
}

#[test]
fn what_is_wrong_with_a_line_is_told_with_its_number_and_field() {
    let many = "# note\n".to_owned() + &"1,2\n".repeat(50);
    for (text, message) in [
        (many.clone() + "1,2,3\n", "line 52: expected 2 fields, as in line 2, found 3"),
        (many.clone() + "1\n", "line 52: expected 2 fields, as in line 2, found 1"),
        (many + ",2\n", "line 52, field `source`: expected the id of a node, found nothing"),
        ("a,b\n\na,\n".into(), "line 3, field `target`: expected the id of a node, found nothing"),
        (
            "u,v,w\n1,2,x\n".into(),
            "line 2, field `w`: expected a weight: a number from 0 (no edge) to 1e9, found `x`",
        ),
        (
            "u,v,w\n1,2,-1\n".into(),
            "line 2, field `w`: expected a weight: a number from 0 (no edge) to 1e9, found `-1`",
        ),
        ("u,v,w\n1,2,NaN\n".into(), "found `NaN`: write it with a decimal point"),
        ("u;v;w\n1;2;0,5\n".into(), "found `0,5`: write it with a decimal point"),
        ("u,v,w\n1,2,1e40\n".into(), "found `1e40`"),
        ("u,v,w\n1,2,1\n2,3,1.1e9\n".into(), "line 3, field `w`: expected a weight"),
        ("u,v,w\n1,2,inf\n".into(), "found `inf`"),
        (
            "a,b\n\"c\",\"d\n".into(),
            "line 2: expected a quote that closes the field, found the end of the file",
        ),
        ("a,b\n\"c\"x,d\n".into(), "line 2: expected a delimiter after the closing quote, found text"),
    ] {
        let found = refused(&text, None);
        assert!(found.contains(message), "{found}");
    }
    let latin = read(b"a,b\nc,\xe9\n", &Delimited::default(), None).unwrap_err().to_string();
    assert!(
        latin.contains("line 2, field `target`: expected text in UTF-8, found the bytes `\\xe9`"),
        "{latin}"
    );
}

#[test]
fn a_file_without_edges_is_an_empty_table() {
    for text in ["", "# nothing\n\n", "source,target\n"] {
        let table = plain(text);
        assert_eq!((table.sources.len(), table.ids.nodes()), (0, 0), "{text:?}");
    }
}

/// How a line is written.
#[derive(Debug, Clone)]
struct Style {
    delimiter: char,
    line_end: &'static str,
    quoted: bool,
    noise: &'static str,
    prefix: &'static str,
}

fn styles() -> impl Strategy<Value = Style> {
    let delimiter = prop::sample::select(vec![',', '\t', ';', ' ']);
    let line_end = prop::sample::select(vec!["\n", "\r\n"]);
    let noise = prop::sample::select(vec!["", "# a, \"b\n", "\n", "  \n%\n"]);
    let prefix = prop::sample::select(vec!["", "é_", "9999999"]);
    (delimiter, line_end, any::<bool>(), noise, prefix).prop_map(
        |(delimiter, line_end, quoted, noise, prefix)| Style { delimiter, line_end, quoted, noise, prefix },
    )
}

proptest! {
    #[test]
    fn edges_come_back_whatever_the_format_the_blocks_and_the_threads(
        list in prop::collection::vec((0_u32..30, 0_u32..30, 0_u8..9), 1..60),
        style in styles(),
        block in 1_usize..200,
        last_end in any::<bool>(),
    ) {
        let Style { delimiter, line_end, quoted, noise, prefix } = style;
        let mut text = format!("from{delimiter}to{delimiter}weight{line_end}");
        for &(a, b, weight) in &list {
            let quote = if quoted && weight % 3 == 0 { "\"" } else { "" };
            let id = |number| format!("{quote}{prefix}{number}{quote}");
            let ends = [id(a), id(b)].join(&delimiter.to_string());
            text.extend([noise, &ends, &format!("{delimiter}{weight}.5"), line_end]);
        }
        let text = if last_end { &text } else { text.trim_end() };
        for threads in [1, 2, 8] {
            let (threads, options) = (Threads::new(threads).unwrap(), Delimited::default());
            let table =
                read_edges_from_bytes(&threads, Path::new("f"), text.as_bytes(), block, &options, None).unwrap();
            let name = |number: u32| format!("{prefix}{number}");
            let weights: Vec<f32> = list.iter().map(|&(_, _, weight)| f32::from(weight) + 0.5).collect();
            prop_assert_eq!(table.weights.as_ref(), Some(&weights));
            // Each end is called what it was called in the file, and new names get the next number.
            let (found, ids) = (edges(&table), names(table));
            let mut next = 0;
            for (&(a, b, _), (source, target)) in list.iter().zip(found) {
                for (written, read) in [(a, source), (b, target)] {
                    match &ids {
                        None => prop_assert_eq!(name(written), read.to_string()),
                        Some(ids) => {
                            prop_assert_eq!(&name(written), &ids[read as usize]);
                            prop_assert!(read <= next);
                            next = next.max(read + 1);
                        }
                    }
                }
            }
        }
    }
}
