"""What GitHub and pipelines ask of us besides webhooks: feedback, and the deliveries that came."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from agent_work_orders.api import github_models as models
from agent_work_orders.api import views
from agent_work_orders.api.request_parts import (
    IdempotencyKey,
    administrator_of,
    caller_of,
    context_of,
    house_of,
)
from agent_work_orders.work_orders import deliveries
from agent_work_orders.work_orders.outgoing import pr_feedback

router = APIRouter(prefix="/api", tags=["github"])

DeliveryId = Annotated[str, Path(max_length=64, description="GUID of a delivery")]
_LOCKS = pr_feedback.Locks()


@router.post("/integrations/github/pr-feedback", response_model=models.PrFeedbackAnswer)
async def give_pr_feedback(
    request: Request,
    body: models.PrFeedbackRequest,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Comment on a pull request and conclude a check on its commit, each once."""
    house, caller = house_of(request), caller_of(request)
    caller.need("operate")
    written = await pr_feedback.give(
        house.context,
        _LOCKS,
        house.settings.github.server_url,
        body.feedback(),
        caller,
        idempotency_key,
    )
    said = {"message": "Feedback posted to GitHub successfully."}
    return views.answer({**said, "comment": None, **written})


@router.get("/deliveries", response_model=models.DeliveryPage)
async def list_deliveries(
    request: Request,
    state: Annotated[Literal["waiting", "handled", "ignored", "failed"] | None, Query()] = None,
    before: Annotated[int | None, Query(ge=0, le=2**53, description="Number of the last")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """Webhook deliveries and what became of them, newest first; never their bodies."""
    administrator_of(request)
    found = await context_of(request).store.deliveries.page(state=state, before=before, limit=limit)
    return views.answer({"deliveries": [views.delivery(one) for one in found]})


@router.get("/deliveries/{delivery_id}", response_model=models.DeliveryAnswer)
async def get_delivery(request: Request, delivery_id: DeliveryId) -> Response:
    """One delivery."""
    administrator_of(request)
    return views.answer(
        {"delivery": views.delivery(await deliveries.find(context_of(request), delivery_id))}
    )


@router.post("/deliveries/{delivery_id}/retry", response_model=models.DeliveryAnswer)
async def retry_delivery(request: Request, delivery_id: DeliveryId) -> Response:
    """Let a failed delivery be handled again."""
    house, caller = house_of(request), administrator_of(request)
    found = await deliveries.retry(house.context, caller, delivery_id)
    house.duties.intake.wake()
    return views.answer({"delivery": views.delivery(found)})
