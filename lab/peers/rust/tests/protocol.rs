//! The program as the bench sees it: lines in, lines out.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// The hello and the answers to all lines; the peer ends by itself at the end of its input.
fn talk(lines: &[&[u8]]) -> Vec<Value> {
    let mut peer = Command::new(env!("CARGO_BIN_EXE_purgatory-peer"))
        .arg("hierarchical-hash-wheel")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = peer.stdin.take().unwrap();
    input.write_all(&lines.join(&b'\n')).unwrap();
    drop(input);
    let output = peer.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn request(measure: &str, pending: u32, operations: u32) -> Vec<u8> {
    json!({"measure": measure, "pending": pending, "operations": operations, "seed": 7})
        .to_string()
        .into_bytes()
}

#[test]
fn every_offered_measure_is_answered() {
    let offered = talk(&[])[0]["measures"].as_array().unwrap().clone();
    assert_eq!(offered.len(), 5);
    for measure in offered.iter().map(|name| name.as_str().unwrap()) {
        let pending = if measure == "expire/virtual" { 0 } else { 100 };
        let answer = &talk(&[&request(measure, pending, 300)])[1];
        assert_eq!(answer["error"], Value::Null, "{measure}");
        let done = if measure == "memory/timer" { 100 } else { 300 };
        assert_eq!(answer["operations"], done, "{measure}");
        assert!(answer["wall_ns"].as_u64().unwrap() > 0, "{measure}");
    }
}

#[test]
fn what_cannot_be_answered_is_an_error_and_the_peer_goes_on() {
    let refused: [&[u8]; 13] = [
        b"",
        b"\xff",
        b"no JSON",
        b"[1]",
        br#"{"pending":1,"operations":1,"seed":7}"#,
        br#"{"measure":"hot/system","pending":1,"operations":1,"seed":7}"#,
        br#"{"measure":"hot/virtual","operations":1,"seed":7}"#,
        br#"{"measure":"hot/virtual","pending":1,"operations":1}"#,
        br#"{"measure":"hot/virtual","pending":-1,"operations":1,"seed":7}"#,
        br#"{"measure":"hot/virtual","pending":1,"operations":0,"seed":7}"#,
        br#"{"measure":"fifo/virtual","pending":0,"operations":1,"seed":7}"#,
        br#"{"measure":"expire/virtual","pending":1,"operations":1,"seed":7}"#,
        br#"{"measure":"memory/timer","pending":0,"seed":7}"#,
    ];
    let good = request("hot/virtual", 1, 5);
    let answers = talk(&[&refused[..], &[good.as_slice()]].concat());
    assert_eq!(answers.len(), 15);
    for (line, answer) in refused.iter().zip(&answers[1..]) {
        assert!(
            answer["error"].is_string(),
            "{}",
            String::from_utf8_lossy(line)
        );
    }
    assert_eq!(answers[14]["operations"], 5);
}

#[test]
fn memory_is_the_same_whatever_was_asked_before() {
    let memory = request("memory/timer", 100_000, 1);
    let answers = talk(&[&memory, &request("random/virtual", 300_000, 10), &memory]);
    let bytes = |answer: &Value| answer["detail"]["bytes"].as_f64().unwrap();
    let (before, after) = (bytes(&answers[1]), bytes(&answers[3]));
    assert!(
        (before - after).abs() < 2.0,
        "{before}, then {after} bytes a timer"
    );
}

#[test]
fn another_name_is_refused() {
    let status = Command::new(env!("CARGO_BIN_EXE_purgatory-peer"))
        .arg("another")
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
