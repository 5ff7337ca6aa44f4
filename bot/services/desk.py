"""The editors' desk: everything they are asked, told and able to do about editions, and its one regular look."""

import logging
from dataclasses import dataclass
from datetime import datetime

from bot.domain.errors import UsageError
from bot.services.correct import Corrector
from bot.services.publish import Publisher
from bot.services.receipt import Receipts
from bot.services.resend import Resender
from bot.services.review import Reviewer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts of editors' work. Each looks into the database alone: any process may do it, and do it again."""

    publisher: Publisher
    reviewer: Reviewer
    receipts: Receipts
    resender: Resender
    corrector: Corrector

    async def tick(self, now: datetime) -> None:
        """Ask, remind, tell; and what somebody has just approved goes out, if its hour has come."""
        if await self.reviewer.tick(now):
            try:
                await self.publisher.publish_due(now)
            except UsageError as exc:
                log.warning("publish_refused", extra={"reason": str(exc)})
        await self.receipts.tick(now)
        await self.corrector.tick(now)
