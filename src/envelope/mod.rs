//! Response envelopes `{data, meta}` and the pipeline that makes them.
