"""Which way Claude Code signs in, and that of the others nothing reaches the agent."""

from __future__ import annotations

import pytest

from agent_work_orders.agent_executor.claude_sign_in import SignIn

EVERYTHING = {
    "api_key": "key-0123456789",
    "gateway_token": "gateway-0123456789",
    "subscription_token": "subscription-0123456789",
    "aws_region": "eu-west-1",
    "aws_bearer_token": "bearer-0123456789",
    "vertex_region": "europe-west1",
    "vertex_project": "a-project",
}


@pytest.mark.parametrize(
    ("given", "way", "wanted"),
    [
        (
            EVERYTHING | {"bedrock": True},
            "bedrock",
            {
                "CLAUDE_CODE_USE_BEDROCK": "1",
                "AWS_REGION": "eu-west-1",
                "AWS_BEARER_TOKEN_BEDROCK": "bearer-0123456789",
            },
        ),
        (
            EVERYTHING | {"vertex": True},
            "vertex",
            {
                "CLAUDE_CODE_USE_VERTEX": "1",
                "CLOUD_ML_REGION": "europe-west1",
                "ANTHROPIC_VERTEX_PROJECT_ID": "a-project",
            },
        ),
        (EVERYTHING, "gateway", {"ANTHROPIC_AUTH_TOKEN": "gateway-0123456789"}),
        (EVERYTHING | {"gateway_token": ""}, "api_key", {"ANTHROPIC_API_KEY": "key-0123456789"}),
        (
            EVERYTHING | {"gateway_token": "", "api_key": ""},
            "subscription",
            {"CLAUDE_CODE_OAUTH_TOKEN": "subscription-0123456789"},
        ),
        ({"base_url": "http://gateway"}, None, {"ANTHROPIC_BASE_URL": "http://gateway"}),
        ({}, None, {}),
    ],
)
def test_one_way_counts_and_only_its_variables_are_told(
    given: dict[str, str | bool], way: str | None, wanted: dict[str, str]
) -> None:
    sign_in = SignIn(**given)
    assert sign_in.way == way
    assert sign_in.environment() == wanted


def test_who_gave_nothing_is_told_every_way() -> None:
    missing = SignIn().missing() or ""
    for variable in (
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ):
        assert variable in missing
    assert SignIn(base_url="http://gateway").missing() is None
    assert SignIn(subscription_token="subscription-0123456789").missing() is None
