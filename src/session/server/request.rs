//! What a request of the client's comes to.
//!
//! Invariant: every request is answered once, or was given up by its client; what it names that is
//! not ours is never quoted.

use std::rc::Rc;

use crate::json::Value;
use crate::session::revision::{Family, Revision};
use crate::wire::Id;
use crate::wire::encode::quote;

use super::answer::{Fault, INVALID_REQUEST, METHOD_NOT_FOUND, Route};
use super::calls::{Key, OpenCall, key_of};
use super::core::{ClientFacts, Core};
use super::envelope::{Envelope, declared, judge, supported, unsupported};
use super::event::{Call, ServerEvent};
use super::notice::rank;
use super::param_headers;
use super::result::{Peer, complete};
use super::tools::Catalog;

/// A request with what is asked of each.
struct Request<'a> {
    route: Route,
    /// JSON text of its id, as it must be echoed.
    id: String,
    key: Key,
    method: &'a str,
    params: Option<Value<'a>>,
}

impl<'a> Request<'a> {
    fn member(&self, name: &str) -> Option<Value<'a>> {
        self.params.and_then(|params| params.get(name))
    }
}

/// Bytes of the JSON text of an id or a progress token: both are kept while a call is open, and so
/// many calls may be. A longer token gets no progress.
const MAX_ID_BYTES: usize = 1_024;

/// Members of params that are read.
const READ: [&str; 12] = [
    "_meta",
    "name",
    "arguments",
    "cursor",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "level",
    "notifications",
    "requestId",
    "inputResponses",
    "requestState",
];

