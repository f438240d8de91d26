//! Small valid files for every reader.

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "specs" => specs(),
        other => panic!("no seeds for {other}"),
    }
}

fn specs() -> Vec<Vec<u8>> {
    let texts = [
        "synthetic:homophily=0.3,law=inverse,seed=0,nodes=500\nfake=1,delete=0.1,flip=0.05,seed=7\nkfold:5:0:stratified",
        "blocks:nodes=100,edges=300,exponent=2.5\ndice=0.2,perturb=0.1\nfraction:1/3:0.2:seed=9",
        "scale-free:nodes=100,features=3\n\nper-class:20:500:1000",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
