//! Small valid files for every reader.

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "delimited" => delimited(),
        other => panic!("no seeds for {other}"),
    }
}

/// Edge lists in every dialect. Each has a weight, so that damage is seen.
fn delimited() -> Vec<Vec<u8>> {
    let lines = |line: &str| line.repeat(20);
    [
        "source,target,weight\n".to_owned() + &lines("0,1,0.5\n1,2,1\n"),
        "# SNAP\nfrom\tto\tw\n".to_owned() + &lines("12345678901\t7\t1e-3\r\n"),
        "\u{feff}u v w\n".to_owned() + &lines("  user_1   é 2 \n\n"),
        "\"src\";\"dst\";\"weight\"\n".to_owned() + &lines("\"a;\"\"b\n\";c;3\n"),
    ]
    .map(String::into_bytes)
    .into()
}
