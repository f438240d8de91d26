//! Small pickles as Python 2 writes them with protocol 2, and the parts of a small Planetoid set.

/// The instruction that makes a whole number.
pub(crate) fn int(number: usize) -> Vec<u8> {
    [b"J", &i32::try_from(number).expect("a small number").to_le_bytes()[..]].concat()
}

/// A pickle of what `body` makes.
pub(crate) fn pickle(body: &[u8]) -> Vec<u8> {
    [b"\x80\x02", body, b"."].concat()
}

/// The instructions that make a numpy array.
pub(crate) fn array(dtype: &str, order: char, shape: &[usize], raw: &[u8]) -> Vec<u8> {
    let mut body =
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\x01b\x87R(K\x01(".to_vec();
    body.extend(shape.iter().flat_map(|&size| int(size)));
    body.extend(b"tcnumpy\ndtype\nU");
    body.push(u8::try_from(dtype.len()).expect("a short name"));
    body.extend(dtype.bytes());
    body.extend(b"K\0K\x01\x87R(K\x03U\x01");
    body.push(order as u8);
    body.extend(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T");
    body.extend(u32::try_from(raw.len()).expect("a small array").to_le_bytes());
    [&body, raw, b"tb"].concat()
}

/// A pickle of a scipy CSR matrix of `f4`.
pub(crate) fn csr(rows: usize, cols: usize, offsets: &[i32], columns: &[i32], values: &[f32]) -> Vec<u8> {
    let raw = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let data: Vec<u8> = values.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut body = b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape".to_vec();
    body.extend([int(rows), int(cols), b"\x86".to_vec()].concat());
    for (name, part) in [
        ("indptr", array("i4", '<', &[offsets.len()], &raw(offsets))),
        ("indices", array("i4", '<', &[columns.len()], &raw(columns))),
        ("data", array("f4", '<', &[values.len()], &data)),
    ] {
        body.push(b'U');
        body.push(u8::try_from(name.len()).expect("a short name"));
        body.extend(name.bytes());
        body.extend(part);
    }
    body.extend(b"ub");
    pickle(&body)
}

/// A pickle of a CSR matrix of one entry per row, `values[row]` in column `row % cols`.
pub(crate) fn diagonal(cols: usize, values: &[f32]) -> Vec<u8> {
    let rows = i32::try_from(values.len()).expect("a small matrix");
    let offsets: Vec<i32> = (0..=rows).collect();
    let columns: Vec<i32> = (0..cols as u16).cycle().take(values.len()).map(i32::from).collect();
    csr(values.len(), cols, &offsets, &columns, values)
}

/// A pickle of one-hot rows.
pub(crate) fn one_hot(classes: usize, of: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let rows =
        of.into_iter().map(|own| (0..classes).map(|class| u8::from(class == own)).collect::<Vec<u8>>());
    let raw = rows.collect::<Vec<_>>().concat();
    pickle(&array("i1", '|', &[raw.len() / classes, classes], &raw))
}

/// A pickle of a `defaultdict(list)` from each node to its neighbours.
pub(crate) fn graph<'a>(lists: impl IntoIterator<Item = &'a [usize]>) -> Vec<u8> {
    let mut body = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(".to_vec();
    for (node, list) in lists.into_iter().enumerate() {
        body.extend(int(node));
        body.extend(b"](");
        body.extend(list.iter().flat_map(|&neighbour| int(neighbour)));
        body.push(b'e');
    }
    body.push(b'u');
    pickle(&body)
}

/// The parts x, y, tx, ty, allx, ally, graph and test.index of a set of 507 nodes: 2 to learn from, 500 to validate,
/// one more, then the nodes 503 to 506 of which `test.index` lists 506, 503, 504. Node 505 is unknown. Node i has the
/// feature i + 1 in column i mod 3, and class i mod 2; edges are the path 0 to 505, given in both directions, node 1
/// with a self-loop and a repeated neighbour.
pub(crate) fn set() -> [Vec<u8>; 8] {
    let values = |nodes: &[usize]| nodes.iter().map(|&node| (node + 1) as f32).collect::<Vec<f32>>();
    let known: Vec<usize> = (0..503).collect();
    let test = [506, 503, 504];
    let columns = test.map(|node| i32::try_from(node % 3).expect("below 3"));
    let lists: Vec<Vec<usize>> = (0..507_usize)
        .map(|node| match node {
            0 => vec![1],
            1 => vec![0, 1, 2, 2],
            505 => vec![504],
            506 => vec![],
            _ => vec![node - 1, node + 1],
        })
        .collect();
    [
        diagonal(3, &values(&known[..2])),
        one_hot(2, [0, 1]),
        csr(3, 3, &[0, 1, 2, 3], &columns, &values(&test)),
        one_hot(2, test.map(|node| node % 2)),
        diagonal(3, &values(&known)),
        one_hot(2, known.iter().map(|node| node % 2)),
        graph(lists.iter().map(|list| &list[..])),
        b"506\n503\n504\n".to_vec(),
    ]
}
