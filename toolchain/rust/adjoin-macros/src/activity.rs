//! The activities of arguments and results, by the names of `std::autodiff`.

use crate::parse::Tokens;
use crate::{error, Result};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Forward,
    Reverse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    Const,
    /// Forward: followed by its tangent.
    Dual,
    DualOnly,
    /// Forward: followed by its tangents, one after another in memory.
    Dualv,
    /// Reverse: its adjoint is returned (argument), or it has a seed (result).
    Active,
    ActiveOnly,
    /// Reverse: followed by the memory of its adjoints.
    Duplicated,
    DuplicatedOnly,
}

impl Activity {
    /// Reads an activity that fits the mode.
    pub fn parse(mode: Mode, tokens: &mut Tokens) -> Result<Activity> {
        use Activity::*;
        let span = tokens.span();
        let name = tokens.identifier("an activity")?;
        match (mode, name.as_str()) {
            (_, "Const") => Ok(Const),
            (Mode::Forward, "Dual") => Ok(Dual),
            (Mode::Forward, "DualOnly") => Ok(DualOnly),
            (Mode::Forward, "Dualv") => Ok(Dualv),
            (Mode::Reverse, "Active") => Ok(Active),
            (Mode::Reverse, "ActiveOnly") => Ok(ActiveOnly),
            (Mode::Reverse, "Duplicated") => Ok(Duplicated),
            (Mode::Reverse, "DuplicatedOnly") => Ok(DuplicatedOnly),
            (Mode::Forward, _) => {
                error(span, format!("no activity of forward mode: {name} (there are Const, Dual, DualOnly, Dualv)"))
            }
            (Mode::Reverse, _) => error(
                span,
                format!("no activity of reverse mode: {name} (there are Const, Active, ActiveOnly, Duplicated, DuplicatedOnly)"),
            ),
        }
    }
}
