//! Graph: see the edges of a random graph in random order, then a node and a list of labels; name the nodes along this
//! path (Graves 2016, at a small size). An edge has a label, and the edges that leave a node have different labels, so the
//! path is determined.
//!
//! One episode with 3 nodes, 2 labels, 4 edges and a path of 2; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input   |query|ans.
//! input  frm0 . 1 . . . . . . .
//!        frm1 . . . 1 1 . . . .
//!        frm2 1 . 1 . . . . . .
//!        lab0 1 . . 1 . 1 . . .
//!        lab1 . 1 1 . . . 1 . .
//!        to0  1 . . . . . . . .
//!        to1  . . 1 . . . . . .
//!        to2  . 1 . 1 . . . . .
//!        query. . . . 1 1 1 . .
//! target nod0 . . . . . . . . .
//!        nod1 . . . . . . . . 1
//!        nod2 . . . . . . . 1 .
//! mask        . . . . . . . 1 1
//! ```

use std::collections::HashSet;
use std::ops::RangeInclusive;

use rand::RngExt;

use super::generate::{Generate, Measure, named, shuffled};
use super::manual::Edge;
use super::{Episode, Fault, Manual, Phase};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::{Answer, Random};

/// Parameters of graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Nodes, ≥ 2; default 6.
    pub nodes: usize,
    /// Labels, ≥ 1; default 3.
    pub labels: usize,
    /// Edges, sampled uniformly; a smaller number is raised to that of the nodes; default 6 to 12.
    pub edges: RangeInclusive<usize>,
    /// Edges of a path, sampled uniformly; default 1 to 3.
    pub path: RangeInclusive<usize>,
}

/// The index of the edge with a label that leaves a node; `None` if there is none.
fn leaving(edges: &[Edge], node: usize, label: usize) -> Option<usize> {
    edges.iter().position(|edge| edge[..2] == [node, label])
}

impl Graph {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        nodes: 6,
        labels: 3,
        edges: 6..=12,
        path: 1..=3,
    };

    /// The first channel of labels, of nodes that an edge leads to, and the query.
    fn places(&self) -> [usize; 3] {
        let labels = self.nodes;
        let to = labels + self.labels;
        [labels, to, to + self.nodes]
    }

    /// The episode with these edges, a node, and the labels of a path from it; `None` where an edge is missing.
    pub fn episode_of(&self, edges: &[Edge], start: usize, path: &[usize]) -> Option<Episode> {
        let [labels, to, query] = self.places();
        let (shown, asked) = (edges.len(), path.len() + 1);
        let answer = shown + asked;
        let mut episode = self.silent(answer + path.len());
        for (step, [from, label, node]) in edges.iter().enumerate() {
            for channel in [*from, labels + label, to + node] {
                episode.input[[step, channel]] = 1.0;
            }
        }
        for step in shown..answer {
            episode.input[[step, query]] = 1.0;
        }
        episode.input[[shown, start]] = 1.0;
        episode.alignment = vec![None; episode.steps()];
        let mut node = start;
        for (index, label) in path.iter().enumerate() {
            let step = leaving(edges, node, *label)?;
            node = edges[step][2];
            episode.input[[shown + 1 + index, labels + label]] = 1.0;
            episode.target[[answer + index, node]] = 1.0;
            episode.mask[answer + index] = 1.0;
            episode.alignment[answer + index] = Some(step..step + 1);
        }
        episode.phases =
            Phase::in_a_row(&[("input", shown), ("query", asked), ("answer", path.len())]);
        episode.size = shown;
        Some(episode)
    }

    /// The most edges of an episode.
    fn most_edges(&self) -> usize {
        self.nodes.max(*self.edges.end())
    }

    /// Edges in random order: one that leaves each node, then others.
    fn random_edges(&self, random: &mut Random, count: usize) -> Vec<Edge> {
        let labels = |random: &mut Random| random.random_range(0..self.labels);
        let first: Vec<_> = (0..self.nodes).map(|node| [node, labels(random)]).collect();
        let all = shuffled(random, self.nodes * self.labels).into_iter();
        let others = all.map(|place| [place / self.labels, place % self.labels]);
        let others = others.filter(|start| !first.contains(start));
        let starts: Vec<_> = first.iter().copied().chain(others).take(count).collect();
        let order = shuffled(random, starts.len());
        let edge = |index: usize| {
            let [from, label] = starts[index];
            [from, label, random.random_range(0..self.nodes)]
        };
        order.into_iter().map(edge).collect()
    }
}

impl Keys for Graph {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("nodes", Integer(&mut self.nodes, 2..=64), "nodes of the graph");
        to.key("labels", Integer(&mut self.labels, 1..=16), "labels; the edges that leave a node have different ones");
        let most = self.most_size();
        to.key("edges", Range(&mut self.edges, 1..=most), "edges per sequence, at most `nodes` · `labels`; a number below `nodes` counts as `nodes`");
        to.key("path", Range(&mut self.path, 1..=100), "edges of the path that is asked for");
    }
}

