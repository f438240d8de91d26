//! A table of nodes: what its columns become.

use std::collections::HashSet;

use edgepace_graph::{Classes, Features, Labels, ManyLabels, Names, Split, Threads, UNLABELLED};

use super::column::{Cell, Markers, NO_CODE, Profile, Table};
use super::encode::{Decider, Decision, EncodedColumn, Encoding, OneHot, features, is_category, limit_sum};
use super::ids::{Ids, Named, parse_number};
use super::join::{no_row, rows_by_name};
use super::report::{ColumnReport, Kind, Role, TableOf};
use super::roles::{Given, LABEL_PREFIX, Roles, find};
use super::{Columns, FeatureColumns, Import};
use crate::error::{excerpt, format_error, graph_error};
use crate::{DataError, Place};

/// From so many labelled nodes on, more classes than half of them are questioned.
const QUESTION_FROM: usize = 10;
/// More classes than this share of the labelled nodes are questioned: fewer than two nodes each teach nothing.
const CLASS_SHARE: f64 = 0.5;
/// So many numbers as labels are classes without a question; more are questioned above [`NUMBER_SHARE`].
const NUMBERS_AS_CLASSES: usize = 20;
const NUMBER_SHARE: f64 = 0.05;

/// What a table of nodes says, node by node.
#[derive(Debug)]
pub(crate) struct NodeTable {
    pub(crate) ids: Ids,
    pub(crate) order: Order,
    /// The row of each node, where that is not its number.
    pub(crate) row_of: Option<Vec<u32>>,
    pub(crate) names: Option<Names>,
    /// `None` when the table has no column for them.
    pub(crate) labels: Option<Labels>,
    pub(crate) class_names: Option<Names>,
    pub(crate) splits: Vec<Split>,
    /// `None` when the table has no columns for them.
    pub(crate) features: Option<Features>,
    pub(crate) encoding: Encoding,
    pub(crate) columns: Vec<ColumnReport>,
}

/// How the nodes follow from the rows of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Node by row; the ids say nothing else.
    Rows,
    /// Node by id: the ids are the numbers 0, 1, 2, … in an order of their own.
    Ids,
    /// Node by row, though the ids are numbers in an order of their own.
    Unclear,
}

/// Reads the columns of a table by their roles. Where nodes have names already, the ids of the table are those names.
pub(crate) fn nodes(
    threads: &Threads,
    table: &Table,
    mut roles: Roles,
    request: &Import,
    names: Option<&Names>,
) -> Result<NodeTable, DataError> {
    let columns = &request.columns;
    let markers = Markers(&columns.missing);
    let profiles =
        threads.map(table.columns.len(), |column| Profile::of(&table.columns[column].cells, markers));
    let reader = Reader { table, markers, columns };
    let (ids, mut row_of, order) = reader.ids(&roles)?;
    if let (Ids::Named(own), Some(names)) = (&ids, names) {
        if names.len() != table.rows {
            let expected = format!("{} rows, one per node of the arrays", names.len());
            return Err(format_error(&table.file, Place::Whole, expected, table.rows.to_string()));
        }
        row_of = Some(rows_by_name(names, own.iter()).map_err(|name| no_row(&table.file, &name))?);
    }
    let node_of = row_of.as_ref().map(|rows| inverse(rows));
    let (encoded, notes) = match &request.encoding {
        Some(encoding) => (reader.repeat(&roles, encoding), Vec::new()),
        None => reader.encode(threads, &mut roles, &profiles, request)?,
    };
    let used: Vec<(usize, &EncodedColumn)> =
        encoded.iter().enumerate().filter(|(_, column)| column.way.is_some()).collect();
    // Features are in the order of the encoding, which for another table than its own need not be that of the columns.
    let used = match &request.encoding {
        Some(encoding) => in_order(used, encoding),
        None => used,
    };
    let asked = matches!(&columns.features, FeatureColumns::Listed(_)) || request.encoding.is_some();
    let features = if used.is_empty() && !asked {
        None
    } else {
        Some(features(threads, table, &profiles, markers, &used, row_of.as_deref())?)
    };
    let place = Placed { node_of: node_of.as_deref() };
    let (labels, class_names) = reader.labels(&roles, &profiles, place, request)?;
    let splits = reader.splits(&roles, place)?;
    // Ids that are names themselves are what nodes are shown as: that is how files call them.
    let called = roles.of.iter().position(|role| *role == Given::Name);
    if let Some(column) = called.filter(|_| ids.is_named()) {
        let id = roles.of.iter().position(|role| *role == Given::Id);
        let id = id.map_or("the id", |id| &table.columns[id].name);
        roles.of[column] = Given::Out(format!("nodes are shown by their ids, `{id}`"));
    }
    let names = called.filter(|_| !ids.is_named()).map(|column| {
        let texts = table.columns[column].cells.raw_texts(table.rows);
        match &row_of {
            Some(rows) => Names::new(rows.iter().map(|&row| &texts[row as usize])),
            None => Names::new(&texts),
        }
    });
    let reports = reports(table, &roles, &profiles, &encoded, notes);
    let classes = labels.as_ref().map(|labels| match &class_names {
        Some(names) => names.iter().map(str::to_owned).collect(),
        None => (0..labels.width()).map(|class| class.to_string()).collect(),
    });
    let encoding = match &request.encoding {
        Some(encoding) => encoding.clone(),
        None => Encoding::new(encoded, classes),
    };
    Ok(NodeTable {
        ids,
        order,
        row_of,
        names,
        labels,
        class_names,
        splits,
        features,
        encoding,
        columns: reports,
    })
}

