"""The reading of a request: its key, conversation, category and eligibility, and the kinds of prompts."""
