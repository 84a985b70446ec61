//! The engine's own settings: `SET`, `SHOW` and `RESET bonnet.x`.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bonnet_common::raise;
use datafusion::common::Result;
use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::common::error::DataFusionError;

use crate::size;

/// The most bytes of graphs in the cache, unless the session sets another limit.
const GRAPH_CACHE: usize = 1_000_000_000;

/// The most threads that a session may ask for.
pub(crate) const MOST_THREADS: usize = 1024;

/// The device on which models are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// CUDA where there is one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The first CUDA device; an error where there is none.
    Cuda,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        })
    }
}

/// The settings of a session, an extension of DataFusion's configuration. Every value is checked when it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BonnetSettings {
    data: String,
    data_mirror: String,
    device: Device,
    external_access: bool,
    graph_cache: usize,
    statement_timeout: Option<Duration>,
    threads: usize,
    default_threads: usize,
}

/// A setting as `bonnet.settings` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// The name with its prefix: `bonnet.device`.
    pub name: String,
    /// The current value.
    pub value: String,
    /// The value after RESET.
    pub default: String,
    /// Meaning, unit and valid values.
    pub description: &'static str,
}

/// Name and description of each setting.
const SETTINGS: [(&str, &str); 7] = [
    (
        "data",
        "The folder of published data sets, for ATTACH 'registry:name'. Where it is empty, BONNET_DATA names it, or it is \
         .local/share/bonnet/data in the home folder.",
    ),
    (
        "data_mirror",
        "The address under which a copy of the folder of data sets is served; where it is empty, files are asked of their \
         publishers.",
    ),
    ("device", "Where models are trained: auto (CUDA where there is one), cpu or cuda."),
    (
        "external_access",
        "Whether statements may read and write files and attach what lies outside the database: on or off. Once off, it stays \
         off as long as the session.",
    ),
    (
        "graph_cache",
        "What the graphs that stay between statements may take together, as '512MB', '4GB', or off. They count against the \
         memory limit, and go before a query would fail for it.",
    ),
    (
        "statement_timeout",
        "How long a statement may run: milliseconds, or a number with its unit as '500ms', '5s', '2min', '1h'; 0 for no limit.",
    ),
    ("threads", "Threads for queries and for kernels, 1 to 1024."),
];

impl BonnetSettings {
    /// The settings of a new session on an engine of so many threads.
    pub fn new(threads: usize) -> Self {
        let threads = threads.clamp(1, MOST_THREADS);
        Self {
            data: String::new(),
            data_mirror: String::new(),
            device: Device::default(),
            external_access: true,
            graph_cache: GRAPH_CACHE,
            statement_timeout: None,
            threads,
            default_threads: threads,
        }
    }

    /// The folder of published data sets: the one that is set, else that of the variable `BONNET_DATA`, else
    /// `bonnet/data` in the user's folder of data (XDG Base Directory Specification). None where there is no home folder.
    pub fn data(&self) -> Option<PathBuf> {
        if !self.data.is_empty() {
            return Some(PathBuf::from(&self.data));
        }
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        variable("BONNET_DATA").or_else(|| {
            let shared = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
            Some(shared.or_else(|| Some(std::env::home_dir()?.join(".local/share")))?.join("bonnet/data"))
        })
    }

    /// The address under which a copy of the folder of data sets is served, without the slash at its end.
    pub fn data_mirror(&self) -> Option<&str> {
        Some(self.data_mirror.trim_end_matches('/')).filter(|address| !address.is_empty())
    }

    /// The device on which models are trained.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Whether statements may read and write files and attach what lies outside the database.
    pub fn external_access(&self) -> bool {
        self.external_access
    }

    /// The bytes that cached graphs may take together; 0 for no cache.
    pub fn graph_cache(&self) -> usize {
        self.graph_cache
    }

