// SPDX-License-Identifier: CC0-1.0
//! A naive memory pool: put yours in its place. It knows nothing of the protocol.

use std::rc::Rc;

/// So many bytes; two buffers are the same only if they are the same object.
pub type Buffer = Rc<Vec<u8>>;

/// An argument that the pool refuses.
#[derive(Debug)]
pub struct Invalid;

/// Grants buffers while there is something left, and says no otherwise.
pub struct MemoryPool {
    pub size_bytes: i64,
    max_single_bytes: i64,
    strict: bool,
    pub available_bytes: i64,
    granted: Vec<Buffer>,
    pub now_ms: i64, // a clock that somebody else moves
    dry_since_ms: Option<i64>,
    pub depleted_spells: u64,
    pub depleted_ms: i64,
}

impl MemoryPool {
    pub fn new(size_bytes: i64, max_single_bytes: i64, strict: bool) -> Result<Self, Invalid> {
        if max_single_bytes < 1 || size_bytes < max_single_bytes {
            return Err(Invalid);
        }
        Ok(MemoryPool {
            size_bytes,
            max_single_bytes,
            strict,
            available_bytes: size_bytes,
            granted: Vec::new(),
            now_ms: 0,
            dry_since_ms: None,
            depleted_spells: 0,
            depleted_ms: 0,
        })
    }

    /// A buffer of this size; none where there is not enough left.
    pub fn try_allocate(&mut self, bytes: i64) -> Result<Option<Buffer>, Invalid> {
        if bytes < 1 || bytes > self.max_single_bytes {
            return Err(Invalid);
        }
        if self.available_bytes < if self.strict { bytes } else { 1 } {
            self.dry_since_ms.get_or_insert(self.now_ms);
            return Ok(None);
        }
        self.end_dry_spell();
        self.available_bytes -= bytes;
        let buffer = Rc::new(vec![0; bytes as usize]);
        self.granted.push(Rc::clone(&buffer));
        Ok(Some(buffer))
    }

    pub fn release(&mut self, buffer: &Buffer) -> Result<(), Invalid> {
        let out = self.granted.iter().position(|each| Rc::ptr_eq(each, buffer));
        self.granted.swap_remove(out.ok_or(Invalid)?);
        self.end_dry_spell();
        self.available_bytes += buffer.len() as i64;
        Ok(())
    }

    fn end_dry_spell(&mut self) {
        if let Some(since_ms) = self.dry_since_ms.take() {
            self.depleted_spells += 1;
            self.depleted_ms += self.now_ms - since_ms;
        }
    }
}
