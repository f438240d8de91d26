//! The README shows the example that heads the documentation, which runs as a test of the documentation.

#[test]
fn the_code_in_the_readme_is_the_example() {
    let readme = include_str!("../../../README.md");
    let blocks: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks, [include_str!("../examples/quick.rs")]);
}
