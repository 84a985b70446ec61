//! Layers of curved spaces: expressions of rows that are points or tangent vectors, by the mathematics of [`crate::spaces`].

mod ball_attention;
mod ball_distances;
mod ball_rectifier;
mod expert_points;
pub mod filter_bank;
mod hyperbolic_bias;
mod layered;
mod local_mean;
mod lorentz_attention;
mod lorentz_centroid;
mod lorentz_coordinates;
mod lorentz_distances;
mod lorentz_lift;
mod product_points;
mod pseudo_hyperbolic_bias;
mod stereographic_bias;
mod tangent_vectors;
mod translation;

pub(crate) use ball_attention::BallAttention;
pub(crate) use ball_distances::BallDistances;
pub(crate) use ball_rectifier::BallRectifier;
pub(crate) use expert_points::ExpertPoints;
pub(crate) use hyperbolic_bias::HyperbolicBias;
pub(crate) use layered::Layered;
pub(crate) use local_mean::LocalMean;
pub(crate) use lorentz_attention::LorentzAttention;
pub(crate) use lorentz_centroid::LorentzCentroid;
pub(crate) use lorentz_coordinates::{LorentzTangent, SpaceCoordinates};
pub(crate) use lorentz_distances::LorentzDistances;
pub(crate) use lorentz_lift::LorentzLift;
pub(crate) use product_points::ProductPoints;
pub(crate) use pseudo_hyperbolic_bias::PseudoHyperbolicBias;
pub(crate) use stereographic_bias::StereographicBias;
pub(crate) use tangent_vectors::TangentVectors;
pub use translation::Translation;
