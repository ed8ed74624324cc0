//! Pages of `docs/` that are made from the code are current.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use tieout::{connector::registry::native_types, plan::type_pairs_markdown};

#[test]
fn the_page_of_type_pairs_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/type-pairs.md");
    let page = type_pairs_markdown(&native_types());
    if std::env::var_os("TIEOUT_UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(found == page, "docs/type-pairs.md is not current: run this test with TIEOUT_UPDATE_DOCS=1");
}
