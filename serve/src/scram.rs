//! Passwords by SCRAM-SHA-256 (RFC 5802, RFC 7677): neither side sends the password, and the server keeps only what its
//! keys are checked by.

use std::num::NonZeroU32;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac, pbkdf2, rand};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The name of the mechanism in the protocol.
pub(super) const MECHANISM: &str = "SCRAM-SHA-256";

/// PostgreSQL's number of rounds.
const ROUNDS: NonZeroU32 = NonZeroU32::new(4096).expect("the rounds are not zero");

/// Bytes of the salt, and of the server's part of the nonce.
const RANDOM: usize = 18;

/// Bytes of a key.
const KEY: usize = digest::SHA256_OUTPUT_LEN;

/// The stored verifier of a password (RFC 5803).
pub(super) struct Verifier {
    salt: [u8; RANDOM],
    stored_key: [u8; KEY],
    server_key: [u8; KEY],
}

fn random() -> Result<[u8; RANDOM], String> {
    let mut bytes = [0; RANDOM];
    rand::fill(&mut bytes).map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(bytes)
}

fn mac(key: &[u8], text: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text)
}

fn key(bytes: &[u8]) -> [u8; KEY] {
    let mut key = [0; KEY];
    key.copy_from_slice(&bytes[..KEY]);
    key
}

/// The keys of a password and a salt: the client's and the server's.
fn keys(password: &str, salt: &[u8]) -> ([u8; KEY], [u8; KEY]) {
    // As PostgreSQL does: a password that SASLprep refuses is taken as it is.
    let prepared =
        stringprep::saslprep(password).map_or_else(|_| password.to_owned(), |prepared| prepared.into_owned());
    let mut salted = [0; KEY];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, salt, prepared.as_bytes(), &mut salted);
    (key(mac(&salted, b"Client Key").as_ref()), key(mac(&salted, b"Server Key").as_ref()))
}

impl Verifier {
    /// The stored verifier, under a salt of its own.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(password: &str) -> Result<Self, String> {
        let salt = random()?;
        let (client_key, server_key) = keys(password, &salt);
        let stored_key = key(digest::digest(&digest::SHA256, &client_key).as_ref());
        Ok(Self { salt, stored_key, server_key })
    }

    /// Takes the client's first message and answers with a challenge.
    ///
    /// # Errors
    /// If the message is none of this mechanism.
    pub(super) fn challenge(&self, client_first: &str) -> Result<Challenge, String> {
        self.challenge_with(client_first, &BASE64.encode(random()?))
    }

    fn challenge_with(&self, client_first: &str, nonce: &str) -> Result<Challenge, String> {
        // No channel binding is offered: `n` does without, `y` would have used one.
        let header_length = ["n,,", "y,,"].iter().find(|header| client_first.starts_with(**header)).map(|h| h.len());
        let length = header_length.ok_or("the client asks for a channel binding that was not offered")?;
        let (header, bare) = client_first.split_at(length);
        let client_nonce =
            bare.split(',').find_map(|part| part.strip_prefix("r=")).ok_or("the client sends no nonce")?;
        let nonce = format!("{client_nonce}{nonce}");
        let server_first = format!("r={nonce},s={},i={ROUNDS}", BASE64.encode(self.salt));
        Ok(Challenge { header: header.to_owned(), client_first: bare.to_owned(), nonce, server_first })
    }

    /// Checks the client's answer to a challenge; what proves to the client that the server knows the password, too. `None`
    /// if the password is wrong.
    ///
    /// # Errors
    /// If the message is none of this mechanism.
    pub(super) fn verify(&self, challenge: &Challenge, client_final: &str) -> Result<Option<String>, String> {
        let (without_proof, proof) = client_final.rsplit_once(",p=").ok_or("the client sends no proof")?;
        let part = |name: &str| without_proof.split(',').find_map(|part| part.strip_prefix(name));
        if part("c=") != Some(&BASE64.encode(&challenge.header)) || part("r=") != Some(&challenge.nonce) {
            return Err("the client's answer belongs to another challenge".to_owned());
        }
        let proof = BASE64.decode(proof).map_err(|_| "the client's proof is no base64")?;
        let text = format!("{},{},{without_proof}", challenge.client_first, challenge.server_first);
        let signature = mac(&self.stored_key, text.as_bytes());
        let client_key: Vec<u8> = proof.iter().zip(signature.as_ref()).map(|(proof, sign)| proof ^ sign).collect();
        let stored = digest::digest(&digest::SHA256, &client_key);
        let right = proof.len() == KEY && verify_slices_are_equal(stored.as_ref(), &self.stored_key).is_ok();
        let server_signature = BASE64.encode(mac(&self.server_key, text.as_bytes()));
        Ok(right.then(|| format!("v={server_signature}")))
    }
}

/// A challenge that waits for its answer.
pub(super) struct Challenge {
    header: String,
    client_first: String,
    nonce: String,
    /// The server's first message.
    pub(super) server_first: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_standard_is_accepted_and_signed() {
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let (client_key, server_key) = keys("pencil", &salt);
        let stored_key = key(digest::digest(&digest::SHA256, &client_key).as_ref());
        let verifier = Verifier { salt: [0; RANDOM], stored_key, server_key };
        let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let challenge = Challenge {
            header: "n,,".into(),
            client_first: "n=user,r=rOprNGfwEbeRWgbNEkqO".into(),
            nonce: nonce.into(),
            server_first: format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
        };
        let answer = |proof: &str| verifier.verify(&challenge, &format!("c=biws,r={nonce},p={proof}"));
        let right = answer("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=").unwrap();
        assert_eq!(right.as_deref(), Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        assert_eq!(answer("eHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=").unwrap(), None);
        assert_eq!(answer("").unwrap(), None);
        assert!(answer("***").is_err());
        assert!(verifier.verify(&challenge, "c=biws,r=other,p=AAAA").unwrap_err().contains("another challenge"));
        assert!(verifier.verify(&challenge, "c=biws").unwrap_err().contains("no proof"));
    }

    #[test]
    fn a_challenge_takes_up_the_nonce_of_the_client_and_offers_no_channel_binding() {
        let verifier = Verifier::new("pass").unwrap();
        let challenge = verifier.challenge_with("y,,n=,r=abc", "def").unwrap();
        assert!(challenge.server_first.starts_with("r=abcdef,s=") && challenge.server_first.ends_with(",i=4096"));
        assert!(verifier.challenge("p=tls-unique,,n=,r=abc").is_err());
        assert!(verifier.challenge("n,,n=").is_err());
    }
}
