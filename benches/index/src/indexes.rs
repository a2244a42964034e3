//! The indexes that are compared, behind one trait. Rows have length 1, so that the nearest row is that of the largest
//! cosine. Every search graph looks at the same number of candidates, as far as its crate lets it be set.

use std::num::NonZero;

use hnsw_rs::prelude::{Distance, Hnsw};
use instant_distance::{Builder, HnswMap, Point, Search as Scratch};
use kiddo::{MutableKdTree, SquaredEuclidean};
use rayon::{ThreadPoolBuilder, prelude::*};
use usearch::{IndexOptions, MetricKind, ScalarKind};

use crate::sparse::{Initial, Plan, Search, SparseMemory};

const COLUMNS: usize = 20;
/// Neighbours of a row in a search graph, and rows looked at when it is built and searched.
const LINKS: usize = 16;
const BUILT_WITH: usize = 100;
pub const SEARCHED_WITH: usize = 64;
/// Rows that are replaced, at most: what grows makes room for them.
const CHANGES: usize = 1024;

pub type Row = [f32; COLUMNS];

pub trait Index: Sized {
    /// True where rows are entered by several threads.
    const HAS_THREADS: bool = true;
    fn new(rows: &[Row], threads: usize) -> Self;
    /// Sets a row to other values; false where the index cannot.
    fn replace(&mut self, row: usize, values: &Row) -> bool;
    /// The rows nearest to a key, in any order.
    fn find(&mut self, key: &Row, count: usize) -> Vec<u32>;
}

fn with_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(run)
}

fn square_distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        (0..4).for_each(|at| sums[at] += (a[at] - b[at]) * (a[at] - b[at]));
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The sparse memory of this project, with its index or without.
struct Memory(SparseMemory<f32>, Search);

impl Memory {
    fn new(rows: &[Row], search: Search) -> Self {
        let plan = Plan {
            rows: rows.len(),
            columns: COLUMNS,
            initial: Initial::Given,
            epsilon: 1e-12,
            search,
        };
        let mut memory = SparseMemory::default();
        memory.reset((plan, rows.as_flattened()), CHANGES, true, None);
        Self(memory, search)
    }

    fn replace(&mut self, row: usize, values: &Row) -> bool {
        self.0.write(row, true, (1.0, values), None);
        self.0.settle();
        true
    }

    fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
        let mut rows = vec![0.0; count];
        self.0.nearest(key, self.1, &mut rows);
        rows.into_iter().map(|row| row as u32).collect()
    }
}

macro_rules! memory {
    ($name:ident, $search:ident) => {
        pub struct $name(Memory);

        impl Index for $name {
            const HAS_THREADS: bool = false;

            fn new(rows: &[Row], _: usize) -> Self {
                Self(Memory::new(rows, Search::$search))
            }

            fn replace(&mut self, row: usize, values: &Row) -> bool {
                self.0.replace(row, values)
            }

            fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
                self.0.find(key, count)
            }
        }
    };
}
memory!(Exact, Exact);
memory!(Ours, Hashed);

#[derive(Clone)]
struct Euclid;

impl Distance<f32> for Euclid {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        square_distance(a, b)
    }
}

/// No row goes out: one that is replaced stays in the graph and is left out of what is found.
pub struct HnswRs {
    graph: Hnsw<'static, f32, Euclid>,
    row_of: Vec<u32>,
    node_of: Vec<u32>,
}

impl Index for HnswRs {
    fn new(rows: &[Row], threads: usize) -> Self {
        let graph = Hnsw::new(LINKS, rows.len() + CHANGES, 16, BUILT_WITH, Euclid);
        let insert = |(at, row): (usize, &Row)| graph.insert((row, at));
        if threads == 1 {
            rows.iter().enumerate().for_each(insert);
        } else {
            with_threads(threads, || rows.par_iter().enumerate().for_each(insert));
        }
        let row_of: Vec<u32> = (0..rows.len() as u32).collect();
        let node_of = row_of.clone();
        Self {
            graph,
            row_of,
            node_of,
        }
    }

