// SPDX-License-Identifier: CC0-1.0
//! The suite as a test: the verdict is that of "purgatory check"; a failure shows its report.

use std::process::Command;

#[test]
fn every_rule_holds() {
    let done = Command::new("purgatory")
        .args(["check", "--suite", "quick", "--seed", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("there is no command 'purgatory' on the PATH: README.md says how to install it");
    let report = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{report}{}", String::from_utf8_lossy(&done.stderr));
}
