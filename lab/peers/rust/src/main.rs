//! A peer: answers requests, one JSON object a line, with what the work has cost.

mod cost;
mod draws;
mod expiry;
mod fresh_process;
mod memory;
mod request;
mod task;
mod timer_wheel;

use request::Request;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

const PEER: &str = "hierarchical-hash-wheel";
/// The version that `Cargo.toml` pins.
const WHEEL_VERSION: &str = "1.4.0";
const MEASURES: [&str; 5] = [
    "hot/virtual",
    "fifo/virtual",
    "random/virtual",
    "expire/virtual",
    "memory/timer",
];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    match arguments[..] {
        [PEER] => {
            write_line(&mut output, &hello())?;
            serve(&mut input, &mut output)
        }
        [PEER, fresh_process::ONCE_ARGUMENT] => {
            let mut line = Vec::new();
            input.read_to_end(&mut line)?;
            write_line(&mut output, &answer(&line, memory::bytes_per_timer))
        }
        _ => {
            eprintln!("usage: purgatory-peer {PEER}");
            std::process::exit(2)
        }
    }
}

fn hello() -> Value {
    json!({
        "peer": PEER,
        "version": WHEEL_VERSION,
        "runtime": "native, release build, system allocator",
        "measures": MEASURES,
    })
}

/// Answers each line until the input ends; a line that cannot be answered does not end it.
fn serve(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        write_line(output, &answer(&line, measure))?;
        line.clear();
    }
    Ok(())
}

fn write_line(output: &mut impl Write, value: &Value) -> io::Result<()> {
    writeln!(output, "{value}")?;
    output.flush()
}

fn answer(line: &[u8], measure: impl Fn(&Request) -> Result<Value, String>) -> Value {
    Request::parse(line)
        .and_then(|request| measure(&request))
        .unwrap_or_else(|sentence| json!({ "error": sentence }))
}

fn measure(request: &Request) -> Result<Value, String> {
    match request.measure()? {
        "hot/virtual" => timer_wheel::hot(request),
        "fifo/virtual" => timer_wheel::first_in_first_out(request),
        "random/virtual" => timer_wheel::random_victims(request),
        "expire/virtual" => expiry::add_and_run(request),
        "memory/timer" => fresh_process::ask(PEER, request),
        other => Err(format!("the measure {other:?} is not offered")),
    }
}
