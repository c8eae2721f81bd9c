//! Figures of several runs in a row, and the error that ended them early.

use crate::error::Error;

/// The figures of all runs that ended well, with the error of the one that did not.
#[derive(Debug)]
pub struct Measured<R> {
    /// The figures, in the order of the runs.
    pub report: R,
    /// Why the runs after those in the report are missing; `None` if all ended well.
    pub problem: Option<Error>,
}

/// Runs one after the other, up to the first that fails. Returns what the runs before it measured, and its
/// error.
///
/// # Errors
/// The error of the first run, when nothing has been measured yet.
pub fn in_turn<T, R>(
    all: impl IntoIterator<Item = T>,
    mut run: impl FnMut(T) -> Result<R, Error>,
) -> Result<(Vec<R>, Option<Error>), Error> {
    let mut measured = Vec::new();
    for one in all {
        match run(one) {
            Ok(result) => measured.push(result),
            Err(error) if measured.is_empty() => return Err(error),
            Err(error) => return Ok((measured, Some(error))),
        }
    }
    Ok((measured, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32) -> Result<u32, Error> {
        if number < 3 {
            return Ok(10 * number);
        }
        Err(Error::Option { option: "schemes", problem: number.to_string() })
    }

    #[test]
    fn what_was_measured_before_a_failure_is_kept() {
        let (measured, problem) = in_turn([1, 2, 3, 1], run).expect("two runs end well");
        assert_eq!(measured, [10, 20]);
        assert_eq!(problem.map(|error| error.to_string()).as_deref(), Some("schemes: 3"));
        let (measured, problem) = in_turn([1, 2], run).expect("both runs end well");
        assert!(problem.is_none() && measured == [10, 20]);
        assert_eq!(in_turn([3, 1], run).expect_err("nothing was measured").to_string(), "schemes: 3");
    }
}
