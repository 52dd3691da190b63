"""Who asks, and whether they may: the API key or the address of a request, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

from regard.serve.problems import ServeError
from regard.serve.state.keys import KeyLimits
from regard.serve.state.limits import CharacterUsage, address_subject
from regard.serve.state.state import ServerState
from regard.serve.state.store import in_thread

ANYONE = "anyone"  # whose glossaries and documents are, on a server without keys


class QuotaError(ServeError):
    """All characters of the period are used. DeepL has a status of its own for it, 456; elsewhere it is 429."""


@dataclass(frozen=True)
class Caller:
    """Who asks: what limits are counted under, to whom glossaries and documents belong, and the limits."""

    subject: str
    owner: str
    limits: KeyLimits


class Callers:
    """Finds out who asks, and counts what they use."""

    def __init__(self, state: ServerState, *, keys_needed: bool, limits: KeyLimits) -> None:
        """`limits` are those of addresses, and of keys that have none of their own."""
        self.state = state
        self.keys_needed = keys_needed
        self.limits = limits

    async def find(self, secret: str | None, host: str | None) -> Caller:
        """The caller by the key that was sent, else by the address.

        Where keys are needed, a request without a valid one ends with 403. Where they are not, a key is not looked at:
        clients send one because their form has a field for it.
        """
        if not self.keys_needed:
            return Caller(address_subject(host), ANYONE, self.limits)
        if not secret:
            raise ServeError(403, "an API key is needed; send it as api_key or in the Authorization header")
        key = await in_thread(self.state.keys.find, secret)
        if key is None:
            raise ServeError(403, "Invalid API key")
        own = key.limits
        of_key = KeyLimits(own.per_minute or self.limits.per_minute, own.characters, own.period)
        if own.characters is None:
            of_key = KeyLimits(of_key.per_minute, self.limits.characters, self.limits.period)
        return Caller(key.owner, key.owner, of_key)

    async def request(self, caller: Caller) -> None:
        """Count one request; 429 where there were too many in the last minute."""
        if caller.limits.per_minute is None:
            return
        verdict = await in_thread(self.state.limiter.request, caller.subject, caller.limits.per_minute)
        if not verdict:
            raise ServeError(
                429,
                f"Slowdown: {caller.limits.per_minute:,} requests a minute are allowed",
                retry_after=verdict.retry_after,
                reason="requests",
            )

    async def spend(self, caller: Caller, characters: int) -> None:
        """Count characters; `QuotaError` where there are too many in this day or month. Where nobody has a limit and
        there are no keys, nothing is counted."""
        limits = caller.limits
        if limits.characters is None and not self.keys_needed:
            return
        verdict = await in_thread(
            self.state.limiter.spend, caller.subject, characters, limits.characters, limits.period
        )
        if not verdict:
            raise QuotaError(
                429,
                f"Slowdown: {limits.characters:,} characters a {limits.period} are allowed",
                retry_after=verdict.retry_after,
                reason="characters",
            )

    async def give_back(self, caller: Caller, characters: int) -> None:
        """Count characters off that were not translated after all."""
        if caller.limits.characters is not None or self.keys_needed:
            await in_thread(self.state.limiter.give_back, caller.subject, characters, caller.limits.period)

    async def usage(self, caller: Caller) -> CharacterUsage:
        return await in_thread(self.state.limiter.usage, caller.subject, caller.limits.period)
