//! The JavaScript classes. Conversion only: no rule lives here.
