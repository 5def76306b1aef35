//! From pages to a catalog that stands: asks for pages, checks them, compiles, tells the host
//! (rows R09, R11 to R20; refresh and `list_changed` in `contain`).

use std::rc::Rc;
use std::task::Poll;

use crate::error::{Code, Error};
use crate::json::{self, Value};
use crate::table::Table;

use super::call::Dispatch;
use super::catalog::{Next, Rules, Walk};
use super::compile::{self, Compilation};
use super::core::{Core, Line, Phase, Task};
use super::event::{CacheHint, Event, Handle, Settlement};
use super::pending::{Kind, Pending};
use super::report::source;
use super::timers::Timer;
use super::tool::{Problem, Tool, problems_json};

/// Milliseconds after a `list_changed` in which further ones are taken together with it.
const REFRESH_AFTER_MS: f64 = 100.0;

/// The walk under way and who waits for it.
#[derive(Default)]
pub(super) struct Walking {
    walk: Option<Walk>,
    /// Host requests that settle with this walk.
    handles: Vec<Handle>,
    /// Host requests made since it began: they want a walk of their own.
    again: Vec<Handle>,
    /// True if the server said since it began that its tools changed.
    dirty: bool,
}

/// Where a page came from.
enum Origin {
    /// The walk under way.
    Walk,
    /// The host's option `tools`.
    Given(Walk),
    /// A request of the host's, which settles when the page joined the catalog.
    Request(Handle, Walk),
}

/// A page whose entries are being checked.
pub(super) struct PageTask {
    line: Rc<Line>,
    result: u32,
    next: u32,
    end: u32,
    place: u32,
    origin: Origin,
}

impl PageTask {
    fn new(line: &Rc<Line>, result: u32, tools: Value<'_>, origin: Origin) -> Box<Self> {
        let (next, end) = (tools.position() + 1, tools.next_position() - 1);
        Box::new(PageTask { line: Rc::clone(line), result, next, end, place: 0, origin })
    }

    pub(super) fn handle(&self) -> Option<Handle> {
        match self.origin {
            Origin::Request(handle, _) => Some(handle),
            Origin::Walk | Origin::Given(_) => None,
        }
    }
}

/// A catalog whose schemas are being compiled.
pub(super) struct CompileTask {
    compilation: Compilation,
    skipped: Vec<Problem>,
    cache: Option<CacheHint>,
    /// A request of the host's that brought a page.
    request: Option<(Handle, Rc<Line>, u32)>,
}

impl CompileTask {
    pub(super) fn handle(&self) -> Option<Handle> {
        self.request.as_ref().map(|(handle, ..)| *handle)
    }
}

impl Core {
    fn rules(&self) -> Rules {
        let stamped = self.revision.is_some_and(|revision| revision.stamped);
        Rules::new(&self.options, self.by_message && stamped)
    }

    /// The first catalog: given by the host, none, or read from the server.
    pub(super) fn first_catalog(&mut self) {
        if let Some(given) = self.options.tools.take() {
            let line = given_page(&given);
            let mut walk = Walk::new(self.rules());
            let started = line.and_then(|line| {
                let line = Rc::new(line);
                let tools = walk.page(line.tape.root(&line.bytes)).ok()?;
                Some(PageTask::new(&line, 0, tools, Origin::Given(walk)))
            });
            match started {
                Some(page) => self.task = Some(Task::Page(page)),
                None => {
                    let error = super::options::bad_option("option_invalid", "tools");
                    self.terminate(error, false);
                }
            }
        } else if self.greeting.has_tools {
            self.start_walk(Vec::new());
        } else {
            self.reports.note(source::CATALOG, "not_advertised", "tools");
            self.stands(Vec::new(), Vec::new(), None);
            self.ready();
        }
    }

    fn start_walk(&mut self, handles: Vec<Handle>) {
        let walk = Some(Walk::new(self.rules()));
        self.walking = Walking { walk, handles, ..Walking::default() };
        self.timers.unset(Timer::Refresh);
        self.ask_page("{}");
    }