fn in_order<'a>(
    used: Vec<(usize, &'a EncodedColumn)>,
    encoding: &Encoding,
) -> Vec<(usize, &'a EncodedColumn)> {
    let of_name = |name: &str| used.iter().find(|(_, column)| column.name == name).copied();
    encoding
        .columns
        .iter()
        .filter(|column| column.way.is_some())
        .filter_map(|column| of_name(&column.name))
        .collect()
}

/// For each row its node, from the row of each node.
fn inverse(row_of: &[u32]) -> Vec<u32> {
    let mut node_of = vec![0; row_of.len()];
    for (node, &row) in (0..).zip(row_of) {
        node_of[row as usize] = node;
    }
    node_of
}

/// Which node a row is.
#[derive(Clone, Copy)]
struct Placed<'a> {
    node_of: Option<&'a [u32]>,
}

impl Placed<'_> {
    fn node(self, row: usize) -> usize {
        self.node_of.map_or(row, |nodes| nodes[row] as usize)
    }
}

struct Reader<'a> {
    table: &'a Table,
    markers: Markers<'a>,
    columns: &'a Columns,
}

impl Reader<'_> {
    fn wrong(&self, row: usize, column: usize, expected: &str, found: impl Into<String>) -> DataError {
        format_error(&self.table.file, self.table.place(row, column), expected, found)
    }

    /// The ids, the row of each node where the ids put them in another order, and what that order is.
    fn ids(&self, roles: &Roles) -> Result<(Ids, Option<Vec<u32>>, Order), DataError> {
        let rows = self.table.rows;
        let Some(column) = roles.of.iter().position(|role| *role == Given::Id) else {
            return Ok((Ids::Numbers { nodes: rows }, None, Order::Rows));
        };
        let expected = "an id that no other node has";
        let cells = &self.table.columns[column].cells;
        if let Some(named) =
            cells.all_different().filter(|named| named.iter().any(|id| parse_number(id).is_none()))
        {
            return Ok((Ids::Named(named.clone()), None, Order::Rows));
        }
        let mut named = Named::default();
        let mut numbers: Option<Vec<u32>> = Some(Vec::new());
        cells.each(Markers(&[]), |row, cell| {
            let missing = named.len();
            if missing != row {
                return Err(self.wrong(missing, column, expected, "nothing"));
            }
            let id = cell.text();
            if named.intern(id.as_bytes()) != Some(row as u32) {
                return Err(self.wrong(row, column, expected, excerpt(id.as_bytes())));
            }
            match (parse_number(id.as_bytes()), &mut numbers) {
                (Some(number), Some(numbers)) => numbers.push(number),
                _ => numbers = None,
            }
            Ok(())
        })?;
        if named.len() != rows {
            return Err(self.wrong(named.len(), column, expected, "nothing"));
        }
        let Some(numbers) = numbers else { return Ok((Ids::Named(named), None, Order::Rows)) };
        let ascending = numbers.is_sorted();
        // All are different: below the number of rows they are all numbers there are.
        if numbers.iter().all(|&number| (number as usize) < rows) {
            let row_of = (!ascending).then(|| inverse(&numbers));
            let order = if ascending { Order::Rows } else { Order::Ids };
            return Ok((Ids::Numbers { nodes: rows }, row_of, order));
        }
        Ok((Ids::Named(named), None, if ascending { Order::Rows } else { Order::Unclear }))
    }

    /// How each column becomes features, and a note on each. What is decided about a column replaces its role.
    fn encode(
        &self,
        threads: &Threads,
        roles: &mut Roles,
        profiles: &[Profile],
        request: &Import,
    ) -> Result<(Vec<EncodedColumn>, Vec<String>), DataError> {
        let header: Vec<&str> = self.table.columns.iter().map(|column| &column.name[..]).collect();
        if let OneHot::Columns(names) = &request.encode.one_hot {
            for name in names {
                let column = find(&self.table.file, &header, "to become one-hot", name)?;
                if roles.of[column] == Given::Perhaps {
                    roles.of[column] = Given::Feature;
                }
            }
        }
        let one_hot = match &request.encode.one_hot {
            OneHot::Columns(names) => {
                let exact = names.iter().filter_map(|name| find(&self.table.file, &header, "", name).ok());
                OneHot::Columns(exact.map(|column| header[column].to_owned()).collect())
            }
            other => other.clone(),
        };
        let encode = super::encode::Encode { one_hot, ..request.encode.clone() };
        let decider = Decider { table: self.table, markers: self.markers, encode: &encode };
        let decided = threads.map(header.len(), |column| match roles.of[column] {
            Given::Feature => decider.decide(column, &profiles[column], true).map(Some),
            Given::Perhaps => decider.decide(column, &profiles[column], false).map(Some),
            _ => Ok(None),
        });
        let mut decisions = decided.into_iter().collect::<Result<Vec<_>, _>>()?;
        let perhaps = roles.of.iter().enumerate().filter(|(_, role)| **role == Given::Perhaps);
        let by_itself: HashSet<usize> = perhaps.map(|(column, _)| column).collect();
        limit_sum(&mut decisions, &by_itself);
        let mut encoded = Vec::new();
        let mut notes = Vec::new();
        for (column, decision) in decisions.into_iter().enumerate() {
            let (role, way, indicator, note) = match decision {
                Some(Decision::Use { way, indicator, note }) => {
                    roles.of[column] = Given::Feature;
                    (Role::Feature, Some(way), indicator, note)
                }
                Some(Decision::Drop(why)) => {
                    roles.of[column] = Given::Out(why.clone());
                    (Role::Dropped, None, false, why)
                }
                None => (role_of(&roles.of[column]), None, false, String::new()),
            };
            encoded.push(EncodedColumn { name: header[column].to_owned(), role, way, indicator });
            notes.push(note);
        }
        Ok((encoded, notes))
    }

    /// The columns of this table with what an encoding makes of them.
    fn repeat(&self, roles: &Roles, encoding: &Encoding) -> Vec<EncodedColumn> {
        let of_name = |name: &str, role: &Given| {
            let known = encoding.columns.iter().find(|column| column.name == name);
            let known = known.filter(|_| *role == Given::Feature).cloned();
            known.unwrap_or_else(|| EncodedColumn {
                name: name.to_owned(),
                role: role_of(role),
                way: None,
                indicator: false,
            })
        };
        self.table.columns.iter().zip(&roles.of).map(|(column, role)| of_name(&column.name, role)).collect()
    }

    fn labels(
        &self,
        roles: &Roles,
        profiles: &[Profile],
        place: Placed<'_>,
        request: &Import,
    ) -> Result<(Option<Labels>, Option<Names>), DataError> {
        let rows = self.table.rows;
        let wrong = |error| graph_error(&self.table.file)(error);
        let many: Vec<usize> = (0..roles.of.len()).filter(|&at| roles.of[at] == Given::ManyLabel).collect();
        let (labels, names) = if !many.is_empty() {
            let mut values = vec![0; rows * many.len()];
            for (label, &column) in many.iter().enumerate() {
                let numbers = self.binary(column)?;
                for (row, value) in numbers.into_iter().enumerate() {
                    values[place.node(row) * many.len() + label] = value;
                }
            }
            let name = |&column: &usize| &self.table.columns[column].name[..];
            let names = many.iter().map(name).map(|name| name.strip_prefix(LABEL_PREFIX).unwrap_or(name));
            let labels = ManyLabels::new(rows, many.len(), values).map_err(wrong)?;
            (Some(Labels::from(labels)), Some(Names::new(names)))
        } else if let Some(column) = roles.of.iter().position(|role| *role == Given::Label) {
            let (values, class_of) = self.table.columns[column].cells.texts(rows, self.markers);
            let mut of = vec![UNLABELLED; rows];
            for (row, &class) in class_of.iter().enumerate().filter(|(_, class)| **class != NO_CODE) {
                of[place.node(row)] = class;
            }
            if let Some(encoding) = &request.encoding {
                let known = encoding.classes.as_deref().unwrap_or_default();
                return self.known_classes(column, &values, of, known);
            }
            if !self.columns.many_classes && self.columns.classes.is_none() {
                self.question(column, &profiles[column], values.len())?;
            }
            let (labels, names) = self.classes(&values, of)?;
            (Some(labels), names)
        } else {
            (None, None)
        };
        let names = match &self.columns.class_names {
            Some(names) => Some(Names::new(names)),
            None if self.columns.classes.is_some() => None,
            None => names,
        };
        Ok((labels, names))
    }

    /// A column of 0 and 1, or of truth values, without a gap.
    fn binary(&self, column: usize) -> Result<Vec<u8>, DataError> {
        let cells = &self.table.columns[column].cells;
        let numbers = cells.numbers(self.table.rows, self.markers);
        let numbers =
            numbers.map_err(|(row, text)| self.wrong(row, column, "0 or 1", excerpt(text.as_bytes())))?;
        let mut values = Vec::with_capacity(numbers.len());
        for (row, &value) in numbers.iter().enumerate() {
            if value != 0.0 && value != 1.0 {
                let found = if value.is_nan() { "nothing".to_owned() } else { format!("`{value}`") };
                return Err(self.wrong(row, column, "0 or 1", found));
            }
            values.push(value as u8);
        }
        Ok(values)
    }

    /// Refuses labels that are hardly classes.
    fn question(&self, column: usize, profile: &Profile, classes: usize) -> Result<(), DataError> {
        let labelled = profile.present;
        let share = classes as f64 / labelled.max(1) as f64;
        let numbers = matches!(profile.kind, Kind::Number | Kind::Date);
        let too_many = labelled >= QUESTION_FROM && share > CLASS_SHARE;
        let measured = numbers && classes > NUMBERS_AS_CLASSES && (share > NUMBER_SHARE || !profile.whole);
        if !too_many && !measured {
            return Ok(());
        }
        let name = &self.table.columns[column].name;
        let what = match profile.kind {
            Kind::Number => "different numbers",
            Kind::Date => "different dates",
            _ => "different values",
        };
        let found = format!("{classes} {what} for {labelled} labelled nodes");
        let expected = if numbers {
            "at most 20 classes, or one per twenty labelled nodes"
        } else {
            "at most one class per two labelled nodes"
        };
        let help = "is it the label? Set `label=…` to name another column, or `many_classes=true` to take every \
            value for a class";
        Err(format_error(&self.table.file, Place::Part(name.clone()), expected, found).with_help(help))
    }

    /// Classes that were numbered before.
    fn known_classes(
        &self,
        column: usize,
        values: &Named,
        mut of: Vec<u32>,
        known: &[String],
    ) -> Result<(Option<Labels>, Option<Names>), DataError> {
        let mut class_of_value = Vec::new();
        for value in values.iter() {
            let text = std::str::from_utf8(value).unwrap_or_default();
            let class = known.iter().position(|class| class == text);
            class_of_value.push(class.ok_or_else(|| {
                let place = Place::Part(self.table.columns[column].name.clone());
                format_error(&self.table.file, place, "a class of the first table", excerpt(value))
                    .with_help("correct it, or leave the cell empty")
            })? as u32);
        }
        for class in of.iter_mut().filter(|class| **class != UNLABELLED) {
            *class = class_of_value[*class as usize];
        }
        let labels = Classes::new(known.len(), of).map_err(graph_error(&self.table.file))?;
        let plain = known.iter().enumerate().all(|(class, name)| *name == class.to_string());
        Ok((Some(labels.into()), (!plain).then(|| Names::new(known))))
    }

    /// Numbers the classes: whole numbers in their order, other values by the alphabet. Their names are kept, unless they
    /// are the numbers 0, 1, 2, … themselves.
    fn classes(&self, values: &Named, mut of: Vec<u32>) -> Result<(Labels, Option<Names>), DataError> {
        let file = &self.table.file;
        let texts: Vec<&str> =
            values.iter().map(|value| std::str::from_utf8(value).unwrap_or_default()).collect();
        let numbers: Option<Vec<i64>> = texts.iter().map(|text| text.parse().ok()).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        match &numbers {
            Some(numbers) => order.sort_by_key(|&value| numbers[value]),
            None => order.sort_by_key(|&value| texts[value]),
        }
        let mut class_of_value = vec![0; texts.len()];
        for (class, &value) in order.iter().enumerate() {
            class_of_value[value] = class as u32;
        }
        let mut count = texts.len();
        if let Some(expected) = self.columns.classes {
            for (value, class) in class_of_value.iter_mut().enumerate() {
                let number = texts[value].parse::<u32>().ok().filter(|&number| (number as usize) < expected);
                *class = number.ok_or_else(|| {
                    let expected = format!("a class below {expected}");
                    format_error(file, Place::Whole, expected, excerpt(texts[value].as_bytes()))
                })?;
            }
            count = expected;
        }
        for class in of.iter_mut().filter(|class| **class != UNLABELLED) {
            *class = class_of_value[*class as usize];
        }
        let plain = order.iter().enumerate().all(|(class, &value)| texts[value] == class.to_string());
        let names = (!plain).then(|| Names::new(order.iter().map(|&value| texts[value])));
        Ok((Classes::new(count, of).map_err(graph_error(file))?.into(), names))
    }

    fn splits(&self, roles: &Roles, place: Placed<'_>) -> Result<Vec<Split>, DataError> {
        let mut sets = vec![<[Vec<u32>; 3]>::default(); roles.splits.len()];
        for (column, role) in roles.of.iter().enumerate() {
            match *role {
                Given::Split(split) => {
                    self.table.columns[column].cells.each(self.markers, |row, cell| {
                        let set = set(cell).map_err(|()| {
                            let expected = "`train`, `validation`, `test`, 0, 1, 2 or nothing";
                            self.wrong(row, column, expected, excerpt(cell.text().as_bytes()))
                        })?;
                        if let Some(set) = set {
                            sets[split][set].push(place.node(row) as u32);
                        }
                        Ok::<(), DataError>(())
                    })?;
                }
                Given::Mask(split, set) => {
                    let mask = self.binary(column)?;
                    let inside = mask.iter().enumerate().filter(|(_, value)| **value == 1);
                    sets[split][set].extend(inside.map(|(row, _)| place.node(row) as u32));
                }
                _ => {}
            }
        }
        let mut splits = Vec::new();
        for (name, [train, validation, test]) in roles.splits.iter().zip(sets) {
            let split = Split::new(name, self.table.rows, train, validation, test);
            splits.push(split.map_err(graph_error(&self.table.file))?);
        }
        Ok(splits)
    }
}

