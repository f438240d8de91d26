//! A square sparse matrix whose entries are the edges of a graph, for methods that need plain products with it.

use std::sync::Arc;

use edgepace_graph::{Graph, Refusal};

use crate::error::NnError;
use crate::kernels::finish::Finish;
use crate::kernels::spmm::{Csr, Start, spmm};
use crate::meter::KernelKind;
use crate::real::Real;
use crate::structure::Reverse;
use crate::threads::Threads;

/// The matrix M with M_ij = value of the edge j → i, and 0 where there is no edge. Values may be negative.
///
/// Memory beside the graph: two numbers per edge, and 12 bytes per edge for the transpose of a directed graph.
#[derive(Debug)]
pub struct EdgeMatrix<T> {
    graph: Arc<Graph>,
    reverse: Reverse,
    values: Vec<T>,
    reverse_values: Vec<T>,
}

impl<T: Real> EdgeMatrix<T> {
    /// The matrix with `values` by edge id.
    ///
    /// # Errors
    /// Another number of values than of edges.
    pub fn new(threads: &Threads, graph: Arc<Graph>, values: &[T]) -> Result<Self, NnError> {
        let reverse = Reverse::of(&graph);
        let edges = graph.edges();
        let mut matrix =
            Self { graph, reverse, values: vec![T::ZERO; edges], reverse_values: vec![T::ZERO; edges] };
        matrix.set_values(threads, values)?;
        Ok(matrix)
    }

    /// Takes new values by edge id, without allocating.
    ///
    /// # Errors
    /// Another number of values than of edges.
    pub fn set_values(&mut self, threads: &Threads, values: &[T]) -> Result<(), NnError> {
        if values.len() != self.values.len() {
            return Err(Refusal::size("values", values.len(), self.values.len(), "one per edge").into());
        }
        self.values.copy_from_slice(values);
        self.reverse.gather(threads, &self.graph, values, &mut self.reverse_values);
        Ok(())
    }

    /// The graph whose edges the entries are.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The value of each edge, by edge id.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// out = M · rows; both have a row of `width` numbers per node.
    ///
    /// Cost: 2 · edges · width flops. Widths of 8 to 64 in steps of 8 are quickest, then multiples of 8. Each output row
    /// is summed by one thread in the order of the edges, so any number of threads gives the same bits.
    ///
    /// # Panics
    /// When `rows` or `out` is of another size.
    pub fn multiply(&self, threads: &Threads, rows: &[T], width: usize, out: &mut [T]) {
        let matrix = Csr {
            offsets: self.graph.offsets(),
            columns: self.graph.sources(),
            values: &self.values,
            only: None,
        };
        self.product(threads, matrix, rows, width, out);
    }

    /// out = Mᵀ · rows; otherwise as [`EdgeMatrix::multiply`].
    ///
    /// # Panics
    /// When `rows` or `out` is of another size.
    pub fn multiply_transposed(&self, threads: &Threads, rows: &[T], width: usize, out: &mut [T]) {
        let (offsets, columns) = self.reverse.pattern(&self.graph);
        let matrix = Csr { offsets, columns, values: &self.reverse_values, only: None };
        self.product(threads, matrix, rows, width, out);
    }

    fn product(&self, threads: &Threads, matrix: Csr<'_, T>, rows: &[T], width: usize, out: &mut [T]) {
        let size = self.graph.nodes() * width;
        assert!(rows.len() == size && out.len() == size, "a row of {width} numbers per node");
        spmm(threads, KernelKind::Propagate, matrix, (rows, width), Start::Zero, out, Finish::Keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_dense_matrix_for_symmetric_and_directed_graphs() {
        let threads = Threads::new(1).unwrap();
        let (a, b) = ([0, 1, 2, 3, 0], [1, 2, 0, 2, 3]);
        for graph in [Graph::undirected(5, &a, &b).unwrap(), Graph::from_edges(5, &a, &b).unwrap()] {
            let values: Vec<f64> = (0..graph.edges()).map(|edge| edge as f64 - 2.5).collect();
            let mut dense = [[0.0; 5]; 5];
            for (edge, (&source, target)) in graph.sources().iter().zip(graph.targets()).enumerate() {
                dense[target as usize][source as usize] = values[edge];
            }
            let matrix = EdgeMatrix::new(&threads, Arc::new(graph), &values).unwrap();
            for width in [1, 3, 8] {
                let rows: Vec<f64> = (0..5 * width).map(|i| (i * i % 7) as f64).collect();
                let (mut plain, mut transposed) = (vec![f64::NAN; 5 * width], vec![f64::NAN; 5 * width]);
                matrix.multiply(&threads, &rows, width, &mut plain);
                matrix.multiply_transposed(&threads, &rows, width, &mut transposed);
                for i in 0..5 {
                    for c in 0..width {
                        let sum = |value: &dyn Fn(usize) -> f64| -> f64 {
                            (0..5).map(|j| value(j) * rows[j * width + c]).sum()
                        };
                        assert_eq!(plain[i * width + c], sum(&|j| dense[i][j]));
                        assert_eq!(transposed[i * width + c], sum(&|j| dense[j][i]));
                    }
                }
            }
        }
    }

    #[test]
    fn another_number_of_values_than_of_edges_is_refused() {
        let threads = Threads::new(1).unwrap();
        let graph = Arc::new(Graph::undirected(3, &[0], &[1]).unwrap());
        assert!(EdgeMatrix::new(&threads, graph, &[1.0_f32; 3]).is_err());
    }
}