    /// The time that a statement may run; `None` for no limit.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.statement_timeout
    }

    /// Threads for queries and for kernels.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The value of a setting, its name without the prefix.
    ///
    /// # Errors
    /// If there is no such setting; the text lists those that there are.
    pub fn get(&self, key: &str) -> Result<String> {
        match key {
            "data" => Ok(self.data.clone()),
            "data_mirror" => Ok(self.data_mirror.clone()),
            "device" => Ok(self.device.to_string()),
            "external_access" => Ok(if self.external_access { "on" } else { "off" }.to_owned()),
            "graph_cache" => Ok(graph_cache_text(self.graph_cache)),
            "statement_timeout" => Ok(timeout_text(self.statement_timeout)),
            "threads" => Ok(self.threads.to_string()),
            other => unknown(other),
        }
    }

    /// Gives a setting its default, its name without the prefix.
    ///
    /// # Errors
    /// If there is no such setting; the text lists those that there are.
    pub fn reset(&mut self, key: &str) -> Result<()> {
        let default = Self::new(self.default_threads).get(key)?;
        self.set(key, &default)
    }

    /// Gives all settings their defaults, but for external access, which stays off where it is.
    pub fn reset_all(&mut self) {
        *self = Self { external_access: self.external_access, ..Self::new(self.default_threads) };
    }

    /// All settings, in the order of their names.
    pub fn rows(&self) -> Vec<SettingRow> {
        let defaults = Self::new(self.default_threads);
        let row = |(name, description): &(&str, &'static str)| SettingRow {
            name: format!("{}.{name}", Self::PREFIX),
            value: self.get(name).unwrap_or_default(),
            default: defaults.get(name).unwrap_or_default(),
            description,
        };
        SETTINGS.iter().map(row).collect()
    }
}

impl ConfigExtension for BonnetSettings {
    const PREFIX: &'static str = "bonnet";
}

// By hand: the macro for this names the entries without their prefix, so that SHOW does not find them, and takes any
// value that parses.
impl ExtensionOptions for BonnetSettings {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key.to_ascii_lowercase().as_str() {
            "data" => self.data = value.trim().to_owned(),
            "data_mirror" => self.data_mirror = parse_mirror(value)?,
            "device" => self.device = parse_device(value)?,
            "external_access" => self.external_access = parse_external_access(value, self.external_access)?,
            "graph_cache" => self.graph_cache = parse_graph_cache(value)?,
            "statement_timeout" => self.statement_timeout = parse_timeout(value)?,
            "threads" => self.threads = parse_threads(value)?,
            other => return unknown(other),
        }
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let entry =
            |row: SettingRow| ConfigEntry { key: row.name, value: Some(row.value), description: row.description };
        self.rows().into_iter().map(entry).collect()
    }
}

fn refuse<T>(text: String) -> Result<T> {
    Err(DataFusionError::Configuration(text))
}

fn unknown<T>(key: &str) -> Result<T> {
    let names = SETTINGS.map(|(name, _)| format!("bonnet.{name}"));
    raise!(UnknownSetting, "there is no setting bonnet.{key}; there are: {}", names.join(", "))
}

fn parse_mirror(value: &str) -> Result<String> {
    let address = value.trim();
    match address.is_empty() || ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) {
        true => Ok(address.to_owned()),
        false => {
            refuse(format!("bonnet.data_mirror = '{value}': expected an address such as https://host/data, or ''"))
        }
    }
}

fn parse_device(value: &str) -> Result<Device> {
    match value.trim().to_ascii_lowercase().as_str() {
        "auto" => Ok(Device::Auto),
        "cpu" => Ok(Device::Cpu),
        "cuda" => Ok(Device::Cuda),
        _ => refuse(format!("bonnet.device = '{value}': expected auto, cpu or cuda")),
    }
}

/// What closes the doors to files for good: a statement that opened them would open them to whoever wrote it.
fn parse_external_access(value: &str, before: bool) -> Result<bool> {
    match (value.trim().to_ascii_lowercase().as_str(), before) {
        ("off" | "false" | "0", _) => Ok(false),
        ("on" | "true" | "1", true) => Ok(true),
        ("on" | "true" | "1", false) => {
            raise!(Forbidden, "bonnet.external_access is off and stays off as long as the session")
        }
        _ => refuse(format!("bonnet.external_access = '{value}': expected on or off")),
    }
}

/// Bytes; 0 for `off`.
fn parse_graph_cache(value: &str) -> Result<usize> {
    if value.trim().eq_ignore_ascii_case("off") {
        return Ok(0);
    }
    let why = |why| format!("bonnet.graph_cache = '{value}': expected a size as '512MB', '4GB', or off ({why})");
    size::parse(value).or_else(|error| refuse(why(error)))
}

