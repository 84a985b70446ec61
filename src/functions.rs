//! All functions of the engine: one line a subject.

use bonnet_sql::Registry;

use crate::Result;

/// The registry that every engine starts with.
pub(crate) fn registry() -> Result<Registry> {
    let mut registry = Registry::default();
    registry.register([bonnet_sql::flatten()])?;
    registry.register(bonnet_curvature::functions())?;
    registry.register(bonnet_generators::functions())?;
    registry.register(bonnet_homophily::functions())?;
    registry.register(bonnet_learning::functions())?;
    registry.register(bonnet_persistence::functions())?;
    registry.register(bonnet_profile::functions())?;
    registry.register(bonnet_ranking::functions())?;
    registry.register(bonnet_topology::functions())?;
    Ok(registry)
}
