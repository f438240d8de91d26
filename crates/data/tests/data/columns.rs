//! What becomes of the columns of a table of nodes, whatever format it is of.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use edgepace_data::DataError;
use edgepace_data::import::{
    Bound, ColumnReport, Columns, Dates, Encoding, FeatureColumns, FeatureRows, Fill, GraphReport, Import,
    Imported, Kind, OneHot, Role, import,
};
use edgepace_graph::{Dataset, Features, Labels, Threads, UNLABELLED};

fn run(request: &Import) -> Result<Imported, DataError> {
    import(&Threads::one(), request, &|_, _| {})
}

/// A request for files of that content in `folder`.
fn written(folder: &Path, edges: &str, nodes: &str) -> Import {
    let (edge_file, node_file) = (folder.join("edges.csv"), folder.join("nodes.csv"));
    fs::write(&edge_file, edges).unwrap();
    fs::write(&node_file, nodes).unwrap();
    Import { nodes: Some(node_file), ..Import::file(edge_file) }
}

fn with(nodes: &str, change: impl FnOnce(&mut Import)) -> Result<Imported, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let mut request = written(folder.path(), "0,1\n1,2\n", nodes);
    change(&mut request);
    run(&request)
}

fn table(nodes: &str) -> Imported {
    with(nodes, |_| {}).unwrap()
}

fn refusal(nodes: &str, change: impl FnOnce(&mut Import)) -> String {
    with(nodes, change).unwrap_err().to_string()
}

fn features(dataset: &Dataset) -> Vec<(String, Vec<f32>)> {
    let Features::Dense(dense) = &**dataset.features() else { panic!("dense features were expected") };
    let names = dataset.feature_names().expect("features have names");
    let column = |column: usize| dense.values().iter().skip(column).step_by(dense.cols()).copied().collect();
    names.iter().enumerate().map(|(place, name)| (name.to_owned(), column(place))).collect()
}

fn column(imported: &Imported, name: &str) -> ColumnReport {
    imported.columns.iter().find(|column| column.name == name).expect("a report on the column").clone()
}

fn classes(dataset: &Dataset) -> Vec<u32> {
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("classes were expected") };
    classes.of().to_vec()
}

const MIXED: &str = "id,label,price,colour,when,ok,comment\n\
    0,a,1.5,red,2019-03-05,true,first\n\
    1,b,,blue,2020-01-01,false,second\n\
    2,,4.5,red,,true,third\n\
    3,a,3,,2021-12-31,,fourth\n\
    4,a,3,blue,2021-12-31,false,fifth\n";

#[test]
fn each_kind_of_column_becomes_features_in_its_own_way() {
    let imported = table(MIXED);
    assert_eq!(
        features(&imported.dataset),
        [
            ("price".to_owned(), vec![1.5, 3.0, 4.5, 3.0, 3.0]),
            ("price:missing".to_owned(), vec![0.0, 1.0, 0.0, 0.0, 0.0]),
            ("colour=blue".to_owned(), vec![0.0, 1.0, 0.0, 0.0, 1.0]),
            ("colour=red".to_owned(), vec![1.0, 0.0, 1.0, 0.0, 0.0]),
            ("colour:missing".to_owned(), vec![0.0, 0.0, 0.0, 1.0, 0.0]),
            ("ok".to_owned(), vec![1.0, 0.0, 1.0, 0.5, 0.0]),
            ("ok:missing".to_owned(), vec![0.0, 0.0, 0.0, 1.0, 0.0]),
        ]
    );
    assert_eq!(classes(&imported.dataset), [0, 1, UNLABELLED, 0, 0]);
}

