//! One operation's specification: read, checked, its schemas compiled.
//!
//! Invariant: what is registered can be judged. Only an imported operation may have a schema that
//! does not compile: its server is its judge.

use crate::call::access::AccessControl;
use crate::error::{Code, Error, Facts};
use crate::json::{Value, pointer};
use crate::schema::{self, CompileOptions, Program};

use super::id;

/// How an operation is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Answers once and changes nothing.
    Query,
    /// Answers once.
    Mutation,
    /// Answers many times.
    Subscription,
    /// Takes many inputs. A specification only: nothing here runs it.
    Publish,
}

impl Kind {
    /// The kind as a specification names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Query => "query",
            Kind::Mutation => "mutation",
            Kind::Subscription => "subscription",
            Kind::Publish => "publish",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Kind::Query, Kind::Mutation, Kind::Subscription, Kind::Publish]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// Where an operation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The host.
    Local,
    /// An MCP server, whose schemas may be anything.
    Imported,
}

/// What judges a value.
pub(super) enum Check {
    /// Nothing: every value is welcome.
    None,
    /// A program.
    By(Box<Program>),
}

/// A registered specification.
pub struct Spec {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) origin: Origin,
    pub(super) internal: bool,
    pub(super) access: AccessControl,
    pub(super) resource_id_path: Option<String>,
    pub(super) input: Check,
    pub(super) errors: Vec<(String, Check)>,
    summary: Summary,
}

/// What a specification says to whoever looks for an operation.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its title.
    pub title: Option<String>,
    /// Its description; may be empty.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
}

/// The members of a specification.
const MEMBERS: [&str; 16] = [
    "namespace",
    "name",
    "version",
    "type",
    "title",
    "description",
    "tags",
    "inputSchema",
    "outputSchema",
    "errorSchemas",
    "accessControl",
    "visibility",
    "resourceIdPath",
    "authority",
    "annotations",
    "_meta",
];

impl Spec {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How it is called.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What it says to whoever looks for it.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// True if a call must hand over the input as text: it is judged, or names a resource.
    pub fn reads_input(&self) -> bool {
        self.resource_id_path.is_some() || matches!(self.input, Check::By(_))
    }

    /// Reads and checks a specification.
    ///
    /// # Errors
    /// `invalid_arguments` with reason `spec_member` and the member, or `schema_error` with the
    /// compiler's reason; both name the operation as far as it is known.
    pub fn read(value: Value<'_>, origin: Origin) -> Result<Self, Error> {
        let text = |name: &str| value.get(name)?.as_str().map(|text| text.into_owned());
        let id = text("namespace")
            .zip(text("name"))
            .and_then(|(namespace, name)| id::of(&namespace, &name));
        // What a server calls its tool is in no message.
        let told = id.as_deref().filter(|_| origin == Origin::Local);
        let reading = Reading { value, id: told, origin };
        reading.is_known()?;
        let Some(id) = id.clone() else {
            let known =
                text("namespace").is_some_and(|namespace| id::of(&namespace, "n").is_some());
            return Err(reading.refused(if known { "name" } else { "namespace" }));
        };
        reading.has_texts()?;
        let kind = text("type").and_then(|name| Kind::from_name(&name));
        let kind = kind.ok_or_else(|| reading.refused("type"))?;
        let internal = match text("visibility").as_deref() {
            Some("internal") => true,
            Some("external") => false,
            None if value.get("visibility").is_none() => false,
            _ => return Err(reading.refused("visibility")),
        };
        let access = reading.access()?;
        let resource_id_path = reading.resource_id_path(&access)?;
        reading.authority()?;
        let input = value.get("inputSchema").ok_or_else(|| reading.refused("inputSchema"))?;
        let input = reading.check(input, "inputSchema", "/inputSchema")?;
        if let Some(output) = value.get("outputSchema") {
            reading.check(output, "outputSchema", "/outputSchema")?;
        }
        let errors = reading.errors()?;
        let summary = reading.summary();
        Ok(Spec { id, kind, origin, internal, access, resource_id_path, input, errors, summary })
    }
}

