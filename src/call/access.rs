//! Who may call an operation (DESIGN.md 6.5). Every path asks here, and here alone.
//!
//! Invariant: what cannot be read grants nothing: an identity that is not one is denied everywhere,
//! also where no rule asks for an identity.

use crate::json::{Limits, Value, read};
use crate::wire::encode::quote;

/// What an operation demands of its callers.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct AccessControl {
    /// Scopes that must all be held.
    pub required_scopes: Vec<String>,
    /// Scopes of which one must be held; none of them adds no demand.
    pub required_scopes_any: Vec<String>,
    /// The type of resource that must be granted.
    pub resource_type: Option<String>,
    /// The action that must be granted on it, or on anything if no type is given.
    pub resource_action: Option<String>,
}

impl AccessControl {
    /// Reads the members that an access control has; null counts as absent. None if one has a value
    /// it cannot have or is unknown: a rule that was misspelt must not become no rule.
    pub fn read(value: Value<'_>) -> Option<Self> {
        if !value.is_object() {
            return None;
        }
        let mut access = AccessControl::default();
        for (name, member) in value.members() {
            let absent = member.is_null();
            match &*name.to_str() {
                "requiredScopes" if !absent => access.required_scopes = strings(member)?,
                "requiredScopesAny" if !absent => access.required_scopes_any = strings(member)?,
                "resourceType" if !absent => access.resource_type = Some(word(member)?),
                "resourceAction" if !absent => access.resource_action = Some(word(member)?),
                "requiredScopes" | "requiredScopesAny" | "resourceType" | "resourceAction" => {}
                _ => return None,
            }
        }
        Some(access)
    }

    /// True if a resource must be granted.
    pub fn asks_for_resource(&self) -> bool {
        self.resource_type.is_some() || self.resource_action.is_some()
    }

    /// True if not everyone may call.
    pub fn has_rules(&self) -> bool {
        !self.required_scopes.is_empty()
            || !self.required_scopes_any.is_empty()
            || self.asks_for_resource()
    }
}

/// Who calls.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The scopes held.
    pub scopes: Vec<String>,
    /// The actions granted, by `type:id`.
    pub resources: Vec<(String, Vec<String>)>,
}

impl Identity {
    /// Reads an identity: `id` a string, `scopes` strings, `resources`, if there, strings by name.
    pub fn read(value: Value<'_>) -> Option<Self> {
        value.get("id")?.as_str()?;
        let scopes = strings(value.get("scopes")?)?;
        let resources = match value.get("resources").filter(|resources| !resources.is_null()) {
            None => Vec::new(),
            Some(resources) if resources.is_object() => resources
                .members()
                .map(|(key, actions)| Some((key.to_str().into_owned(), strings(actions)?)))
                .collect::<Option<_>>()?,
            Some(_) => return None,
        };
        Some(Identity { scopes, resources })
    }
}

/// A caller as a path presents it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Caller {
    /// Nobody is named.
    Nobody,
    /// What was named is no identity.
    Unreadable,
    /// An identity.
    Known(Identity),
}

impl Caller {
    /// The caller of this JSON text, none if nobody is named.
    pub fn read(identity: Option<&str>) -> Self {
        let Some(text) = identity else { return Caller::Nobody };
        read(text.as_bytes(), Limits::depth(8))
            .ok()
            .and_then(|tape| Identity::read(tape.root(text.as_bytes())))
            .map_or(Caller::Unreadable, Caller::Known)
    }
}

/// Which resource a call concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource<'a> {
    /// Any: a grant on one of the type suffices.
    Any,
    /// The one with this id.
    Id(&'a str),
    /// One that the call should name and does not.
    Unnamed,
}

/// Why access is denied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Denial {
    /// Rules apply and nobody is named.
    NoIdentity,
    /// The identity is none.
    UnreadableIdentity,
    /// This required scope is not held.
    MissingScope(String),
    /// None of the scopes of which one must be held is.
    NoScopeOfAny,
    /// The input does not name the resource.
    UnnamedResource,
    /// The resource is not granted.
    NoGrant,
}

impl Denial {
    /// A sentence of ours and the operation's own scope.
    pub fn message(&self) -> String {
        match self {
            Denial::NoIdentity => {
                "identity required: authentication required for this operation".to_owned()
            }
            Denial::UnreadableIdentity => {
                "the identity is not one: it has no id and scopes".to_owned()
            }
            Denial::MissingScope(scope) => format!("missing required scope {scope}"),
            Denial::NoScopeOfAny => {
                "none of the scopes is held of which one is required".to_owned()
            }
            Denial::UnnamedResource => "the input does not name the resource".to_owned(),
            Denial::NoGrant => "the resource is not granted".to_owned(),
        }
    }