#[test]
fn the_report_tells_role_kind_range_and_what_is_missing() {
    let imported = table(MIXED);
    let told: Vec<(String, Role, Kind, Option<usize>)> =
        imported.columns.iter().map(|own| (own.name.clone(), own.role, own.kind, own.distinct)).collect();
    let expected = [
        ("id", Role::Id, Kind::Number, 5),
        ("label", Role::Label, Kind::Category, 2),
        ("price", Role::Feature, Kind::Number, 3),
        ("colour", Role::Feature, Kind::Category, 2),
        ("when", Role::Dropped, Kind::Date, 3),
        ("ok", Role::Feature, Kind::Boolean, 2),
        ("comment", Role::Dropped, Kind::Text, 5),
        ("0", Role::Source, Kind::Number, 2),
        ("1", Role::Target, Kind::Number, 2),
    ];
    assert_eq!(
        told,
        expected.map(|(name, role, kind, distinct)| (name.to_owned(), role, kind, Some(distinct)))
    );
    let price = column(&imported, "price");
    assert_eq!(
        (price.missing, price.min, price.max),
        (0.2, Some(Bound::Number(1.5)), Some(Bound::Number(4.5)))
    );
    assert_eq!(price.features, ["price", "price:missing"]);
    assert!(price.note.contains("mean"), "{}", price.note);
    let when = column(&imported, "when");
    assert_eq!((when.min, when.max.clone()), (Some(Bound::Date("2019-03-05".into())), when.max));
    assert!(when.note.contains("`dates=days`"), "{}", when.note);
    assert!(column(&imported, "comment").note.contains("as ids have"));
    let graph = GraphReport::of(&imported.dataset);
    assert_eq!((graph.labelled, graph.labelled_share, graph.isolated, graph.components), (4, 0.8, 2, 3));
    let counts: Vec<(&str, usize)> =
        graph.classes.iter().map(|class| (&class.name[..], class.nodes)).collect();
    assert_eq!(counts, [("a", 3), ("b", 1)]);
}

#[test]
fn missing_values_are_filled_as_one_says() {
    for (fill, expected) in [(Fill::Mean, 3.0), (Fill::Median, 2.5), (Fill::Zero, 0.0), (Fill::Category, 0.0)]
    {
        let nodes = "id,x\n0,1\n1,NA\n2,2\n3,6\n4,3\n";
        let imported = with(nodes, |request| request.encode.fill = fill).unwrap();
        let values = features(&imported.dataset);
        assert_eq!(values[0].1, [1.0, expected, 2.0, 6.0, 3.0], "{fill:?}");
        assert_eq!(values[1], ("x:missing".to_owned(), vec![0.0, 1.0, 0.0, 0.0, 0.0]));
    }
}

#[test]
fn dates_become_numbers_when_one_says_how() {
    let nodes = "id,when\n0,1970-01-02\n1,1971-01-01\n2,\n";
    let dates = |way| features(&with(nodes, |request| request.encode.dates = way).unwrap().dataset);
    assert_eq!(dates(Dates::Days)[0], ("when:days".to_owned(), vec![1.0, 365.0, 183.0]));
    assert_eq!(dates(Dates::Year)[0].1[1], 1971.0);
    let cyclic = dates(Dates::Cyclic);
    let names: Vec<&str> = cyclic.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["when:year-sin", "when:year-cos", "when:week-sin", "when:week-cos", "when:missing"]);
    assert_eq!(
        (cyclic[0].1[1], cyclic[1].1[1]),
        (0.0, 1.0),
        "the first of January is the start of the circle"
    );
    let plain = table(nodes);
    assert!(plain.dataset.feature_names().is_none(), "a date alone is no feature unless one says so");
}

#[test]
fn ids_and_row_numbers_are_no_features() {
    let rows = lines(30, |row| format!("n{row},{},{},{}", 1000 - 7 * row, (row * 7) % 30, row % 4));
    let nodes = format!("id,paper_id,Unnamed: 0,x\n{rows}");
    let folder = tempfile::tempdir().unwrap();
    let mut request = written(folder.path(), "source,target\nn0,n1\n", &nodes);
    let imported = run(&request).unwrap();
    assert_eq!(imported.dataset.feature_names().unwrap().iter().collect::<Vec<_>>(), ["x"]);
    assert!(column(&imported, "paper_id").note.contains("looks like an id"));
    assert!(column(&imported, "Unnamed: 0").note.contains("numbers the rows"));
    request.columns.features = FeatureColumns::Listed(vec!["paper_id".to_owned()]);
    assert_eq!(features(&run(&request).unwrap().dataset)[0].1[1], 993.0, "unless one says so");
}

