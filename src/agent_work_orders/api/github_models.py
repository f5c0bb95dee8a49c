"""Requests and answers about GitHub. The feedback has its document's names (camelCase)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from agent_work_orders.api.models import Answer
from agent_work_orders.api.requests import Sent, Short
from agent_work_orders.errors import BadRequest
from agent_work_orders.work_orders.outgoing.pr_feedback import (
    CHECK_NAME,
    COMMENT_LIMIT_CHARS,
    Feedback,
)

REQUIRED = ("owner", "repo", "prNumber", "sha", "status")


class PrFeedbackRequest(Sent):
    """Feedback on a pull request. All but comment and checkName are needed."""

    owner: Short | None = Field(None, description="Who the repository belongs to")
    repo: Short | None = Field(None, description="Its name")
    prNumber: int | None = Field(None, ge=0, le=2**31 - 1, description="The pull request")  # noqa: N815 - the document's name
    sha: Short | None = Field(None, description="The commit that was looked at")
    status: Literal["success", "failure", "neutral"] | None = None
    comment: Annotated[str, Field(max_length=COMMENT_LIMIT_CHARS)] | None = None
    checkName: Annotated[str, Field(min_length=1, max_length=100)] = Field(  # noqa: N815 - beside prNumber
        CHECK_NAME, description="Name of the check run"
    )

    def feedback(self) -> Feedback:
        """BadRequest `feedback_incomplete` naming what is missing."""
        owner, repo, number, sha, status = (getattr(self, name) for name in REQUIRED)
        if not (owner and repo and number and sha and status):
            missing = [name for name in REQUIRED if not getattr(self, name)]
            raise BadRequest(
                "feedback_incomplete",
                f"Missing: {', '.join(missing)}",
                hint="Add them.",
                field=missing[0],
            )
        return Feedback(
            owner=owner,
            repo=repo,
            number=number,
            sha=sha,
            status=status,
            comment=self.comment or "",
            check_name=self.checkName,
        )


class FeedbackComment(Answer):
    comment_id: int
    url: str


class FeedbackCheck(Answer):
    check_id: int


class PrFeedbackAnswer(Answer):
    message: str
    comment: FeedbackComment | None
    check: FeedbackCheck


class Delivery(Answer):
    n: int = Field(description="In the order of arrival")
    delivery_id: str
    event: str
    received_at: datetime
    attempts: int
    state: Literal["waiting", "handled", "ignored", "failed"]
    why: str
    settled_at: datetime | None
    can_be_retried: bool


class DeliveryAnswer(Answer):
    delivery: Delivery


class DeliveryPage(Answer):
    deliveries: list[Delivery]