    /// What a caller may know besides: JSON text of an object.
    pub fn details(&self, operation: &str, access: &AccessControl) -> String {
        let scopes: Vec<String> = access.required_scopes.iter().map(|it| quote(it)).collect();
        let scopes = format!(r#""requiredScopes":[{}]"#, scopes.join(","));
        match self {
            Denial::NoIdentity => format!(r#"{{"operationId":{},{scopes}}}"#, quote(operation)),
            _ => format!("{{{scopes}}}"),
        }
    }
}

/// Decides. Without rules everyone may call.
///
/// # Errors
/// The first demand that is not met.
pub fn check(
    access: &AccessControl,
    caller: &Caller,
    resource: Resource<'_>,
) -> Result<(), Denial> {
    if *caller == Caller::Unreadable {
        return Err(Denial::UnreadableIdentity);
    }
    if !access.has_rules() {
        return Ok(());
    }
    let Caller::Known(identity) = caller else { return Err(Denial::NoIdentity) };
    let holds = |scope: &String| identity.scopes.contains(scope);
    if let Some(missing) = access.required_scopes.iter().find(|scope| !holds(scope)) {
        return Err(Denial::MissingScope(missing.clone()));
    }
    let any = &access.required_scopes_any;
    if !any.is_empty() && !any.iter().any(holds) {
        return Err(Denial::NoScopeOfAny);
    }
    if !access.asks_for_resource() {
        return Ok(());
    }
    if resource == Resource::Unnamed {
        return Err(Denial::UnnamedResource);
    }
    let granted = identity.resources.iter().any(|(key, actions)| {
        let concerns = is_key_of(key, access.resource_type.as_deref(), resource);
        concerns
            && match &access.resource_action {
                Some(action) => actions.contains(action),
                None => !actions.is_empty(),
            }
    });
    if granted { Ok(()) } else { Err(Denial::NoGrant) }
}

/// True if a grant's key, `type:id`, is of this type and this resource.
fn is_key_of(key: &str, kind: Option<&str>, resource: Resource<'_>) -> bool {
    let id = match kind {
        Some(kind) => key.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':')),
        None => key.split_once(':').map(|(_, id)| id),
    };
    match resource {
        Resource::Id(wanted) => id == Some(wanted),
        // An action alone may be granted under any key.
        _ => id.is_some() || kind.is_none(),
    }
}

fn strings(value: Value<'_>) -> Option<Vec<String>> {
    if !value.is_array() {
        return None;
    }
    value.elements().map(|element| Some(element.as_str()?.into_owned())).collect()
}