#[test]
fn text_with_many_values_is_left_out_and_refused_when_asked_for() {
    let many = |values: usize| -> String {
        "id,word\n".to_owned() + &lines(4000, |row| format!("{row},w{}", row % values))
    };
    assert_eq!(table(&many(100)).dataset.features().cols(), 100);
    let imported = table(&many(101));
    assert!(column(&imported, "word").note.contains("more than 100"));
    let one_hot = |request: &mut Import| request.encode.one_hot = OneHot::Columns(vec!["word".to_owned()]);
    assert_eq!(with(&many(101), one_hot).unwrap().dataset.features().cols(), 101);
    let error = refusal(&many(1001), one_hot);
    assert!(error.contains("at most 1000") && error.contains("1001 in `word`"), "{error}");
    let none = with(&many(5), |request| request.encode.one_hot = OneHot::None).unwrap();
    assert!(none.dataset.feature_names().is_none());
}

#[test]
fn numbers_can_be_categories() {
    let nodes = "id,zip\n0,10\n1,20.0\n2,10\n";
    let imported =
        with(nodes, |request| request.encode.one_hot = OneHot::Columns(vec!["zip".into()])).unwrap();
    let names: Vec<String> = features(&imported.dataset).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["zip=10", "zip=20"]);
}

#[test]
fn what_is_no_finite_number_is_called_what_it_is() {
    let error = refusal("id,x\n0,1\n1,inf\n2,2\n", |_| {});
    assert!(error.contains("line 3, field `x`") && error.contains("inf (infinite)"), "{error}");
    let error = refusal("id,x\n0,1\n1,1e300\n2,2\n", |_| {});
    assert!(error.contains("1e300") && error.contains("single precision"), "{error}");
    let error = refusal("id,x\n0,1\n1,2\n2,n.d.\n", |_| {});
    assert!(
        error.contains("`n.d.`") && error.contains("`missing=n.d.`") && error.contains("2 of 3"),
        "{error}"
    );
    let imported = with("id,x\n0,1\n1,2\n2,n.d.\n", |request| request.columns.missing = vec!["n.d.".into()]);
    assert_eq!(features(&imported.unwrap().dataset)[0].1, [1.0, 2.0, 1.5]);
}

#[test]
fn labels_that_are_hardly_classes_are_questioned() {
    let rows = |label: fn(usize) -> String| -> String {
        "id,y,x\n".to_owned() + &lines(200, |row| format!("{row},{},1", label(row)))
    };
    let prices = rows(|row| format!("{}.5", row % 50));
    let error = refusal(&prices, |_| {});
    assert!(error.contains("50 different numbers for 200 labelled nodes"), "{error}");
    assert!(error.contains("`many_classes=true`") && error.contains("`label=…`"), "{error}");
    let forced = with(&prices, |request| request.columns.many_classes = true).unwrap();
    assert_eq!(forced.dataset.labels().width(), 50);
    assert!(refusal(&rows(|row| format!("name {row}")), |_| {}).contains("200 different values"));
    assert_eq!(with(&rows(|row| (row % 10).to_string()), |_| {}).unwrap().dataset.labels().width(), 10);
}

#[test]
fn an_encoding_does_to_another_table_what_was_done_to_the_first() {
    let first = table(MIXED);
    let encoding = Encoding::parse(first.dataset.encoding().unwrap()).unwrap();
    assert_eq!(encoding.feature_names(), first.dataset.feature_names().unwrap().iter().collect::<Vec<_>>());
    let repeat = |nodes: &str| with(nodes, |request| request.encoding = Some(encoding.clone()));
    // The columns in another order, without label and comment; a colour that is new, a price that is missing.
    let other =
        repeat("ok,colour,id,price,when\ntrue,green,0,,2019-01-01\nfalse,red,1,9,\n,,2,1,\n").unwrap();
    assert_eq!(
        features(&other.dataset),
        [
            ("price".to_owned(), vec![3.0, 9.0, 1.0]),
            ("price:missing".to_owned(), vec![1.0, 0.0, 0.0]),
            ("colour=blue".to_owned(), vec![0.0, 0.0, 0.0]),
            ("colour=red".to_owned(), vec![0.0, 1.0, 0.0]),
            ("colour:missing".to_owned(), vec![0.0, 0.0, 1.0]),
            ("ok".to_owned(), vec![1.0, 0.0, 0.5]),
            ("ok:missing".to_owned(), vec![0.0, 0.0, 1.0]),
        ]
    );
    assert_eq!(other.dataset.encoding(), first.dataset.encoding());
    assert_eq!(repeat(MIXED).unwrap().dataset, first.dataset, "the same table once more");
    let refused = |nodes: &str| repeat(nodes).unwrap_err().to_string();
    let error = refused("id,colour,ok\n0,red,true\n1,red,true\n2,red,true\n");
    assert!(error.contains("`price`"), "{error}");
    let error = refused("id,price,colour,ok,prices\n0,1,red,true,1\n1,1,red,true,1\n2,1,red,true,1\n");
    assert!(error.contains("`prices`") && error.contains("`drop=prices`"), "{error}");
    let error = refused("id,price,colour,ok\n0,1,red,true\n1,cheap,red,true\n2,1,red,true\n");
    assert!(error.contains("field `price`") && error.contains("`cheap`"), "{error}");
    let error = refused("id,price,colour,ok,label\n0,1,red,true,c\n1,1,red,true,a\n2,1,red,true,a\n");
    assert!(error.contains("`c`") && error.contains("a class of the first table"), "{error}");
    assert!(Encoding::parse("{}").is_err());
}