/// A specification being read.
struct Reading<'a> {
    value: Value<'a>,
    /// Its id, if errors may tell it.
    id: Option<&'a str>,
    origin: Origin,
}

impl Reading<'_> {
    /// The error for a member that is missing or not what it must be.
    fn refused(&self, member: &'static str) -> Error {
        let facts = Facts {
            option: Some(member.into()),
            operation: self.id.map(str::to_owned),
            ..Facts::default()
        };
        Error::new(Code::InvalidArguments, "spec_member").facts(facts)
    }

    fn is_known(&self) -> Result<(), Error> {
        if !self.value.is_object() {
            return Err(self.refused("spec"));
        }
        for (name, _) in self.value.members() {
            if !MEMBERS.contains(&&*name.to_str()) {
                let facts = Facts {
                    target: Some(name.to_str().into_owned()),
                    operation: self.id.map(str::to_owned),
                    ..Facts::default()
                };
                return Err(Error::new(Code::InvalidArguments, "spec_unknown").facts(facts));
            }
        }
        Ok(())
    }

    fn has_texts(&self) -> Result<(), Error> {
        for name in ["version", "description"] {
            if self.value.get(name).is_none() {
                return Err(self.refused(name));
            }
        }
        for (name, member) in self.value.members() {
            let (name, fits) = match &*name.to_str() {
                "version" => ("version", member.is_string()),
                "description" => ("description", member.is_string()),
                "title" => ("title", member.is_string()),
                "tags" => ("tags", are_strings(member)),
                "annotations" => ("annotations", member.is_object()),
                "_meta" => ("_meta", member.is_object()),
                _ => continue,
            };
            if !fits {
                return Err(self.refused(name));
            }
        }
        Ok(())
    }

    fn summary(&self) -> Summary {
        // Texts of a host that may hold lone surrogates: they are shown all the same.
        let text = |value: Value<'_>| value.text().map(|text| text.to_str().into_owned());
        let member = |name: &str| self.value.get(name).and_then(text);
        let tags = self.value.get("tags");
        Summary {
            title: member("title"),
            description: member("description").unwrap_or_default(),
            tags: tags.map(|tags| tags.elements().filter_map(text).collect()).unwrap_or_default(),
        }
    }

    fn access(&self) -> Result<AccessControl, Error> {
        self.value
            .get("accessControl")
            // What is open to everyone says so.
            .filter(|access| access.get("requiredScopes").is_some())
            .and_then(AccessControl::read)
            .ok_or_else(|| self.refused("accessControl"))
    }

    fn resource_id_path(&self, access: &AccessControl) -> Result<Option<String>, Error> {
        let Some(path) = self.value.get("resourceIdPath") else { return Ok(None) };
        path.as_str()
            .filter(|path| pointer::tokens(path).is_some() && access.asks_for_resource())
            .map(|path| Some(path.into_owned()))
            .ok_or_else(|| self.refused("resourceIdPath"))
    }

    fn authority(&self) -> Result<(), Error> {
        let Some(authority) = self.value.get("authority") else { return Ok(()) };
        let known = ["label", "scopes", "resources"];
        let fits = authority.is_object()
            && authority.members().all(|(name, _)| known.contains(&&*name.to_str()))
            && authority.get("label").is_some_and(Value::is_string)
            && authority.get("scopes").is_some_and(are_strings)
            && authority.get("resources").is_none_or(|resources| {
                resources.is_object()
                    && resources.members().all(|(_, actions)| are_strings(actions))
            });
        if fits { Ok(()) } else { Err(self.refused("authority")) }
    }

    fn errors(&self) -> Result<Vec<(String, Check)>, Error> {
        let Some(list) = self.value.get("errorSchemas") else { return Ok(Vec::new()) };
        let refused = || self.refused("errorSchemas");
        if !list.is_array() {
            return Err(refused());
        }
        let mut errors = Vec::new();
        for (index, entry) in list.elements().enumerate() {
            let code = entry.get("code").and_then(Value::as_str).ok_or_else(refused)?;
            let fits = !code.is_empty()
                && entry.get("description").is_some_and(Value::is_string)
                && entry.get("httpStatus").is_none_or(|status| status.number().is_some());
            let declared = entry.get("schema").filter(|_| fits).ok_or_else(refused)?;
            let at = format!("/errorSchemas/{index}/schema");
            errors.push((code.into_owned(), self.check(declared, "errorSchemas", &at)?));
        }
        Ok(errors)
    }

    fn check(&self, declared: Value<'_>, member: &'static str, at: &str) -> Result<Check, Error> {
        if declared.as_bool() == Some(true) || (declared.is_object() && declared.is_empty()) {
            return Ok(Check::None);
        }
        match schema::compile(declared.raw().as_bytes(), &CompileOptions::default()) {
            Ok(program) => Ok(Check::By(Box::new(program))),
            Err(_) if self.origin == Origin::Imported => Ok(Check::None),
            Err(error) => {
                let facts = Facts {
                    option: Some(member.into()),
                    operation: self.id.map(str::to_owned),
                    at: Some(format!("{at}{}", error.at)),
                    target: error.target,
                    ..Facts::default()
                };
                Err(Error::new(Code::SchemaError, error.reason).facts(facts))
            }
        }
    }
}