impl Generate for Graph {
    fn channel_name(&self, side: usize, channel: usize) -> String {
        let [labels, to, _] = self.places();
        match channel {
            _ if side == 1 => named(channel, ("node", self.nodes), &[]),
            _ if channel < labels => format!("from {channel}"),
            _ if channel < to => format!("label {}", channel - labels),
            _ => named(channel - to, ("to", self.nodes), &["query"]),
        }
    }

    fn inputs(&self) -> usize {
        2 * self.nodes + self.labels + 1
    }

    fn outputs(&self) -> usize {
        self.nodes
    }

    fn answer(&self) -> Answer {
        Answer::Symbols
    }

    fn measure(&self) -> Measure {
        Measure::Items
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.edges
    }

    fn least_size(&self) -> usize {
        self.nodes
    }

    fn most_size(&self) -> usize {
        self.nodes * self.labels
    }

    fn longest(&self) -> usize {
        self.most_edges() + 1 + 2 * self.path.end()
    }

    fn longest_source(&self) -> usize {
        self.most_edges() + 1 + self.path.end()
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let count = random.random_range(self.edges.clone()).max(self.nodes);
        let edges = self.random_edges(random, count);
        let start = random.random_range(0..self.nodes);
        let (mut node, mut path) = (start, Vec::new());
        for _ in 0..random.random_range(self.path.clone()) {
            let leaving = edges.iter().filter(|[from, ..]| *from == node);
            let leaving: Vec<_> = leaving.collect();
            let [_, label, to] = *leaving[random.random_range(0..leaving.len())];
            path.push(label);
            node = to;
        }
        let episode = self.episode_of(&edges, start, &path);
        episode.unwrap_or_else(|| unreachable!("the path follows edges"))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["edges", "start", "path"]
    }

    fn manual_example(&self) -> &'static str {
        r#"edges, a node and a path such as {"edges": [[0,1,2],[2,0,1]], "start": 0, "path": [1,0]}"#
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (edges, start, path) = (&given.edges, given.start, &given.path);
        let (nodes, labels) = (self.nodes, self.labels);
        let is_right = |[from, label, to]: &Edge| *from < nodes && *label < labels && *to < nodes;
        if let Some(wrong) = edges.iter().position(|edge| !is_right(edge)) {
            let problem = format!(
                "is {:?}; allowed: nodes 0 to {}, labels 0 to {}",
                edges[wrong],
                nodes - 1,
                labels - 1
            );
            return Err(Fault::new(format!("edges[{wrong}]"), problem));
        }
        let starts: HashSet<_> = edges.iter().map(|edge| [edge[0], edge[1]]).collect();
        if edges.is_empty() {
            return Err(Fault::new("edges", "has no edge"));
        }
        if starts.len() < edges.len() {
            let problem = "has two edges with the same node and label";
            return Err(Fault::new("edges", problem));
        }
        if start >= nodes {
            let problem = format!("is {start}; allowed: 0 to {}", nodes - 1);
            return Err(Fault::new("start", problem));
        }
        let mut node = start;
        for (index, label) in path.iter().enumerate() {
            let Some(edge) = leaving(edges, node, *label) else {
                let problem = format!("is {label}; no edge with this label leaves node {node}");
                return Err(Fault::new(format!("path[{index}]"), problem));
            };
            [.., node] = edges[edge];
        }
        if !(1..=100).contains(&path.len()) {
            let problem = format!("has {} labels; allowed: 1 to 100", path.len());
            return Err(Fault::new("path", problem));
        }
        self.path = path.len()..=path.len();
        self.edges = edges.len()..=edges.len();
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        self.episode_of(&given.edges, given.start, &given.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;
    use crate::task::tests::picture;

    #[test]
    fn docs_example_is_reproduced() {
        let task = Graph {
            nodes: 3,
            labels: 2,
            edges: 3..=6,
            path: 1..=2,
        };
        let edges = [[2, 0, 0], [0, 1, 2], [2, 1, 1], [1, 0, 2]];
        let episode = task.episode_of(&edges, 1, &[0, 1]).unwrap();
        let (input, target, mask) = picture(include_str!("graph.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(episode.alignment[7..], [Some(3..4), Some(2..3)]);
        assert_eq!(task.episode_of(&edges, 0, &[0]), None);
        assert_eq!(task.input_names(), ["from 0", "label 1", "to 2", "query"]);
    }

    impl Graph {
        fn input_names(&self) -> [String; 4] {
            [0, 4, 7, 8].map(|channel| self.channel_name(0, channel))
        }
    }

    #[test]
    fn every_node_has_an_edge_and_no_label_twice() {
        let task = Graph::DEFAULT;
        for index in 0..200 {
            let mut random = random(3, index);
            let count = random.random_range(task.edges.clone());
            let edges = task.random_edges(&mut random, count);
            assert_eq!(edges.len(), count);
            let mut starts: Vec<_> = edges.iter().map(|edge| [edge[0], edge[1]]).collect();
            starts.sort_unstable();
            let mut nodes: Vec<_> = starts.iter().map(|start| start[0]).collect();
            nodes.dedup();
            assert_eq!(nodes.len(), task.nodes);
            starts.dedup();
            assert_eq!(starts.len(), count);
            let episode = task.sample(&mut random);
            assert!(episode.steps() <= task.longest());
            assert!(task.edges.contains(&episode.size));
        }
    }
}
