//! Conversion of assignments and instructions to messages and back.

use inart_protocol_aggregation::{Assignment, MigrationStep, ShardAssignment, WorkerAddress};
use inart_wire::{JobId, MacAddr, PlanVersion, Rank, ValuesPerFrame};

use crate::instruction::{Ending, Instruction};
use crate::proto;
use crate::view_membership::{Role, ViewMembership};

impl From<&Assignment> for proto::Assignment {
    fn from(assignment: &Assignment) -> Self {
        let worker =
            |worker: &WorkerAddress| proto::Worker { name: worker.name.clone(), mac: worker.mac.0.to_vec() };
        let shard = |shard: &ShardAssignment| proto::Shard {
            server: shard.server.clone(),
            mac: shard.mac.0.to_vec(),
            share: shard.share,
            rate_bps: shard.rate_bps,
            bitmap_indices: shard.bitmap_indices.iter().map(|index| index.get().into()).collect(),
        };
        proto::Assignment {
            job: assignment.job.get().into(),
            name: assignment.name.clone(),
            plan_version: assignment.plan_version.get().into(),
            values_per_frame: assignment.values_per_frame.get() as u32,
            window_chunks: assignment.window_chunks,
            exact: assignment.exact_sums,
            elastic: false,
            workers: assignment.workers.iter().map(worker).collect(),
            shards: assignment.shards.iter().map(shard).collect(),
        }
    }
}

impl TryFrom<proto::Assignment> for Assignment {
    type Error = String;

    fn try_from(message: proto::Assignment) -> Result<Self, String> {
        fn number<T: TryFrom<u16>>(what: &str, number: u32) -> Result<T, String> {
            let short = u16::try_from(number).ok().and_then(|short| T::try_from(short).ok());
            short.ok_or_else(|| format!("{what} {number} is out of range"))
        }
        let mac = |bytes: Vec<u8>| {
            let octets = <[u8; 6]>::try_from(bytes);
            octets.map(MacAddr).map_err(|bytes| format!("an address of {} bytes", bytes.len()))
        };
        let worker = |worker: proto::Worker| {
            Ok::<_, String>(WorkerAddress { mac: mac(worker.mac)?, name: worker.name })
        };
        let shard = |shard: proto::Shard| {
            let bitmap_indices = shard
                .bitmap_indices
                .into_iter()
                .map(|index| number::<inart_wire::BitmapIndex>("bitmap index", index));
            Ok::<_, String>(ShardAssignment {
                mac: mac(shard.mac)?,
                server: shard.server,
                share: shard.share,
                rate_bps: shard.rate_bps,
                bitmap_indices: bitmap_indices.collect::<Result<_, _>>()?,
            })
        };
        let values = i64::from(message.values_per_frame);
        let assignment = Assignment {
            job: number::<JobId>("job", message.job)?,
            name: message.name,
            plan_version: number::<PlanVersion>("plan_version", message.plan_version)?,
            values_per_frame: ValuesPerFrame::try_from(values)
                .map_err(|_| format!("{values} values per frame"))?,
            window_chunks: message.window_chunks,
            exact_sums: message.exact,
            workers: message.workers.into_iter().map(worker).collect::<Result<_, _>>()?,
            shards: message.shards.into_iter().map(shard).collect::<Result<_, _>>()?,
        };
        assignment.validate().map_err(|error| error.to_string())?;
        Ok(assignment)
    }
}

impl From<&Instruction> for proto::Instruction {
    fn from(instruction: &Instruction) -> Self {
        proto::Instruction {
            assignment: Some((&instruction.assignment).into()),
            previous_plan_version: instruction
                .previous_plan_version
                .map(|plan_version| plan_version.get().into()),
            ending: Some(instruction.ending.into()),
            step: proto::MigrationStep::from(instruction.step).into(),
        }
    }
}

impl TryFrom<proto::Instruction> for Instruction {
    type Error = String;

    fn try_from(message: proto::Instruction) -> Result<Self, String> {
        let step = message.step().into();
        let assignment = message.assignment.ok_or("an instruction without an assignment")?;
        let previous_plan_version = message.previous_plan_version.map(u16::try_from).transpose();
        let previous_plan_version =
            previous_plan_version.map_err(|_| "a plan version is out of range".to_owned())?;
        let ending = message.ending.map_or(Ending::None, Ending::from);
        Ok(Instruction {
            assignment: assignment.try_into()?,
            previous_plan_version: previous_plan_version.map(PlanVersion::from),
            step,
            ending,
        })
    }
}

impl From<MigrationStep> for proto::MigrationStep {
    fn from(step: MigrationStep) -> Self {
        match step {
            MigrationStep::Move => proto::MigrationStep::Unspecified,
            MigrationStep::Prepare => proto::MigrationStep::Prepare,
            MigrationStep::Lead => proto::MigrationStep::Lead,
        }
    }
}

