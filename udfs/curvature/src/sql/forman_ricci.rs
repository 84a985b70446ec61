//! `forman_ricci(src, dst) OVER (...)`, `weighted_forman_ricci(src, dst ...) OVER (...)`, and both in FROM.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::DataType;
use bonnet_sql::{
    Body, EdgeFunction, EdgeKernel, Function, OptionValue, Options, Parameter, kernel_error, usage_error,
};
use datafusion::common::Result;

use super::edge_values::{WEIGHT, edge_values, edge_weights};
use crate::FormanCells;

/// The registration.
pub fn forman_ricci() -> Function {
    Function::new("forman_ricci", Body::Edge(Arc::new(Forman)))
        .parameters(Parameter::ends())
        .returns("BIGINT")
        .description(
            "The Forman-Ricci curvature of an edge: 4 - d_i - d_j + 3 triangles, in the undirected simple graph of the \
             rows. NULL for a loop and where an endpoint is NULL.",
        )
        .example(
            "SELECT src, dst, forman_ricci FROM forman_ricci(karate.edges) ORDER BY forman_ricci, src, dst LIMIT 3",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation, Eq. 1")
}

const WEIGHTED: &str = "weighted_forman_ricci";

/// The registration of the weighted forms.
pub fn weighted_forman_ricci() -> Function {
    Function::new(WEIGHTED, Body::Edge(Arc::new(WeightedForman)))
        .parameters(Parameter::ends().into_iter().chain([
            Parameter::number_column(
                "weight",
                "The weight of the edge as a cell, positive; 1 where left out. Neither a cost nor a strength by itself: long \
                 edges beside short ones are curved negatively.",
            )
            .optional(),
            Parameter::text(
                "cells",
                "What counts: 'triangles', nodes, edges and triangles (the augmented form); 'edges', nodes and edges alone \
                 (Sreejith's form).",
            )
            .or(OptionValue::Text("triangles".to_owned())),
        ]))
        .returns("DOUBLE")
        .description(
            "The Forman-Ricci curvature of an edge with weights, where nodes and triangles weigh 1: 2 + w(e)^2 triangles - the sum of \
             sqrt(w(e) / w(f)) over the other edges f at its ends that share no triangle with it; with cells => 'edges' 2 - the sum \
             over all of these edges. In the undirected simple graph of the rows. Without weights it is forman_ricci. NULL for a loop \
             and where an endpoint is NULL.",
        )
        .example(
            "SELECT src, dst, weighted_forman_ricci(src, dst, weight => 1 + (src + dst) % 3) OVER () AS curvature FROM karate.edges \
             ORDER BY curvature, src, dst LIMIT 3",
        )
        .source(
            "Sreejith et al., Forman curvature for complex networks (2016); Samal et al., Comparative analysis of two \
             discretizations of Ricci curvature for complex networks (2018)",
        )
}

#[derive(Debug)]
struct WeightedForman;

impl EdgeFunction for WeightedForman {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, options: &Options) -> Result<EdgeKernel> {
        let cells = match options.text("cells")?.unwrap_or("triangles") {
            "triangles" => FormanCells::Triangles,
            "edges" => FormanCells::Edges,
            other => {
                return usage_error(format!("{WEIGHTED}: cells => '{other}': expected one of 'triangles', 'edges'"));
            }
        };
        Ok(Box::new(move |input, host| {
            let (graph, weights) = (input.graph()?, edge_weights(WEIGHTED, WEIGHT, input)?);
            let values = crate::weighted_forman_ricci(graph, weights.as_deref(), cells, host)
                .map_err(|error| kernel_error(WEIGHTED, error))?;
            Ok(edge_values(graph, input.arcs(), &values))
        }))
    }
}

#[derive(Debug)]
struct Forman;

impl EdgeFunction for Forman {
    fn data_type(&self) -> DataType {
        DataType::Int64
    }

    fn bind(&self, _: &Options) -> Result<EdgeKernel> {
        Ok(Box::new(|graph, host| {
            let values = crate::forman_ricci(graph.graph()?, graph.arcs(), host)
                .map_err(|error| kernel_error("forman_ricci", error))?;
            Ok(Arc::new(Int64Array::from(values)))
        }))
    }
}
