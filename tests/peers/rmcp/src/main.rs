//! A tool server on rmcp over stdio: two tools, one with structured output and long integers.

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Terms {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    text: String,
}

struct Peer;

#[tool_router]
impl Peer {
    #[tool(description = "Adds two integers")]
    async fn add(&self, Parameters(terms): Parameters<Terms>) -> Result<Json<Sum>, String> {
        let sum = terms.a.checked_add(terms.b).ok_or("the sum needs more than 64 bits")?;
        Ok(Json(Sum { sum }))
    }

    #[tool(description = "Turns a text around")]
    async fn reverse(&self, Parameters(words): Parameters<Words>) -> String {
        words.text.chars().rev().collect()
    }
}

#[tool_handler]
impl ServerHandler for Peer {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Peer.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