/// 0 for training, 1 for validation, 2 for test, `None` for none of them; an error for anything else.
fn set(cell: Cell<'_>) -> Result<Option<usize>, ()> {
    match &cell.text().to_ascii_lowercase()[..] {
        "train" | "training" | "0" => Ok(Some(0)),
        "val" | "valid" | "validation" | "1" => Ok(Some(1)),
        "test" | "2" => Ok(Some(2)),
        "none" => Ok(None),
        _ => Err(()),
    }
}

fn role_of(given: &Given) -> Role {
    match given {
        Given::Id => Role::Id,
        Given::Name => Role::Name,
        Given::Label | Given::ManyLabel => Role::Label,
        Given::Split(_) | Given::Mask(..) => Role::Split,
        Given::Feature => Role::Feature,
        Given::Perhaps | Given::Out(_) => Role::Dropped,
    }
}

fn reports(
    table: &Table,
    roles: &Roles,
    profiles: &[Profile],
    encoded: &[EncodedColumn],
    notes: Vec<String>,
) -> Vec<ColumnReport> {
    let mut notes = notes.into_iter();
    let mut reports = Vec::new();
    for ((role, profile), encoded) in roles.of.iter().zip(profiles).zip(encoded) {
        let (min, max) = profile.bounds();
        let own = notes.next().unwrap_or_default();
        reports.push(ColumnReport {
            table: TableOf::Nodes,
            name: encoded.name.clone(),
            role: role_of(role),
            kind: if is_category(profile) { Kind::Category } else { profile.kind },
            distinct: Some(profile.distinct),
            missing: (table.rows - profile.present) as f64 / table.rows.max(1) as f64,
            min,
            max,
            features: encoded.feature_names(),
            note: match role {
                Given::Out(why) if own.is_empty() => why.clone(),
                _ => own,
            },
        });
    }
    reports
}
