//! Splits are disjoint, complete, fair to classes where they should be, and the same everywhere.

use edgepace_data::splits::{Sizes, full, make};
use edgepace_data::{DataError, SplitRule};
use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Split, Threads, UNLABELLED,
};
use proptest::prelude::*;

fn dataset(classes: usize, of: Vec<u32>) -> Dataset {
    labelled(Labels::from(Classes::new(classes, of).unwrap()))
}

fn labelled(labels: Labels) -> Dataset {
    let nodes = labels.nodes();
    let graph = Graph::undirected(nodes, &[], &[]).unwrap();
    let features = Features::from(DenseFeatures::new(nodes, 0, vec![]).unwrap());
    Dataset::new("test", graph, features, labels, vec![]).unwrap()
}

/// 1000 nodes in classes of very different sizes, every tenth node without one.
fn uneven() -> Dataset {
    let class = |node: u32| match node % 100 {
        last if last % 10 == 0 => UNLABELLED,
        1..=60 => 0,
        61..=90 => 1,
        _ => 2,
    };
    dataset(3, (0..1000).map(class).collect())
}

fn split(rule: &str, dataset: &Dataset, seed: u64) -> Result<Split, DataError> {
    make(&Threads::one(), &rule.parse()?, dataset, seed)
}

fn refusal(rule: &str, dataset: &Dataset) -> String {
    split(rule, dataset, 0).unwrap_err().to_string()
}

fn sizes(split: &Split) -> [usize; 3] {
    split.sets().map(|(_, ids)| ids.len())
}

fn of_class(dataset: &Dataset, ids: &[u32], class: u32) -> usize {
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("one class per node was expected") };
    ids.iter().filter(|&&node| classes.of()[node as usize] == class).count()
}

#[test]
fn every_labelled_node_is_tested_by_exactly_one_fold() {
    let dataset = uneven();
    for option in ["", ":stratified"] {
        let mut tested = vec![0; 1000];
        let mut validated = vec![0; 1000];
        for fold in 0..5 {
            let split = split(&format!("kfold:5:{fold}{option}"), &dataset, 3).unwrap();
            assert_eq!(sizes(&split), [540, 180, 180]);
            split.test().iter().for_each(|&node| tested[node as usize] += 1);
            split.validation().iter().for_each(|&node| validated[node as usize] += 1);
        }
        for node in 0..1000 {
            let expected = u32::from(node % 10 != 0);
            assert_eq!((tested[node], validated[node]), (expected, expected));
        }
    }
}

#[test]
fn the_validation_fold_is_the_next_test_fold() {
    let dataset = uneven();
    let folds: Vec<Split> =
        (0..4).map(|fold| split(&format!("kfold:4:{fold}"), &dataset, 1).unwrap()).collect();
    for fold in 0..4 {
        assert_eq!(folds[fold].validation(), folds[(fold + 1) % 4].test());
    }
}

#[test]
fn fractions_and_per_class_have_their_sizes() {
    let dataset = uneven();
    assert_eq!(sizes(&split("fraction:0.6:0.2", &dataset, 0).unwrap()), [540, 180, 180]);
    assert_eq!(sizes(&split("fraction:1/3:1/3", &dataset, 0).unwrap()), [300, 300, 300]);
    assert_eq!(sizes(&split("fraction:1:0", &dataset, 0).unwrap()), [900, 0, 0]);
    for option in ["", ":stratified"] {
        let split = split(&format!("per-class:20:300:500{option}"), &dataset, 0).unwrap();
        assert_eq!(sizes(&split), [60, 300, 500]);
        assert_eq!([0, 1, 2].map(|class| of_class(&dataset, split.train(), class)), [20, 20, 20]);
    }
}

#[test]
fn a_rule_and_a_seed_make_the_same_split_everywhere() {
    let dataset = uneven();
    let rules = ["kfold:5:0", "fraction:0.6:0.2:stratified", "per-class:20:300:500"];
    let committed = [
        "9845a23d3ad5ab9a9005ff690f83032de31833e2ca70cb103257dd1fa0ddd415",
        "a23420ccf9f22020b9dca5f486ac81166b49cc091f21c8c7e272b3e1d177f820",
        "5829b740bc84c0797758545fed842fd2a019b3f13530bdb8efb9764b870c2093",
    ];
    for threads in [1, 2, 8] {
        let threads = Threads::new(threads).unwrap();
        let split = |rule: &str| make(&threads, &rule.parse().unwrap(), &dataset, 42).unwrap();
        let hashes = rules.map(|rule| split(rule).hash().to_owned());
        assert_eq!(hashes, committed, "{} threads", threads.count());
    }
    for rule in rules {
        let made = split(rule, &dataset, 42).unwrap();
        assert_eq!(made.name(), format!("{rule}:seed=42"));
        // The name makes the same split again, whatever the seed of the run.
        assert_eq!(split(made.name(), &dataset, 7).unwrap(), made);
        assert_ne!(split(rule, &dataset, 43).unwrap().hash(), made.hash());
    }
}

