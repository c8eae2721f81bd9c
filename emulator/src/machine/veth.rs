//! Links: veth pairs, or two of them with a relay between.

use crate::machine::namespace::Namespace;

/// An interface by its name, and the namespace that it is in.
pub type Interface<'a> = (&'a str, &'a Namespace);

/// Returns lines for `ip` that create a link between two interfaces. A link with a number is cut in two: its
/// inner ends, `a` and `b` with that number, wait in the relay's namespace.
pub fn link([a, b]: [Interface<'_>; 2], mtu: u16, cut: Option<(usize, &Namespace)>) -> String {
    match cut {
        None => pair(a, b, mtu),
        Some((number, relay)) => {
            let [inner_a, inner_b] = ["a", "b"].map(|side| format!("{side}{number}"));
            pair(a, (&inner_a, relay), mtu) + &pair(b, (&inner_b, relay), mtu)
        }
    }
}

/// Returns lines for `ip` that take the inner ends of cut links up, in the relay's namespace.
pub fn inner_ends_up(links: usize) -> String {
    (0..links).map(|number| format!("link set a{number} up\nlink set b{number} up\n")).collect()
}

fn pair((a, of_a): Interface<'_>, (b, of_b): Interface<'_>, mtu: u16) -> String {
    let [of_a, of_b] = [of_a, of_b].map(Namespace::path);
    let (of_a, of_b) = (of_a.display(), of_b.display());
    format!("link add name {a} mtu {mtu} netns {of_a} type veth peer name {b} mtu {mtu} netns {of_b}\n")
}