#[test]
fn a_shuffled_table_gives_the_same_dataset() {
    let (rows, shuffled) = (["0,a,5,train", "1,b,6,test", "2,a,7,val"], [2, 0, 1]);
    let nodes = |order: [usize; 3]| "id,label,x,split\n".to_owned() + &order.map(|row| rows[row]).join("\n");
    let folder = tempfile::tempdir().unwrap();
    let matrix = folder.path().join("x.npy");
    write_npy(&matrix, 3, &[50.0, 60.0, 70.0]);
    for file in [None, Some(matrix)] {
        let read = |order| with(&nodes(order), |request| request.features.clone_from(&file)).unwrap().dataset;
        assert_eq!(read(shuffled), read([0, 1, 2]), "{file:?}");
    }
}

#[test]
fn rows_of_a_file_of_features_are_refused_where_their_nodes_cannot_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = folder.path().join("x.npy");
    write_npy(&matrix, 3, &[50.0, 60.0, 70.0]);
    let read = |nodes: &str, rows: Option<FeatureRows>| {
        let folder = tempfile::tempdir().unwrap();
        let mut request = written(folder.path(), "source,target\n30,10\n", nodes);
        request.features = Some(matrix.clone());
        request.feature_rows = rows;
        run(&request).map(|imported| {
            let Features::Dense(dense) = &**imported.dataset.features() else { panic!("dense") };
            dense.values().to_vec()
        })
    };
    assert_eq!(read("id\n10\n20\n30\n", None).unwrap(), [50.0, 60.0, 70.0]);
    let error = read("id\n30\n10\n20\n", None).unwrap_err().to_string();
    assert!(error.contains("do not ascend") && error.contains("`feature_rows=table`"), "{error}");
    assert_eq!(read("id\n30\n10\n20\n", Some(FeatureRows::Table)).unwrap(), [50.0, 60.0, 70.0]);
    assert_eq!(read("id\n30\n10\n20\n", Some(FeatureRows::Id)).unwrap(), [70.0, 50.0, 60.0]);
    let mut edges_alone = written(folder.path(), "ann,bob\nbob,cem\n", "id\n");
    (edges_alone.nodes, edges_alone.features) = (None, Some(matrix.clone()));
    let error = run(&edges_alone).unwrap_err().to_string();
    assert!(error.contains("nodes that only the edges name"), "{error}");
}

#[test]
fn a_table_joins_edges_that_come_as_arrays() {
    let adjacency = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/adjacency.npz");
    let folder = tempfile::tempdir().unwrap();
    let read = |nodes: &str| {
        let file = folder.path().join("n.csv");
        fs::write(&file, nodes).unwrap();
        run(&Import { nodes: Some(file), ..Import::file(&adjacency) })
    };
    let imported = read("id,label,x\n2,a,7\n0,b,5\n1,,6\n").unwrap();
    assert_eq!(classes(&imported.dataset), [1, UNLABELLED, 0]);
    assert_eq!(features(&imported.dataset)[0].1, [5.0, 6.0, 7.0]);
    assert_eq!(imported.dataset.edge_column("weight").map(<[f32]>::len), Some(4));
    let error = read("id,label\n0,a\n1,b\n").unwrap_err().to_string();
    assert!(error.contains("3 rows, one per node"), "{error}");
    let error = read("id,label\nx,a\ny,b\nz,b\n").unwrap_err().to_string();
    assert!(error.contains("the numbers 0, 1, 2"), "{error}");
}

