use super::*;

/// Rings of nodes, each a group, with a link between neighbouring rings.
fn rings(count: u32, size: u32) -> (usize, Vec<[u32; 2]>, Vec<u32>) {
    let mut links = Vec::new();
    for ring in 0..count {
        let first = ring * size;
        links.extend(
            (0..size).flat_map(|place| [1, 2, 5].map(|step| [first + place, first + (place + step) % size])),
        );
        links.push([first, (first + size) % (count * size)]);
    }
    let groups = (0..count * size).map(|node| node / size).collect();
    ((count * size) as usize, links, groups)
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f64 {
    let [x, y] = [f64::from(a[0] - b[0]), f64::from(a[1] - b[1])];
    (x * x + y * y).sqrt()
}

#[test]
fn neighbours_are_nearer_than_others() {
    let (nodes, links, groups) = rings(6, 100);
    let mean = |pairs: &mut dyn Iterator<Item = f64>| {
        let all: Vec<f64> = pairs.collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    for groups in [None, Some(&groups[..])] {
        let places = layout(&Threads::one(), nodes, &links, groups);
        let linked = mean(&mut links.iter().map(|&[a, b]| distance(places[a as usize], places[b as usize])));
        let any = mean(&mut (0..nodes).map(|node| distance(places[node], places[node * 7919 % nodes])));
        assert!(linked < 0.5 * any, "linked {linked}, any {any}");
        assert!(places.iter().flatten().all(|value| (-1.001..=1.001).contains(value)));
    }
}

#[test]
fn places_are_the_same_bits_on_any_number_of_threads() {
    let (nodes, links, groups) = rings(20, 70);
    let bits = |threads: usize| {
        let places = layout(&Threads::new(threads).expect("threads"), nodes, &links, Some(&groups));
        places.iter().flatten().map(|value| value.to_bits()).collect::<Vec<u32>>()
    };
    assert_eq!(bits(1), bits(2));
    assert_eq!(bits(1), bits(5));
}

#[test]
fn graphs_of_all_kinds_have_places_that_are_numbers() {
    let star: Vec<[u32; 2]> = (1..5000).map(|node| [0, node]).collect();
    let cases: [(usize, &[[u32; 2]]); 6] =
        [(0, &[]), (1, &[[0, 0]]), (2, &[[0, 1], [1, 0]]), (3, &[[0, 7]]), (2000, &[]), (5000, &star)];
    for (nodes, links) in cases {
        let places = layout(&Threads::one(), nodes, links, None);
        assert_eq!(places.len(), nodes);
        assert!(places.iter().flatten().all(|value| value.is_finite()), "{nodes} nodes");
        let mut seen: Vec<[u32; 2]> = places.iter().map(|place| place.map(f32::to_bits)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() * 10 >= nodes * 9, "{nodes} nodes at {} places", seen.len());
    }
}
