// SPDX-License-Identifier: CC0-1.0
//! A naive memory pool: put yours in its place. It knows nothing of the protocol.

use std::cell::RefCell;
use std::rc::Rc;

/// So many bytes; two buffers are the same only if they are the same object.
pub type Buffer = Rc<RefCell<Vec<u8>>>;

#[derive(Debug, PartialEq)]
pub enum Refused {
    /// An argument that the pool does not take.
    Invalid,
    /// The memory for a buffer cannot be had.
    NoMemory,
}

/// A buffer of zeros. (`vec![0; bytes]` would end the program where there is no memory.)
pub fn new_buffer(bytes: i64) -> Result<Buffer, Refused> {
    let size = usize::try_from(bytes).map_err(|_| Refused::NoMemory)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(size).map_err(|_| Refused::NoMemory)?;
    memory.resize(size, 0);
    Ok(Rc::new(RefCell::new(memory)))
}

/// Grants buffers while there is something left, and says no otherwise.
pub struct MemoryPool {
    pub size_bytes: i64,
    max_single_bytes: i64,
    strict: bool,
    pub available_bytes: i64,
    granted: Vec<Buffer>,
    /// Makes the memory of a buffer.
    pub new_buffer: fn(i64) -> Result<Buffer, Refused>,
    pub now_ms: i64, // a clock that somebody else moves
    dry_since_ms: Option<i64>,
    pub depleted_spells: u64,
    pub depleted_ms: i64,
}

impl MemoryPool {
    pub fn new(size_bytes: i64, max_single_bytes: i64, strict: bool) -> Result<Self, Refused> {
        if max_single_bytes < 1 || size_bytes < max_single_bytes {
            return Err(Refused::Invalid);
        }
        Ok(MemoryPool {
            size_bytes,
            max_single_bytes,
            strict,
            available_bytes: size_bytes,
            granted: Vec::new(),
            new_buffer,
            now_ms: 0,
            dry_since_ms: None,
            depleted_spells: 0,
            depleted_ms: 0,
        })
    }

    /// A buffer of this size; none where there is not enough left.
    pub fn try_allocate(&mut self, bytes: i64) -> Result<Option<Buffer>, Refused> {
        if bytes < 1 || bytes > self.max_single_bytes {
            return Err(Refused::Invalid);
        }
        if self.available_bytes < if self.strict { bytes } else { 1 } {
            self.dry_since_ms.get_or_insert(self.now_ms);
            return Ok(None);
        }
        let buffer = (self.new_buffer)(bytes)?; // may fail: nothing has been taken yet
        self.granted.push(Rc::clone(&buffer));
        self.end_dry_spell();
        self.available_bytes -= bytes;
        Ok(Some(buffer))
    }

    pub fn release(&mut self, buffer: &Buffer) -> Result<(), Refused> {
        let out = self.granted.iter().position(|each| Rc::ptr_eq(each, buffer));
        self.granted.swap_remove(out.ok_or(Refused::Invalid)?);
        self.end_dry_spell();
        self.available_bytes += buffer.borrow().len() as i64;
        Ok(())
    }

    fn end_dry_spell(&mut self) {
        if let Some(since_ms) = self.dry_since_ms.take() {
            self.depleted_spells += 1;
            self.depleted_ms += self.now_ms - since_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: i64 = 1 << 50;

    #[test]
    fn an_allocation_that_fails_takes_nothing() {
        let mut pool = MemoryPool::new(LARGE, LARGE, false).unwrap();
        for bytes in [LARGE / 2, LARGE] {
            assert_eq!(pool.try_allocate(bytes), Err(Refused::NoMemory));
        }
        assert_eq!((pool.available_bytes, pool.granted.len()), (LARGE, 0));
        assert!(pool.try_allocate(1).unwrap().is_some());
    }

    #[test]
    fn an_allocation_that_fails_ends_no_dry_spell() {
        let mut pool = MemoryPool::new(LARGE, LARGE, true).unwrap();
        assert!(pool.try_allocate(1).unwrap().is_some());
        assert_eq!(pool.try_allocate(LARGE), Ok(None)); // a dry spell begins
        assert_eq!(pool.try_allocate(LARGE / 2), Err(Refused::NoMemory));
        assert_eq!(pool.depleted_spells, 0);
        assert!(pool.try_allocate(1).unwrap().is_some());
        assert_eq!(pool.depleted_spells, 1);
    }
}
