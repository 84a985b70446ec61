//! Settings that PostgreSQL's clients read and set: they are answered, and those that the engine has too are passed on.

use std::collections::BTreeMap;

use super::failure::Failure;

/// The version of PostgreSQL whose catalog and answers clients may expect.
pub(super) const VERSION: &str = concat!("14.0 (BonnetDB ", env!("CARGO_PKG_VERSION"), ")");

/// Settings with the values that they have at the start.
const SETTINGS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("check_function_bodies", "on"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("integer_datetimes", "on"),
    ("intervalstyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lock_timeout", "0"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version", VERSION),
    ("server_version_num", "140000"),
    ("session_authorization", ""),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "off"),
];

/// Settings that say something of the server, or of how it writes values, and have one value.
const FIXED: &[&str] = &[
    "bytea_output",
    "client_encoding",
    "integer_datetimes",
    "is_superuser",
    "max_identifier_length",
    "server_encoding",
    "server_version",
    "server_version_num",
    "standard_conforming_strings",
];

/// A client's settings.
pub(super) struct ClientSettings(BTreeMap<String, String>);

/// A statement about a client's settings, or one of PostgreSQL that has nothing to do here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// `SET name = value`
    Set(String, String),
    /// `SHOW name`
    Show(String),
    /// `RESET name`, `SET name TO DEFAULT`
    Reset(String),
    /// Accepted: what it asks for holds already. The text is the command's tag.
    Nothing(&'static str),
    /// `DEALLOCATE name`; `None` for all, which `DISCARD ALL` forgets, too.
    Deallocate(Option<String>),
}

impl ClientSettings {
    pub(super) fn new(user: &str) -> Self {
        let mut settings: BTreeMap<String, String> =
            SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        settings.insert("session_authorization".to_owned(), user.to_owned());
        Self(settings)
    }

    /// The value of a setting.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All settings with their values.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Gives a setting a value.
    ///
    /// # Errors
    /// If it has another value that cannot be changed.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let same = |known: &str| {
            let plain = |text: &str| text.replace(['-', '_', ' ', '\''], "").to_lowercase();
            // Encodings have several names.
            plain(known) == plain(value) || (name == "client_encoding" && plain(value) == "unicode")
        };
        match self.0.get_mut(name) {
            Some(known) if FIXED.contains(&name) && !same(known) => {
                Err(Failure::new("22023", format!("{name} is always {known} here, it cannot be '{value}'")))
            }
            Some(known) => {
                value.clone_into(known);
                Ok(())
            }
            None => Err(Failure::new("42704", format!("there is no setting {name}"))),
        }
    }

    /// Gives a setting the value of the start.
    pub(super) fn reset(&mut self, name: &str) {
        if let Some((_, value)) = SETTINGS.iter().find(|(known, _)| *known == name) {
            self.0.insert(name.to_owned(), (*value).to_owned());
        }
    }
}

/// Whether clients know a setting of this name.
fn is_setting(name: &str) -> bool {
    SETTINGS.iter().any(|(known, _)| *known == name)
}

/// The settings that are reported to a client at the start.
pub(super) fn reported(user: &str) -> Vec<(String, String)> {
    let names = [
        "application_name",
        "client_encoding",
        "DateStyle",
        "default_transaction_read_only",
        "integer_datetimes",
        "IntervalStyle",
        "is_superuser",
        "server_encoding",
        "server_version",
        "session_authorization",
        "standard_conforming_strings",
        "TimeZone",
    ];
    let settings = ClientSettings::new(user);
    let value = |name: &str| settings.get(&name.to_lowercase()).unwrap_or_default().to_owned();
    names.iter().map(|name| ((*name).to_owned(), value(name))).collect()
}

