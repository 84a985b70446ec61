//! A session: one user's settings and current schema.

mod prepared_statements;
mod transaction;
mod views;

use std::sync::{Arc, Mutex, PoisonError};

use bonnet_catalogs::DamagedFiles;
use bonnet_catalogs::{
    CatalogLookup, CommittedRows, CsvTextFactory, Frames, MAIN_SCHEMA, MantraFormatFactory, NamedFormatFactory,
    SessionCatalogs, with_frames,
};
use bonnet_common::LookupExtension;
use bonnet_learning::{FailedRuns, Notices};
use bonnet_sql::{GraphCacheAccess, KernelContext, Progress, ProgressReport, RunningStatement, panic_text};
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::engine::kernel_pool;
use crate::file_faults::FILE_FAULTS;
use crate::memory::Share;
use crate::pictures::{Document, PictureFormatFactory};
use crate::query::{CancelOnDrop, Deadline};
use crate::settings::BonnetSettings;
use crate::{Engine, Error, Result, names};

pub(crate) use self::prepared_statements::PreparedStatements;
pub(crate) use self::transaction::{Admitted, Changing, RowsOf, Step, Transaction};
pub(crate) use self::views::Views;

/// One user's settings and current schema on an [`Engine`].
#[derive(Clone)]
pub struct Session {
    pub(crate) engine: Engine,
    pub(crate) context: SessionContext,
    progress: Arc<Progress>,
    notices: Arc<Notices>,
    /// The rows of the running statement that are committed before it ends.
    committed: Arc<Mutex<Option<Arc<CommittedRows>>>>,
    pub(crate) transaction: Transaction,
    pub(crate) prepared: Arc<PreparedStatements>,
    /// Tables of the program that its statements see.
    frames: Option<Arc<dyn Frames>>,
}

impl Session {
    /// A session on an engine whose statements run in this environment.
    pub(crate) fn new(engine: Engine, environment: Arc<RuntimeEnv>) -> Self {
        let shared = &engine.shared;
        let (progress, notices) = (Arc::new(Progress::default()), Arc::new(Notices::default()));
        let kernels = KernelContext {
            pool: Arc::clone(&shared.kernels),
            progress: Arc::clone(&progress),
            device: "auto".to_owned(),
        };
        let settings = BonnetSettings::new(shared.threads);
        let graph_cache = GraphCacheAccess { cache: Arc::clone(&shared.graph_cache), limit: settings.graph_cache() };
        let mut config = SessionConfig::new()
            .with_target_partitions(shared.threads)
            // Ours is a schema of the session's catalogs, which one damaged entry does not hide.
            .with_information_schema(false)
            .with_default_catalog_and_schema(shared.catalogs.start(), MAIN_SCHEMA)
            .with_create_default_catalog_and_schema(false)
            .with_option_extension(settings)
            .with_extension(Arc::new(kernels))
            .with_extension(Arc::clone(&notices))
            .with_extension(Arc::new(graph_cache))
            .with_extension(Arc::new(names::table_versions()))
            .with_extension(Arc::new(names::graph_schemas()))
            .with_extension(Arc::new(names::models()))
            .with_extension(Arc::new(LookupExtension(Arc::new(CatalogLookup))));
        let options = config.options_mut();
        if let MemoryLimit::Finite(limit) = environment.memory_pool.memory_limit() {
            // Each of the sorts that run at once reserves this before it reads a row.
            let reserved = &mut options.execution.sort_spill_reservation_bytes;
            *reserved = (*reserved).min(limit / (8 * shared.threads));
        }
        bonnet_dialect::configure(&mut config);
        let registry = &shared.registry;
        let builder =
            SessionStateBuilder::new().with_config(config).with_runtime_env(environment).with_default_features();
        let mut builder = bonnet_dialect::install(builder, registry)
            .with_physical_optimizer_rule(Arc::new(FILE_FAULTS))
            .with_physical_optimizer_rule(Arc::new(DamagedFiles));
        let formats = builder.file_formats().get_or_insert_default();
        // Its reader may never end.
        formats.retain(|format| format.get_ext() != "avro");
        // Its empty texts are NULL.
        formats.retain(|format| format.get_ext() != "csv");
        for format in formats.iter_mut() {
            if let Some(named) = NamedFormatFactory::of(format) {
                *format = Arc::new(named);
            }
        }
        formats.push(Arc::new(CsvTextFactory::default()));
        formats.push(Arc::new(MantraFormatFactory));
        for document in [Document::Svg, Document::Html, Document::VegaLite, Document::Pdf, Document::Png] {
            formats.push(Arc::new(PictureFormatFactory(document)));
        }
        let context = SessionContext::new_with_state(builder.build());
        let views = Views::new(Arc::clone(registry));
        SessionCatalogs::install(&context, Arc::clone(&shared.catalogs), Arc::new(views));
        let (committed, transaction) = (Arc::default(), Transaction::default());
        let prepared = Arc::default();
        Self { engine, context, progress, notices, committed, transaction, prepared, frames: None }
    }

