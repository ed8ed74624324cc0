//! The merge of runs: a tree of losers, so that the next record costs one comparison a level.
//!
//! Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1 (tree of losers).

use super::{
    compare, parts, prefix,
    run::{Run, RunReader, Unpacker},
};
use crate::model::Result;

/// One run in the merge, at the record that is next in it.
#[derive(Debug)]
struct Head {
    reader: RunReader,
    prefix: u64,
    done: bool,
}

impl Head {
    fn advance(&mut self, unpacker: &mut Unpacker) -> Result<()> {
        self.done = !self.reader.advance(unpacker)?;
        if !self.done {
            let (key, row) = parts(self.reader.record());
            self.prefix = prefix(key, row);
        }
        Ok(())
    }
}

/// Merges runs into one ascending sequence of records.
#[derive(Debug)]
pub(super) struct Merger {
    heads: Vec<Head>,
    /// The loser at each inner node; the winner of all at 0.
    tree: Vec<usize>,
    unpacker: Unpacker,
}

impl Merger {
    /// A merger that stands at the first record of `runs`.
    pub(super) fn new(runs: Vec<Run>, block_bytes: usize) -> Result<Self> {
        let mut unpacker = Unpacker::new(block_bytes)?;
        let mut heads = Vec::with_capacity(runs.len());
        for run in runs {
            let mut head = Head { reader: RunReader::new(run), prefix: 0, done: false };
            head.advance(&mut unpacker)?;
            heads.push(head);
        }
        let mut merger = Self { tree: vec![0; heads.len()], heads, unpacker };
        merger.build();
        Ok(merger)
    }

    fn build(&mut self) {
        let count = self.heads.len();
        if count == 0 {
            return;
        }
        // Leaf i stands at count + i; node n has the children 2n and 2n + 1.
        let mut winners: Vec<usize> = (0..2 * count).map(|place| place.saturating_sub(count)).collect();
        for node in (1..count).rev() {
            let (one, other) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if self.less(other, one) { (other, one) } else { (one, other) };
            (winners[node], self.tree[node]) = (winner, loser);
        }
        self.tree[0] = winners[1];
    }

    #[inline]
    fn less(&self, one: usize, other: usize) -> bool {
        let (first, second) = (&self.heads[one], &self.heads[other]);
        if first.done || second.done {
            return !first.done;
        }
        let order = first.prefix.cmp(&second.prefix);
        order.then_with(|| compare(first.reader.record(), second.reader.record())).is_lt()
    }

    /// The next record; `None` at the end.
    #[inline]
    pub(super) fn head(&self) -> Option<&[u8]> {
        let head = &self.heads[*self.tree.first()?];
        (!head.done).then(|| head.reader.record())
    }

    /// Leaves the next record behind.
    pub(super) fn advance(&mut self) -> Result<()> {
        let Some(&first) = self.tree.first() else {
            return Ok(());
        };
        let mut winner = first;
        self.heads[winner].advance(&mut self.unpacker)?;
        let mut node = usize::midpoint(winner, self.heads.len());
        while node > 0 {
            if self.less(self.tree[node], winner) {
                std::mem::swap(&mut self.tree[node], &mut winner);
            }
            node /= 2;
        }
        self.tree[0] = winner;
        Ok(())
    }
}
