"""Sending rates as a generic cell rate: an interval between sends and a burst that may run ahead of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """Any window of W seconds lets through at most burst + W / interval_s sends."""

    interval_s: float
    burst: float

    @staticmethod
    def within(per_second: int, per_minute: int) -> "Rate":
        """The one rate that keeps both limits: burst + rate = per_second and burst + 60 rate = per_minute."""
        steady = max((per_minute - per_second) / 59, 1 / 60)
        return Rate(1 / steady, max(per_second - steady, 0.0))

    @staticmethod
    def per_receiver(per_second: int) -> "Rate":
        """Evenly spaced, no burst."""
        return Rate(1 / per_second, 0.0)

    def seconds_for(self, sends: int) -> float:
        """How long that many sends take from a rested start."""
        return max(0.0, (sends - self.burst) * self.interval_s)
