//! The buffers of a program: allocated by its first pass, and handed on from a program that has ended to one that begins, as models
//! that are built anew for every step do.

use super::Program;

/// The buffers of programs that have ended. What they hold is left as it is.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    buffers: Vec<Vec<f32>>,
    /// The rooms of layers, in the order of these.
    rooms: Vec<Vec<f32>>,
}

impl Shelf {
    /// A buffer: the smallest one that is large enough, or a new one. A `clean` one holds zeros.
    fn take(&mut self, len: usize, clean: bool) -> Vec<f32> {
        let enough = self.buffers.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= len);
        let Some((at, _)) = enough.min_by_key(|(_, buffer)| buffer.capacity()) else { return vec![0.0; len] };
        let mut buffer = self.buffers.swap_remove(at);
        buffer.resize(len, 0.0);
        if clean {
            buffer.fill(0.0);
        }
        buffer
    }
}

/// Makes the room of a layer as large as a pass needs it; what it holds does not matter.
pub(super) fn make_room(room: &mut Vec<f32>, len: usize) {
    if room.capacity() < len {
        // The old one goes first.
        *room = Vec::new();
        *room = vec![0.0; len];
    }
    room.resize(len, 0.0);
}

impl Program {
    /// Takes the buffers of a pass from a shelf; `embedding` says that rows of the embedding are read which no layer may have
    /// computed. A layer reads rows of a slot that have been computed, and their padding, which is 0: what else a buffer holds
    /// does not matter.
    pub(crate) fn take_buffers(&mut self, shelf: &mut Shelf, gradients: bool, embedding: bool) {
        let mut rooms = std::mem::take(&mut shelf.rooms).into_iter();
        for room in self.nodes.iter_mut().filter_map(|node| node.layer.room()) {
            if let Some(other) = rooms.next() {
                *room = other;
            }
        }
        for (slot, &(values, gradient)) in self.lengths.iter().enumerate() {
            let axis = self.shapes[slot].axis;
            let padded = axis.stride() != axis.len();
            if values > 0 && self.values[slot].is_empty() {
                let read = embedding && self.embedding.is_some_and(|embedding| embedding.0 == slot);
                self.values[slot] = shelf.take(values, padded || read);
            }
            let own = self.gradients[slot].get_mut();
            if gradient > 0 && own.is_empty() && (gradients || slot == self.output.0) {
                *own = shelf.take(gradient, padded);
            }
        }
        // What nobody took is too small.
        shelf.buffers.clear();
    }

    /// Leaves the buffers on a shelf.
    pub(crate) fn leave_buffers(mut self, shelf: &mut Shelf) {
        for (slot, &(values, gradient)) in self.lengths.iter().enumerate() {
            // Constants stay.
            if values > 0 {
                let of_gradient = std::mem::take(self.gradients[slot].get_mut());
                shelf.buffers.extend([std::mem::take(&mut self.values[slot]), of_gradient]);
            } else if gradient > 0 {
                shelf.buffers.push(std::mem::take(self.gradients[slot].get_mut()));
            }
        }
        shelf.buffers.retain(|buffer| buffer.capacity() > 0);
        shelf.rooms.extend(self.nodes.iter_mut().filter_map(|node| node.layer.room()).map(std::mem::take));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_is_large_enough_is_taken_again() {
        let mut shelf = Shelf { buffers: vec![vec![1.0; 9], vec![2.0; 5], vec![3.0; 7]], rooms: Vec::new() };
        assert_eq!(shelf.take(6, false), [3.0; 6]);
        assert_eq!(shelf.take(6, true), [0.0; 6]);
        // None is left.
        assert_eq!(shelf.take(6, false), [0.0; 6]);
        assert_eq!(shelf.take(0, false), [0.0; 0]);
    }
}