    /// A call that the server refused because its headers do not fit the tool any more waits for
    /// the catalog, once. Gives every other request back.
    pub(super) fn refreshes(&mut self, mut pending: Pending, rpc_code: i64) -> Option<Pending> {
        const HEADER_MISMATCH: i64 = -32020;
        let again = pending.again.as_mut().filter(|again| !again.refreshed);
        match (again, &pending.kind) {
            (Some(again), Kind::Tool(_)) if self.by_message && rpc_code == HEADER_MISMATCH => {
                again.refreshed = true;
            }
            _ => return Some(pending),
        }
        self.stale_calls.push(pending);
        if self.walking.walk.is_none() {
            self.start_walk(Vec::new());
        }
        None
    }

    /// Sends the calls again that waited for the catalog.
    fn send_stale_calls(&mut self) {
        for pending in std::mem::take(&mut self.stale_calls) {
            let Pending { kind, method, made, times, has_token, again, .. } = pending;
            let (Kind::Tool(mut call), Some(again)) = (kind, again) else { continue };
            if let Some(tool) = self.tools.get(&call.tool.entry.name) {
                call.tool = Rc::clone(tool);
            }
            let params = again.params.to_string();
            let (kind, meta) = (Kind::Tool(call), again.meta.clone());
            let again = Some(again);
            self.dispatch(Dispatch { kind, method, params, meta, again, times, has_token, made });
        }
    }

    /// Forgets a call that waits for the catalog. False if it does not.
    pub(super) fn drop_stale_call(&mut self, handle: Handle) -> bool {
        let before = self.stale_calls.len();
        self.stale_calls.retain(|pending| pending.handle() != Some(handle));
        before != self.stale_calls.len()
    }

    /// Forgets every such call.
    pub(super) fn drop_stale_calls(&mut self) -> Vec<Handle> {
        let stale = std::mem::take(&mut self.stale_calls);
        stale.iter().filter_map(Pending::handle).collect()
    }

    fn ask_page(&mut self, params: &str) {
        let timeout = self.options.limits.handshake_timeout_ms;
        self.send_own("tools/list", params, Kind::Page, timeout);
    }

    /// The host wants the catalog read anew.
    pub(super) fn start_refresh(&mut self, handle: Handle) {
        if !self.may_start(handle) {
            return;
        }
        if !self.greeting.has_tools {
            self.reports.note(source::CATALOG, "not_advertised", "tools");
            self.settle(handle, Ok(Settlement::Done));
        } else if self.walking.walk.is_some() {
            self.walking.again.push(handle);
        } else {
            self.start_walk(vec![handle]);
        }
    }

    /// The server says that its tools changed, declared or not.
    pub(super) fn tools_changed(&mut self) {
        if self.strict() || self.phase != Phase::Ready && self.phase != Phase::Listing {
            return;
        }
        if self.walking.walk.is_some() {
            self.walking.dirty = true;
        } else if self.timers.at(Timer::Refresh).is_none() {
            self.timers.set(Timer::Refresh, self.now + REFRESH_AFTER_MS);
        }
    }

    /// The time to read the catalog anew has come.
    pub(super) fn refresh_due(&mut self) {
        if self.walking.walk.is_some() {
            self.walking.dirty = true;
        } else {
            self.start_walk(Vec::new());
        }
    }

    /// Gives up a host's wait for a refresh; true if there was one.
    pub(super) fn forget_refresh(&mut self, handle: Handle) -> bool {
        let Walking { handles, again, .. } = &mut self.walking;
        let before = handles.len() + again.len();
        handles.retain(|waiting| *waiting != handle);
        again.retain(|waiting| *waiting != handle);
        handles.len() + again.len() != before
    }

    /// Forgets the walk: what it was about is not wanted any more.
    pub(super) fn forget_walk(&mut self) {
        self.walking.walk = None;
    }

    /// Ends every wait for a refresh.
    pub(super) fn drop_walk(&mut self) -> Vec<Handle> {
        let walking = std::mem::take(&mut self.walking);
        walking.handles.into_iter().chain(walking.again).collect()
    }

    /// A page of the walk came.
    pub(super) fn page(&mut self, line: &Rc<Line>, result: u32) {
        let value = line.tape.value(&line.bytes, result);
        let strict = self.strict();
        let Some(walk) = &mut self.walking.walk else { return };
        match walk.page(value) {
            Ok(tools) => {
                self.task = Some(Task::Page(PageTask::new(line, result, tools, Origin::Walk)));
            }
            // What was read before stands.
            Err(_) if !strict && !walk.entries.is_empty() => {
                walk.remarks.push(("catalog_truncated", "tools".to_owned()));
                self.walk_ends();
            }
            Err(error) => self.page_refused(error, value),
        }
    }