/// A string that is not empty: an empty type or action would match what nobody meant.
fn word(value: Value<'_>) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn access(text: &str) -> Option<AccessControl> {
        let tape = read(text.as_bytes(), Limits::depth(8)).unwrap();
        AccessControl::read(tape.root(text.as_bytes()))
    }

    fn decide(rules: &str, identity: Option<&str>, resource: Resource<'_>) -> String {
        match check(&access(rules).unwrap(), &Caller::read(identity), resource) {
            Ok(()) => "allowed".to_owned(),
            Err(denial) => denial.message(),
        }
    }

    #[test]
    fn rules_decide() {
        let resource = r#"{"resourceType":"project","resourceAction":"read"}"#;
        let grants =
            |resources: &str| format!(r#"{{"id":"u","scopes":["z"],"resources":{resources}}}"#);
        let no_grant = Denial::NoGrant.message();
        for (id, rules, identity, expected) in [
            ("AT-052", r#"{"requiredScopes":[]}"#, None, "allowed"),
            ("AT-053", r#"{"requiredScopes":["a"]}"#, None, &*Denial::NoIdentity.message()),
            (
                "AT-066",
                r#"{"requiredScopes":["z","b","c"]}"#,
                Some(grants("{}")),
                "missing required scope b",
            ),
            (
                "AT-056",
                r#"{"requiredScopesAny":["x","y"]}"#,
                Some(grants("{}")),
                &*Denial::NoScopeOfAny.message(),
            ),
            ("AT-057", r#"{"requiredScopesAny":["x","z"]}"#, Some(grants("{}")), "allowed"),
            ("AT-059", r#"{"requiredScopes":[],"requiredScopesAny":[]}"#, None, "allowed"),
            ("AT-061", resource, Some(grants(r#"{"project:abc":["read"]}"#)), "allowed"),
            (
                "AT-062",
                resource,
                Some(grants(r#"{"projects:abc":["read"],"project:abc":["write"]}"#)),
                &*no_grant,
            ),
            ("key is type:id", resource, Some(grants(r#"{"project":["read"]}"#)), &*no_grant),
            (
                "AT-068",
                r#"{"resourceAction":"read"}"#,
                Some(grants(r#"{"x":["read"]}"#)),
                "allowed",
            ),
            (
                "action alone",
                r#"{"resourceAction":"read"}"#,
                Some(grants(r#"{"x:1":["write"]}"#)),
                &*no_grant,
            ),
            ("AT-069", r#"{"resourceType":"svc"}"#, Some(grants(r#"{"svc:1":[]}"#)), &*no_grant),
            (
                "type alone",
                r#"{"resourceType":"svc"}"#,
                Some(grants(r#"{"svc:1":["x"]}"#)),
                "allowed",
            ),
            (
                "resources absent",
                r#"{"resourceType":"svc"}"#,
                Some(r#"{"id":"u","scopes":[]}"#.to_owned()),
                &*no_grant,
            ),
            (
                "AT-360",
                "{}",
                Some(r#"{"id":"u"}"#.to_owned()),
                &*Denial::UnreadableIdentity.message(),
            ),
            ("AT-361", "{}", Some(r#"{"id":"u","scopes":[]}"#.to_owned()), "allowed"),
        ] {
            assert_eq!(decide(rules, identity.as_deref(), Resource::Any), expected, "{id}");
        }
    }

    #[test]
    fn an_id_is_compared() {
        let rules = r#"{"resourceType":"project","resourceAction":"read"}"#;
        let identity =
            r#"{"id":"u","scopes":[],"resources":{"project:a:b":["read"],"project:":["read"]}}"#;
        for (resource, expected) in [
            (Resource::Id("a:b"), "allowed"),
            (Resource::Id(""), "allowed"),
            (Resource::Id("a"), "the resource is not granted"),
            (Resource::Id("b"), "the resource is not granted"),
            (Resource::Unnamed, "the input does not name the resource"),
            (Resource::Any, "allowed"),
        ] {
            assert_eq!(decide(rules, Some(identity), resource), expected, "{resource:?}");
        }
        let action = r#"{"resourceAction":"read"}"#;
        assert_eq!(decide(action, Some(identity), Resource::Id("a:b")), "allowed");
        assert_ne!(decide(action, Some(identity), Resource::Id("c")), "allowed");
    }

    #[test]
    fn what_is_not_an_access_control_is_none() {
        for text in [
            "[]",
            r#"{"requiredScopes":"a"}"#,
            r#"{"requiredScopes":[1]}"#,
            r#"{"requiredScope":["a"]}"#,
            r#"{"resourceType":""}"#,
            r#"{"customAuth":"x"}"#,
        ] {
            assert_eq!(access(text), None, "{text}");
        }
        let nulls = r#"{"requiredScopes":[],"requiredScopesAny":null,"resourceType":null}"#;
        assert_eq!(access(nulls), Some(AccessControl::default()));
    }

    /// AT-360 and AT-361.
    #[test]
    fn what_is_not_an_identity_is_unreadable() {
        for text in [
            "3",
            "{}",
            r#"{"scopes":[]}"#,
            r#"{"id":1,"scopes":[]}"#,
            r#"{"id":"u","scopes":null}"#,
            r#"{"id":"u","scopes":[1]}"#,
            r#"{"id":"u","scopes":[],"resources":[]}"#,
            r#"{"id":"u","scopes":[],"resources":{"a:b":"read"}}"#,
        ] {
            assert_eq!(Caller::read(Some(text)), Caller::Unreadable, "{text}");
        }
        let nulls = Caller::read(Some(r#"{"id":"u","scopes":[],"resources":null}"#));
        assert_eq!(nulls, Caller::Known(Identity::default()));
        assert_eq!(Caller::read(None), Caller::Nobody);
    }

    /// AT-053 and AT-054.
    #[test]
    fn details_name_the_scopes() {
        let rules = access(r#"{"requiredScopes":["a","b"]}"#).unwrap();
        assert_eq!(
            Denial::NoIdentity.details("ns.op", &rules),
            r#"{"operationId":"ns.op","requiredScopes":["a","b"]}"#
        );
        let missing = Denial::MissingScope("b".to_owned());
        assert_eq!(missing.details("ns.op", &rules), r#"{"requiredScopes":["a","b"]}"#);
    }
}