fn graph_cache_text(bytes: usize) -> String {
    match bytes {
        0 => "off".to_owned(),
        bytes if bytes.is_multiple_of(1_000_000_000) => format!("{}GB", bytes / 1_000_000_000),
        bytes if bytes.is_multiple_of(1_000_000) => format!("{}MB", bytes / 1_000_000),
        bytes if bytes.is_multiple_of(1_000) => format!("{}kB", bytes / 1_000),
        bytes => bytes.to_string(),
    }
}

fn parse_threads(value: &str) -> Result<usize> {
    match value.trim().parse() {
        Ok(threads @ 1..=MOST_THREADS) => Ok(threads),
        _ => refuse(format!("bonnet.threads = '{value}': expected a whole number from 1 to {MOST_THREADS}")),
    }
}

/// Milliseconds, or a number and its unit; `None` for 0.
fn parse_timeout(value: &str) -> Result<Option<Duration>> {
    let text = value.trim().to_ascii_lowercase();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let milliseconds = match unit.trim() {
        "" | "ms" => 1.0,
        "s" | "sec" => 1e3,
        "min" | "m" => 60e3,
        "h" => 3600e3,
        _ => f64::NAN,
    };
    // A year: longer times overflow clocks, and mean no limit.
    const MOST: f64 = 365.0 * 24.0 * 3600e3;
    match number.parse::<f64>().map(|number| number * milliseconds) {
        Ok(0.0) => Ok(None),
        Ok(time) if (1e-3..=MOST).contains(&time) => Ok(Some(Duration::from_secs_f64(time / 1e3))),
        _ => refuse(format!(
            "bonnet.statement_timeout = '{value}': expected milliseconds, or a number with its unit as '500ms', '5s', \
             '2min', '1h', at most a year; 0 for no limit"
        )),
    }
}

