//! The models that can be trained.

use super::ModelSpec;
use super::baselines::{label_propagation, mlp, mlp1, ridge};
use super::complexes::{cellmp, ct, dect, san, sccn, sccnn, scn};
use super::curved::{cusp, graphmore, hat, hgcn, hgnn, hybonet, qgcn};
use super::foundation::{gcope, graphglue, mdgfm, mdgpt, sa2gfm, samgpt};
use super::heterophily::{acm_gcn, fagcn, fsgnn, gbk_gnn, glognn, h2gcn, linkx, lsgnn};
use super::message_passing::{gat, gcn, gin, graphsage, mixhop, sgc, tag, unimp};
use super::propagation::{appnp, bernnet, gprgnn, pcnet};
use super::tokens::{nagphormer, polyformer};
use super::typed::{
    goat, gophormer, graphtrans, h2g_former, han, hgt, hinormer, r_gat, r_gcn, r_graphsage, shgn, unified_gt,
};
use crate::ground::OptionError;
use crate::options::TrainOptions;

/// Every model, in the order of the documentation.
pub fn models() -> &'static [ModelSpec] {
    &[
        mlp::SPEC,
        mlp1::SPEC,
        ridge::SPEC,
        label_propagation::SPEC,
        gcn::SPEC,
        gat::SPEC,
        gin::SPEC,
        sgc::SPEC,
        tag::SPEC,
        mixhop::SPEC,
        appnp::SPEC,
        gprgnn::SPEC,
        bernnet::SPEC,
        pcnet::SPEC,
        h2gcn::SPEC,
        linkx::SPEC,
        graphsage::SPEC,
        fagcn::SPEC,
        acm_gcn::SPEC,
        fsgnn::SPEC,
        unimp::SPEC,
        glognn::SPEC,
        gbk_gnn::SPEC,
        lsgnn::SPEC,
        hgnn::SPEC,
        hgcn::SPEC,
        hat::SPEC,
        hybonet::SPEC,
        qgcn::SPEC,
        cusp::SPEC,
        graphmore::SPEC,
        nagphormer::SPEC,
        polyformer::SPEC,
        graphtrans::SPEC,
        gophormer::SPEC,
        goat::SPEC,
        r_gcn::SPEC,
        r_graphsage::SPEC,
        r_gat::SPEC,
        han::SPEC,
        hgt::SPEC,
        hinormer::SPEC,
        shgn::SPEC,
        unified_gt::SPEC,
        h2g_former::SPEC,
        gcope::SPEC,
        mdgpt::SPEC,
        samgpt::SPEC,
        mdgfm::SPEC,
        graphglue::SPEC,
        sa2gfm::SPEC,
        scn::SPEC,
        sccn::SPEC,
        cellmp::SPEC,
        san::SPEC,
        sccnn::SPEC,
        dect::SPEC,
        ct::SPEC,
    ]
}

/// The models on graphs that are trained from nothing.
#[cfg(test)]
pub(crate) fn graph_models() -> impl Iterator<Item = &'static ModelSpec> {
    models().iter().filter(|spec| !spec.reads_complexes() && !spec.is_pretrained())
}

/// The model of a name.
///
/// # Errors
/// If there is none; the message lists the models.
pub fn model(name: &str) -> Result<&'static ModelSpec, OptionError> {
    models().iter().find(|spec| spec.name == name).ok_or_else(|| {
        let names: Vec<&str> = models().iter().map(|spec| spec.name).collect();
        OptionError::invalid("model", name, &names.join(", "))
    })
}

/// Whether the model of a run reads types of nodes and relations of edges.
pub fn reads_types(options: &TrainOptions) -> bool {
    model(&options.model).is_ok_and(ModelSpec::reads_types)
}

/// Whether the model of a run is pre-trained on other graphs than the run's.
pub fn is_pretrained(options: &TrainOptions) -> bool {
    model(&options.model).is_ok_and(ModelSpec::is_pretrained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_default_is_in_its_range() {
        let mut names: Vec<&str> = models().iter().map(|spec| spec.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), models().len());
        for spec in models() {
            assert!(crate::Job::new(spec.name).resolve().is_ok(), "{}", spec.name);
            let mut names: Vec<&str> = spec.hyperparameters().map(|h| h.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{} has a hyperparameter twice", spec.name);
        }
    }
}
