use inart_p4runtime::p4::v1::Uint128;
use proptest::prelude::*;

use super::*;

fn asks(role: &str, election: Option<u128>) -> MasterArbitrationUpdate {
    MasterArbitrationUpdate {
        device_id: 1,
        role: (!role.is_empty()).then(|| Role { name: role.to_owned(), ..Default::default() }),
        election_id: election.map(|id| Uint128 { high: (id >> 64) as u64, low: id as u64 }),
        status: None,
    }
}

fn sent(notices: &Notices) -> Vec<(u64, Code, Option<u128>)> {
    notices
        .iter()
        .map(|(client, update)| {
            let code = Code::from(update.status.as_ref().unwrap().code);
            (client.0, code, update.election_id.map(|id| ElectionId::from(id).0))
        })
        .collect()
}

fn elections() -> Elections {
    Elections::new(DeviceId(1))
}

#[test]
fn the_greatest_id_wins_and_everyone_hears_of_it_the_primary_last() {
    let mut e = elections();
    assert_eq!(sent(&e.update(ClientId(1), &asks("", Some(5))).unwrap()), [(1, Code::Ok, Some(5))]);
    // Only the client with the lower id learns that it is a backup.
    assert_eq!(
        sent(&e.update(ClientId(2), &asks("", Some(3))).unwrap()),
        [(2, Code::AlreadyExists, Some(5))]
    );
    assert_eq!(
        sent(&e.update(ClientId(2), &asks("", Some(9))).unwrap()),
        [(1, Code::AlreadyExists, Some(9)), (2, Code::Ok, Some(9))]
    );
    assert!(e.check_primary("", Some(ElectionId(9))).is_ok());
    assert_eq!(e.check_primary("", Some(ElectionId(5))).unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(e.check_primary("", None).unwrap_err().code(), Code::PermissionDenied);
}

#[test]
fn a_primary_that_leaves_leaves_no_primary_until_its_id_is_reached() {
    let mut e = elections();
    e.update(ClientId(1), &asks("", Some(5))).unwrap();
    e.update(ClientId(2), &asks("", Some(3))).unwrap();
    assert_eq!(sent(&e.leave(ClientId(1))), [(2, Code::NotFound, Some(5))]);
    assert_eq!(e.check_primary("", Some(ElectionId(5))).unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(sent(&e.update(ClientId(2), &asks("", Some(4))).unwrap()), [(2, Code::NotFound, Some(5))]);
    assert_eq!(sent(&e.update(ClientId(2), &asks("", Some(5))).unwrap()), [(2, Code::Ok, Some(5))]);
}

#[test]
fn a_primary_may_step_down_and_all_hear_of_it() {
    let mut e = elections();
    e.update(ClientId(1), &asks("", Some(5))).unwrap();
    e.update(ClientId(2), &asks("", None)).unwrap();
    assert_eq!(
        sent(&e.update(ClientId(1), &asks("", Some(2))).unwrap()),
        [(1, Code::NotFound, Some(5)), (2, Code::NotFound, Some(5))]
    );
}

#[test]
fn without_an_id_no_client_is_primary_and_zero_is_an_id() {
    let mut e = elections();
    assert_eq!(sent(&e.update(ClientId(1), &asks("", None)).unwrap()), [(1, Code::NotFound, None)]);
    e.update(ClientId(2), &asks("", None)).unwrap();
    assert_eq!(
        sent(&e.update(ClientId(3), &asks("", Some(0))).unwrap()),
        [(1, Code::AlreadyExists, Some(0)), (2, Code::AlreadyExists, Some(0)), (3, Code::Ok, Some(0))]
    );
}

#[test]
fn an_id_in_use_a_changed_role_and_a_role_configuration_end_the_stream() {
    let mut e = elections();
    e.update(ClientId(1), &asks("", Some(5))).unwrap();
    assert_eq!(e.update(ClientId(2), &asks("", Some(5))).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(e.update(ClientId(1), &asks("other", Some(5))).unwrap_err().code(), Code::FailedPrecondition);
    let mut configured = asks("other", Some(1));
    configured.role.as_mut().unwrap().config = Some(Default::default());
    assert_eq!(e.update(ClientId(3), &configured).unwrap_err().code(), Code::InvalidArgument);
    // The same id again from its holder changes nothing.
    assert_eq!(sent(&e.update(ClientId(1), &asks("", Some(5))).unwrap()), [(1, Code::Ok, Some(5))]);
}

#[test]
fn roles_elect_apart_and_an_unknown_role_is_not_found() {
    let mut e = elections();
    e.update(ClientId(1), &asks("", Some(5))).unwrap();
    e.update(ClientId(2), &asks("routes", Some(5))).unwrap();
    assert!(e.is_primary(ClientId(1)) && e.is_primary(ClientId(2)));
    assert!(e.check_primary("routes", Some(ElectionId(5))).is_ok());
    assert_eq!(e.check_primary("acl", Some(ElectionId(5))).unwrap_err().code(), Code::NotFound);
}

#[test]
fn the_number_of_controllers_is_limited() {
    let mut e = elections();
    for client in 0..limits::CONTROLLERS as u64 {
        e.update(ClientId(client), &asks("", Some(client.into()))).unwrap();
    }
    assert_eq!(e.update(ClientId(999), &asks("", Some(999))).unwrap_err().code(), Code::ResourceExhausted);
    e.leave(ClientId(0));
    e.update(ClientId(999), &asks("", Some(999))).unwrap();
}

#[test]
fn a_role_goes_with_its_last_controller() {
    let mut e = elections();
    for client in 0..10_000 {
        e.update(ClientId(client), &asks(&format!("role {client}"), Some(5))).unwrap();
        e.leave(ClientId(client));
    }
    assert_eq!(e.roles.len(), 0);
    // A refused one leaves nothing behind either.
    e.update(ClientId(1), &asks("a", Some(5))).unwrap();
    e.update(ClientId(2), &asks("a", Some(5))).unwrap_err();
    e.leave(ClientId(2));
    e.leave(ClientId(1));
    assert_eq!((e.roles.len(), e.role_of.len()), (0, 0));
    // The unnamed role remembers the highest election id.
    e.update(ClientId(1), &asks("", Some(5))).unwrap();
    e.leave(ClientId(1));
    assert_eq!(sent(&e.update(ClientId(2), &asks("", Some(4))).unwrap()), [(2, Code::NotFound, Some(5))]);
}

#[test]
fn the_number_of_roles_and_the_length_of_their_names_are_limited() {
    let mut e = elections();
    let long = "r".repeat(limits::ROLE_BYTES + 1);
    assert_eq!(e.update(ClientId(1), &asks(&long, Some(1))).unwrap_err().code(), Code::ResourceExhausted);
    e.update(ClientId(1), &asks(&long[1..], Some(1))).unwrap();
    e.leave(ClientId(1));
    for client in 0..limits::ROLES as u64 {
        e.update(ClientId(client), &asks(&format!("role {client}"), Some(1))).unwrap();
    }
    assert_eq!(
        e.update(ClientId(99), &asks("another", Some(1))).unwrap_err().code(),
        Code::ResourceExhausted
    );
    e.update(ClientId(99), &asks("role 0", Some(2))).unwrap();
    e.update(ClientId(100), &asks("", Some(1))).unwrap();
}

proptest! {
    #[test]
    fn at_most_one_primary_and_it_holds_the_greatest_id_ever_seen(
        steps in proptest::collection::vec(
            (0u64..4, prop_oneof![Just(None), (0u128..6).prop_map(Some)], any::<bool>()), 1..40
        )
    ) {
        let mut e = elections();
        let mut live = BTreeMap::new();
        let mut greatest = None;
        for (client, election, leaves) in steps {
            if leaves {
                e.leave(ClientId(client));
                live.remove(&client);
            } else if e.update(ClientId(client), &asks("", election)).is_ok() {
                live.insert(client, election);
                greatest = greatest.max(election);
            }
            let expected: Vec<_> = live
                .iter()
                .filter(|(_, id)| id.is_some() && **id == greatest)
                .map(|(client, _)| ClientId(*client))
                .collect();
            prop_assert!(expected.len() <= 1);
            prop_assert_eq!(e.primaries().collect::<Vec<_>>(), expected);
        }
    }
}