#[test]
fn own_splits_come_by_name_and_the_paper_default_is_known() {
    let plain = dataset(2, vec![0, 1, 0, UNLABELLED, 1, 0]);
    assert_eq!(SplitRule::standard(&plain, 0).to_string(), "kfold:5:0");
    let public = Split::new("public", 6, vec![0], vec![1], vec![2]).unwrap();
    let everything = full(&public, plain.labels()).unwrap();
    assert_eq!(
        (everything.train(), everything.validation(), everything.test()),
        (&[0, 4, 5][..], &[1][..], &[2][..])
    );

    let geom = public.clone().renamed("geom:3");
    let own = plain.with_splits(vec![public, geom, everything]).unwrap();
    assert_eq!(SplitRule::standard(&own, 3), SplitRule::Own("full".to_owned()));
    assert_eq!(split("geom:3", &own, 0).unwrap().name(), "geom:3");
    let message = refusal("publick", &own);
    assert!(
        message
            .starts_with("`split` is `publick`, expected a split of `test`, which has public, geom:3, full"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_split_is_refused_with_the_reason() {
    let small = dataset(3, vec![0, 0, 0, 0, 0, 0, 1, 1, 1, 2]);
    assert!(
        refusal("kfold:11:0", &small).contains("at least 11 labelled nodes to choose from, there are 10")
    );
    assert!(refusal("kfold:2:0", &small).contains("3 folds or more"));
    assert!(refusal("kfold:5:5", &small).contains("a fold from 0 to 4"));
    assert!(
        refusal("per-class:2:1:1", &small).contains("class 2`, expected at least 2"),
        "{}",
        refusal("per-class:2:1:1", &small)
    );
    assert!(
        refusal("per-class:1:4:4", &small).contains("at least 8 labelled nodes to choose from, there are 7")
    );
    assert!(refusal("fraction:0.9:0.2", &small).contains("add up to at most 1"));
    assert!(refusal("fraction:x:0.2", &small).contains("a share from 0 to 1"));
    assert!(refusal("kfold:5:0:sorted", &small).contains("`stratified` or `seed=N`"));
    assert!(refusal("kfold:5", &small).contains("2 values after `kfold`"));
    // A class with a single node is no obstacle where it is none.
    assert!(split("kfold:5:0:stratified", &small, 0).is_ok());

    let many = labelled(Labels::from(ManyLabels::new(9, 2, vec![0; 18]).unwrap()));
    assert!(refusal("kfold:3:0:stratified", &many).contains("does not ask for classes"));
    assert_eq!(sizes(&split("kfold:3:0", &many, 0).unwrap()), [3, 3, 3]);
}

proptest! {
    #[test]
    fn stratified_shares_are_within_one_node_of_exact(
        of in proptest::collection::vec(0_u32..4, 5..120),
        train in 0.2_f64..0.7,
        validation in 0.0_f64..0.3,
        folds in 3_usize..6,
        seed: u64,
    ) {
        let dataset = dataset(4, of.clone());
        let stratified = |sizes| SplitRule::Drawn { sizes, stratified: true, seed: None };
        let fraction = make(&Threads::one(), &stratified(Sizes::Fraction { train, validation }), &dataset, seed).unwrap();
        let fold = make(&Threads::one(), &stratified(Sizes::KFold { folds, fold: 1 }), &dataset, seed);
        prop_assert_eq!(sizes(&fraction).iter().sum::<usize>(), of.len());
        for class in 0..4 {
            let members = of.iter().filter(|&&own| own == class).count() as f64;
            let shares = [train, validation, 1.0 - train - validation];
            for ((_, ids), share) in fraction.sets().iter().zip(shares) {
                prop_assert!((of_class(&dataset, ids, class) as f64 - share * members).abs() < 1.0 + 1e-6);
            }
            if let Ok(fold) = &fold {
                for ids in [fold.test(), fold.validation()] {
                    prop_assert!((of_class(&dataset, ids, class) as f64 - members / folds as f64).abs() < 1.0);
                }
            }
        }
        for ((_, ids), share) in fraction.sets().iter().zip([train, validation, 1.0 - train - validation]) {
            // Four classes may each round the same way; what the sets lack keeps the totals closer than that.
            prop_assert!((ids.len() as f64 - share * of.len() as f64).abs() < 2.5);
        }
    }

    #[test]
    fn rules_read_what_they_write(text in "(kfold:[3-9]:[0-2]|fraction:0\\.[1-5]:0\\.[1-4]|per-class:[1-9]:[0-9]:[0-9])(:stratified)?(:seed=[0-9]{1,9})?") {
        let rule: SplitRule = text.parse().unwrap();
        prop_assert_eq!(rule.to_string().parse::<SplitRule>().unwrap(), rule);
    }
}
