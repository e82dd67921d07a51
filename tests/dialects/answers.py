"""Strategies that draw whole answers of each dialect, as the APIs write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

texts = st.text(max_size=30) | st.text(alphabet="ab \n\r é漢😀\u2028", max_size=400)
some_text = texts.filter(bool)
ids = st.text(alphabet="abc019_", min_size=1, max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(ids, scalars, max_size=3)
counts = st.integers(0, 10**6)
inputs = st.dictionaries(texts, values | st.floats(allow_nan=False, allow_infinity=False), max_size=4)


def usage(prompt: str, completion: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {prompt: counts, completion: counts, f"{prompt}_details": st.fixed_dictionaries({"cached_tokens": counts})}
    )


tokens = st.builds(
    lambda t, p: {"token": t, "logprob": p, "bytes": list(t.encode()), "top_logprobs": []}, texts, st.floats(-9, 0)
)


@st.composite
def chat_choices(draw: st.DrawFn, index: int) -> dict[str, Any]:
    content = draw(st.none() | texts)
    message: dict[str, Any] = {"role": "assistant", "content": content}
    message |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "refusal": st.none() | texts,
                "reasoning_content": st.none() | texts,
                "reasoning": texts,
                "annotations": st.just([]),
                "tool_calls": st.none()
                | st.lists(
                    st.builds(
                        lambda call, name, arguments: {
                            "id": call,
                            "type": "function",
                            "function": {"name": name, "arguments": arguments},
                        },
                        ids,
                        ids,
                        texts,
                    ),
                    max_size=3,
                ),
                "vendor_note": values,
            },
        )
    )
    choice: dict[str, Any] = {
        "index": index,
        "message": message,
        "finish_reason": draw(st.sampled_from(["stop", "tool_calls"])),
    }
    kind = draw(st.integers(0, 3))
    if kind == 1:
        choice["logprobs"] = None
    elif kind == 2:
        choice["logprobs"] = {"content": draw(st.none() | st.lists(tokens, max_size=6)), "refusal": None}
    elif kind == 3 and content:
        size = draw(st.integers(1, 30))
        cut = [content[at : at + size] for at in range(0, len(content), size)]
        choice["logprobs"] = {"content": [{"token": piece, "logprob": -0.5} for piece in cut], "refusal": None}
    if draw(st.booleans()):
        choice["stop_reason"] = draw(values)
    return choice


@st.composite
def chat_answers(draw: st.DrawFn) -> dict[str, Any]:
    answer = {
        "id": draw(ids),
        "object": "chat.completion",
        "created": draw(counts),
        "model": draw(ids),
        "choices": [draw(chat_choices(index)) for index in range(draw(st.integers(1, 3)))],
    }
    extra = {
        "usage": usage("prompt_tokens", "completion_tokens"),
        "system_fingerprint": st.none() | ids,
        "x_vendor": values,
    }
    return answer | draw(st.fixed_dictionaries({}, optional=extra))


@st.composite
def completion_answers(draw: st.DrawFn) -> dict[str, Any]:
    choices = [
        {"text": draw(texts), "index": index, "logprobs": draw(logprobs), "finish_reason": "stop"}
        for index in range(draw(st.integers(1, 3)))
    ]
    answer = {
        "id": draw(ids),
        "object": "text_completion",
        "created": draw(counts),
        "model": draw(ids),
        "choices": choices,
    }
    return answer | draw(st.fixed_dictionaries({}, optional={"usage": usage("prompt_tokens", "completion_tokens")}))


logprobs = st.none() | st.fixed_dictionaries(
    {"tokens": st.lists(texts, max_size=3), "text_offset": st.lists(counts, max_size=3)}
)

citations = st.fixed_dictionaries({"type": st.just("char_location"), "cited_text": texts, "document_index": counts})
blocks = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": texts}, optional={"citations": st.none() | st.lists(citations, max_size=3)}
    ),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": texts, "signature": texts}),
    st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": texts}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["tool_use", "server_tool_use"]), "id": ids, "name": ids, "input": inputs}
    ),
    st.fixed_dictionaries({"type": st.just("vendor_block"), "payload": values}),
)
message_answers = st.fixed_dictionaries(
    {
        "id": ids,
        "type": st.just("message"),
        "role": st.just("assistant"),
        "model": ids,
        "content": st.lists(blocks, max_size=5),
        "stop_reason": st.sampled_from(["end_turn", "tool_use", "stop_sequence"]),
        "stop_sequence": st.none() | texts,
        "usage": usage("input_tokens", "output_tokens"),
    },
    optional={"container": st.none() | st.just({"id": "c"}), "context_management": values, "stop_details": st.none()},
)

annotations = st.fixed_dictionaries(
    {"type": st.just("url_citation"), "url": ids, "title": texts, "start_index": counts, "end_index": counts}
)
part = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("output_text"), "text": texts, "annotations": st.lists(annotations, max_size=2)},
        optional={"logprobs": st.lists(tokens, max_size=2)},
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": texts}),
)
summary = st.fixed_dictionaries({"type": st.just("summary_text"), "text": texts})
thought = st.fixed_dictionaries({"type": st.just("reasoning_text"), "text": texts})


def _numbered(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **item,
            "id": f"item_{position}",
            **({"call_id": f"call_{position}"} if "arguments" in item or "input" in item else {}),
        }
        for position, item in enumerate(items)
    ]


outputs = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "type": st.just("message"),
                "role": st.just("assistant"),
                "status": st.just("completed"),
                "content": st.lists(part, max_size=3),
            }
        ),
        st.fixed_dictionaries(
            {"type": st.just("reasoning"), "summary": st.lists(summary, max_size=2)},
            optional={"content": st.lists(thought, max_size=2), "encrypted_content": st.none() | texts},
        ),
        st.fixed_dictionaries(
            {"type": st.just("function_call"), "name": ids, "arguments": texts, "status": st.just("completed")}
        ),
        st.fixed_dictionaries({"type": st.just("custom_tool_call"), "name": ids, "input": texts}),
        st.fixed_dictionaries({"type": st.just("image_generation_call"), "result": st.none() | texts}),
    ),
    max_size=4,
).map(_numbered)
response_answers = st.fixed_dictionaries(
    {
        "id": ids,
        "object": st.just("response"),
        "created_at": counts,
        "status": st.just("completed"),
        "error": st.none(),
        "model": ids,
        "output": outputs,
        "usage": usage("input_tokens", "output_tokens"),
    },
    optional={"completed_at": st.none() | counts, "vendor": values},
)
