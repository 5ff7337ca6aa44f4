"""A Feishu/Lark bot that brings a daily digest to the people who subscribed to it."""

__version__ = "0.1.0"
