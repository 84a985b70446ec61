//! Models whose parameters are solved for at once, in place of the steps of a run.

use bonnet_graph::Reservation;
use serde_json::json;

use crate::data::Features;
use crate::ground::{Matrix, OptionError, TrainError};
use crate::models::baselines::ridge;
use crate::options::{ClassWeights, RegressionLoss, TrainOptions};
use crate::tasks::Objective;
use crate::training::saved::Saved;

/// The parameters of a model that is solved for, on the training items of a task of nodes. The features are those of all nodes,
/// standardised if the options ask for it.
///
/// # Errors
/// Those of [`ridge::solve`], class weights, and another loss.
pub(super) fn solved(
    input: &Features,
    objective: &dyn Objective,
    options: &TrainOptions,
    reservation: &mut Reservation<'_>,
) -> Result<Saved, TrainError> {
    if options.class_weights != ClassWeights::None {
        let valid = "none: ridge is solved for, and all training items count alike";
        return Err(OptionError::invalid("class_weights", &options.class_weights, valid).into());
    }
    if options.loss != RegressionLoss::SquaredError {
        let valid = "squared_error: ridge is solved for, and its errors are squared";
        return Err(OptionError::invalid("loss", options.loss, valid).into());
    }
    let outputs = objective.n_outputs();
    let (rows, targets) = objective.fitted().unwrap_or_default();
    let alpha = options.of_model().real("alpha")?;
    let ridge::Solution { weights, bias } = ridge::solve(input, rows, &targets, outputs, alpha, reservation)?;
    let matrix = |name: &str, values| (name.to_owned(), Matrix { columns: outputs, values });
    let run = json!({ "options": { "model": options.model } });
    Ok(Saved::new(&[matrix("0.weight", weights), matrix("0.bias", bias)], run))
}
