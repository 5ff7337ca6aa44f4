"""A series: a named run of editions with its hours and its look."""

from dataclasses import dataclass

from bot.domain.schedule import Hours


@dataclass(frozen=True, slots=True)
class Series:
    """What readers subscribe to. `research_url` is a template with `{title}` and `{url}`; empty means no link."""

    id: str
    name: str
    hours: Hours
    colour: str = "blue"
    community_url: str = ""
    research_url: str = ""
