-- The load of the benchmark, for wrk: one request again and again, or the lines of a file one after the other.
-- Arguments: a file with one request body a line, the line to begin at, and "tell" to count outcomes by Cache-Status.

local counts = { "exact", "semantic", "missed", "failed" }
local workers = {}

function setup(thread)
  table.insert(workers, thread)
end

function init(args)
  local bodies = {}
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer sk-bench"
  for _, name in ipairs(counts) do
    _G[name] = 0
  end
  for line in io.lines(args[1]) do
    table.insert(bodies, wrk.format(nil, nil, nil, line))
    wrk.body = wrk.body or line
  end
  if #bodies > 1 then
    local at = tonumber(args[2]) % #bodies
    request = function()
      at = at % #bodies + 1
      return bodies[at]
    end
  end
  if args[3] == "tell" then
    response = function(status, headers, _)
      local said = headers["cache-status"] or ""
      if status ~= 200 then
        failed = failed + 1
      elseif said:find("detail=semantic", 1, true) then
        semantic = semantic + 1
      elseif said:find("detail=exact", 1, true) then
        exact = exact + 1
      else
        missed = missed + 1
      end
    end
  end
end

function done(summary, latency, _)
  local parts = {}
  for _, name in ipairs(counts) do
    local total = 0
    for _, worker in ipairs(workers) do
      total = total + worker:get(name)
    end
    table.insert(parts, string.format('"%s":%d', name, total))
  end
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"p50":%.1f,"p99":%.1f,"requests":%d,"seconds":%.6f,"errors":%d,%s}\n',
    latency:percentile(50), latency:percentile(99), summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout, table.concat(parts, ",")))
end
