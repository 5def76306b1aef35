//! Masking of credentials in text that a person may come to see.
