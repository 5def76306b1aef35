use super::super::mask;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Each text and what is left of it.
#[test]
fn forms() {
    for (text, expected) in [
        // Environment.
        ("API_TOKEN=secret-value", "API_TOKEN=[REDACTED]"),
        ("export DB_PASSWORD='two words' next", "export DB_PASSWORD='[REDACTED]' next"),
        ("DB_PASSWORD=\"a\\\"b\" next", "DB_PASSWORD=\"[REDACTED]\" next"),
        ("PW_SECRET='ab'\"cd\"ef next", "PW_SECRET='[REDACTED]' next"),
        ("A_KEY=a,b;c&d next", "A_KEY=[REDACTED] next"),
        ("A_KEY= B=c", "A_KEY= [REDACTED]"),
        ("A_KEY=", "A_KEY="),
        ("A_KEY=\"\" B=c", "A_KEY=\"\" B=c"),
        ("A_KEY=\"\"\"abc\"\"\" x", "A_KEY=\"\"\"[REDACTED]\"\"\" x"),
        ("passphrase=correct horse battery", "passphrase=[REDACTED]"),
        ("[\"API_KEY=a b\",\"PATH=/bin\"]", "[\"API_KEY=[REDACTED]\",\"PATH=/bin\"]"),
        ("{\"cmd\":\"run --token=abc\",\"x\":1}", "{\"cmd\":\"run --token=[REDACTED]\",\"x\":1}"),
        ("[\"API_KEY=\",\"x\"]", "[\"API_KEY=\",\"x\"]"),
        ("CREDENTIALS={\"a\": \"}\", \"b\": [1]} x", "CREDENTIALS=[REDACTED] x"),
        ("process.env[\"API_KEY\"] = 'abc';", "process.env[\"API_KEY\"] = '[REDACTED]';"),
        ("api_key := abc x", "api_key := [REDACTED] x"),
        (":api_key => \"abc\"", ":api_key => \"[REDACTED]\""),
        // JSON.
        (r#"{"token":"abc","x":1}"#, r#"{"token":"[REDACTED]","x":1}"#),
        (r#"{"apiKey" : "a\"b", "x":1}"#, r#"{"apiKey" : "[REDACTED]", "x":1}"#),
        (r#"{"password":12345,"x":1}"#, r#"{"password":"[REDACTED]","x":1}"#),
        (r#"{"nextToken":null,"x":1}"#, r#"{"nextToken":null,"x":1}"#),
        (r#"{"credentials":{"a":["}"]},"x":1}"#, r#"{"credentials":"[REDACTED]","x":1}"#),
        (r#"{"t":"{\"token\":\"abc\",\"x\":1}"}"#, r#"{"t":"{\"token\":\"[REDACTED]\",\"x\":1}"}"#),
        (r#"{"t":"line\nBearer abcdef12"}"#, r#"{"t":"line\nBearer [REDACTED]"}"#),
        (r#"{"required":["token","key"]}"#, r#"{"required":["token","key"]}"#),
        ("{ apiKey: 'abc', x: 1 }", "{ apiKey: '[REDACTED]', x: 1 }"),
        // Headers.
        ("Authorization: Basic YTpi more", "Authorization: [REDACTED]"),
        ("X-Api-Key: abc def", "X-Api-Key: [REDACTED]"),
        ("> Cookie: a=b; c=\"d\", e=f", "> Cookie: [REDACTED]"),
        ("Set-Cookie: id=1; Path=/\r", "Set-Cookie: [REDACTED]\r"),
        (
            "curl -H \"Authorization: Bearer abc\" http://h/",
            "curl -H \"Authorization: [REDACTED]\" http://h/",
        ),
        (
            r#"{"h":"Authorization: Digest a=\"b\", c=\"d\"","x":1}"#,
            r#"{"h":"Authorization: [REDACTED]","x":1}"#,
        ),
        (r#"{"authorization":["Bearer x","y"],"x":1}"#, r#"{"authorization":"[REDACTED]","x":1}"#),
        (r#"["X-Api-Key", "abc", "Host", "h"]"#, r#"["X-Api-Key", "[REDACTED]", "Host", "h"]"#),
        // Query strings.
        ("GET /a?api_key=abc&page=2 HTTP/1.1", "GET /a?api_key=[REDACTED]&page=2 HTTP/1.1"),
        ("/a?page=2&access_token=abc#x", "/a?page=2&access_token=[REDACTED]#x"),
        ("x=1%26password%3Dabc y", "x=1%26password%3D[REDACTED] y"),
        ("https://blob/x?sv=1&sig=ab%2Fc&se=2", "https://blob/x?sv=1&sig=[REDACTED]&se=2"),
        // Flags.
        ("run --token abc --verbose", "run --token [REDACTED] --verbose"),
        ("run --api-key=abc x", "run --api-key=[REDACTED] x"),
        ("run --token --verbose", "run --token --verbose"),
        ("run --no-password x", "run --no-password x"),
        (r#"["--password","abc","-v"]"#, r#"["--password","[REDACTED]","-v"]"#),
        (r#"["--password","-v"]"#, r#"["--password","-v"]"#),
        ("curl -u me:pw http://h", "curl -u me:[REDACTED] http://h"),
        ("curl -ume:pw http://h", "curl -ume:[REDACTED] http://h"),
        ("curl --user \"me:p w\" x", "curl --user \"me:[REDACTED]\" x"),
        ("docker run -u 1000:1000 -p 80:80 x", "docker run -u 1000:1000 -p 80:80 x"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p[REDACTED] db"),
        ("/usr/bin/sshpass -p hunter2 ssh h", "/usr/bin/sshpass -p [REDACTED] ssh h"),
        ("docker login -u me -p hunter2 reg", "docker login -u me -p [REDACTED] reg"),
        ("openssl -pass hunter2", "openssl -pass [REDACTED]"),
        // Tokens.
        ("got Bearer abc123.", "got Bearer [REDACTED]"),
        ("bearer token required", "bearer token required"),
        ("Basic dXNlcjpwYXNz x", "Basic [REDACTED] x"),
        ("Basic authentication failed", "Basic authentication failed"),
        ("token ghp_0123456789abcdefghij.", "token [REDACTED]."),
        ("key sk-ant-api03-0123456789abcdef x", "key [REDACTED] x"),
        ("my-file.ghp_0123456789abcdefghij", "my-file.[REDACTED]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln x", "jwt [REDACTED] x"),
        ("AKIAIOSFODNN7EXAMPLE", "[REDACTED]"),
        ("at/xoxb-1234567890-abcdef/x", "at/[REDACTED]/x"),
        (r#""text":"a\nghp_0123456789abcdefghij""#, r#""text":"a\n[REDACTED]""#),
        // URLs.
        ("postgres://u:p@h/db", "postgres://[REDACTED]@h/db"),
        ("https://tok@h and http://h:80/a@b", "https://[REDACTED]@h and http://h:80/a@b"),
        ("redis://:p@ss@h:1/0", "redis://[REDACTED]@h:1/0"),
        ("amqp://u:p/ss#x@h/v x@y", "amqp://[REDACTED]@h/v x@y"),
        ("https://unpkg.com/react@18", "https://unpkg.com/react@18"),
        ("with token: Bearer abc x", "with token: [REDACTED] x"),
        ("got Bearer Bearer abc x", "got Bearer Bearer [REDACTED] x"),
        // Words that only look like it.
        ("std::key::Foo, monkeys: 3", "std::key::Foo, monkeys: 3"),
        ("KeyError: 'foo'", "KeyError: 'foo'"),
        ("PWD=/home/me", "PWD=/home/me"),
        ("author: me", "author: me"),
    ] {
        assert_eq!(mask(text), expected, "{text}");
        // What is masked stays as it is.
        assert_eq!(mask(expected), expected, "again: {text}");
    }
}

#[test]
fn secrets_over_several_lines() {
    for (text, expected) in [
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[REDACTED]\nb",
        ),
        ("KEY=-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "KEY=[REDACTED]"),
        (
            "\"k\": \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\", \"x\": 1",
            "\"k\": \"[REDACTED]\\n\", \"x\": 1",
        ),
        (
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nMIIE\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\nb",
            "[REDACTED]\nb",
        ),
        ("password: \"one\ntwo\\\"\nthree\" four\nfive", "password: \"[REDACTED]\" four\nfive"),
        ("credentials: {\n  user: 'a',\n  note: '}'\n}\nrest", "credentials: [REDACTED]\nrest"),
        ("{\"token\":\n  \"abc\",\n \"x\": 1}", "{\"token\":\n  \"[REDACTED]\",\n \"x\": 1}"),
        ("run --password\n  abc\nnext", "run --password\n  [REDACTED]\nnext"),
        ("run --password\n--verbose x", "run --password\n--verbose x"),
        ("A_SECRET=abc\\\ndef next\nlast", "A_SECRET=[REDACTED] next\nlast"),
        ("  a_key: |-\n    one\n\n    two\n  b: 1", "  a_key: [REDACTED]\n\n\n\n  b: 1"),
        ("KEY='never closed\nsecret", "KEY='[REDACTED]"),
        ("-----BEGIN PRIVATE KEY-----\nsecret", "[REDACTED]"),
        ("key: [info] went on\nnext", "key: [REDACTED]\nnext"),
    ] {
        assert_eq!(mask(text), expected, "{text}");
    }
}

/// What is never closed is given up after 256 lines or 64 KiB.
#[test]
fn held_secrets_are_bounded() {
    let lines = |count: usize| "line\n".repeat(count);
    let text = format!("password: 'open\n{}shown", lines(255));
    assert_eq!(mask(&text), "password: '[REDACTED]");
    let text = format!("password: 'open\n{}shown", lines(256));
    assert_eq!(mask(&text), "password: '[REDACTED]\nshown");
    let text = format!("password: 'open\n{}\nshown", "x".repeat(70_000));
    assert!(mask(&text).ends_with("\nshown"));
    // The body of an endless private key stays hidden.
    let key = "MIIEowIBAAKCAQEA\n".repeat(400);
    let text = format!("-----BEGIN RSA PRIVATE KEY-----\n{key}ready to serve\nMIIE");
    assert_eq!(mask(&text), "[REDACTED]\nready to serve\nMIIE");
}

/// Nothing that repeats makes the scanner go back: 64 KiB take a fraction of a second, and far
/// longer than the bound if the cost were that of every pair of bytes.
#[cfg(not(target_family = "wasm"))] // It takes the time.
#[test]
fn the_cost_is_linear() {
    for unit in [
        "key ",
        "key=",
        "key='",
        "key:{",
        "key:[\"",
        "--key ",
        "://",
        "://a:b/",
        "://a:b/@",
        "sk-",
        "Basic a",
        "Bearer ",
        "\\\"",
        "\"",
        "'",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "----END ",
        "curl -u ",
        "key=\"\\",
        "\"key\":",
        "?sig=",
        "eyJ",
        "_-",
        "{",
        "a ",
        "\u{e9}",
        "mysql -p",
        "key: Bearer ",
        "--token ",
        "key=\\\n",
        "key:|\n ",
        "\"key\":\n",
    ] {
        let text = unit.repeat(65_536 / unit.len());
        let start = std::time::Instant::now();
        assert!(mask(&text).len() <= text.len() * 12);
        assert!(start.elapsed().as_secs() < 10, "{unit:?}: {:?}", start.elapsed());
    }
}

/// A small generator: the same numbers on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Whatever stands around it, a planted secret does not show.
#[test]
fn planted_secrets_never_show() {
    const NOISE: [&str; 28] = [
        " ",
        "\n",
        "a",
        "key",
        "=",
        ":",
        "{",
        "}",
        "[",
        "]",
        "--",
        "-",
        "token",
        "://",
        "@",
        "/",
        "?",
        "&",
        ",",
        "\\",
        "Bearer ",
        "Basic ",
        "curl",
        " -u ",
        "-----BEGIN PRIVATE KEY-----",
        "é",
        ";",
        "x: ",
    ];
    const PLANTED: [&str; 8] = [
        "API_KEY=S3CR3T ",
        "\"token\":\"S3CR3T\"",
        " --password S3CR3T ",
        " Bearer S3CR3T ",
        " http://u:S3CR3T@h ",
        "\nAuthorization: Digest S3CR3T, S3CR3T\n",
        "?access_token=S3CR3T&",
        " ghp_S3CR3TS3CR3TS3CR3T ",
    ];
    let mut random = Random(1);
    for round in 0..20_000 {
        let mut text = String::new();
        for _ in 0..random.below(12) {
            text.push_str(NOISE[random.below(NOISE.len())]);
        }
        text.push_str(PLANTED[random.below(PLANTED.len())]);
        for _ in 0..random.below(6) {
            text.push_str(NOISE[random.below(NOISE.len())]);
        }
        let masked = mask(&text);
        assert!(!masked.contains("S3CR3T"), "{round}: {text:?} gave {masked:?}");
    }
}