    /// The same session, whose statements find a table that no catalog has among those of the program: what stands in
    /// FROM by its name alone. Views that read such a table fail without it.
    pub fn with_frames(&self, frames: Arc<dyn Frames>) -> Self {
        Self { frames: Some(frames), ..self.clone() }
    }

    /// Does the work of a statement on the engine's threads, until its deadline.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<(Result<T>, CancelOnDrop)> {
        self.run_until(|_| work).await
    }

    /// Does work that reads the session's tables as a statement does: on the engine's threads, and no longer than
    /// `bonnet.statement_timeout`. Dropping the future ends it.
    ///
    /// # Errors
    /// Those of the work, and the end of its time.
    pub async fn perform<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.run(work).await?.0
    }

    /// The same for work that hands its deadline on.
    pub(crate) async fn run_until<T: Send + 'static, W: Future<Output = Result<T>> + Send + 'static>(
        &self,
        work: impl FnOnce(Option<Deadline>) -> W,
    ) -> Result<(Result<T>, CancelOnDrop)> {
        self.progress.reset();
        self.notices.take();
        self.set_committed(None);
        let deadline = Deadline::after(self.settings()?.statement_timeout());
        let (scope, work) = (self.scope(deadline)?, work(deadline));
        let (done, overdue) = {
            let _entered = self.engine.shared.runtime().enter();
            let done = SpawnedTask::spawn(scope.0.scope(with_frames(self.frames.clone(), async move {
                tokio::select! {
                    biased;
                    late = Deadline::passed(deadline) => Err(late.into()),
                    // Planning ends where it asks whether it is late, and this is asked again only then.
                    done = work => done.map_err(|error| Deadline::reason(deadline, error)),
                }
            })));
            // Planning does not yield: another task watches the clock of one that takes no notice itself.
            (done, SpawnedTask::spawn(Deadline::overdue(deadline)))
        };
        let done = tokio::select! {
            biased;
            done = done => done,
            overdue = overdue => overdue.map(|late| Err(late.into())),
        };
        let done = done.map_err(|error| match error.try_into_panic() {
            Ok(panic) => bonnet_common::panics::raised(panic_text(&*panic)).into(),
            Err(error) => Error::statement(format!("the statement was ended from outside: {error}")),
        })?;
        Ok((done, scope))
    }

    /// A running statement, as its functions see it. It is cancelled when this is dropped.
    fn scope(&self, deadline: Option<Deadline>) -> Result<CancelOnDrop> {
        let state = self.context.state_ref();
        let kernels = state.read().config().get_extension::<KernelContext>();
        let kernels = kernels.ok_or_else(|| Error::statement("the session lends no kernel threads"))?;
        let memory = Arc::clone(&state.read().runtime_env().memory_pool);
        Ok(CancelOnDrop(RunningStatement::new(kernels.as_ref().clone(), memory, deadline.map(Deadline::end))))
    }

    /// Removes the temporary files of statements, among them those that still run, which then fail. For a program that is about to end
    /// without waiting for them.
    pub fn remove_temporary_files(&self) {
        for folder in self.state().runtime_env().disk_manager.temp_dir_paths() {
            // A file that is made meanwhile is in the way once, and then has no folder to be in.
            (0..10).any(|_| std::fs::remove_dir_all(&folder).is_ok());
        }
    }

    /// The progress of the running statement, once a kernel is at work.
    pub fn progress(&self) -> Option<ProgressReport> {
        self.progress.report()
    }

    /// The failed runs of `train` and its like in the last statement, a call an entry, once its rows have ended: whoever runs
    /// statements should show them. Each is taken once, and a new statement forgets them.
    pub fn take_failed_runs(&self) -> Vec<FailedRuns> {
        self.notices.take()
    }

    /// The finished runs of `train` that a statement which did not end well has committed, in words. From then on it
    /// commits no more.
    pub async fn committed_runs(&self) -> Option<String> {
        let committed = self.committed.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let rows = committed.close().await;
        let runs = if rows == 1 { "1 run that was".to_owned() } else { format!("{rows} runs that were") };
        Some(format!("the {runs} finished before are kept in {}", committed.table()))
    }

    /// Says which rows the running statement commits before it ends, if it does.
    pub(crate) fn set_committed(&self, committed: Option<Arc<CommittedRows>>) {
        *self.committed.lock().unwrap_or_else(PoisonError::into_inner) = committed;
    }

    /// The tables, views and schemas that the catalogs name but that cannot be read, each with the reason.
    pub fn damaged(&self) -> Vec<(String, String)> {
        self.engine.shared.catalogs.damaged()
    }

    /// Whether a transaction has begun and not ended.
    pub fn in_transaction(&self) -> bool {
        self.transaction.is_open()
    }

    /// How many statements of the open transaction have changed something; 0 without one.
    pub fn transaction_changes(&self) -> usize {
        self.transaction.changes()
    }

    /// The engine that the session runs on.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The session's DataFusion context, for registering tables of one's own.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    pub(crate) fn state(&self) -> SessionState {
        self.context.state()
    }

    /// The session's own settings.
    pub(crate) fn settings(&self) -> Result<BonnetSettings> {
        let state = self.context.state_ref();
        let state = state.read();
        let settings = state.config().options().extensions.get::<BonnetSettings>();
        settings.cloned().ok_or_else(|| Error::statement("the session has lost its settings"))
    }

    /// Makes changed settings hold: threads of queries and kernels, the device, and what is cached of graphs.
    pub(crate) fn apply_settings(&self) -> Result<()> {
        let settings = self.settings()?;
        let threads = settings.threads();
        let pool = match threads == self.engine.shared.threads {
            true => Arc::clone(&self.engine.shared.kernels),
            false => kernel_pool(threads)?,
        };
        let kernels =
            KernelContext { pool, progress: Arc::clone(&self.progress), device: settings.device().to_string() };
        let state = self.context.state_ref();
        let mut state = state.write();
        let config = state.config_mut();
        config.options_mut().execution.target_partitions = threads;
        config.set_extension(Arc::new(kernels));
        let (cache, limit) = (Arc::clone(&self.engine.shared.graph_cache), settings.graph_cache());
        if config.get_extension::<GraphCacheAccess>().is_none_or(|access| access.limit != limit) {
            cache.trim(limit);
            config.set_extension(Arc::new(GraphCacheAccess { cache, limit }));
        }
        Ok(())
    }
}

impl Engine {
    /// A new session on this engine, with its own settings and current schema.
    pub fn session(&self) -> Session {
        Session::new(self.clone(), Arc::clone(&self.shared.environment))
    }

    /// A new session whose statements may hold so many bytes of those that the engine's may hold together; `None` for all.
    pub fn session_within(&self, limit: Option<usize>) -> Session {
        let environment = &self.shared.environment;
        let Some(limit) = limit else { return self.session() };
        let memory_pool = Arc::new(Share::new(Arc::clone(&environment.memory_pool), limit));
        Session::new(self.clone(), Arc::new(RuntimeEnv { memory_pool, ..environment.as_ref().clone() }))
    }
}