    /// A page that the host asked for joins the catalog. False if it is none.
    pub(super) fn joined_page(&mut self, handle: Handle, line: &Rc<Line>, result: u32) -> bool {
        let entries = self.catalog.iter().map(|tool| tool.entry.clone()).collect();
        let mut walk = Walk::resume(self.rules(), entries);
        let Ok(tools) = walk.page(line.tape.value(&line.bytes, result)) else { return false };
        let origin = Origin::Request(handle, walk);
        self.task = Some(Task::Page(PageTask::new(line, result, tools, origin)));
        true
    }

    fn page_refused(&mut self, error: Error, page: Value<'_>) {
        if error.reason() != "too_many_pages" {
            self.reports.diagnostic(source::INVALID_RESPONSE, "invalid_response", page.raw());
        }
        let private = format!("{{\"path\":\"\",\"value\":{}}}", page.raw());
        self.walk_failed(error.at_server(&self.options.server).private(private));
    }

    /// Goes on with the entries of a page.
    pub(super) fn run_page(&mut self, mut page: Box<PageTask>, steps: &mut u64) {
        let line = Rc::clone(&page.line);
        let result = line.tape.value(&line.bytes, page.result);
        let walk = match &mut page.origin {
            Origin::Given(walk) | Origin::Request(_, walk) => walk,
            Origin::Walk => match &mut self.walking.walk {
                Some(walk) => walk,
                None => return,
            },
        };
        while page.next < page.end && !walk.is_full() {
            if *steps == 0 {
                self.task = Some(Task::Page(page));
                return;
            }
            let entry = line.tape.value(&line.bytes, page.next);
            let after = entry.next_position();
            *steps = steps.saturating_sub(1 + u64::from(after - page.next));
            if let Err(error) = walk.entry(entry, page.place) {
                return self.page_refused(error, result);
            }
            page.next = after;
            page.place += 1;
        }
        match page.origin {
            Origin::Given(walk) => self.compile_catalog(walk, None),
            Origin::Request(handle, walk) => {
                self.compile_catalog(walk, Some((handle, Rc::clone(&line), page.result)));
            }
            Origin::Walk => self.end_page(result),
        }
    }

    fn end_page(&mut self, result: Value<'_>) {
        let Some(walk) = &mut self.walking.walk else { return };
        match walk.end_page(result) {
            Ok(Next::Page(cursor)) => {
                self.report_remarks();
                self.ask_page(&format!("{{\"cursor\":{cursor}}}"));
            }
            Ok(Next::End) => self.walk_ends(),
            Err(error) => self.page_refused(error, result),
        }
    }

    fn report_remarks(&mut self) {
        if let Some(walk) = &mut self.walking.walk {
            for (code, detail) in std::mem::take(&mut walk.remarks) {
                self.reports.note(source::CATALOG, code, &detail);
            }
        }
    }

    fn walk_ends(&mut self) {
        if let Some(walk) = self.walking.walk.take() {
            self.compile_catalog(walk, None);
        }
    }

    fn compile_catalog(&mut self, walk: Walk, request: Option<(Handle, Rc<Line>, u32)>) {
        let cache = walk.cache();
        for (code, detail) in walk.remarks {
            self.reports.note(source::CATALOG, code, &detail);
        }
        let compilation = Compilation::new(walk.entries, compile::options(&self.options));
        let task = CompileTask { compilation, skipped: walk.skipped, cache, request };
        self.task = Some(Task::Compile(Box::new(task)));
    }

    /// Goes on compiling.
    pub(super) fn compile(&mut self, mut task: Box<CompileTask>, steps: &mut u64) {
        let tools = match task.compilation.run(&mut self.cache, steps) {
            Poll::Pending => {
                self.task = Some(Task::Compile(task));
                return;
            }
            Poll::Ready(tools) => tools,
        };
        if let Some((handle, line, result)) = task.request {
            let mut skipped = std::mem::take(&mut self.skipped);
            skipped.extend(task.skipped);
            self.stands(tools, skipped, task.cache);
            let value = line.tape.value(&line.bytes, result).raw().to_owned();
            self.settle(handle, Ok(Settlement::Value(value)));
            return;
        }
        self.stands(tools, task.skipped, task.cache);
        self.walk_done();
    }