#[test]
fn a_forgotten_setting_is_named_with_the_column_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        |edges: &str, nodes: &str| run(&written(folder.path(), edges, nodes)).unwrap_err().to_string();
    let nodes = "id,asin,x\n1,p,1\n2,q,2\n3,r,3\n";
    let forgotten_id = error("source,target\np,q\nq,r\n", nodes);
    assert!(forgotten_id.contains("column `id`") && forgotten_id.contains("`id=asin`"), "{forgotten_id}");
    let no_id = error("source,target\np,q\nq,r\n", "asin,sku,x\np,p,1\nq,q,2\nr,r,3\n");
    assert!(no_id.contains("numbers of the rows") && no_id.contains("`id=asin`"), "{no_id}");
    let nodes = "id,x\np,1\nq,2\nr,3\n";
    let other_ends = error("source,target,buyer,seller\n1,2,p,q\n1,2,q,r\n", nodes);
    assert!(other_ends.contains("`source=buyer` and `target=seller`"), "{other_ends}");
    let header = error("who,whom\np,q\nq,r\n", nodes);
    assert!(header.contains("`header=true`") && header.contains("`who,whom`"), "{header}");
    let unclear = error("day,who,whom,n\n1,p,q,1\n2,q,r,1\n", nodes);
    assert!(
        unclear.contains("`source=…` and `target=…`") && unclear.contains("`day,who,whom,n`"),
        "{unclear}"
    );
    let typo = {
        let mut request = written(folder.path(), "source,target\np,q\n", nodes);
        request.columns = Columns { label: Some("lable".into()), ..Columns::default() };
        fs::write(request.nodes.as_ref().unwrap(), "id,label,x\np,1,1\nq,1,1\n").unwrap();
        run(&request).unwrap_err().to_string()
    };
    assert!(typo.contains("`id`, `label`, `x`") && typo.ends_with("did you mean `label`?"), "{typo}");
}

#[test]
fn the_only_column_that_edges_can_mean_is_the_id() {
    let folder = tempfile::tempdir().unwrap();
    let edges = "source,target\np,q\nq,r\n";
    let imported = run(&written(folder.path(), edges, "price,asin\n1,p\n2,q\n3,r\n")).unwrap();
    assert_eq!(column(&imported, "asin").role, Role::Id);
    assert_eq!(imported.dataset.node_names().unwrap().get(2), "r");
    // A column that repeats itself names no nodes, and one that lacks an end not these.
    for nodes in ["asin,x\np,1\nq,2\nq,3\n", "asin,x\np,1\nq,2\ns,3\n"] {
        assert!(run(&written(folder.path(), edges, nodes)).is_err(), "{nodes}");
    }
    // Numbers below the number of rows are rows, whatever else has such numbers.
    let rows = run(&written(folder.path(), "0,1\n1,2\n", "rank,x\n2,1.5\n1,2.5\n0,3.5\n")).unwrap();
    assert_ne!(column(&rows, "rank").role, Role::Id);
}

#[test]
fn a_name_beside_ids_that_are_names_is_not_said_to_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "id,title,x\np,one,1\nq,two,2\n";
    let imported = run(&written(folder.path(), "source,target\np,q\n", nodes)).unwrap();
    let title = column(&imported, "title");
    assert_eq!((title.role, &title.note[..]), (Role::Dropped, "nodes are shown by their ids, `id`"));
    assert_eq!(imported.dataset.node_names().unwrap().get(1), "q");
}

#[test]
fn names_are_ids_where_edges_use_them() {
    let folder = tempfile::tempdir().unwrap();
    let imported =
        run(&written(folder.path(), "source,target\nann,bob\n", "name,x\nann,1\nbob,2\n")).unwrap();
    assert_eq!(column(&imported, "name").role, Role::Id);
    let by_row = run(&written(folder.path(), "0,1\n", "name,x\nann,1\nbob,2\n")).unwrap();
    assert_eq!(column(&by_row, "name").role, Role::Name);
    assert_eq!(by_row.dataset.node_names().unwrap().get(1), "bob");
}

