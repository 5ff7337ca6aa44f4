"""Kinds of Feishu blocks by number. Source: docx-v1 data structure of blocks; notes 9.2."""

PAGE, TEXT, BULLET, ORDERED, CODE, QUOTE, EQUATION, TODO = 1, 2, 12, 13, 14, 15, 16, 17
CALLOUT, DIVIDER, IMAGE, TABLE, QUOTE_CONTAINER = 19, 22, 27, 31, 34
HEADINGS = range(3, 12)
DEEPEST = 12  # deeper lists and quotes are laid flat: no reader sees that deep, and recursion must end
MEDIA = "feishu-media:"  # before the token of a picture, which has no address that everybody may open

# Blocks that only hold others, read or followed: nothing is missing where they are empty.
HOLDERS = {PAGE, CALLOUT, 24, 25, 32, 33, QUOTE_CONTAINER, 44, 45, 47, 49}
# What a document shows and its blocks do not say: the name for readers.
EMBEDDED = {
    18: "多维表格", 20: "群名片", 21: "流程图", 23: "附件", 28: "小组件", 29: "思维笔记", 30: "电子表格", 35: "任务",
    36: "OKR", 40: "小组件", 41: "Jira 问题", 42: "子页面", 43: "画板", 50: "同步块", 51: "子页面", 52: "AI 模板",
}  # fmt: skip
TEXT_KEYS = {PAGE: "page", TEXT: "text", BULLET: "bullet", ORDERED: "ordered", CODE: "code", QUOTE: "quote"} | {
    EQUATION: "equation", TODO: "todo", 46: "agenda_item_title", **{kind: f"heading{kind - 2}" for kind in HEADINGS},
}  # fmt: skip
# The `language` of code, from 1 on.
_LANGUAGE_WORDS = """
text abap ada apache apex assembly bash csharp cpp c cobol css coffeescript d dart delphi django dockerfile
erlang fortran foxpro go groovy html htmlbars http haskell json java javascript julia kotlin latex lisp logo lua
matlab makefile markdown nginx objectivec openedge php perl postscript powershell prolog protobuf python r rpg
ruby rust sas scss sql scala scheme scratch shell swift thrift typescript vbscript vb xml yaml cmake diff
gherkin graphql glsl properties solidity toml
"""
LANGUAGES = tuple(_LANGUAGE_WORDS.split())
