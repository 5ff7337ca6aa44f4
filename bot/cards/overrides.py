"""An operator's card templates: tried on sample cards when the bot starts, so that none fails at the hour of a push."""

import difflib
import json
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import ChoiceLoader, FunctionLoader, Template, TemplateError, TemplateSyntaxError, meta

from bot.cards.render import Card, Limits
from bot.cards.samples import samples
from bot.cards.templates import BrokenTemplateError, CardTemplates, environment, own_loader, tell_broken
from bot.domain.errors import BotError

log = logging.getLogger(__name__)

PARTS = "_"  # what begins so is part of other templates


@dataclass(frozen=True, slots=True)
class _File:
    """One file of the operator's folder, read once."""

    path: Path
    source: str


def approved(folder: Path, names: Collection[str]) -> Mapping[str, Template]:
    """The templates to use instead of the built-in ones called `names`. Whatever is wrong is logged, once a file.

    A shared part comes first: with it every card is made of the operator's files, or of none of them.
    """
    if not folder.is_dir():
        log.warning("template_folder_missing", extra={"folder": str(folder)})
        return {}
    found = dict(_read(folder))
    sound = {name: file for name, file in found.items() if name not in names}
    _warn_of_strays(found, names)
    for name in sorted(set(found) & set(names), key=lambda name: (not name.startswith(PARTS), name)):
        trial = {**sound, name: found[name]}
        try:
            _try(trial, names if name.startswith(PARTS) else (name,), found[name].path)
            sound = trial
        except BrokenTemplateError as error:
            tell_broken(error)
    changed = set(sound) & set(names)
    everything = any(name.startswith(PARTS) for name in changed)
    return _compiled(sound, names if everything else changed)


def _read(folder: Path) -> Iterable[tuple[str, _File]]:
    """Files by name; those in `cards/` win."""
    for place in (folder, folder / "cards"):
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.name.startswith(".") or not path.is_file():
                continue
            try:
                yield path.name, _File(path, path.read_text(encoding="utf-8"))
            except UnicodeDecodeError as error:
                line = error.object[: error.start].count(b"\n") + 1
                tell_broken(BrokenTemplateError(str(path), line, "not UTF-8"))
            except OSError as error:
                tell_broken(BrokenTemplateError(str(path), None, f"cannot be read: {error.strerror}"))


def _warn_of_strays(found: Mapping[str, _File], names: Collection[str]) -> None:
    """A file that overrides nothing, and that no other one asks for."""
    used = {name for file in found.values() for name in _asked_for(file)}
    for name in found.keys() - set(names) - used:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
        extra = {"file": str(found[name].path), "nearest": near[0] if near else None}
        log.warning("template_unknown", extra=extra)


def _asked_for(file: _File) -> set[str]:
    try:
        tree = environment(own_loader()).parse(file.source)
    except TemplateError:
        return set()
    return {name for name in meta.find_referenced_templates(tree) if name}


def _try(files: Mapping[str, _File], names: Collection[str], path: Path) -> None:
    """Make every sample of these templates.

    Raises: BrokenTemplateError naming the place, or at least the file at `path`, which is on trial.
    """
    templates = _compiled(files, names)
    ours = environment(own_loader())
    every = CardTemplates.of({**{name: ours.get_template(name) for name in ours.list_templates()}, **templates})
    for sample in samples():
        if sample.template in names:
            try:
                for card in sample.make(every):
                    _check(card)
            except BrokenTemplateError as error:
                if error.file in {str(one.path) for one in files.values()}:
                    raise
                raise BrokenTemplateError(str(path), None, f"{sample.name}: {error.reason}") from error
            except BotError as error:
                raise BrokenTemplateError(str(path), None, f"{sample.name}: {error}") from error


def _compiled(files: Mapping[str, _File], names: Iterable[str]) -> dict[str, Template]:
    def load(name: str) -> tuple[str, str, None] | None:
        file = files.get(name)
        return None if file is None else (file.source, str(file.path), None)

    made = environment(ChoiceLoader([FunctionLoader(load), own_loader()]))
    try:
        return {name: made.get_template(name) for name in names}
    except TemplateSyntaxError as error:
        raise BrokenTemplateError(error.filename or error.name or "", error.lineno, error.message or "") from error


def _check(card: Card) -> None:
    """What the platform would refuse at once.

    Raises: BotError saying what.
    """
    tree = json.loads(card.body)
    body = tree.get("body")
    if tree.get("schema") != "2.0" or not isinstance(body, dict) or not isinstance(body.get("elements"), list):
        raise BotError('it is no card of schema "2.0" with elements in its body')
    limits = Limits()
    if not card.fits(limits):
        most = f"a card may have {limits.body_bytes:,} and {limits.elements}"
        raise BotError(f"{card.bytes:,} bytes and {card.elements} elements; {most}")
