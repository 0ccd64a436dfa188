//! What does not fit when a valid specification becomes a network with its work.

/// Why a network cannot be built.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BuildError {
    /// The topology's parameters do not fit.
    #[error("topology: {}", .0.iter().map(|e| format!("{}: {}", e.field, e.reason)).collect::<Vec<_>>().join("; "))]
    Topology(Vec<topo::FieldError>),
    /// Another part of the specification does not fit the network.
    #[error("{key}: {reason}{}", .hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
    Field {
        /// Key in the study.
        key: String,
        /// Why not.
        reason: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl BuildError {
    /// A field error.
    pub fn field(key: &str, reason: impl Into<String>, hint: Option<&str>) -> BuildError {
        BuildError::Field {
            key: key.into(),
            reason: reason.into(),
            hint: hint.map(Into::into),
        }
    }
}
