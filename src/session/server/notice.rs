//! What is told without being asked: that the tools changed, and log messages.
//!
//! Invariant: a peer that does not read is owed one list change, however often the tools change.

use crate::json::Value;
use crate::session::outbound::WhenFull;
use crate::session::revision::{Family, meta};
use crate::wire::encode;

use super::answer::{Fault, Kind, Owner, Route};
use super::calls::Key;
use super::core::Core;
use super::event::{ServerEvent, Token};
use super::tools::Catalog;

/// The levels of RFC 5424, the least first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The rank of a level.
pub(super) fn rank(level: &str) -> Option<u8> {
    (0..).zip(LEVELS).find(|(_, name)| *name == level).map(|(rank, _)| rank)
}

/// An open `subscriptions/listen`.
pub(super) struct Listen {
    pub(super) number: u32,
    /// JSON text of its id, as it must be echoed.
    pub(super) id: String,
    pub(super) key: Key,
    pub(super) exchange: Option<u32>,
    /// True while a list change for it waits in the queue.
    queued: bool,
}

const LIST_CHANGED: &str = "notifications/tools/list_changed";

impl Core {
    /// `subscriptions/listen`: says what is honoured, then tells of it until the end.
    pub(super) fn listen(&mut self, route: Route, id: String, key: Key, filter: Value<'_>) {
        let tools = filter.get("toolsListChanged").and_then(Value::as_bool) == Some(true);
        let honoured = if tools { "{\"toolsListChanged\":true}" } else { "{}" };
        let params = format!(
            "{{\"notifications\":{honoured},\"_meta\":{{\"{}\":{id}}}}}",
            meta::SUBSCRIPTION
        );
        // Owed to the peer like an answer: it holds up the reading while it waits.
        let frame = encode::notification("notifications/subscriptions/acknowledged", Some(&params));
        let frame = encode::escape_line_separators(frame);
        let exchange = route.exchange;
        self.queue(frame, Owner { kind: Kind::Own, exchange, ends: false, status: 200 });
        if !tools {
            // Nothing that was asked for can ever come.
            let result = self.listen_result(&id);
            self.answer(route, &id, &result);
            return;
        }
        self.last_listen += 1;
        self.open_ids.insert(key.clone(), None);
        let (number, exchange) = (self.last_listen, route.exchange);
        self.listens.push(Listen { number, id, key, exchange, queued: false });
        self.opened = true;
    }

    fn listen_result(&self, id: &str) -> String {
        format!(
            "{{\"resultType\":\"complete\",\"_meta\":{{\"{}\":{id},\"{}\":{}}}}}",
            meta::SUBSCRIPTION,
            meta::SERVER_INFO,
            self.options.server_info
        )
    }

    /// Forgets a listener, without a word.
    pub(super) fn end_listen(&mut self, key: &Key) {
        self.open_ids.remove(key);
        self.listens.retain(|listen| listen.key != *key);
    }

    /// Ends every listener with its result.
    pub(super) fn complete_listens(&mut self) {
        for listen in std::mem::take(&mut self.listens) {
            self.open_ids.remove(&listen.key);
            let result = self.listen_result(&listen.id);
            let route = Route { exchange: listen.exchange, batch: None };
            self.answer(route, &listen.id, &result);
        }
    }

    /// Other tools are served from now on.
    pub(super) fn tools_changed(&mut self, catalog: Catalog) {
        // Who is in the middle of the list may read on: it is told of the change as well.
        self.previous = Some(std::mem::replace(&mut self.catalog, catalog));
        let legacy = self.agreed.is_some_and(|revision| revision.family == Family::Legacy);
        if legacy && self.initialized && !self.change_queued {
            self.change_queued = true;
            self.tell_change(None, None, None);
        }
        let waiting: Vec<(u32, Option<u32>, String)> = self
            .listens
            .iter_mut()
            .filter(|listen| !listen.queued)
            .map(|listen| {
                listen.queued = true;
                (listen.number, listen.exchange, listen.id.clone())
            })
            .collect();
        for (number, exchange, id) in waiting {
            let params = format!("{{\"_meta\":{{\"{}\":{id}}}}}", meta::SUBSCRIPTION);
            self.tell_change(exchange, Some(number), Some(&params));
        }
    }

    fn tell_change(&mut self, exchange: Option<u32>, listener: Option<u32>, params: Option<&str>) {
        let kind = Kind::ListChanged(listener);
        let owner = Owner { kind, exchange, ends: false, status: 200 };
        let frame = encode::escape_line_separators(encode::notification(LIST_CHANGED, params));
        // At most one for each listener, so the bound is kept all the same.
        self.outbound.offer(frame, owner, WhenFull::Exceed);
    }

    /// A list change left: the next one is told again.
    pub(super) fn change_told(&mut self, listener: Option<u32>) {
        match listener {
            None => self.change_queued = false,
            Some(number) => {
                for listen in self.listens.iter_mut().filter(|listen| listen.number == number) {
                    listen.queued = false;
                }
            }
        }
    }

    /// `logging/setLevel`.
    pub(super) fn set_level(&mut self, params: Option<Value<'_>>) -> Result<(), Fault> {
        let level = params.and_then(|params| params.get("level")).and_then(Value::as_str);
        let rank = level.and_then(|level| rank(&level));
        let named = rank.and_then(|rank| LEVELS.get(usize::from(rank)));
        let (Some(rank), Some(level)) = (rank, named) else {
            return Err(Fault::params("Params must name a log level"));
        };
        self.log_level = Some(rank);
        self.event(ServerEvent::LogLevel { level });
        Ok(())
    }

    /// A log message, if somebody wants it: in the modern era only with a call that asked for it.
    /// Dropped when the queue is full.
    pub(super) fn log(&mut self, token: Option<Token>, rank: u8, logger: Option<&str>, data: &str) {
        if !self.options.logging || self.outbound.is_full() {
            return;
        }
        let (from, exchange) = match token {
            Some(token) => {
                let Some(call) = self.calls.get(&token) else { return };
                let from = if call.revision.log_level_in_meta {
                    call.log_level
                } else {
                    Some(self.log_level.unwrap_or(0))
                };
                (from, call.route.exchange)
            }
            None => (self.agreed.map(|_| self.log_level.unwrap_or(0)), None),
        };
        let wanted = from.is_some_and(|from| rank >= from);
        let Some(level) = LEVELS.get(usize::from(rank)).filter(|_| wanted) else { return };
        let mut params = format!("{{\"level\":\"{level}\",");
        if let Some(logger) = logger {
            params.push_str(&format!("\"logger\":{},", encode::quote(logger)));
        }
        params.push_str(&format!("\"data\":{data}}}"));
        self.tell(exchange, "notifications/message", &params);
    }
}
