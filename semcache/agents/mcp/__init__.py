"""Tool results of servers of the Model Context Protocol: a relay between a client and a server that answers calls.

`call_relay` knows messages, `mcp_server` how a server is reached and who asks it, `mcp_sessions` runs sessions over
standard input and output, `mcp_http` over HTTP. All but the first need the package `mcp`.
Invariant: whatever is no call of a tool passes through as it is, and so does every call that is not answered from here.
"""
