//! The brackets and strings of a JSON file that are open at a byte.

/// How deep a byte of a JSON file stands.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Nesting {
    /// Takes the next byte.
    pub(super) fn step(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether no bracket and no string is open.
    pub(super) fn is_outside(&self) -> bool {
        self.depth == 0 && !self.quoted
    }

    /// Whether a bracket is open.
    pub(super) fn is_within_brackets(&self) -> bool {
        self.depth > 0
    }
}