#[test]
fn line_ends_of_old_macintoshes_are_line_ends() {
    let folder = tempfile::tempdir().unwrap();
    let old = run(&written(folder.path(), "source,target\r0,1\r1,2\r", "id,x\r0,1\r1,2\r2,3\r")).unwrap();
    let new = run(&written(folder.path(), "source,target\n0,1\n1,2\n", "id,x\n0,1\n1,2\n2,3\n")).unwrap();
    assert_eq!(old.dataset, new.dataset);
    assert_eq!(old.dataset.graph().edges(), 4);
}

#[test]
fn masks_are_a_split() {
    let nodes = "id,y,train_mask,val_mask,test_mask\n0,a,True,False,False\n1,b,False,True,False\n2,a,False,False,True\n";
    let imported = table(nodes);
    let split = imported.dataset.split("mask").unwrap();
    assert_eq!((split.train(), split.validation(), split.test()), (&[0][..], &[1][..], &[2][..]));
    assert_eq!(column(&imported, "train_mask").role, Role::Split);
}

#[test]
fn bad_weights_are_refused_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for weight in ["NaN", "inf", "-1"] {
        let graphml = format!(
            "<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/><graph edgedefault='directed'>\
             <node id='a'/><node id='b'/><edge source='a' target='b'><data key='w'>{weight}</data></edge></graph></graphml>"
        );
        let files = [
            ("e.csv", format!("source,target,weight\na,b,{weight}\n")),
            ("e.edgelist", format!("a b {weight}\n")),
            ("e.graphml", graphml),
        ];
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            let error = run(&Import::file(&file)).unwrap_err().to_string();
            assert!(error.contains("a weight: a number from 0"), "{name}: {error}");
        }
    }
}

#[test]
fn graphml_costs_what_it_holds_however_many_keys_it_declares() {
    let (keys, nodes) = (100_000, 20_000);
    let mut text = String::from("<graphml>");
    for key in 0..keys {
        let _ = write!(text, "<key id='d{key}' for='node' attr.name='k{key}' attr.type='double'/>");
    }
    text.push_str(
        "<key id='x' for='node' attr.name='x' attr.type='double'/><graph edgedefault='undirected'>",
    );
    for node in 0..nodes {
        let _ = write!(text, "<node id='{node}'><data key='x'>{}</data></node>", node % 7);
    }
    text.push_str("<edge source='0' target='1'/></graph></graphml>");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.graphml");
    fs::write(&file, text).unwrap();
    let start = thread_seconds();
    let imported = run(&Import::file(&file)).unwrap();
    if let (Some(start), Some(end)) = (start, thread_seconds()) {
        assert!(end - start < 5.0, "{} seconds: keys × nodes take a minute", end - start);
    }
    assert_eq!(imported.dataset.feature_names().unwrap().iter().collect::<Vec<_>>(), ["x"]);
    assert_eq!(column(&imported, "k99999").note, "no row has a value");
}

/// The time that this thread has worked, however busy the machine is; where the system tells (Linux).
fn thread_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Lines of a table.
fn lines(rows: usize, line: impl Fn(usize) -> String) -> String {
    (0..rows).map(|row| line(row) + "\n").collect()
}

/// A matrix as `numpy.save` writes it.
fn write_npy(file: &Path, rows: usize, values: &[f32]) {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {}), }}", values.len() / rows);
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(file, bytes).unwrap();
}

#[cfg(feature = "parquet")]
#[allow(clippy::cast_possible_wrap, reason = "numbers of a test are small")]
mod parquet {
    use super::*;
    use crate::parquet_file::{Values, write};