fn timeout_text(timeout: Option<Duration>) -> String {
    let Some(timeout) = timeout else { return "0".to_owned() };
    let milliseconds = timeout.as_secs_f64() * 1e3;
    match timeout.as_millis() {
        whole if timeout == Duration::from_millis(whole as u64) => match whole {
            whole if whole % 3_600_000 == 0 => format!("{}h", whole / 3_600_000),
            whole if whole % 60_000 == 0 => format!("{}min", whole / 60_000),
            whole if whole % 1000 == 0 => format!("{}s", whole / 1000),
            whole => format!("{whole}ms"),
        },
        _ => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use arrow::util::pretty::pretty_format_batches;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;

    fn context() -> SessionContext {
        let config = SessionConfig::new().with_information_schema(true).with_option_extension(BonnetSettings::new(4));
        SessionContext::new_with_config(config)
    }

    async fn run(context: &SessionContext, text: &str) -> String {
        match context.sql(text).await {
            Ok(frame) => pretty_format_batches(&frame.collect().await.unwrap()).unwrap().to_string(),
            Err(error) => error.strip_backtrace(),
        }
    }

    #[tokio::test]
    async fn set_and_show_work_through_sql() {
        let context = context();
        run(&context, "SET bonnet.device = 'CPU'").await;
        run(&context, "SET bonnet.statement_timeout = '5s'").await;
        run(&context, "SET bonnet.threads = 2").await;
        assert!(run(&context, "SHOW bonnet.device").await.contains("| bonnet.device | cpu   |"));
        let all = run(&context, "SHOW ALL").await;
        for line in ["| bonnet.device ", "| bonnet.statement_timeout ", "| bonnet.threads "] {
            assert_eq!(all.matches(line).count(), 1, "{line}");
        }
        let settings = context.state().config().options().extensions.get::<BonnetSettings>().cloned().unwrap();
        assert_eq!(settings.device(), Device::Cpu);
        assert_eq!(settings.statement_timeout(), Some(Duration::from_secs(5)));
        assert_eq!(settings.threads(), 2);
    }

    #[tokio::test]
    async fn wrong_values_are_refused_with_the_valid_ones() {
        let context = context();
        for (text, expected) in [
            ("SET bonnet.device = 'gpu'", "bonnet.device = 'gpu': expected auto, cpu or cuda"),
            ("SET bonnet.graph_cache = 'much'", "expected a size as '512MB', '4GB', or off (`much` is not a size"),
            ("SET bonnet.threads = 0", "expected a whole number from 1 to 1024"),
            ("SET bonnet.threads = 'many'", "expected a whole number from 1 to 1024"),
            ("SET bonnet.statement_timeout = '5 weeks'", "expected milliseconds, or a number with its unit"),
            ("SET bonnet.statement_timeout = -1", "expected milliseconds"),
            (
                "SET bonnet.nothing = 1",
                "there is no setting bonnet.nothing; there are: bonnet.data, bonnet.data_mirror, bonnet.device, \
                 bonnet.external_access, bonnet.graph_cache, bonnet.statement_timeout, bonnet.threads",
            ),
        ] {
            let found = run(&context, text).await;
            assert!(found.contains(expected), "{text}: {found}");
        }
        // A refused value leaves the old one.
        assert!(run(&context, "SHOW bonnet.threads").await.contains("| 4 "));
    }

    #[test]
    fn times_have_units() {
        let mut settings = BonnetSettings::new(1);
        for (value, time, shown) in [
            ("1500", Some(Duration::from_millis(1500)), "1500ms"),
            ("500ms", Some(Duration::from_millis(500)), "500ms"),
            ("0.5s", Some(Duration::from_millis(500)), "500ms"),
            (" 2 MIN ", Some(Duration::from_secs(120)), "2min"),
            ("90s", Some(Duration::from_secs(90)), "90s"),
            ("1h", Some(Duration::from_secs(3600)), "1h"),
            ("0", None, "0"),
            ("0s", None, "0"),
        ] {
            settings.set("statement_timeout", value).unwrap();
            assert_eq!(settings.statement_timeout(), time, "{value}");
            assert_eq!(settings.get("statement_timeout").unwrap(), shown);
            // What is shown can be set again.
            settings.set("statement_timeout", shown).unwrap();
            assert_eq!(settings.statement_timeout(), time, "{value}");
        }
        for value in ["", "s", "1e400", "1.2.3", "nan", "inf", "99999999h", "5 5"] {
            assert!(settings.set("statement_timeout", value).is_err(), "{value}");
        }
    }

    #[test]
    fn the_graph_cache_has_a_size_or_is_off() {
        let mut settings = BonnetSettings::new(1);
        for (value, bytes, shown) in [
            ("4GB", 4_000_000_000, "4GB"),
            ("512 mb", 512_000_000, "512MB"),
            ("1.5kB", 1500, "1500"),
            ("2000", 2000, "2kB"),
            ("OFF", 0, "off"),
        ] {
            settings.set("graph_cache", value).unwrap();
            assert_eq!((settings.graph_cache(), settings.get("graph_cache").unwrap().as_str()), (bytes, shown));
            // What is shown can be set again.
            settings.set("graph_cache", shown).unwrap();
            assert_eq!(settings.graph_cache(), bytes, "{value}");
        }
        settings.reset("graph_cache").unwrap();
        assert_eq!(settings.get("graph_cache").unwrap(), "1GB");
    }

    #[test]
    fn external_access_is_closed_for_good() {
        let mut settings = BonnetSettings::new(1);
        settings.set("external_access", "on").unwrap();
        assert!(settings.external_access());
        settings.set("external_access", "OFF").unwrap();
        assert_eq!((settings.external_access(), settings.get("external_access").unwrap().as_str()), (false, "off"));
        settings.reset_all();
        assert!(!settings.external_access());
        for refused in [settings.reset("external_access"), settings.set("external_access", "on")] {
            assert!(refused.unwrap_err().to_string().contains("stays off as long as the session"));
        }
        let wrong = settings.set("external_access", "maybe").unwrap_err();
        assert!(wrong.to_string().contains("expected on or off"), "{wrong}");
    }

    #[test]
    fn reset_gives_defaults_back() {
        let mut settings = BonnetSettings::new(8);
        settings.set("threads", "3").unwrap();
        settings.set("device", "cuda").unwrap();
        settings.reset("threads").unwrap();
        assert_eq!((settings.threads(), settings.device()), (8, Device::Cuda));
        let row = settings.rows().into_iter().find(|row| row.name == "bonnet.device").unwrap();
        assert_eq!((row.name.as_str(), row.value.as_str(), row.default.as_str()), ("bonnet.device", "cuda", "auto"));
        settings.reset_all();
        assert_eq!(settings, BonnetSettings::new(8));
        assert!(settings.reset("nothing").is_err());
    }
}
