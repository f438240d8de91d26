//! Errors on their way to Python: each kind is a class of `edgepace.errors`, with the message that it has here.

use std::error::Error;

use edgepace_curriculum::CurriculumError;
use edgepace_data::DataError;
use edgepace_graph::files::FileError;
use edgepace_graph::{GraphError, Refusal};
use edgepace_lab::LabError;
use edgepace_train::TrainError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// An error that can leave the thread it happened in.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The name of its class.
    class: &'static str,
    message: String,
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// Something that is used in a way in which it cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("UsageError", message)
    }

    /// The message with all its causes.
    fn of(class: &'static str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.ends_with(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        Self { class, message }
    }
}

impl From<GraphError> for Fault {
    fn from(error: GraphError) -> Self {
        Self::of("GraphError", &error)
    }
}

impl From<Refusal> for Fault {
    fn from(error: Refusal) -> Self {
        Self::of("SettingError", &error)
    }
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Io { .. } => Self::of("FileError", &error),
            DataError::Request { .. } => Self::of("SettingError", &error),
            DataError::Parts(error) => error.into(),
            _ => Self::of("DataError", &error),
        }
    }
}

impl From<CurriculumError> for Fault {
    fn from(error: CurriculumError) -> Self {
        match error {
            CurriculumError::State { .. } => Self::of("StateError", &error),
            _ => Self::of("CurriculumError", &error),
        }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self::of("FileError", &error)
    }
}

impl From<TrainError> for Fault {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Refused(_) | TrainError::Settings { .. } => Self::of("SettingError", &error),
            TrainError::State { .. } => Self::of("StateError", &error),
            TrainError::File { .. } => Self::of("FileError", &error),
            TrainError::Diverged { .. } | TrainError::NotFinite { .. } => Self::of("DivergedError", &error),
            TrainError::Memory { .. } => Self::of("NotEnoughMemoryError", &error),
            TrainError::Curriculum(error) => error.into(),
            TrainError::Graph(error) => error.into(),
            _ => Self::of("EdgepaceError", &error),
        }
    }
}

impl From<LabError> for Fault {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Train(error) => error.into(),
            LabError::Data(error) => error.into(),
            LabError::File(error) => error.into(),
            LabError::Diverged { .. } => Self::of("DivergedError", &error),
            LabError::Plan { .. } => Self::of("SettingError", &error),
            LabError::Store { .. } => Self::of("StoreError", &error),
            _ => Self::of("EdgepaceError", &error),
        }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        Python::attach(|py| {
            let class = py.import("edgepace.errors").and_then(|module| module.getattr(fault.class));
            match class.and_then(|class| class.call1((&fault.message,))) {
                Ok(error) => Self::from_value(error),
                Err(_) => PyRuntimeError::new_err(fault.message),
            }
        })
    }
}
