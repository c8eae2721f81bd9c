//! Errors of single entities, in a status.

use inart_bfruntime::{Code, update_errors, update_errors_status};
use tonic::Status;

/// Clients of gRPC refuse trailers of more than 8 KiB, and then show no error of the switch at all.
#[test]
fn the_errors_of_a_long_batch_fit_a_trailer() {
    let refused =
        |index: usize| Err(Status::new(Code::NotFound, format!("entry {index}: {}", "x".repeat(200))));
    let results: Vec<_> = (0..80).map(|index| if index == 7 { Ok(()) } else { refused(index) }).collect();
    let status = update_errors_status(&results);
    assert_eq!((status.code(), status.message()), (Code::Unknown, "79 of 80 entities failed"));
    // In base64, together with the other headers.
    assert!(status.details().len() * 4 / 3 < 7 << 10, "{} bytes", status.details().len());
    let errors = update_errors(&status).unwrap();
    assert_eq!(errors.len(), 80);
    for (index, error) in errors.iter().enumerate() {
        let expected = if index == 7 { Code::Ok } else { Code::NotFound };
        assert_eq!(error.canonical_code, expected as i32, "{index}");
    }
    assert!(errors[0].message.starts_with("entry 0: x"), "the first words are there: {:?}", errors[0]);
}