    fn replace(&mut self, row: usize, values: &Row) -> bool {
        self.node_of[row] = self.row_of.len() as u32;
        self.graph.insert((values, self.row_of.len()));
        self.row_of.push(row as u32);
        true
    }

    fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
        let (row_of, node_of) = (&self.row_of, &self.node_of);
        // With a filter its search does not stop before all candidates are looked at.
        let found = self.graph.search(key, SEARCHED_WITH, SEARCHED_WITH);
        let nodes = found.iter().map(|found| found.d_id);
        let nodes = nodes.filter(|&node| node_of[row_of[node] as usize] as usize == node);
        nodes.take(count).map(|node| row_of[node]).collect()
    }
}

#[derive(Clone)]
struct Place(Row);

impl Point for Place {
    fn distance(&self, other: &Self) -> f32 {
        square_distance(&self.0, &other.0)
    }
}

pub struct InstantDistance(HnswMap<Place, u32>, Scratch);

impl Index for InstantDistance {
    fn new(rows: &[Row], threads: usize) -> Self {
        let builder = Builder::default().seed(1).ef_construction(BUILT_WITH);
        let builder = builder.ef_search(SEARCHED_WITH);
        let places: Vec<Place> = rows.iter().map(|&row| Place(row)).collect();
        let names = (0..rows.len() as u32).collect();
        let graph = with_threads(threads, || builder.build(places, names));
        Self(graph, Scratch::default())
    }

    fn replace(&mut self, _: usize, _: &Row) -> bool {
        false
    }

    fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
        let found = self.0.search(&Place(*key), &mut self.1);
        found.take(count).map(|found| *found.value).collect()
    }
}

/// Changes and finds rows; by fewer links and candidates faster and worse.
pub struct Usearch<const IS_SMALL: bool>(usearch::Index);

impl<const IS_SMALL: bool> Index for Usearch<IS_SMALL> {
    fn new(rows: &[Row], threads: usize) -> Self {
        let sizes = [LINKS, BUILT_WITH, SEARCHED_WITH];
        let [links, built_with, searched_with] = if IS_SMALL { [8, 16, 16] } else { sizes };
        let options = IndexOptions {
            dimensions: COLUMNS,
            metric: MetricKind::L2sq,
            quantization: ScalarKind::F32,
            connectivity: links,
            expansion_add: built_with,
            expansion_search: searched_with,
            multi: false,
        };
        let graph = usearch::Index::new(&options).expect("an index");
        let reserved = graph.reserve_capacity_and_threads(rows.len() + CHANGES, threads);
        reserved.expect("room");
        let insert = |(at, row): (usize, &Row)| graph.add(at as u64, row).expect("a row");
        with_threads(threads, || {
            if threads == 1 {
                rows.iter().enumerate().for_each(insert);
            } else {
                rows.par_iter().enumerate().for_each(insert);
            }
        });
        Self(graph)
    }

    fn replace(&mut self, row: usize, values: &Row) -> bool {
        let removed = self.0.remove(row as u64).is_ok();
        removed && self.0.add(row as u64, values).is_ok()
    }

    fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
        let found = self.0.search(key, count).expect("a key");
        found.keys.iter().map(|&row| row as u32).collect()
    }
}

/// A k-d tree, which finds the nearest rows exactly.
pub struct Kiddo(MutableKdTree<f32, COLUMNS>, Vec<Row>);

impl Index for Kiddo {
    const HAS_THREADS: bool = false;

    fn new(rows: &[Row], _: usize) -> Self {
        let tree = MutableKdTree::new_from_slice(rows).expect("a tree");
        Self(tree, rows.to_vec())
    }

    fn replace(&mut self, row: usize, values: &Row) -> bool {
        let before = std::mem::replace(&mut self.1[row], *values);
        self.0.remove(&before, row as u32);
        self.0.add(values, row as u32).is_ok()
    }

    fn find(&mut self, key: &Row, count: usize) -> Vec<u32> {
        let count = NonZero::new(count).expect("rows");
        let query = self.0.query(key).nearest_n::<SquaredEuclidean<f32>>(count);
        query.execute().iter().map(|found| found.item).collect()
    }
}
