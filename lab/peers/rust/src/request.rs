//! One request: a JSON object whose keys are asked for by name.

use serde_json::{Map, Value};

/// More than this would fill the memory of a usual machine before it is measured.
const MOST_TIMERS: u64 = 50_000_000;

pub struct Request {
    keys: Map<String, Value>,
}

impl Request {
    pub fn parse(line: &[u8]) -> Result<Request, String> {
        match serde_json::from_slice(line) {
            Ok(Value::Object(keys)) => Ok(Request { keys }),
            Ok(_) => Err("a request is a JSON object".into()),
            Err(fault) => Err(format!("the line is not JSON: {fault}")),
        }
    }

    /// The request as it can be given to another process.
    pub fn line(&self) -> String {
        Value::Object(self.keys.clone()).to_string()
    }

    pub fn measure(&self) -> Result<&str, String> {
        self.keys
            .get("measure")
            .and_then(Value::as_str)
            .ok_or_else(|| "the key \"measure\" is missing or not a string".into())
    }

    pub fn seed(&self) -> Result<u64, String> {
        self.whole_number("seed")
    }

    /// How many timers are there before measuring begins.
    pub fn pending(&self) -> Result<usize, String> {
        self.count("pending")
    }

    pub fn at_least_one_pending(&self) -> Result<usize, String> {
        at_least_one(self.pending()?, "pending")
    }

    /// How many times the measured thing is done: at least once.
    pub fn operations(&self) -> Result<usize, String> {
        at_least_one(self.count("operations")?, "operations")
    }

    fn count(&self, key: &str) -> Result<usize, String> {
        match self.whole_number(key)? {
            count if count <= MOST_TIMERS => Ok(count as usize),
            _ => Err(format!("{key:?} is at most {MOST_TIMERS}")),
        }
    }

    fn whole_number(&self, key: &str) -> Result<u64, String> {
        self.keys
            .get(key)
            .and_then(Value::as_u64)
            .ok_or_else(|| format!("the key {key:?} is missing or not a whole number"))
    }
}

fn at_least_one(count: usize, key: &str) -> Result<usize, String> {
    match count {
        0 => Err(format!("{key:?} is at least 1 here")),
        count => Ok(count),
    }
}
