//! A JSON value whose objects have each key once: of two the reader would take the last, without a word.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// The value.
pub(super) struct UniqueKeys(pub(super) Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::Number(value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::String(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        let mut list = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(UniqueKeys(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<UniqueKeys, A::Error> {
        let mut object = Map::new();
        while let Some(key) = keys.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(place) => drop(place.insert(keys.next_value::<UniqueKeys>()?.0)),
                Entry::Occupied(place) => {
                    return Err(A::Error::custom(format!("the key \"{}\" stands twice in one object", place.key())));
                }
            }
        }
        Ok(UniqueKeys(Value::Object(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_package_but_for_keys_that_come_twice() {
        let texts = [
            "null",
            "[true, false, -1, 18446744073709551615, 1.5, 1e300, \"\\u00e9\\n\"]",
            "{\"a\": {\"b\": [{}]}, \"c\": []}",
            "7 7",
            "{\"a\":",
            "nan",
        ];
        for text in texts {
            let own = serde_json::from_str::<UniqueKeys>(text).map(|UniqueKeys(value)| value);
            let known = serde_json::from_str::<Value>(text);
            assert_eq!(own.map_err(|error| error.to_string()), known.map_err(|error| error.to_string()), "{text}");
        }
        for text in ["{\"a\":1,\"a\":1}", "{\"x\":[{\"a\":1,\"b\":2,\"a\":3}]}"] {
            let error = serde_json::from_str::<UniqueKeys>(text).err().unwrap();
            assert!(error.is_data() && error.to_string().starts_with("the key \"a\" stands twice"), "{error}");
        }
    }
}
