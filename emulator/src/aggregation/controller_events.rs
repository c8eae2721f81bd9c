//! Events at a controller since the last query, as text.

use std::collections::BTreeMap;

use inart_controller::api::proto::{ChangeStage, ChangeStatus, Decision, Status};
use inart_topologies::units::counted;

/// Last known state of a controller.
#[derive(Debug, Default)]
pub struct ControllerEvents {
    /// Number of the last reported change.
    reported: u32,
    /// Current run of each elastic job.
    views: BTreeMap<String, u32>,
    /// Number of the last reported decision.
    decided: u64,
}

impl ControllerEvents {
    /// Returns the events of a status: plan changes that have ended, and runs of elastic jobs that have
    /// begun.
    pub fn of(&mut self, status: &Status) -> Vec<String> {
        let mut news = Vec::new();
        let reported = self.reported;
        for change in status.changes.iter().filter(|change| change.number > reported) {
            let Some(text) = ended(change) else { break };
            news.push(text);
            self.reported = change.number;
        }
        for job in &status.jobs {
            let Some(rendezvous) = &job.rendezvous else { continue };
            let Some(view) = rendezvous.view else { continue };
            if self.views.insert(job.name.clone(), view) != Some(view) {
                let workers = rendezvous.members.iter().filter(|member| member.role.starts_with("worker"));
                let (workers, all) = (workers.count(), rendezvous.members.len());
                let servers = all - workers;
                news.push(format!(
                    "job {}: view {view} begins with {}, {}",
                    job.name,
                    counted(workers, "worker"),
                    counted(servers, "server")
                ));
            }
        }
        news
    }

    /// Returns new decisions, oldest first: decisions to change plans whose changes have succeeded or failed.
    /// Times are the controller's and left out.
    pub fn of_decisions(&mut self, decisions: &[Decision]) -> Vec<String> {
        let number = |json: &serde_json::Value| json["number"].as_u64().unwrap_or_default();
        let all = decisions.iter().filter_map(|decision| {
            let json: serde_json::Value = serde_json::from_str(&decision.json).ok()?;
            Some((number(&json), !json["outcome"].is_null(), &decision.line))
        });
        let new: Vec<_> = all.filter(|(number, is_over, _)| *is_over && *number > self.decided).collect();
        self.decided = new.iter().map(|(number, ..)| *number).fold(self.decided, u64::max);
        let text = |(number, _, line): (u64, bool, &String)| match line.split_once(" s: ") {
            Some((_, why)) => format!("decision {number}: {why}"),
            None => line.clone(),
        };
        new.into_iter().map(text).collect()
    }
}

/// A change that has ended.
fn ended(change: &ChangeStatus) -> Option<String> {
    let ChangeStatus { number, job, from, to, problem, .. } = change;
    let ms = change.total_us as f64 / 1e3;
    let what = match change.stage() {
        ChangeStage::Done => format!("done in {ms:.0} ms, from plan version {from} to {to}"),
        ChangeStage::Undone => format!("undone after {ms:.0} ms: {problem}"),
        ChangeStage::Refused => format!("refused: {problem}"),
        _ => return None,
    };
    Some(format!("change {number} of job {job}: {what}"))
}

#[cfg(test)]
mod tests {
    use inart_controller::api::proto::{JobStatus, Member, Rendezvous};

    use super::*;

    fn change(number: u32, stage: ChangeStage) -> ChangeStatus {
        let (job, problem) = ("digits".to_owned(), "no room".to_owned());
        let mut change =
            ChangeStatus { number, job, problem, from: 1, to: 2, total_us: 34_000, ..Default::default() };
        change.set_stage(stage);
        change
    }

    #[test]
    fn each_change_is_reported_once_when_it_has_ended() {
        let mut news = ControllerEvents::default();
        let status = |changes: Vec<ChangeStatus>| Status { changes, ..Default::default() };
        assert!(news.of(&status(vec![change(1, ChangeStage::Migrating)])).is_empty());
        let both = vec![
            change(1, ChangeStage::Done),
            change(2, ChangeStage::Undone),
            change(3, ChangeStage::Writing),
        ];
        let expected = [
            "change 1 of job digits: done in 34 ms, from plan version 1 to 2",
            "change 2 of job digits: undone after 34 ms: no room",
        ];
        assert_eq!(news.of(&status(both.clone())), expected);
        assert!(news.of(&status(both)).is_empty());
    }

    #[test]
    fn each_decision_is_reported_once_when_it_was_carried_out() {
        let decision = |number: u32, outcome: &str| Decision {
            line: format!("decision {number} at 1.25 s: link a-b has failed: change, active after 8 s: no"),
            json: format!("{{\"number\": {number}, \"outcome\": {outcome}}}"),
        };
        let mut news = ControllerEvents::default();
        let expected = ["decision 2: link a-b has failed: change, active after 8 s: no"];
        let all = [decision(1, "null"), decision(2, "{\"result\": \"done\"}"), decision(3, "null")];
        assert_eq!(news.of_decisions(&all), expected);
        assert!(news.of_decisions(&all).is_empty());
        assert_eq!(news.of_decisions(&[decision(3, "{}")]).len(), 1);
    }

    #[test]
    fn each_run_is_reported_once_with_its_members() {
        let member = |role: &str| Member { host: "h".into(), role: role.into(), state: "running".into() };
        let rendezvous = |run| Rendezvous {
            view: Some(run),
            members: vec![member("worker-0"), member("worker-1"), member("server-0")],
            ..Default::default()
        };
        let status = |run| Status {
            jobs: vec![JobStatus {
                name: "digits".into(),
                rendezvous: Some(rendezvous(run)),
                ..Default::default()
            }],
            ..Default::default()
        };
        let mut news = ControllerEvents::default();
        assert_eq!(news.of(&status(1)), ["job digits: view 1 begins with 2 workers, 1 server"]);
        assert!(news.of(&status(1)).is_empty());
        assert_eq!(news.of(&status(4)), ["job digits: view 4 begins with 2 workers, 1 server"]);
    }
}
