//! Admission of a job that is submitted while others run: checks that its document describes the
//! controller's network. Pure.

use inart_topologies::switched::Topology;

/// Why a job cannot be admitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// Unknown job.
    #[error(
        "the document has no job \"{job}\": add it to the topology's list of jobs, or name one of {known}"
    )]
    NoJob {
        /// Name of the job.
        job: String,
        /// Jobs of the document.
        known: String,
    },
    /// Job that runs already.
    #[error("job {job} runs already: delete it first, or give the new one another name")]
    Runs {
        /// Name of the job.
        job: String,
    },
    /// Document of another network.
    #[error(
        "the document is not of the network that the controller runs ({what}): submit the controller's topology \
         with one job more, or start the controller with the new network"
    )]
    OtherNetwork {
        /// Difference.
        what: String,
    },
    /// Running job that would get another number or other hosts.
    #[error(
        "job {job} of the controller is {how} in the document: leave those that run as they are, and add jobs at the end"
    )]
    OtherJob {
        /// Name of the job.
        job: String,
        /// Difference, in words.
        how: &'static str,
    },
}

/// Checks that `document` describes the network `now` with the same jobs in the same positions and possibly
/// more, and has the job, which is not among the running ones (`running`, by name).
///
/// # Errors
/// The first violation.
pub fn admit(
    now: &Topology,
    document: &Topology,
    running: &[String],
    job: &str,
) -> Result<(), AdmissionError> {
    let bare = |topology: &Topology| topology.with_jobs(Vec::new()).to_yaml();
    let (have, given) = (bare(now), bare(document));
    if have != given {
        let differs = have.lines().zip(given.lines()).find(|(have, given)| have != given);
        let what = match differs {
            Some((have, given)) => format!("\"{}\" in place of \"{}\"", given.trim(), have.trim()),
            None => "other nodes or links".to_owned(),
        };
        return Err(AdmissionError::OtherNetwork { what });
    }
    for (place, known) in now.jobs().iter().enumerate() {
        let how = match document.jobs().get(place) {
            Some(same) if same == known => continue,
            Some(other) if other.name == known.name => "another one",
            _ if document.job_named(&known.name).is_some() => "in another position",
            _ => "missing",
        };
        return Err(AdmissionError::OtherJob { job: known.name.clone(), how });
    }
    if running.iter().any(|running| running == job) {
        return Err(AdmissionError::Runs { job: job.to_owned() });
    }
    match document.job_named(job) {
        Some(_) => Ok(()),
        None => {
            let known: Vec<_> = document.jobs().iter().map(|job| job.name.as_str()).collect();
            Err(AdmissionError::NoJob { job: job.to_owned(), known: known.join(", ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(rate: &str, jobs: &str) -> Topology {
        let text = format!(
            "{{name: n, nodes: [{{name: v, kind: switch}}, {{name: s, kind: server}}, {{name: a, kind: worker}}, {{name: b, kind: worker}}],
              links: [{{ends: [a, v], rate: {rate}}}, {{ends: [b, v], rate: 1 Gbps}}, {{ends: [s, v], rate: 1 Gbps}}], jobs: [{jobs}]}}"
        );
        Topology::from_yaml(&text).expect("a topology")
    }

    const ONE: &str = "{name: one, workers: [a], servers: [s]}";
    const TWO: &str = "{name: two, workers: [b], servers: [s]}";

    #[test]
    fn a_document_with_one_job_more_is_admitted_and_others_are_named() {
        let now = topology("1 Gbps", ONE);
        let both = topology("1 Gbps", &format!("{ONE}, {TWO}"));
        let running = ["one".to_owned()];
        assert_eq!(admit(&now, &both, &running, "two"), Ok(()));
        assert_eq!(admit(&both, &both, &running, "two"), Ok(()), "a deleted job is admitted again");
        let cases = [
            (admit(&now, &both, &running, "one"), "job one runs already"),
            (
                admit(&now, &both, &running, "three"),
                "no job \"three\": add it to the topology's list of jobs, or name one of one, two",
            ),
            (
                admit(&now, &topology("2 Gbps", &format!("{ONE}, {TWO}")), &running, "two"),
                "is not of the network that the controller runs",
            ),
            (admit(&now, &topology("1 Gbps", TWO), &running, "two"), "job one of the controller is missing"),
            (
                admit(&now, &topology("1 Gbps", &format!("{TWO}, {ONE}")), &running, "two"),
                "in another position",
            ),
            (
                admit(
                    &now,
                    &topology("1 Gbps", &format!("{}, {TWO}", ONE.replace("[a]", "[a, b]"))),
                    &running,
                    "two",
                ),
                "job one of the controller is another one",
            ),
        ];
        for (refused, named) in cases {
            let error = refused.expect_err(named).to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