    /// After a walk: settles who waited, starts the next if one is wanted.
    fn walk_done(&mut self) {
        if self.phase == Phase::Listing {
            self.ready();
        }
        for handle in std::mem::take(&mut self.walking.handles) {
            self.settle(handle, Ok(Settlement::Done));
        }
        self.next_walk();
    }

    fn next_walk(&mut self) {
        let Walking { again, dirty, .. } = std::mem::take(&mut self.walking);
        self.send_stale_calls();
        if !again.is_empty() {
            self.start_walk(again);
        } else if dirty {
            self.timers.set(Timer::Refresh, self.now + REFRESH_AFTER_MS);
        }
    }

    /// The walk came to nothing: ends the connect, or the refresh alone.
    pub(super) fn walk_failed(&mut self, error: Error) {
        let too_long = !self.strict() && error.reason() == "outbound_frame_too_long";
        if let Some(walk) = self.walking.walk.as_mut().filter(|_| too_long) {
            // Only a cursor can make the request for a page too long. What was read stands.
            walk.remarks.push(("catalog_truncated", "nextCursor".to_owned()));
            return self.walk_ends();
        }
        self.report_remarks();
        self.walking.walk = None;
        if self.phase == Phase::Listing {
            self.terminate(error, false);
            return;
        }
        for handle in std::mem::take(&mut self.walking.handles) {
            self.fail(handle, error.clone());
        }
        self.next_walk();
    }

    /// The server answered `tools/list` with an error.
    pub(super) fn page_error(&mut self, rpc_code: i64, error: Error) {
        const METHOD_NOT_FOUND: i64 = -32601;
        if self.strict() || rpc_code != METHOD_NOT_FOUND {
            return self.walk_failed(error);
        }
        self.reports.note(source::CATALOG, "list_not_supported", "tools/list");
        self.walking.walk = None;
        self.stands(Vec::new(), Vec::new(), None);
        self.walk_done();
    }

    /// Puts a catalog in the place of the last one and tells the host what changed.
    fn stands(&mut self, catalog: Vec<Rc<Tool>>, skipped: Vec<Problem>, cache: Option<CacheHint>) {
        let tools: Table<String, Rc<Tool>> =
            catalog.iter().map(|tool| (tool.entry.name.clone(), Rc::clone(tool))).collect();
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for tool in &catalog {
            let name = tool.entry.name.clone();
            match self.tools.get(&name) {
                Some(old) if old.entry.members == tool.entry.members => continue,
                Some(_) => changed.push(name),
                None => added.push(name),
            }
            for problem in &tool.entry.problems {
                if problem.code == "uncompilable" {
                    let detail = problem.to_json();
                    self.reports.note(source::CATALOG, "schema_uncompilable", &detail);
                }
            }
        }
        let gone = self.catalog.iter().map(|tool| &tool.entry.name);
        let removed = gone.filter(|name| !tools.contains_key(*name)).cloned().collect();
        let texts: Vec<String> = catalog.iter().map(|tool| tool.to_json()).collect();
        self.tools_json = format!("[{}]", texts.join(","));
        let listed = catalog.iter().flat_map(|tool| &tool.entry.problems);
        self.problems_json = problems_json(skipped.iter().chain(listed));
        (self.tools, self.catalog, self.skipped) = (tools, catalog, skipped);
        self.reports.event(Event::Tools {
            tools: self.tools_json.clone(),
            problems: self.problems_json.clone(),
            added,
            removed,
            changed,
            cache,
        });
    }
}

/// The host's tools as the page of a server would be.
fn given_page(tools: &str) -> Option<Line> {
    let bytes = format!("{{\"tools\":{tools}}}").into_bytes();
    let tape = json::read(&bytes, json::Limits::depth(128)).ok()?;
    Some(Line { bytes: Rc::new(bytes), tape, in_reply_to: None })
}

/// True if the text can be the option `tools`.
pub(super) fn is_catalog(tools: &str) -> bool {
    given_page(tools).is_some_and(|line| {
        let tools = line.tape.root(&line.bytes).get("tools");
        tools.is_some_and(Value::is_array)
    })
}

/// An error of a wait that the host gave up.
pub(super) fn aborted(core: &Core) -> Error {
    core.error(Code::Aborted, "aborted")
}