    /// A graph of purchases: text ids, labels for three nodes of ten, a date, a time, a category, gaps.
    fn purchases(folder: &Path) -> (Import, Import) {
        let rows = 40_usize;
        let some = |row: usize, every: usize| row % every != every - 1;
        let asin: Vec<String> = (0..rows).map(|row| format!("B{:04}", row * 37 % 1000)).collect();
        let label = |row: usize| (row % 10 < 3).then(|| ["book", "toy"][row % 2].to_owned());
        let price = |row: usize| some(row, 5).then_some(row as f64 * 1.1 + 0.01);
        let brand = |row: usize| some(row, 7).then(|| ["acme", "zed, inc.", "über"][row % 3].to_owned());
        let stock = |row: usize| (row * row % 50) as i64;
        let listed = |row: usize| some(row, 9).then_some(17_000 + row as i32 * 13);
        let seen = |row: usize| some(row, 4).then_some(1_500_000_000_000_000 + row as i64 * 3_600_000_000);
        let all = |value: &dyn Fn(usize) -> String| (0..rows).map(value).collect::<Vec<_>>();
        let text = |value: Option<String>| value.map_or(String::new(), |text| format!("\"{text}\""));
        let date = |days: i64| {
            let (year, month, day) = civil(days);
            format!("{year:04}-{month:02}-{day:02}")
        };
        let time = |micros: i64| {
            let seconds = micros / 1_000_000;
            let within = seconds.rem_euclid(86_400);
            let (hour, minute, second) = (within / 3600, within / 60 % 60, within % 60);
            format!("{} {hour:02}:{minute:02}:{second:02}", date(seconds.div_euclid(86_400)))
        };
        let lines = all(&|row| {
            [
                asin[row].clone(),
                text(label(row)),
                price(row).map_or(String::new(), |value| value.to_string()),
                text(brand(row)),
                stock(row).to_string(),
                ["False", "True"][row % 2].to_owned(),
                listed(row).map_or(String::new(), |days| date(i64::from(days))),
                seen(row).map_or(String::new(), time),
            ]
            .join(",")
        });
        let header = "asin,label,price,brand,stock,new,listed,seen\n";
        fs::write(folder.join("n.csv"), header.to_owned() + &lines.join("\n")).unwrap();
        let of = |value: &dyn Fn(usize) -> Option<String>| Values::Text((0..rows).map(value).collect());
        write(
            &folder.join("n.parquet"),
            &[
                ("asin", of(&|row| Some(asin[row].clone()))),
                ("label", of(&label)),
                ("price", Values::Double((0..rows).map(price).collect())),
                ("brand", of(&brand)),
                ("stock", Values::Whole((0..rows).map(|row| Some(stock(row))).collect())),
                ("new", Values::Truth((0..rows).map(|row| Some(row % 2 == 1)).collect())),
                ("listed", Values::Date((0..rows).map(listed).collect())),
                ("seen", Values::Time((0..rows).map(seen).collect())),
            ],
        );
        let ends = |shift: usize| -> Vec<Option<String>> {
            (0..rows).map(|row| Some(asin[(row + shift) % rows].clone())).collect()
        };
        write(
            &folder.join("e.parquet"),
            &[("from_asin", Values::Text(ends(0))), ("to_asin", Values::Text(ends(1)))],
        );
        let pairs: Vec<String> =
            (0..rows).map(|row| format!("{},{}", asin[row], asin[(row + 1) % rows])).collect();
        fs::write(folder.join("e.csv"), "from_asin,to_asin\n".to_owned() + &pairs.join("\n")).unwrap();
        let request = |kind: &str| Import {
            nodes: Some(folder.join(format!("n.{kind}"))),
            columns: Columns { id: Some("asin".to_owned()), ..Columns::default() },
            ..Import::file(folder.join(format!("e.{kind}")))
        };
        (request("csv"), request("parquet"))
    }

