//! Where the linker must be told that Python itself is there only when the module is loaded, it is.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
