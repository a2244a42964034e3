//! The order in which rows were last accessed (Rae 2016, §3.2).
//!
//! Before the first step row i was last accessed at −N + i. So rows that no step accessed come first, the lowest index
//! before all others; those that were accessed stand in a circular list, the one accessed longest ago in front. Every
//! operation takes the same time whatever the number of rows.

/// The list of the rows that were accessed, by their slots. Node 0 is its end; node s + 1 belongs to slot s and is linked
/// to itself while its row is not in the list.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The nodes before and after each node.
    links: Vec<[u32; 2]>,
    /// The lowest rows that were not accessed at the last request; their number is that of the request.
    pub(super) lowest: Vec<u32>,
    /// All other rows below this one were accessed.
    pub(super) next: usize,
}

impl Order {
    /// Empties the list.
    pub(super) fn clear(&mut self) {
        self.links.clear();
        self.links.push([0; 2]);
        self.lowest.clear();
        self.next = 0;
    }

    /// Makes room for `slots` slots.
    pub(super) fn reserve(&mut self, slots: usize) {
        self.links.reserve(slots + 1);
    }

    /// Adds the next slot, whose row is not in the list.
    pub(super) fn push(&mut self) {
        let node = self.links.len() as u32;
        self.links.push([node; 2]);
    }

    /// True for a slot whose row was accessed.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.links[slot as usize + 1][0] != slot + 1
    }

    /// Makes the row of a slot the last one of the list.
    pub(super) fn access(&mut self, slot: u32) {
        let node = slot + 1;
        let [before, after] = self.links[node as usize];
        self.links[before as usize][1] = after;
        self.links[after as usize][0] = before;
        let last = self.links[0][0];
        self.links[node as usize] = [last, 0];
        self.links[last as usize][1] = node;
        self.links[0][0] = node;
    }

    /// The slots in the list, the one accessed longest ago first.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        let after = |node: &u32| Some(self.links[*node as usize][1]);
        let nodes = std::iter::successors(after(&0), after);
        nodes.take_while(|&node| node > 0).map(|node| node - 1)
    }
}