impl From<proto::MigrationStep> for MigrationStep {
    fn from(message: proto::MigrationStep) -> Self {
        match message {
            proto::MigrationStep::Unspecified => MigrationStep::Move,
            proto::MigrationStep::Prepare => MigrationStep::Prepare,
            proto::MigrationStep::Lead => MigrationStep::Lead,
        }
    }
}

impl From<Ending> for proto::Ending {
    fn from(ending: Ending) -> Self {
        use proto::EndingStage as Stage;
        let (stage, tensor) = match ending {
            Ending::None => (Stage::Unspecified, 0),
            Ending::Prepare => (Stage::Prepare, 0),
            Ending::Before(tensor) => (Stage::Before, tensor),
            Ending::Agreed(tensor) => (Stage::Agreed, tensor),
            Ending::Now => (Stage::Now, 0),
        };
        proto::Ending { stage: stage.into(), tensor }
    }
}

impl From<proto::Ending> for Ending {
    fn from(message: proto::Ending) -> Self {
        use proto::EndingStage as Stage;
        match message.stage() {
            Stage::Unspecified => Ending::None,
            Stage::Prepare => Ending::Prepare,
            Stage::Before => Ending::Before(message.tensor),
            Stage::Agreed => Ending::Agreed(message.tensor),
            Stage::Now => Ending::Now,
        }
    }
}

impl From<&ViewMembership> for proto::ViewMembership {
    fn from(membership: &ViewMembership) -> Self {
        proto::ViewMembership {
            assignment: Some(proto::Assignment { elastic: true, ..(&membership.assignment).into() }),
            view: membership.view.get().into(),
            role: membership.role.to_string(),
            newest: membership.newest.get().into(),
            rounds: membership.rounds,
            must_load_state: membership.must_load_state,
        }
    }
}

impl TryFrom<proto::ViewMembership> for ViewMembership {
    type Error = String;

    fn try_from(message: proto::ViewMembership) -> Result<Self, String> {
        let assignment: Assignment =
            message.assignment.ok_or("a membership without an assignment")?.try_into()?;
        let role: Role = message.role.parse()?;
        match role {
            Role::Worker(rank) => drop(assignment.worker(rank).map_err(|error| error.to_string())?),
            Role::Server(shard) => drop(assignment.shard(shard).map_err(|error| error.to_string())?),
        }
        let newest = u16::try_from(message.newest).ok().and_then(|rank| Rank::try_from(rank).ok());
        let newest = newest.ok_or_else(|| format!("rank {} is out of range", message.newest))?;
        assignment.worker(newest).map_err(|error| error.to_string())?;
        let view = u16::try_from(message.view).map_err(|_| "a view's number is out of range")?;
        Ok(ViewMembership {
            view: view.into(),
            role,
            newest,
            rounds: message.rounds,
            must_load_state: message.must_load_state,
            assignment,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_assignments_and_instructions() {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        for exact in [true, false] {
            let expected = Assignment {
                job: 7.into(),
                name: "digits".to_owned(),
                plan_version: 3.into(),
                values_per_frame: ValuesPerFrame::N64,
                window_chunks: 16,
                exact_sums: exact,
                workers: vec![WorkerAddress { name: "w1".to_owned(), mac: mac(1) }],
                shards: vec![ShardAssignment {
                    server: "s1".to_owned(),
                    mac: mac(2),
                    share: 1.0,
                    rate_bps: 1e9,
                    bitmap_indices: vec![inart_wire::BitmapIndex::MAX],
                }],
            };
            assert_eq!(Assignment::try_from(proto::Assignment::from(&expected)), Ok(expected.clone()));
            let endings = [Ending::None, Ending::Prepare, Ending::Before(3), Ending::Agreed(4), Ending::Now];
            for role in [Role::Worker(Rank::try_from(0u16).expect("small")), Role::Server(0.into())] {
                let newest = Rank::try_from(0u16).expect("small");
                let (run, assignment) = (PlanVersion::from(9), expected.clone());
                let membership = ViewMembership {
                    view: run,
                    role,
                    newest,
                    rounds: 1 << 40,
                    must_load_state: exact,
                    assignment,
                };
                assert_eq!(
                    ViewMembership::try_from(proto::ViewMembership::from(&membership)),
                    Ok(membership.clone())
                );
                let (role, newest) = ("worker-1".to_owned(), 1);
                let good = proto::ViewMembership::from(&membership);
                assert!(ViewMembership::try_from(proto::ViewMembership { role, ..good.clone() }).is_err());
                assert!(ViewMembership::try_from(proto::ViewMembership { newest, ..good }).is_err());
            }
            for (previous_plan_version, ending) in
                [None, Some(PlanVersion::from(2))].into_iter().cycle().zip(endings)
            {
                for step in [MigrationStep::Move, MigrationStep::Prepare, MigrationStep::Lead] {
                    let instruction =
                        Instruction { assignment: expected.clone(), previous_plan_version, step, ending };
                    assert_eq!(
                        Instruction::try_from(proto::Instruction::from(&instruction)),
                        Ok(instruction)
                    );
                }
            }
        }
    }
}