fn are_strings(value: Value<'_>) -> bool {
    value.is_array() && value.elements().all(Value::is_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// A specification with these members in place of, or beside, the least it must have.
    fn with(members: &str) -> String {
        let least = r#"{"namespace":"ns","name":"op","version":"1.0.0","description":"",
            "type":"query","inputSchema":{},"accessControl":{"requiredScopes":[]}}"#;
        let mut least: serde_json::Map<_, _> = serde_json::from_str(least).unwrap();
        // serde_json reads no lone surrogates: they are put back as they were written.
        let members = members.replace("\\ud800", "LONE");
        let members: serde_json::Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
        least.extend(members.as_object().unwrap().clone());
        serde_json::to_string(&least).unwrap().replace("LONE", "\\ud800")
    }

    fn spec(text: &str, origin: Origin) -> Result<Spec, Error> {
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        Spec::read(tape.root(text.as_bytes()), origin)
    }

    /// AT-356, AT-358, AT-359.
    #[test]
    fn what_a_specification_may_say() {
        for members in [
            "",
            r#""type":"publish""#,
            r#""name":"a.b/c d""#,
            r#""namespace":"__proto__""#,
            r#""title":"t","tags":["x"],"annotations":{},"_meta":{}"#,
            r#""errorSchemas":[{"code":"E","description":"d","schema":{}}]"#,
            r#""errorSchemas":[{"code":"E","description":"d","schema":{},"httpStatus":404}]"#,
            r#""authority":{"label":"p","scopes":["x"],"resources":{"a:b":["c"]}}"#,
            r#""accessControl":{"requiredScopes":[],"resourceType":"p"},"resourceIdPath":"""#,
            r#""inputSchema":true,"outputSchema":false"#,
        ] {
            assert!(spec(&with(members), Origin::Local).is_ok(), "{members}");
        }
    }

    #[test]
    fn what_is_refused_is_named() {
        for (members, reason, option) in [
            (r#""namespace":"a.b""#, "spec_member", Some("namespace")),
            (r#""namespace":"""#, "spec_member", Some("namespace")),
            (r#""namespace":3"#, "spec_member", Some("namespace")),
            (r#""namespace":"\ud800""#, "spec_member", Some("namespace")),
            (r#""name":"""#, "spec_member", Some("name")),
            (r#""version":1"#, "spec_member", Some("version")),
            (r#""description":null"#, "spec_member", Some("description")),
            (r#""type":"sub""#, "spec_member", Some("type")),
            (r#""type":"pub""#, "spec_member", Some("type")),
            (r#""visibility":"hidden""#, "spec_member", Some("visibility")),
            (r#""visibility":null"#, "spec_member", Some("visibility")),
            (r#""visiblity":"internal""#, "spec_unknown", None),
            (r#""handler":1"#, "spec_unknown", None),
            (r#""accessControl":{}"#, "spec_member", Some("accessControl")),
            (r#""accessControl":[]"#, "spec_member", Some("accessControl")),
            (
                r#""accessControl":{"requiredScopes":[],"customAuth":"x"}"#,
                "spec_member",
                Some("accessControl"),
            ),
            (r#""resourceIdPath":"/a""#, "spec_member", Some("resourceIdPath")),
            (
                r#""accessControl":{"requiredScopes":[],"resourceType":"p"},"resourceIdPath":"$.a""#,
                "spec_member",
                Some("resourceIdPath"),
            ),
            (r#""authority":{"label":"p"}"#, "spec_member", Some("authority")),
            (
                r#""authority":{"label":"p","scopes":[],"trusted":true}"#,
                "spec_member",
                Some("authority"),
            ),
            (r#""tags":"x""#, "spec_member", Some("tags")),
            (r#""errorSchemas":[{"code":"E","schema":{}}]"#, "spec_member", Some("errorSchemas")),
            (
                r#""errorSchemas":[{"code":"E","description":""}]"#,
                "spec_member",
                Some("errorSchemas"),
            ),
            (
                r#""errorSchemas":[{"code":"E","description":"","schema":{},"httpStatus":"404"}]"#,
                "spec_member",
                Some("errorSchemas"),
            ),
        ] {
            let error = spec(&with(members), Origin::Local).err().unwrap();
            assert_eq!(error.reason(), reason, "{members}");
            assert_eq!(error.get_facts().option.as_deref(), option, "{members}");
        }
        for name in
            ["namespace", "name", "version", "description", "type", "inputSchema", "accessControl"]
        {
            let whole: serde_json::Value = serde_json::from_str(&with("")).unwrap();
            let mut rest = whole.as_object().unwrap().clone();
            rest.remove(name);
            let text = serde_json::to_string(&rest).unwrap();
            let error = spec(&text, Origin::Local).err().unwrap();
            assert_eq!(error.get_facts().option.as_deref(), Some(name));
        }
        assert!(spec("3", Origin::Local).is_err());
    }

    #[test]
    fn what_a_server_calls_its_tool_is_in_no_message() {
        let text = with(r#""name":"SECRET","title":3"#);
        let error = spec(&text, Origin::Imported).err().unwrap();
        assert_eq!(error.reason(), "spec_member");
        assert!(!error.message().contains("SECRET"));
        assert!(spec(&text, Origin::Local).err().unwrap().message().contains("SECRET"));
    }

    /// AT-088 and AT-089.
    #[test]
    fn schemas_that_do_not_compile() {
        for (members, reason, option, at) in [
            (r#""inputSchema":"no schema""#, "not_a_schema", "inputSchema", "/inputSchema"),
            (
                r#""inputSchema":{"required":"n"}"#,
                "invalid_keyword",
                "inputSchema",
                "/inputSchema/required",
            ),
            (
                r##""outputSchema":{"$ref":"#/x"}"##,
                "unresolved_ref",
                "outputSchema",
                "/outputSchema/$ref",
            ),
            (
                r#""errorSchemas":[{"code":"E","description":"d","schema":{"type":"x"}}]"#,
                "invalid_keyword",
                "errorSchemas",
                "/errorSchemas/0/schema/type",
            ),
        ] {
            let error = spec(&with(members), Origin::Local).err().unwrap();
            assert_eq!((error.code(), error.reason()), (Code::SchemaError, reason), "{members}");
            let facts = error.get_facts();
            assert_eq!(facts.option.as_deref(), Some(option));
            assert_eq!(facts.at.as_deref(), Some(at));
            assert!(error.message().starts_with(&format!("Operation \"ns.op\", {option}: ")));
            // Imported, its server is its judge.
            assert!(spec(&with(members), Origin::Imported).is_ok(), "{members}");
        }
    }
}
