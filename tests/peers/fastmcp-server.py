"""A tool server on FastMCP over stdio: structured output, a failing tool, and one that asks."""

from dataclasses import dataclass

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("fastmcp-peer", version="1.0.0")


@dataclass
class Count:
    words: int
    longest: str


@server.tool
def count(text: str) -> Count:
    """Counts words"""
    words = text.split()
    return Count(words=len(words), longest=max(words, key=len, default=""))


@server.tool
def double(n: int) -> int:
    """Doubles a number"""
    return n * 2


@server.tool
def refuse(why: str) -> str:
    """Always fails"""
    raise ToolError(why)


if __name__ == "__main__":
    server.run(transport="stdio", show_banner=False)