    /// Year, month and day, by counting.
    fn civil(days: i64) -> (i64, i64, i64) {
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut left) = (1970, days);
        while left >= 365 + i64::from(leap(year)) {
            left -= 365 + i64::from(leap(year));
            year += 1;
        }
        let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut month = 0;
        while left >= lengths[month] {
            left -= lengths[month];
            month += 1;
        }
        (year, month as i64 + 1, left + 1)
    }

    #[test]
    fn the_same_table_gives_the_same_dataset_from_csv_and_from_parquet() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, parquet) = purchases(folder.path());
        for dates in [Dates::Drop, Dates::Days, Dates::Year, Dates::Cyclic] {
            let read = |request: &Import| {
                let mut request = request.clone();
                request.encode.dates = dates;
                run(&request).unwrap()
            };
            let (from_csv, from_parquet) = (read(&csv), read(&parquet));
            assert_eq!(from_csv.dataset, from_parquet.dataset, "{dates:?}");
            assert_eq!(from_csv.columns, from_parquet.columns, "{dates:?}");
        }
        let imported = run(&parquet).unwrap();
        let names = imported.dataset.feature_names().unwrap().iter().collect::<Vec<_>>();
        let expected = [
            "price",
            "price:missing",
            "brand=acme",
            "brand=zed, inc.",
            "brand=über",
            "brand:missing",
            "stock",
            "new",
        ];
        assert_eq!(names, expected);
        assert_eq!(GraphReport::of(&imported.dataset).labelled_share, 0.3);
        for date in ["listed", "seen"] {
            let report = column(&imported, date);
            assert_eq!((report.role, report.kind), (Role::Dropped, Kind::Date), "{date}");
        }
    }

    /// What is only done to large tables gives what small ones get: words of every length, days, and different numbers.
    #[test]
    fn thousands_of_rows_are_read_as_a_few_are() {
        let folder = tempfile::tempdir().unwrap();
        let rows = 5000_usize;
        let word = |row: usize| format!("{}{}", &"abcdefghijklmnopqrs"[..row % 20], row % 3);
        let number = |row: usize| (row * row % 1777) as f64 / 8.0;
        let day = |row: usize| 15_000 + (row * 7 % 900) as i64;
        let nodes = folder.path().join("n.parquet");
        write(
            &nodes,
            &[
                ("word", Values::Text((0..rows).map(|row| Some(word(row))).collect())),
                ("number", Values::Double((0..rows).map(|row| Some(number(row))).collect())),
                ("day", Values::Date((0..rows).map(|row| Some(day(row) as i32)).collect())),
            ],
        );
        let edges = folder.path().join("e.csv");
        fs::write(&edges, "source,target\n0,1\n").unwrap();
        let mut request = Import { nodes: Some(nodes), ..Import::file(edges) };
        request.encode.dates = Dates::Year;
        let imported = run(&request).unwrap();
        let made: std::collections::HashMap<String, Vec<f32>> =
            features(&imported.dataset).into_iter().collect();
        let numbers: std::collections::HashSet<u64> = (0..rows).map(|row| number(row).to_bits()).collect();
        assert_eq!(column(&imported, "number").distinct, Some(numbers.len()));
        assert_eq!(column(&imported, "word").distinct, Some(60));
        for row in 0..rows {
            assert_eq!(made[&format!("word={}", word(row))][row], 1.0, "row {row}");
            assert_eq!(made["number"][row], number(row) as f32);
            let (year, month, date) = civil(day(row));
            let first = (0..366).map(|back| day(row) - back).find(|&day| civil(day) == (year, 1, 1)).unwrap();
            let length = if year % 4 == 0 { 366.0 } else { 365.0 };
            let expected = year as f64 + (day(row) - first) as f64 / length;
            assert_eq!(made["day:year"][row], expected as f32, "{year}-{month}-{date}");
        }
        let ones: f32 =
            made.iter().filter(|(name, _)| name.starts_with("word=")).flat_map(|(_, ones)| ones).sum();
        assert_eq!(ones, rows as f32, "one word each");
    }

    #[test]
    fn whole_ids_of_any_size_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let large = |row: i64| Some(1_234_567_890_123_456_000 + row);
        let nodes = folder.path().join("n.parquet");
        write(
            &nodes,
            &[("id", Values::Whole((0..3).map(large).collect())), ("x", Values::Double(vec![Some(1.0); 3]))],
        );
        let edges = folder.path().join("e.csv");
        fs::write(&edges, "source,target\n1234567890123456000,1234567890123456002\n").unwrap();
        let imported = run(&Import { nodes: Some(nodes), ..Import::file(edges) }).unwrap();
        assert_eq!(imported.dataset.graph().edges(), 2);
        assert_eq!(column(&imported, "id").distinct, Some(3));
    }

    #[test]
    fn weights_in_parquet_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("e.parquet");
        for weight in [f64::NAN, f64::INFINITY, -1.0] {
            let end = |name: &str| Values::Text(vec![Some(name.to_owned())]);
            write(&file, &[("u", end("a")), ("v", end("b")), ("weight", Values::Double(vec![Some(weight)]))]);
            let error = run(&Import::file(&file)).unwrap_err().to_string();
            assert!(error.contains("a weight: a number from 0"), "{error}");
        }
    }
}
