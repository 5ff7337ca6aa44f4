"""The tags of the card markdown dialect: what each makes of its attributes and of the HTML inside it."""

import html
from collections.abc import Callable, Mapping

from markupsafe import Markup, escape

from bot.sandbox.draw_html import Viewer, hue, link, tag, web_url
from bot.sandbox.local_time import local_datetime

Wrapper = Callable[[Mapping[str, str], list[Markup], Viewer], Markup | None]


def anchor(target: str, parts: list[Markup]) -> Markup | None:
    url = web_url(target)
    return link(url, *parts) if url else None


def picture(image_key: str, alt: str, viewer: Viewer, class_: str = "picture", **size: str | None) -> Markup:
    """The picture where it is known, with `alt` at the mouse, else a box that says what it would show."""
    address = viewer.image_url(image_key)
    if address is None:
        return tag("span", alt or "图片", class_=f"{class_} placeholder", role="img")
    words = escape(alt).striptags()
    return tag("img", class_=class_, src=address, alt=words, title=words or None, loading="lazy", **size)


def _font(attributes: Mapping[str, str], parts: list[Markup], _viewer: Viewer) -> Markup:
    return tag("span", *parts, class_=f"font {hue(attributes.get('color'))}")


def _text_tag(attributes: Mapping[str, str], parts: list[Markup], _viewer: Viewer) -> Markup:
    return tag("span", *parts, class_=f"tag {hue(attributes.get('color'), 'blue')}")


def _at(attributes: Mapping[str, str], parts: list[Markup], viewer: Viewer) -> Markup:
    ids = attributes.get("ids") or attributes.get("id") or attributes.get("user_id") or attributes.get("email") or ""
    names = ["所有人" if one == "all" else viewer.name_of(one) for one in ids.split(",")]
    shown = parts if parts and ids != "all" and ids not in viewer.names else [escape(" @".join(names))]
    return tag("span", "@", *shown, class_="at")


def _person(attributes: Mapping[str, str], _parts: list[Markup], viewer: Viewer) -> Markup:
    return tag("span", viewer.name_of(attributes.get("id", "")), class_="person")


def _a(attributes: Mapping[str, str], parts: list[Markup], _viewer: Viewer) -> Markup | None:
    return anchor(html.unescape(attributes.get("href") or attributes.get("url") or ""), parts)


def _local_datetime(attributes: Mapping[str, str], _parts: list[Markup], _viewer: Viewer) -> Markup:
    return tag("time", local_datetime(attributes.get("millisecond"), attributes.get("format_type", "")))


def _number_tag(_attributes: Mapping[str, str], parts: list[Markup], _viewer: Viewer) -> Markup:
    return tag("span", *parts, class_="number-tag")


WRAPPERS: Mapping[str, Wrapper] = {
    "font": _font,
    "text_tag": _text_tag,
    "at": _at,
    "person": _person,
    "a": _a,
    "link": _a,
    "local_datetime": _local_datetime,
    "number_tag": _number_tag,
}
