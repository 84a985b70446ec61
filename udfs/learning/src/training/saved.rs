//! Saved parameters: a safetensors file with the run that made them in its header.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value as Json;

use crate::data::{STANDARDIZATION, Standardization};
use crate::ground::{Block, Layout, Matrix, SaveError};
use crate::options::{Job, TrainOptions, Value};

/// The options that say in which space a model's parameters mean something.
const GEOMETRY: [&str; 5] = ["manifold", "curvature", "signature", "factors", "experts"];

/// Options that models took on later with another default than what they did until then, and what they did.
const FORMER: [(&str, &str); 1] = [("affinity", "symmetric")];

/// The key of the header's metadata, whose value is a JSON object.
const KEY: &str = "bonnetdb";

/// The parameters of a run, as they are saved and loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Name, rows and columns of each matrix and its values row by row, in the order of their names.
    matrices: Vec<(String, usize, Matrix)>,
    /// The description of the run in the header: a JSON object with the job and the engine's version.
    run: Json,
}

impl Saved {
    /// The parameters of an outcome ([`crate::Outcome::weights`]) with a description of the run: a JSON object, in which
    /// `options.model` names the model.
    pub fn new(weights: &[(String, Matrix)], run: Json) -> Self {
        let shaped = |(name, matrix): &(String, Matrix)| {
            let rows = matrix.values.len().checked_div(matrix.columns).unwrap_or(0);
            (name.clone(), rows, matrix.clone())
        };
        let mut matrices: Vec<_> = weights.iter().map(shaped).collect();
        matrices.sort_by(|a, b| a.0.cmp(&b.0));
        Self { matrices, run }
    }