impl Core {
    /// A request.
    pub(super) fn request(
        &mut self,
        route: Route,
        id: Id<'_>,
        method: &str,
        params: Option<Value<'_>>,
    ) {
        let headers = self.exchange.as_ref().and_then(|exchange| exchange.headers.clone());
        let scope = headers.as_ref().and(route.exchange);
        let key = (scope, key_of(id));
        if key.1.len() > MAX_ID_BYTES {
            self.note_line("malformed_message", method.as_bytes());
            let fault = Fault::new(INVALID_REQUEST, "The id is too long", 400);
            self.refuse(route, "null", &fault);
            return;
        }
        if self.open_ids.get(&key).is_some() {
            self.note_line("duplicate_request", method.as_bytes());
            // An answer by its id would settle the other one.
            let fault = Fault::new(INVALID_REQUEST, "A request of this id is open", 400);
            self.refuse(route, "null", &fault);
            return;
        }
        let request = Request { route, id: id.to_json(), key, method, params };
        let judged = check_params(params)
            .and_then(|()| judge(method, params, headers.as_deref(), &self.options));
        let served = match judged {
            Ok(Some(_)) if route.batch.is_some() => {
                Err(Fault::new(INVALID_REQUEST, "A request of this revision comes alone", 400))
            }
            Ok(Some(envelope)) => self.serve_modern(&request, &envelope),
            Ok(None) => self.serve_legacy(&request),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = served {
            self.refuse(route, &request.id, &fault);
        }
    }

    fn serve_legacy(&mut self, request: &Request<'_>) -> Result<(), Fault> {
        match (request.method, self.agreed) {
            ("initialize", _) => self.initialize(request),
            ("ping", _) => {
                self.answer(request.route, &request.id, "{}");
                Ok(())
            }
            (_, None) => Err(Fault::envelope(
                "Not initialized: send initialize, or name a protocol version in _meta",
            )),
            (method, Some(revision)) if revision.serves(method) => match method {
                "tools/list" => self.list(request, revision),
                "tools/call" => self.call(request, revision, None),
                "logging/setLevel" if self.options.logging => {
                    self.set_level(request.params)?;
                    self.answer(request.route, &request.id, "{}");
                    Ok(())
                }
                _ => Err(unknown_method(200)),
            },
            _ => Err(unknown_method(200)),
        }
    }

    fn serve_modern(
        &mut self,
        request: &Request<'_>,
        envelope: &Envelope<'_>,
    ) -> Result<(), Fault> {
        let revision = envelope.revision;
        if !revision.serves(request.method) {
            return Err(unknown_method(404));
        }
        match request.method {
            "server/discover" => {
                let members = format!(
                    "\"supportedVersions\":{},\"capabilities\":{}{}",
                    supported(&self.options),
                    self.capabilities(),
                    self.instructions()
                );
                let result = complete(&self.peer(revision), &members, &self.cache());
                self.answer(request.route, &request.id, &result);
                Ok(())
            }
            "tools/list" => self.list(request, revision),
            "tools/call" => self.call(request, revision, Some(envelope)),
            "subscriptions/listen" => {
                let filter = request.member("notifications").filter(|filter| filter.is_object());
                let filter = filter.ok_or(Fault::params("Params must have notifications"))?;
                if self.listens.len() as f64 >= self.options.limits.max_subscriptions {
                    return Err(Fault::internal("Too many open subscriptions"));
                }
                self.listen(request.route, request.id.clone(), request.key.clone(), filter);
                Ok(())
            }
            _ => Err(unknown_method(404)),
        }
    }

    fn initialize(&mut self, request: &Request<'_>) -> Result<(), Fault> {
        if request.route.batch.is_some() {
            return Err(Fault::new(INVALID_REQUEST, "initialize comes alone", 400));
        }
        if self.agreed.is_some() {
            return Err(Fault::new(INVALID_REQUEST, "Already initialized", 400));
        }
        let requested = request.member("protocolVersion").and_then(Value::as_str);
        let requested = requested.ok_or(Fault::params("Params must name a protocol version"))?;
        let mut legacy = self.options.served_by(Family::Legacy);
        let newest = legacy.next().ok_or_else(|| unsupported(&self.options, &requested))?;
        let same = legacy.find(|revision| revision.name == requested);
        let revision = same.unwrap_or(newest);
        drop(legacy);
        let object =
            |name| request.member(name).filter(|value| value.is_object()).map(|value| value.raw());
        self.client = ClientFacts {
            info: object("clientInfo").map(str::to_owned),
            capabilities: object("capabilities").map(Rc::from),
        };
        self.agreed = Some(revision);
        let result = format!(
            "{{\"protocolVersion\":\"{}\",\"capabilities\":{},\"serverInfo\":{}{}}}",
            revision.name,
            self.capabilities(),
            self.options.server_info,
            self.instructions()
        );
        self.answer(request.route, &request.id, &result);
        Ok(())
    }

    /// JSON text of what this server offers.
    fn capabilities(&self) -> String {
        let logging = if self.options.logging { ",\"logging\":{}" } else { "" };
        format!("{{\"tools\":{{\"listChanged\":true}}{logging}}}")
    }

    /// The member, with its comma.
    fn instructions(&self) -> String {
        let text = self.options.instructions.as_deref();
        text.map(|text| format!(",\"instructions\":{}", quote(text))).unwrap_or_default()
    }

    fn peer(&self, revision: &'static Revision) -> Peer<'_> {
        Peer { revision, server_info: &self.options.server_info, capabilities: None }
    }

    /// The members that say how long a list may be kept.
    fn cache(&self) -> String {
        let scope = self.options.cache_scope.as_str();
        format!(",\"ttlMs\":{},\"cacheScope\":\"{scope}\"", self.options.cache_ttl_ms)
    }

    fn list(&mut self, request: &Request<'_>, revision: &'static Revision) -> Result<(), Fault> {
        let cursor = match request.member("cursor").filter(|cursor| !cursor.is_null()) {
            Some(cursor) => Some(cursor.as_str().ok_or(UNKNOWN_CURSOR)?),
            None => None,
        };
        let page_of = |catalog: &Catalog| catalog.page(cursor.as_deref(), revision.any_structured);
        let page = page_of(&self.catalog).or_else(|| self.previous.as_ref().and_then(page_of));
        let page = page.ok_or(UNKNOWN_CURSOR)?;
        let result = complete(&self.peer(revision), &page, &self.cache());
        self.answer(request.route, &request.id, &result);
        Ok(())
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        revision: &'static Revision,
        envelope: Option<&Envelope<'_>>,
    ) -> Result<(), Fault> {
        let name = request.member("name").and_then(Value::as_str);
        let name = name.ok_or(Fault::params("Params must name a tool"))?;
        let tool = self.catalog.get(&name).cloned().ok_or(Fault::params("Unknown tool"))?;
        let arguments = request.member("arguments").filter(|arguments| !arguments.is_null());
        if arguments.is_some_and(|arguments| !arguments.is_object()) {
            return Err(Fault::params("Arguments must be an object"));
        }
        let headers = self.exchange.as_ref().and_then(|exchange| exchange.headers.as_deref());
        if let (Some(headers), Some(_)) = (headers, envelope) {
            param_headers::check(&tool.headers, arguments, headers)?;
        }
        if (self.calls.len() + self.unsent) as f64 >= self.options.limits.max_open_calls {
            return Err(Fault::internal("Too many open calls"));
        }
        let meta = request.member("_meta").filter(|meta| meta.is_object());
        let progress_token = meta.and_then(|meta| meta.get("progressToken"));
        let progress_token =
            progress_token.filter(|token| token.is_string() || token.number().is_some());
        let progress_token = progress_token.filter(|token| token.raw().len() <= MAX_ID_BYTES);
        let level = envelope.and_then(|envelope| envelope.log_level).and_then(Value::as_str);
        let capabilities = match envelope {
            Some(envelope) => Some(declared(envelope.capabilities).into()),
            None => self.client.capabilities.clone(),
        };
        let token = self.open_call(OpenCall {
            id: request.id.clone(),
            key: request.key.clone(),
            route: request.route,
            revision,
            tool,
            made: self.now,
            progress_token: progress_token.map(|token| token.raw().to_owned()),
            progress: f64::NEG_INFINITY,
            capabilities,
            log_level: level.and_then(|level| rank(&level)),
        });
        // Answers to what an earlier result asked: a thing of the modern era.
        let later = envelope.and(request.params);
        let member = |name| later.and_then(|params: Value<'_>| params.get(name));
        let responses = member("inputResponses").filter(|value| value.is_object());
        let state = member("requestState").filter(|value| value.is_string());
        self.event(ServerEvent::Call(Box::new(Call {
            token,
            name: name.into_owned(),
            arguments: arguments.map_or("{}", Value::raw).to_owned(),
            meta: meta.map(|meta| meta.raw().to_owned()),
            protocol_version: revision.name,
            exchange: request.route.exchange,
            input_responses: responses.map(|value| value.raw().to_owned()),
            request_state: state.map(|value| value.raw().to_owned()),
        })));
        Ok(())
    }

    /// A notification of the client's.
    pub(super) fn notification(&mut self, method: &str, params: Option<Value<'_>>) {
        match (method, self.agreed) {
            ("notifications/initialized", Some(revision)) if !self.initialized => {
                self.initialized = true;
                let ClientFacts { info, capabilities } = &self.client;
                let event = ServerEvent::Initialized {
                    protocol_version: revision.name,
                    client_info: info.clone(),
                    capabilities: capabilities.as_deref().unwrap_or("{}").to_owned(),
                };
                self.event(event);
            }
            ("notifications/cancelled", _) => {
                let judged_alone =
                    self.exchange.as_ref().is_some_and(|exchange| exchange.headers.is_some());
                if !judged_alone {
                    self.peer_cancels(params);
                }
            }
            // Notifications of other features ask nothing of a tool server.
            _ => {}
        }
    }
}

const UNKNOWN_CURSOR: Fault = Fault::params("Unknown cursor");

fn unknown_method(status: u16) -> Fault {
    Fault::new(METHOD_NOT_FOUND, "Method not found", status)
}

fn check_params(params: Option<Value<'_>>) -> Result<(), Fault> {
    let Some(params) = params else { return Ok(()) };
    if !params.is_object() {
        return Err(Fault::params("Params must be an object"));
    }
    let mut found = [false; READ.len()];
    for (name, _) in params.members() {
        let slot = READ.iter().position(|read| name.eq_str(read)).and_then(|at| found.get_mut(at));
        if slot.is_some_and(|seen| std::mem::replace(seen, true)) {
            return Err(Fault::params("Params repeat a member"));
        }
    }
    Ok(())
}
