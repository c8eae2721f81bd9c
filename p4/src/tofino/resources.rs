//! Resources of the chip that a program takes, from the compiler's reports.

use serde_json::{Value, json};

/// Use of one kind of resource, in all stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Number that the program takes.
    pub used: usize,
    /// Number that the chip has.
    pub of: usize,
}

/// Resources of the chip that a program takes: both gresses together, in all stages of a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Stages.
    pub stages: Usage,
    /// Blocks of SRAM, of 128 kbit each.
    pub sram_blocks: Usage,
    /// Blocks of TCAM, of 44 bits by 512 rows each.
    pub tcam_blocks: Usage,
    /// Stateful ALUs: one for each register.
    pub stateful_alus: Usage,
    /// ALUs that count: one for each counter.
    pub statistics_alus: Usage,
    /// Bits of the packet header vector: whole containers that hold something.
    pub phv_bits: Usage,
}

/// Stateful (or meter) ALUs of a stage.
const METER_ALUS: usize = 4;

impl Resources {
    /// Reads the output of `p4c-barefoot -g`: `resources.json` and `phv.json`.
    ///
    /// # Errors
    /// Returns the missing part.
    pub fn of_logs(resources: &Value, phv: &Value) -> Result<Self, String> {
        let mau = &resources["resources"]["mau"];
        let stages = list(mau, "mau_stages")?;
        let of_chip = count(mau, "nStages")?;
        let blocks = |kind: &str, items: &str| -> Result<Usage, String> {
            let mut usage = Usage { used: 0, of: 0 };
            for stage in stages {
                usage.used += list(&stage[kind], items)?.len();
                usage.of = of_chip * count(&stage[kind], "nRows")? * count(&stage[kind], "nColumns")?;
            }
            Ok(usage)
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
            stages: Usage { used: stages.len(), of: of_chip },
            sram_blocks: blocks("rams", "srams")?,
            tcam_blocks: blocks("tcams", "tcams")?,
            stateful_alus: Usage {
                used: alus("meter_alus", "meters", "stateful_ram")?,
                of: of_chip * METER_ALUS,
            },
            statistics_alus: Usage {
                used: alus("statistic_alus", "stats", "statistics_ram")?,
                of: of_chip * METER_ALUS,
            },
            phv_bits: phv_bits(phv)?,
        })
    }

    /// Reads the output of [`Self::to_json`].
    ///
    /// # Errors
    /// Returns the missing part.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let json: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let usage = |name: &str| -> Result<Usage, String> {
            Ok(Usage { used: count(&json[name], "used")?, of: count(&json[name], "of")? })
        };
        Ok(Self {
            stages: usage("stages")?,
            sram_blocks: usage("sram_blocks")?,
            tcam_blocks: usage("tcam_blocks")?,
            stateful_alus: usage("stateful_alus")?,
            statistics_alus: usage("statistics_alus")?,
            phv_bits: usage("phv_bits")?,
        })
    }

    /// As it is committed.
    pub fn to_json(&self) -> Value {
        let usage = |usage: Usage| json!({"used": usage.used, "of": usage.of});
        json!({
            "stages": usage(self.stages),
            "sram_blocks": usage(self.sram_blocks),
            "tcam_blocks": usage(self.tcam_blocks),
            "stateful_alus": usage(self.stateful_alus),
            "statistics_alus": usage(self.statistics_alus),
            "phv_bits": usage(self.phv_bits),
        })
    }
}

fn phv_bits(phv: &Value) -> Result<Usage, String> {
    let mut usage = Usage { used: 0, of: 0 };
    // The same containers are listed for the deparser again.
    for group in list(phv, "resources")?.iter().filter(|group| group["group_type"] == "mau") {
        usage.of += count(group, "bit_width")? * count(group, "num_containers")?;
    }
    for container in list(phv, "containers")? {
        usage.used += count(container, "bit_width")?;
    }
    Ok(usage)
}

fn list<'v>(of: &'v Value, name: &str) -> Result<&'v [Value], String> {
    of[name].as_array().map(Vec::as_slice).ok_or_else(|| format!("the report has no list {name}"))
}

fn count(of: &Value, name: &str) -> Result<usize, String> {
    let number = of[name].as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| format!("the report has no number {name}"))
}
