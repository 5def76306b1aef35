use super::*;
use crate::json::{Limits, read};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LOCAL: &str = r#"{"data":null,"meta":{"source":"local","operationId":"a.b","timestamp":1}}"#;

fn dispatch(pending: &mut Pending, kind: &str, head: &str, now: f64) -> Answer {
    let tape = read(head.as_bytes(), Limits::depth(64)).unwrap();
    pending.dispatch(kind, tape.root(head.as_bytes()), now)
}

fn event(pending: &mut Pending, kind: &str, id: &str, now: f64) -> Answer {
    let head = format!(
        r#"{{"requestId":"{id}","output":{LOCAL},"code":"X","message":"m","operationId":"a.b"}}"#
    );
    dispatch(pending, kind, &head, now)
}

fn ended(pending: &mut Pending) -> Vec<(String, End, Cause)> {
    std::iter::from_fn(|| pending.take_ended())
        .map(|Ended { id, end, cause }| (id.to_string(), end, cause))
        .collect()
}

fn caller(id: &str, cause: Cause) -> (String, End, Cause) {
    (id.to_owned(), End::Caller, cause)
}

fn handler(id: &str, cause: Cause) -> (String, End, Cause) {
    (id.to_owned(), End::Handler, cause)
}

fn below(parent: &str) -> Request<'_> {
    Request { parent: Some(parent), ..Request::default() }
}

fn stream(high_water_mark: u32) -> Request<'static> {
    Request { high_water_mark: Some(high_water_mark), ..Request::default() }
}

fn requested<'a>(id: &'a str, parent: Option<&'a str>) -> Requested<'a> {
    Requested {
        request_id: id.into(),
        parent: parent.map(Into::into),
        deadline: None,
        idle_timeout: None,
    }
}

fn is_empty(pending: &Pending) -> bool {
    pending.open.is_empty() && pending.ended.is_empty()
}

#[test]
fn a_call_settles_with_the_first_response_and_the_rest_is_counted() {
    let mut pending = Pending::new(8);
    assert_eq!(pending.open("r", &Request::default(), 1.0), Opened::Open);
    assert_eq!(pending.open("r", &Request::default(), 1.0), Opened::Duplicate);
    assert_eq!(pending.pending_count(), 1);
    assert_eq!(event(&mut pending, "call.responded", "r", 2.0), Answer::Settled);
    for kind in ["call.responded", "call.error", "call.completed", "call.aborted"] {
        assert_eq!(event(&mut pending, kind, "r", 2.0), Answer::None);
    }
    assert_eq!(event(&mut pending, "call.requested", "r", 2.0), Answer::None);
    assert_eq!(event(&mut pending, "call.published", "r", 2.0), Answer::None);
    assert_eq!(dispatch(&mut pending, "call.error", "{}", 2.0), Answer::None);
    assert_eq!(pending.ignored(), Ignored { unknown: 5, malformed: 2 });
    assert!(is_empty(&pending));
}

#[test]
fn every_event_of_the_other_side_settles_a_call() {
    for kind in ["call.responded", "call.error", "call.completed", "call.aborted"] {
        let mut pending = Pending::new(8);
        pending.open("r", &Request { deadline: Some(9.0), ..below("p") }, 0.0);
        assert_eq!(event(&mut pending, kind, "r", 1.0), Answer::Settled, "{kind}");
        assert!(is_empty(&pending), "{kind}");
    }
}

#[test]
fn a_malformed_event_with_a_known_id_ends_the_request() {
    let mut pending = Pending::new(8);
    for id in ["a", "b", "c"] {
        pending.open(id, &Request::default(), 0.0);
    }
    let raw = r#"{"requestId":"a","output":{"raw":1}}"#;
    assert_eq!(dispatch(&mut pending, "call.responded", raw, 0.0), Answer::None);
    let error = r#"{"requestId":"b","code":1,"message":"m"}"#;
    assert_eq!(dispatch(&mut pending, "call.error", error, 0.0), Answer::None);
    pending.malformed("c", "", 0.0);
    pending.malformed("d", "", 0.0);
    assert_eq!(
        ended(&mut pending),
        [
            caller("a", Cause::Malformed("/output")),
            caller("b", Cause::Malformed("/code")),
            caller("c", Cause::Malformed(""))
        ]
    );
    assert_eq!(pending.ignored().malformed, 4);
}

#[test]
fn deadlines_fire_when_time_reaches_them_and_before_the_event_that_brings_it() {
    let mut pending = Pending::new(8);
    let by = |deadline| Request { deadline: Some(deadline), ..Request::default() };
    assert_eq!(pending.open("0", &by(0.0), 0.0), Opened::Expired);
    assert_eq!(pending.open("-", &by(-5.0), 0.0), Opened::Expired);
    pending.open("late", &by(30.0), 10.0);
    pending.open("soon", &by(20.0), 10.0);
    assert_eq!(pending.open("now", &by(10.0), 10.0), Opened::Expired);
    assert_eq!(pending.next_deadline(), Some(20.0));
    pending.advance(19.999);
    assert!(!pending.has_ended());
    // Time does not run backwards.
    pending.advance(5.0);
    assert_eq!(event(&mut pending, "call.responded", "soon", 20.0), Answer::None);
    assert_eq!(ended(&mut pending), [caller("soon", Cause::Deadline(20.0))]);
    assert_eq!(event(&mut pending, "call.responded", "late", 29.0), Answer::Settled);
    assert_eq!(pending.next_deadline(), None);
    assert!(is_empty(&pending));
}