    /// The parameters from matrices by their names, on any device and of any type of numbers; they are saved as `f32`. For
    /// programs in Rust with parameters of their own: SQL does not call it.
    ///
    /// # Errors
    /// If a tensor is no matrix, or its device fails.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use bonnet_learning::Saved;
    /// use candle_core::{Device, Tensor};
    /// use serde_json::json;
    ///
    /// let weight = Tensor::new(&[[0.5f64, -1.0], [0.25, 2.0]], &Device::Cpu)?;
    /// let tensors = HashMap::from([("0.weight".to_owned(), weight)]);
    /// let saved = Saved::from_tensors(&tensors, json!({"options": {"model": "sgc"}}))?;
    ///
    /// assert_eq!(saved.model(), "sgc");
    /// assert_eq!(saved.tensors(&Device::Cpu)?["0.weight"].to_vec2::<f32>()?, [[0.5, -1.0], [0.25, 2.0]]);
    /// # Ok::<(), candle_core::Error>(())
    /// ```
    pub fn from_tensors(tensors: &HashMap<String, Tensor>, run: Json) -> candle_core::Result<Self> {
        let matrix = |(name, tensor): (&String, &Tensor)| -> candle_core::Result<(String, usize, Matrix)> {
            let (rows, columns) = tensor.dims2()?;
            let values = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
            Ok((name.clone(), rows, Matrix { columns, values }))
        };
        let mut matrices = tensors.iter().map(matrix).collect::<candle_core::Result<Vec<_>>>()?;
        matrices.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self { matrices, run })
    }

    /// The parameters as tensors by their names, matrices of `f32`: what `candle_core::safetensors::load` reads of the file.
    ///
    /// # Errors
    /// If the device fails or has no memory.
    pub fn tensors(&self, device: &Device) -> candle_core::Result<HashMap<String, Tensor>> {
        let tensor = |(name, rows, matrix): &(String, usize, Matrix)| {
            let tensor = Tensor::from_slice(&matrix.values, (*rows, matrix.columns), device)?;
            Ok((name.clone(), tensor))
        };
        self.matrices.iter().map(tensor).collect()
    }

    /// The description of the run in the header.
    pub fn description(&self) -> &Json {
        &self.run
    }

    /// Writes the file, at once: a reader finds the old file or the whole new one.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn write(&self, path: &Path) -> Result<(), SaveError> {
        let failed = |why: &dyn std::fmt::Display| SaveError::File { path: shown(path), why: why.to_string() };
        let bytes: Vec<Vec<u8>> =
            self.matrices.iter().map(|(_, _, m)| m.values.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
        let mut tensors = Vec::with_capacity(bytes.len());
        for ((name, rows, matrix), bytes) in self.matrices.iter().zip(&bytes) {
            let view = TensorView::new(Dtype::F32, vec![*rows, matrix.columns], bytes).map_err(|e| failed(&e))?;
            tensors.push((name.as_str(), view));
        }
        // One key, so that the same run makes the same bytes.
        let metadata = HashMap::from([(KEY.to_owned(), self.run.to_string())]);
        let bytes = safetensors::serialize(tensors, Some(metadata)).map_err(|e| failed(&e))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let temporary = folder.join(format!(
            ".{}.{:?}.part",
            path.file_name().unwrap_or_default().to_string_lossy(),
            std::thread::current().id()
        ));
        let written = fs::File::create(&temporary)
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&temporary, path));
        written.map_err(|error| {
            // Nothing is left behind; why the write failed is what matters.
            let _ = fs::remove_file(&temporary);
            failed(&error)
        })
    }

    /// Reads a file that [`Saved::write`] wrote.
    ///
    /// # Errors
    /// If the file is not there, or holds something else.
    pub fn read(path: &Path) -> Result<Self, SaveError> {
        let unreadable = |why: String| SaveError::File { path: shown(path), why };
        // A device may never end.
        match fs::metadata(path) {
            Ok(data) if data.is_file() => {}
            Ok(_) => return Err(unreadable("it is a folder, a pipe or a device, not a file".to_owned())),
            Err(error) => return Err(unreadable(error.to_string())),
        }
        let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let malformed = |why: String| SaveError::Malformed { path: shown(path), why };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| malformed(error.to_string()))?;
        let run = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let run = run.ok_or_else(|| malformed(format!("its header has no metadata {KEY}")))?;
        let run: Json = serde_json::from_str(run).map_err(|error| malformed(error.to_string()))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| malformed(error.to_string()))?;
        let mut matrices = Vec::new();
        for (name, view) in tensors.iter() {
            let (Dtype::F32, &[rows, columns]) = (view.dtype(), view.shape()) else {
                return Err(malformed(format!("{name} is no matrix of 32-bit numbers")));
            };
            let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let values: Vec<f32> = view.data().chunks_exact(4).map(number).collect();
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(malformed(format!("{name} holds {}", values[at])));
            }
            matrices.push((name.to_owned(), rows, Matrix { columns, values }));
        }
        matrices.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self { matrices, run })
    }

    /// The name of the saved model.
    pub fn model(&self) -> &str {
        self.run.pointer("/options/model").and_then(Json::as_str).unwrap_or("an unknown model")
    }

    /// The options of a job, of which those that it does not give and that the saved run is older than are as the run had them.
    pub fn with_former_defaults(&self, job: &Job, mut options: TrainOptions) -> TrainOptions {
        let record = self.run.pointer("/options/hyperparameters");
        for (name, value) in FORMER {
            let is_recorded = record.is_none_or(|record| record.get(name).is_some());
            if let (Some(option), false, Value::Null) =
                (options.hyperparameters.get_mut(name), is_recorded, job.get(name))
            {
                *option = value.into();
            }
        }
        options
    }

    /// Refuses the parameters of another geometry: their shapes may be the same, their meaning is not.
    ///
    /// # Errors
    /// If an option of the geometry differs; with both values.
    pub(crate) fn expect_geometry(&self, options: &TrainOptions) -> Result<(), SaveError> {
        for name in GEOMETRY {
            let Some(needed) = options.hyperparameters.get(name) else { continue };
            let Some(saved) = self.run.pointer(&format!("/options/hyperparameters/{name}")) else { continue };
            let saved = match saved {
                Json::String(text) => Value::Text(text.clone()),
                Json::Number(number) => number.as_f64().map_or(Value::Null, Value::Real),
                _ => Value::Null,
            };
            if saved.to_string() != needed.to_string() {
                return Err(SaveError::Geometry { name, saved: saved.to_string(), needed: needed.to_string() });
            }
        }
        Ok(())
    }

    /// The scale of the features that the run was trained on, where it had one.
    pub(crate) fn standardization(&self) -> Option<Standardization> {
        let row = |name: &str| self.matrices.iter().find(|(other, ..)| other == name).map(|(_, _, matrix)| matrix);
        Standardization::of_rows(row(STANDARDIZATION[0])?, row(STANDARDIZATION[1])?)
    }

    /// The flat vector of some layouts, one after the other.
    pub(crate) fn parameters(&self, model: &str, layouts: &[&Layout]) -> Result<Vec<f32>, SaveError> {
        let blocks: Vec<(usize, &Block)> = layouts
            .iter()
            .scan(0, |start, layout| {
                let here = *start;
                *start += layout.stored();
                Some((here, *layout))
            })
            .flat_map(|(start, layout)| layout.blocks().iter().map(move |block| (start, block)))
            .collect();
        if self.model() != model {
            return Err(SaveError::Model { saved: self.model().to_owned(), needed: model.to_owned() });
        }
        let mut parameters = vec![0.0; layouts.iter().map(|layout| layout.stored()).sum()];
        let mut differences = Vec::new();
        for (start, block) in &blocks {
            let Some((_, rows, matrix)) = self.matrices.iter().find(|(name, ..)| *name == block.name) else {
                differences.push(format!("{} is missing", block.name));
                continue;
            };
            let (saved, needed) = ((*rows, matrix.columns), (block.rows.len(), block.columns.len()));
            if saved != needed && saved.0 * saved.1 + needed.0 * needed.1 > 0 {
                differences.push(format!(
                    "{} is {} x {} there and {} x {} here",
                    block.name, saved.0, saved.1, needed.0, needed.1
                ));
                continue;
            }
            for (at, value) in block.positions().zip(&matrix.values) {
                parameters[start + at] = *value;
            }
        }
        let unknown = self.matrices.iter().filter(|(name, ..)| {
            !STANDARDIZATION.contains(&name.as_str()) && blocks.iter().all(|(_, block)| block.name != *name)
        });
        differences.extend(unknown.map(|(name, ..)| format!("{name} has no place here")));
        match differences.len() {
            0 => Ok(parameters),
            _ => Err(SaveError::Mismatch { model: model.to_owned(), difference: first(&differences) }),
        }
    }
}