/// The settings in the option of a startup message: `-c name=value` or `--name=value`.
///
/// # Errors
/// If the text is none of these.
pub(super) fn of_options(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let wrong = || Failure::fatal("22023", format!("the options '{text}' are not understood: write -c name=value"));
    let mut words = text.split_whitespace();
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let setting = match (word.strip_prefix("--"), word.strip_prefix("-c")) {
            (Some(setting), _) => setting,
            (_, Some("")) => words.next().ok_or_else(wrong)?,
            (_, Some(setting)) => setting,
            _ => return Err(wrong()),
        };
        let (name, value) = setting.split_once('=').ok_or_else(wrong)?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

/// The request that a statement makes of a client's settings; `None` for any other statement.
pub(super) fn request(statement: &str) -> Option<Request> {
    let text = statement.trim().trim_end_matches(';').trim_end();
    let upper = text.to_ascii_uppercase();
    let words: Vec<&str> = upper.split_whitespace().collect();
    match words.as_slice() {
        ["SHOW", "TRANSACTION", "ISOLATION", "LEVEL"] => Some(Request::Show("transaction_isolation".to_owned())),
        ["SHOW", "TIME", "ZONE"] => Some(Request::Show("timezone".to_owned())),
        ["SHOW", name] => {
            let name = name.trim_matches('"').to_lowercase();
            is_setting(&name).then_some(Request::Show(name))
        }
        ["SET", "TRANSACTION", ..]
        | ["SET", "SESSION", "CHARACTERISTICS", "AS", "TRANSACTION", ..]
        | ["SET", "CONSTRAINTS", ..] => Some(Request::Nothing("SET")),
        ["SET", "TIME", "ZONE", ..] => Some(Request::Nothing("SET")),
        ["SET", "NAMES", ..] => {
            Some(Request::Set("client_encoding".to_owned(), unquoted(text.split_whitespace().nth(2).unwrap_or("UTF8"))))
        }
        ["SET", ..] => set(text),
        ["RESET", name] => {
            let name = name.to_lowercase();
            is_setting(&name).then_some(Request::Reset(name))
        }
        ["DISCARD", "ALL"] => Some(Request::Deallocate(None)),
        ["DISCARD", "PLANS" | "SEQUENCES" | "TEMP" | "TEMPORARY"] => Some(Request::Nothing("DISCARD")),
        ["DEALLOCATE", "ALL"] | ["DEALLOCATE", "PREPARE", "ALL"] => Some(Request::Deallocate(None)),
        ["DEALLOCATE", .., _] => {
            let name = text.split_whitespace().last().unwrap_or_default();
            let name = if name.starts_with('"') { name.trim_matches('"').to_owned() } else { name.to_lowercase() };
            Some(Request::Deallocate(Some(name)))
        }
        ["UNLISTEN", ..] => Some(Request::Nothing("UNLISTEN")),
        _ => None,
    }
}

fn set(text: &str) -> Option<Request> {
    let rest = text[3..].trim_start();
    let scoped = ["SESSION", "LOCAL"].iter().find_map(|scope| {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        word.eq_ignore_ascii_case(scope).then(|| after.trim_start())
    });
    let rest = scoped.unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let name = rest[..end].to_lowercase();
    let value = rest[end..].trim_start();
    let to = value.get(..2).filter(|word| word.eq_ignore_ascii_case("to")).map(|_| &value[2..]);
    let value = value.strip_prefix('=').or(to)?.trim();
    if !is_setting(&name) {
        return None;
    }
    match value.eq_ignore_ascii_case("default") {
        true => Some(Request::Reset(name)),
        false => Some(Request::Set(name, unquoted(value))),
    }
}

fn unquoted(value: &str) -> String {
    match value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => value.to_owned(),
    }
}

/// The schema that a search path names first, as `USE` takes it; `None` where it names but the user's own and `public`.
pub(super) fn first_schema(search_path: &str) -> Option<String> {
    let names = search_path.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut names = names.filter(|name| !matches!(*name, "\"$user\"" | "$user" | "pg_catalog"));
    names.next().map(|name| if name.trim_matches('"') == "public" { "main".to_owned() } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_at_their_start_is_understood() {
        let set = |name: &str, value: &str| Some(Request::Set(name.into(), value.into()));
        assert_eq!(request("SET extra_float_digits = 3"), set("extra_float_digits", "3"));
        assert_eq!(request("set session application_name to 'it''s me';"), set("application_name", "it's me"));
        assert_eq!(request("SET client_encoding TO 'UTF8'"), set("client_encoding", "UTF8"));
        assert_eq!(request("SET search_path=public,\"$user\""), set("search_path", "public,\"$user\""));
        assert_eq!(request("SET DateStyle TO DEFAULT"), Some(Request::Reset("datestyle".into())));
        assert_eq!(
            request("show standard_conforming_strings"),
            Some(Request::Show("standard_conforming_strings".into()))
        );
        assert_eq!(request("SHOW TRANSACTION ISOLATION LEVEL"), Some(Request::Show("transaction_isolation".into())));
        let nothing = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED";
        assert_eq!(request(nothing), Some(Request::Nothing("SET")));
        assert_eq!(request("DISCARD ALL"), Some(Request::Deallocate(None)));
        assert_eq!(request("DEALLOCATE \"_PG3_0\""), Some(Request::Deallocate(Some("_PG3_0".into()))));
        // What is the engine's stays the engine's.
        for other in ["SET bonnet.threads = 2", "SHOW TABLES", "SHOW bonnet.device", "SELECT 1", "RESET ALL", "SET"] {
            assert_eq!(request(other), None, "{other}");
        }
    }

    #[test]
    fn settings_of_the_server_have_one_value() {
        let mut settings = ClientSettings::new("me");
        settings.set("client_encoding", "'utf-8'").unwrap();
        assert_eq!(settings.set("client_encoding", "LATIN1").unwrap_err().code, "22023");
        settings.set("extra_float_digits", "3").unwrap();
        assert_eq!(settings.get("extra_float_digits"), Some("3"));
        settings.reset("extra_float_digits");
        assert_eq!(settings.get("extra_float_digits"), Some("1"));
        assert_eq!(of_options("-c a=1 --b-c=2 -cd=x").unwrap().len(), 3);
        assert!(of_options("-x").unwrap_err().fatal);
        assert_eq!(first_schema("\"$user\", public").as_deref(), Some("main"));
        assert_eq!(first_schema("cora, public").as_deref(), Some("cora"));
        assert_eq!(first_schema(""), None);
    }
}