#[test]
fn items_restart_the_idle_timeout_on_both_ends() {
    let mut pending = Pending::new(8);
    let request = Request { idle_timeout: Some(100.0), ..stream(9) };
    pending.open("s", &request, 0.0);
    pending.serve(&Requested { idle_timeout: Some(100.0), ..requested("h", None) }, 0.0);
    for at in [60.0, 120.0, 180.0] {
        assert_eq!(event(&mut pending, "call.responded", "s", at), Answer::Item);
        assert_eq!(pending.responded("h", at), Answer::None);
    }
    assert_eq!(pending.next_deadline(), Some(280.0));
    pending.advance(279.0);
    assert!(!pending.has_ended());
    pending.advance(280.0);
    assert_eq!(
        ended(&mut pending),
        [caller("s", Cause::Idle(100.0)), handler("h", Cause::Idle(100.0))]
    );
    // An answer at the deadline is late.
    pending.serve(&Requested { deadline: Some(300.0), ..requested("h", None) }, 290.0);
    assert!(!pending.finish("h", 300.0));
    assert_eq!(ended(&mut pending), [handler("h", Cause::Deadline(300.0))]);
    assert!(is_empty(&pending));
}

#[test]
fn a_subscription_holds_so_many_items_and_no_more() {
    let mut pending = Pending::new(8);
    pending.open("s", &stream(2), 0.0);
    pending.pull("s");
    for _ in 0..3 {
        assert_eq!(pending.responded("s", 0.0), Answer::Item);
    }
    pending.pull("s");
    assert_eq!(pending.responded("s", 0.0), Answer::Item);
    assert_eq!(pending.responded("s", 0.0), Answer::None);
    assert_eq!(ended(&mut pending), [caller("s", Cause::Limit(2))]);
    assert!(is_empty(&pending));
    pending.pull("s");
}

#[test]
fn giving_up_reaches_all_descendants_on_both_ends() {
    let mut pending = Pending::new(8);
    pending.open("root", &Request::default(), 0.0);
    pending.serve(&requested("root", None), 0.0);
    pending.open("child", &below("root"), 0.0);
    pending.serve(&requested("child", Some("root")), 0.0);
    pending.open("grandchild", &below("child"), 0.0);
    pending.open("other", &below("elsewhere"), 0.0);
    assert!(pending.abort("root", 0.0));
    assert_eq!(
        ended(&mut pending),
        [
            caller("root", Cause::Aborted),
            handler("root", Cause::Aborted),
            caller("child", Cause::Aborted),
            handler("child", Cause::Aborted),
            caller("grandchild", Cause::Aborted)
        ]
    );
    assert!(!pending.abort("root", 0.0));
    // What is not here may have descendants that are.
    assert_eq!(event(&mut pending, "call.aborted", "elsewhere", 0.0), Answer::None);
    assert_eq!(ended(&mut pending), [caller("other", Cause::Aborted)]);
    assert!(is_empty(&pending));
}

#[test]
fn a_cycle_of_parents_ends() {
    let mut pending = Pending::new(8);
    pending.open("a", &below("b"), 0.0);
    pending.open("b", &below("a"), 0.0);
    pending.open("c", &below("c"), 0.0);
    assert!(pending.abort("a", 0.0));
    assert!(pending.abort("c", 0.0));
    assert_eq!(ended(&mut pending).len(), 3);
    assert!(is_empty(&pending));
}

#[test]
fn a_child_inherits_an_earlier_deadline() {
    let mut pending = Pending::new(8);
    pending.serve(&Requested { deadline: Some(50.0), ..requested("h", None) }, 0.0);
    pending.open("a", &below("h"), 0.0);
    pending.open("b", &Request { deadline: Some(20.0), ..below("h") }, 0.0);
    pending.open("c", &Request { deadline: Some(90.0), ..below("a") }, 0.0);
    let deadlines = ["a", "b", "c", "x"].map(|id| pending.deadline(id));
    assert_eq!(deadlines, [Some(50.0), Some(20.0), Some(50.0), None]);
    pending.advance(50.0);
    // The caller of what is served here, if it is here too, waits for the handler's error.
    assert_eq!(
        ended(&mut pending),
        [
            caller("b", Cause::Deadline(20.0)),
            caller("a", Cause::Deadline(50.0)),
            caller("c", Cause::Aborted),
            handler("h", Cause::Deadline(50.0))
        ]
    );
    assert_eq!(
        pending.open("d", &Request { deadline: Some(50.0), ..below("h") }, 50.0),
        Opened::Expired
    );
    assert!(is_empty(&pending));
}

#[test]
fn either_end_is_bounded() {
    let mut pending = Pending::new(2);
    for (id, opened) in [("a", Opened::Open), ("b", Opened::Open), ("c", Opened::Full)] {
        assert_eq!(pending.open(id, &below("p"), 0.0), opened);
        assert_eq!(pending.serve(&requested(id, None), 0.0), opened);
    }
    assert_eq!(pending.serve(&requested("a", None), 0.0), Opened::Duplicate);
    assert_eq!((pending.pending_count(), pending.served_count()), (2, 2));
    assert!(pending.finish("a", 0.0));
    assert!(!pending.finish("a", 0.0));
    assert_eq!(pending.serve(&requested("c", None), 0.0), Opened::Open);
    assert_eq!(pending.settled("a", 0.0), Answer::Settled);
    assert_eq!(pending.settled("a", 0.0), Answer::None);
    assert_eq!(pending.open("c", &Request::default(), 0.0), Opened::Open);
}
