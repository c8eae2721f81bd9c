//! Output of `inart emulate TOPOLOGY --sync …`.

use std::fmt::Write as _;

use inart_emulator::ps::{Report, SchemeReport};
use inart_topologies::units::{counted, display_size};

/// Returns the table of a report; the document's model has `own_bytes`.
pub fn table(report: &Report, own_bytes: f64) -> String {
    let mut out = format!(
        "{}: {}; {}, with a model of {}\n\
         Times are the network's own: at its rates, with its model of {}.\n\
         order    iteration  simulated s   port in  port out  zero gaps  staleness  most  90% after  \
         accuracy\n",
        report.network,
        counted(report.workers, "worker"),
        report.scale,
        display_size(report.model_bytes),
        display_size(own_bytes),
    );
    for scheme in &report.schemes {
        let to_90 = scheme.to_90_s.map_or("-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let _ = writeln!(
            out,
            "{:7}  {:>9.3}  {:>11.3}  {:>7.1}%  {:>7.1}%  {:>8.1}%  {:>9.2}  {:>4}  {to_90:>9}  {:>7.1}%",
            scheme.scheme,
            scheme.iteration_s,
            scheme.simulated.iteration_s,
            scheme.utilization_in * 100.0,
            scheme.utilization_out * 100.0,
            scheme.bunched_arrivals * 100.0,
            scheme.staleness_mean,
            scheme.staleness_max,
            scheme.accuracy * 100.0,
        );
    }
    for scheme in report.schemes.iter().filter(|scheme| scheme.late > 0 || !scheme.left_out.is_empty()) {
        let left_out =
            if scheme.left_out.is_empty() { "no client".to_owned() } else { scheme.left_out.join(", ") };
        let _ = writeln!(
            out,
            "{}: {} came after their round; left out: {left_out}",
            scheme.scheme,
            counted(scheme.late, "model")
        );
    }
    report.schemes.iter().filter_map(tuned).for_each(|line| out.push_str(&line));
    for scheme in report.schemes.iter().filter(|scheme| scheme.frames_lost > 0) {
        let _ = writeln!(out, "{}: {} frames were lost on links", scheme.scheme, scheme.frames_lost);
    }
    report.schemes.iter().filter_map(absences).for_each(|line| out.push_str(&line));
    let checked: u64 = report.schemes.iter().map(|scheme| scheme.updates_checked).sum();
    let of = |name: &str| report.schemes.iter().find(|scheme| scheme.scheme == name);
    let _ = writeln!(
        out,
        "{checked} computed again and compared bit for bit, each applied once",
        checked = counted(checked, "update")
    );
    if let (Some(bsp), Some(r2sp)) = (of("bsp"), of("r2sp")) {
        let ratio = bsp.iteration_s / r2sp.iteration_s;
        let _ = writeln!(out, "r2sp is {ratio:.2} times as fast per iteration as bsp");
    }
    if let (Some(bsp), Some(groups)) = (of("bsp"), of("fl-r2sp")) {
        let ratio = bsp.iteration_s / groups.iteration_s;
        let _ = writeln!(out, "a round of fl-r2sp is {ratio:.2} times as fast as one of bsp");
    }
    out
}

/// Returns r and the batches at the end of a run.
fn tuned(scheme: &SchemeReport) -> Option<String> {
    let relaxation = scheme.relaxation.filter(|_| scheme.scheme == "r2sp").map(|r| format!("r {r:.2}"));
    let batches: Vec<_> = scheme.batches.iter().map(|(name, batch)| format!("{name} {batch}")).collect();
    let batches = (!batches.is_empty()).then(|| format!("batches {}", batches.join(", ")));
    let all: Vec<_> = relaxation.into_iter().chain(batches).collect();
    (!all.is_empty()).then(|| format!("{}, at the end: {}\n", scheme.scheme, all.join("; ")))
}

/// Returns the numbers of killed and of restarted processes.
fn absences(scheme: &SchemeReport) -> Option<String> {
    let SchemeReport {
        scheme: name, killed, returned, server_restarts, given_up, wasted_updates, lost, ..
    } = scheme;
    (killed + server_restarts > 0 || *given_up > 0).then(|| {
        format!(
            "{name}: {killed} processes were killed, {returned} started again, the server {server_restarts} \
             times; {given_up}; {wasted_updates}, {lost} lost with the server\n",
            given_up = counted(*given_up, "eviction"),
            wasted_updates = counted(*wasted_updates, "wasted update")
        )
    })
}
