//! What a program takes of the chip, from the compiler's reports.

use serde_json::{Value, json};

/// Of one kind of resource, in all stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How many the program takes.
    pub used: usize,
    /// How many the chip has.
    pub of: usize,
}

/// What a program takes of the chip: both gresses together, in all stages of a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Stages.
    pub stages: Taken,
    /// Blocks of SRAM, of 128 kbit each.
    pub sram_blocks: Taken,
    /// Blocks of TCAM, of 44 bits by 512 rows each.
    pub tcam_blocks: Taken,
    /// Stateful ALUs: one for each register.
    pub stateful_alus: Taken,
    /// ALUs that count: one for each counter.
    pub statistics_alus: Taken,
    /// Bits of the packet header vector: whole containers that hold something.
    pub phv_bits: Taken,
}

/// Stateful (or meter) ALUs of a stage.
const METER_ALUS: usize = 4;

impl Resources {
    /// Reads what `p4c-barefoot -g` prints: `resources.json` and `phv.json`.
    ///
    /// # Errors
    /// In words, what is missing.
    pub fn of_logs(resources: &Value, phv: &Value) -> Result<Self, String> {
        let mau = &resources["resources"]["mau"];
        let stages = list(mau, "mau_stages")?;
        let of_chip = count(mau, "nStages")?;
        let blocks = |kind: &str, items: &str| -> Result<Taken, String> {
            let mut taken = Taken { used: 0, of: 0 };
            for stage in stages {
                taken.used += list(&stage[kind], items)?.len();
                taken.of = of_chip * count(&stage[kind], "nRows")? * count(&stage[kind], "nColumns")?;
            }
            Ok(taken)
        };
        let alus = |kind: &str, items: &str, ram: &str| -> Result<usize, String> {
            let mut used = 0;
            for stage in stages {
                let all = list(&stage[kind], items)?.iter();
                used += all.filter(|alu| alu["usages"].to_string().contains(ram)).count();
            }
            Ok(used)
        };
        Ok(Self {
            stages: Taken { used: stages.len(), of: of_chip },
            sram_blocks: blocks("rams", "srams")?,
            tcam_blocks: blocks("tcams", "tcams")?,
            stateful_alus: Taken {
                used: alus("meter_alus", "meters", "stateful_ram")?,
                of: of_chip * METER_ALUS,
            },
            statistics_alus: Taken {
                used: alus("statistic_alus", "stats", "statistics_ram")?,
                of: of_chip * METER_ALUS,
            },
            phv_bits: phv_bits(phv)?,
        })
    }

    /// Reads what [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// In words, what is missing.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let json: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let taken = |name: &str| -> Result<Taken, String> {
            Ok(Taken { used: count(&json[name], "used")?, of: count(&json[name], "of")? })
        };
        Ok(Self {
            stages: taken("stages")?,
            sram_blocks: taken("sram_blocks")?,
            tcam_blocks: taken("tcam_blocks")?,
            stateful_alus: taken("stateful_alus")?,
            statistics_alus: taken("statistics_alus")?,
            phv_bits: taken("phv_bits")?,
        })
    }

    /// As it is committed.
    pub fn to_json(&self) -> Value {
        let taken = |taken: Taken| json!({"used": taken.used, "of": taken.of});
        json!({
            "stages": taken(self.stages),
            "sram_blocks": taken(self.sram_blocks),
            "tcam_blocks": taken(self.tcam_blocks),
            "stateful_alus": taken(self.stateful_alus),
            "statistics_alus": taken(self.statistics_alus),
            "phv_bits": taken(self.phv_bits),
        })
    }
}

fn phv_bits(phv: &Value) -> Result<Taken, String> {
    let mut taken = Taken { used: 0, of: 0 };
    // The same containers are listed for the deparser again.
    for group in list(phv, "resources")?.iter().filter(|group| group["group_type"] == "mau") {
        taken.of += count(group, "bit_width")? * count(group, "num_containers")?;
    }
    for container in list(phv, "containers")? {
        taken.used += count(container, "bit_width")?;
    }
    Ok(taken)
}

fn list<'v>(of: &'v Value, name: &str) -> Result<&'v [Value], String> {
    of[name].as_array().map(Vec::as_slice).ok_or_else(|| format!("the report has no list {name}"))
}

fn count(of: &Value, name: &str) -> Result<usize, String> {
    let number = of[name].as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| format!("the report has no number {name}"))
}
