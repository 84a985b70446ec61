//! Keys by which a client cancels its statement over another connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::rand;
use pgwire::messages::startup::SecretKey;
use tokio::sync::Notify;

/// The connections of a server by their numbers.
#[derive(Default)]
pub(super) struct Keys(Mutex<HashMap<i32, (i32, Arc<Notify>)>>);

/// The key of one connection, forgotten when this is dropped.
pub(super) struct Key {
    pub(super) number: i32,
    pub(super) secret: i32,
    /// Holds a permit once the connection's statement is cancelled.
    pub(super) cancelled: Arc<Notify>,
    keys: Arc<Keys>,
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, HashMap<i32, (i32, Arc<Notify>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key for a new connection.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn add(self: &Arc<Self>) -> Result<Key, String> {
        let random = || -> Result<i32, String> {
            let mut bytes = [0; 4];
            rand::fill(&mut bytes).map_err(|_| "the system gives no random numbers".to_owned())?;
            Ok(i32::from_be_bytes(bytes))
        };
        let cancelled = Arc::new(Notify::new());
        let secret = random()?;
        let mut keys = self.lock();
        let number = loop {
            let number = random()?.saturating_abs();
            if number != 0 && !keys.contains_key(&number) {
                break number;
            }
        };
        keys.insert(number, (secret, Arc::clone(&cancelled)));
        Ok(Key { number, secret, cancelled, keys: Arc::clone(self) })
    }

    /// Cancels the statement of the connection that has this key, if there is one.
    pub(super) fn cancel(&self, number: i32, secret: &SecretKey) {
        let secret = match secret {
            SecretKey::I32(secret) => *secret,
            SecretKey::Bytes(bytes) => match <[u8; 4]>::try_from(bytes.as_ref()) {
                Ok(bytes) => i32::from_be_bytes(bytes),
                Err(_) => return,
            },
        };
        if let Some((known, cancelled)) = self.lock().get(&number)
            && *known == secret
        {
            cancelled.notify_one();
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.number);
    }
}
