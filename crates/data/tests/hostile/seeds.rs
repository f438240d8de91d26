//! Small valid files for every reader.

#[path = "../common/pickles.rs"]
mod pickles;

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "pickle" => {
            let mut seeds = pickles::set()[..7].to_vec();
            seeds.push(pickles::csr(2, 3, &[0, 2, 3], &[2, 0, 1], &[1.0, 2.0, 3.0]));
            seeds.push(pickles::pickle(&pickles::array("f8", '>', &[1, 1], &1.5_f64.to_be_bytes())));
            seeds.push(b"(dp0\nI0\n(lp1\nI1\nasI1\n(lp2\nL0L\nas.".to_vec());
            seeds
        }
        "planetoid" => {
            let sized = |part: &Vec<u8>| [&(part.len() as u32).to_le_bytes(), &part[..]].concat();
            vec![pickles::set().iter().flat_map(sized).collect()]
        }
        other => panic!("no seeds for {other}"),
    }
}