/// The blocks of a layout without their padding.
pub(super) fn named(layout: &Layout, values: &[f32]) -> Vec<(String, Matrix)> {
    let matrix = |block: &Block| Matrix {
        columns: block.columns.len(),
        values: block.positions().map(|at| values[at]).collect(),
    };
    layout.blocks().iter().map(|block| (block.name.clone(), matrix(block))).collect()
}

/// As many differences are named: a deep model may have hundreds.
const NAMED: usize = 3;

/// The first differences, and how many more there are.
fn first(differences: &[String]) -> String {
    let named = differences[..differences.len().min(NAMED)].join(", ");
    match differences.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}, and {more} more"),
    }
}

/// A file name for a run: graph, model, seed, and a hash of its description.
pub fn file_name(graph: &str, model: &str, seed: u64, run: &Json) -> PathBuf {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).take(80).collect()
    };
    let number = run.to_string().bytes().fold(1, |hash, byte| crate::ground::random::key(&[hash, u64::from(byte)]));
    PathBuf::from(format!("{}-{}-{seed}-{number:016x}.safetensors", plain(graph), plain(model)))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ground::{Axis, Initial};

    fn layouts(hidden: usize) -> [Layout; 2] {
        let (mut model, mut head) = (Layout::default(), Layout::default());
        model.push("0.weight".into(), Axis::exact(3), Axis::padded(1, hidden), Initial::glorot(3, hidden));
        model.push("0.bias".into(), Axis::exact(1), Axis::padded(1, hidden), Initial::Zeros);
        head.push("head.weight".into(), Axis::padded(1, hidden), Axis::padded(1, 2), Initial::linear(hidden));
        [model, head]
    }

    fn saved() -> (Vec<f32>, Saved) {
        let [model, head] = layouts(5);
        let values = [model.initialise(1), head.initialise(2)];
        let weights = [&model, &head]
            .iter()
            .zip(&values)
            .flat_map(|(layout, values)| {
                layout.blocks().iter().map(|block| {
                    let values = block.positions().map(|at| values[at]).collect();
                    (block.name.clone(), Matrix { columns: block.columns.len(), values })
                })
            })
            .collect::<Vec<_>>();
        (values.concat(), Saved::new(&weights, json!({"options": {"model": "gcn"}, "engine": "x"})))
    }

    #[test]
    fn what_is_written_is_read_and_the_same_run_makes_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (values, saved) = saved();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| saved.write(path).unwrap());
        assert_eq!(fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
        let read = Saved::read(&paths[0]).unwrap();
        assert_eq!((&read, read.description()["engine"].as_str()), (&saved, Some("x")));
        let [model, head] = layouts(5);
        assert_eq!(read.parameters("gcn", &[&model, &head]).unwrap(), values);
        // candle reads the file, too.
        let tensors = candle_core::safetensors::load(&paths[0], &candle_core::Device::Cpu).unwrap();
        assert_eq!(tensors["0.weight"].dims(), [3, 5]);
        assert_eq!(tensors["0.weight"].to_vec2::<f32>().unwrap()[2], read.matrices[1].2.row(2));
        let ours = read.tensors(&Device::Cpu).unwrap();
        assert_eq!(ours.len(), tensors.len());
        for (name, tensor) in &ours {
            assert_eq!(tensor.to_vec2::<f32>().unwrap(), tensors[name].to_vec2::<f32>().unwrap(), "{name}");
        }
    }

    #[test]
    fn parameters_go_through_tensors_of_any_type() {
        let (values, saved) = saved();
        let tensors = saved.tensors(&Device::Cpu).unwrap();
        let double = |(name, tensor): (&String, &Tensor)| (name.clone(), tensor.to_dtype(DType::F64).unwrap());
        let again = Saved::from_tensors(&tensors.iter().map(double).collect(), saved.description().clone()).unwrap();
        assert_eq!(again, saved);
        let [model, head] = layouts(5);
        assert_eq!(again.parameters("gcn", &[&model, &head]).unwrap(), values);
        let vector = Tensor::zeros(3, DType::F32, &Device::Cpu).unwrap();
        let wrong = HashMap::from([("x".to_owned(), vector)]);
        assert!(Saved::from_tensors(&wrong, json!({})).is_err());
    }

    #[test]
    fn other_models_and_other_sizes_are_refused_with_the_first_differences() {
        let (_, saved) = saved();
        let error = |model: &str, layouts: &[&Layout]| saved.parameters(model, layouts).unwrap_err().to_string();
        let [model, head] = layouts(5);
        let other = error("gat", &[&model, &head]);
        assert!(other.contains("those of gcn, but the job needs those of gat"), "{other}");
        let [wide, wide_head] = layouts(7);
        let size = error("gcn", &[&wide, &wide_head]);
        let all = "0.weight is 3 x 5 there and 3 x 7 here, 0.bias is 1 x 5 there and 1 x 7 here, head.weight is 5 x 2 there \
                   and 7 x 2 here";
        assert!(size.ends_with(&format!("those that the job needs: {all}")), "{size}");
        let mut deep = wide.clone();
        for layer in 1..=40 {
            deep.push(format!("{layer}.bias"), Axis::exact(1), Axis::padded(1, 7), Initial::Zeros);
        }
        let many = error("gcn", &[&deep, &head]);
        let first = "0.weight is 3 x 5 there and 3 x 7 here, 0.bias is 1 x 5 there and 1 x 7 here, 1.bias is missing";
        assert!(many.ends_with(&format!("{first}, and 39 more")), "{many}");
        assert!(error("gcn", &[&model]).contains("head.weight has no place here"));
        let mut more = head.clone();
        more.push("head.bias".into(), Axis::exact(1), Axis::padded(1, 2), Initial::Zeros);
        assert!(error("gcn", &[&model, &more]).contains("head.bias is missing"));
    }

    #[test]
    fn parameters_of_another_geometry_are_refused() {
        let options = |signature: &str| crate::Job::new("qgcn").with("signature", signature).resolve().unwrap();
        let saved = Saved::new(&[], json!({"options": serde_json::to_value(options("8,8")).unwrap()}));
        assert!(saved.expect_geometry(&options("8,8")).is_ok());
        let error = saved.expect_geometry(&options("12,4")).unwrap_err().to_string();
        assert!(error.contains("signature 8,8") && error.contains("signature => 8,8"), "{error}");
    }

    #[test]
    fn a_run_older_than_an_option_of_its_model_loads_as_it_was_trained() {
        let saved =
            |model: &str, own: Json| Saved::new(&[], json!({"options": {"model": model, "hyperparameters": own}}));
        let affinity = |saved: &Saved, job: &Job| {
            let options = saved.with_former_defaults(job, job.resolve().unwrap());
            options.hyperparameters.get("affinity").map(Value::to_string)
        };
        for model in ["hgcn", "qgcn"] {
            let (job, old) = (Job::new(model), saved(model, json!({"curvature": null})));
            assert_eq!(affinity(&old, &job).as_deref(), Some("symmetric"), "{model}");
            assert_eq!(affinity(&old, &job.clone().with("affinity", "random_walk")).as_deref(), Some("random_walk"));
            assert_eq!(
                affinity(&saved(model, json!({"affinity": "random_walk"})), &job).as_deref(),
                Some("random_walk")
            );
        }
        assert_eq!(affinity(&saved("mlp", json!({})), &Job::new("mlp")), None);
    }

    #[test]
    fn other_files_are_refused_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let error = || Saved::read(&path).unwrap_err().to_string();
        assert!(error().contains("file"), "{}", error());
        for bytes in [&b""[..], b"hello", &[255; 64]] {
            fs::write(&path, bytes).unwrap();
            assert!(error().contains("holds no saved parameters"), "{}", error());
        }
        let view = TensorView::new(Dtype::F32, vec![1], &[0; 4]).unwrap();
        fs::write(&path, safetensors::serialize([("x", view)], None).unwrap()).unwrap();
        assert!(error().contains("no metadata bonnetdb"));
        let (_, mut saved) = saved();
        saved.matrices[0].2.values[0] = f32::NAN;
        saved.write(&path).unwrap();
        assert!(error().contains("0.bias holds NaN"), "{}", error());
        assert!(saved.write(&folder.path().join("no/such/folder")).is_err());
    }

    #[test]
    fn runs_have_names_of_their_own() {
        let name = |graph: &str, run: Json| file_name(graph, "gcn", 3, &run).display().to_string();
        assert!(name("a/../\"b\"", json!({})).starts_with("a_.._"), "{}", name("a/../\"b\"", json!({})));
        assert!(!name("a/b", json!(1)).contains('/'));
        assert_ne!(name("a", json!(1)), name("a", json!(2)));
    }
}
