//! Plans that a user gives, as a scheme among others.

use inart_planner_aggregation::{Plan, PlanError, Problem, Promises, Scheme, Shares};

/// The scheme that the plans of [`crate::Options::plans`] run under.
pub const OWN: &dyn Scheme = &Own;

#[derive(Debug, Clone, Copy)]
struct Own;

impl Scheme for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn summary(&self) -> &'static str {
        "plans that a user gives"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Free, levels: u8::MAX, ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let (job, problem) = (problem.job().name.clone(), "none were given; give a plan".to_owned());
        Err(PlanError::Draft { job, scheme: self.name(), problem })
    }
}
