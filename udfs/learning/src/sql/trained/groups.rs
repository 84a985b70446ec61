//! Which jobs are trained together.

use crate::sql::jobs::JobRow;
use crate::sql::training_data::TrainingData;
use crate::{TrainOptions, most_together, together_key};

/// The jobs that are trained together, each in one group. Every thread has a group before one has two jobs.
pub(in crate::sql) fn groups<'j>(loaded: &TrainingData, jobs: &[&'j JobRow], threads: usize) -> Vec<Vec<&'j JobRow>> {
    let (mut groups, mut alike) = (Vec::new(), Vec::<(TrainOptions, Vec<&JobRow>)>::new());
    for &job in jobs {
        let starts = matches!(loaded, TrainingData::Graph(_)) && job.load.is_none();
        let options = job.options.as_ref().ok().filter(|options| starts && most_together(options) > 1);
        match options.and_then(together_key) {
            None => groups.push(vec![job]),
            Some(key) => match alike.iter_mut().find(|(known, jobs)| *known == key && jobs[0].label() == job.label()) {
                Some((_, jobs)) => jobs.push(job),
                None => alike.push((key, vec![job])),
            },
        }
    }
    for (key, mut jobs) in alike {
        // Runs of one split read the same rows, those of one seed draw the same masks.
        let draws = |options: &TrainOptions| (options.seed, options.dropout.to_bits());
        jobs.sort_by_key(|job| (job.choice.split, job.options.as_ref().ok().map(draws)));
        let size = most_together(&key).min(jobs.len() / threads.max(1)).max(1);
        groups.extend(jobs.chunks(size).map(<[_]>::to_vec));
    }
    groups
}
