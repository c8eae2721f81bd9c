//! Terms that all sites of a training must share with each other and with their scheduler.

use inart_planner_sites::{Disjoint, Options, Plan, Scheme, longest_chunk};
use inart_terms::{MOST_NAME_BYTES, Terms, TermsError, digest_of_bytes};
use inart_topologies::sites::{Overlay, SiteId, SiteJob};

/// Networks with more links have one term for all of them.
const MOST_LINKS: usize = 32;

/// Returns the inputs of plans: the network with its rates at the start, the job, the scheme, and the length
/// of chunks.
///
/// # Errors
/// Terms that do not fit in a hello; not for networks of a document.
pub(crate) fn plan_terms(overlay: &Overlay, job: &SiteJob, options: &Options) -> Result<Terms, TermsError> {
    let names = |sites: &[SiteId]| -> String {
        sites.iter().map(|&site| overlay.site_name(site)).collect::<Vec<_>>().join(", ")
    };
    let mut pairs = vec![
        ("network".to_owned(), overlay.name().to_owned()),
        ("sites".to_owned(), overlay.sites().join(", ")),
    ];
    pairs.extend(links(overlay));
    let mut add = |name: &str, value: String| pairs.push((name.to_owned(), value));
    add("job", job.name.clone());
    add("sites of the job", names(&job.sites));
    let tensors: Vec<String> = job.tensors_bytes.iter().map(|bytes| format!("{bytes} B")).collect();
    add("tensors", tensors.join(", "));
    let chunk_bytes =
        options.given.as_ref().map_or_else(|| longest_chunk(job, options.scheme), |plan| plan.chunk_bytes);
    add("chunk", format!("{chunk_bytes} B"));
    add("scheme", options.scheme.name().to_owned());
    if options.scheme == Scheme::Bkt {
        add("degree", options.degree.to_string());
    }
    if let Some(root) = options.root {
        add("root", overlay.site_name(root).to_owned());
    }
    if let Some(roots) = options.roots {
        add("roots", roots.to_string());
    }
    if let Some(plan) = &options.given {
        add("plan", given(plan));
    }
    let auxiliary = match options.auxiliary {
        None if options.has_auxiliary() => "those of the plan",
        None => "none",
        Some(Disjoint::Edges) => "edge-disjoint",
        Some(Disjoint::Nodes) => "node-disjoint",
    };
    add("auxiliary paths", auxiliary.to_owned());
    Terms::new(pairs)
}

/// Returns a digest of a given plan: of its shares and trees, not of its times, which follow from them.
fn given(plan: &Plan) -> String {
    let trees: Vec<_> =
        plan.trees.iter().map(|tree| (&tree.root, tree.share, &tree.parents, &tree.broadcast)).collect();
    let text = format!("{:?}", (&plan.scheme, trees, &plan.auxiliary));
    format!("given, SHA-256 {}", digest_of_bytes(text.as_bytes()))
}

/// Returns one term for each link, so that a difference names the link; one for all if there are too many
/// links.
fn links(overlay: &Overlay) -> Vec<(String, String)> {
    let rates = overlay.rates_at(0.0);
    let link = |at: usize| {
        let [a, b] = overlay.links()[at].ends;
        let rate = |from, to| overlay.arc_between(from, to).map_or(0.0, |arc| rates.of(arc));
        // Documents may name the ends in either order.
        let (a, b) = (a.min(b), a.max(b));
        let name = format!("link {}-{}", overlay.site_name(a), overlay.site_name(b));
        (name, format!("{} there, {} back", in_words(rate(a, b)), in_words(rate(b, a))))
    };
    let mut all: Vec<_> = (0..overlay.links().len()).map(link).collect();
    if all.len() <= MOST_LINKS && all.iter().all(|(name, _)| name.len() <= MOST_NAME_BYTES) {
        return all;
    }
    all.sort();
    let text: Vec<String> = all.into_iter().map(|(name, rates)| format!("{name} {rates}")).collect();
    vec![("links".to_owned(), text.join("; "))]
}

/// Formats a rate exactly.
fn in_words(bps: f64) -> String {
    match bps % 1e6 == 0.0 {
        true => format!("{} Mbps", bps / 1e6),
        false => format!("{bps} bps"),
    }
}
