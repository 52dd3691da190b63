"""Access control: authentication by API key, and the request and character limits of each client."""

from __future__ import annotations

from dataclasses import dataclass

from regard.serve.errors import QuotaExceededError, ServeError
from regard.serve.state.keys import KeyLimits
from regard.serve.state.limits import address_subject
from regard.serve.state.server_state import ServerState
from regard.serve.state.store import in_thread

ANYONE = "anyone"  # the owner of glossaries and documents on a server without keys


@dataclass(frozen=True)
class Client:
    """The sender of a request: the subject of its limits, the owner of its glossaries and documents, and its limits."""

    subject: str
    owner: str
    limits: KeyLimits


class AccessControl:
    """Authentication by API key, and the limits of each client."""

    def __init__(self, state: ServerState, *, keys_required: bool, limits: KeyLimits) -> None:
        """`limits` apply to addresses, and to keys without limits of their own."""
        self.state, self.keys_required, self.limits = state, keys_required, limits

    async def authenticate(self, secret: str | None, host: str | None) -> Client:
        """Return the client by its API key, or by its address if keys are not required.

        If keys are required, a request without a valid one gets status 403. If they are not, a key is ignored: clients
        send one because their settings have a field for it.
        """
        if not self.keys_required:
            return Client(address_subject(host), ANYONE, self.limits)
        if not secret:
            raise ServeError(403, "an API key is needed; send it as api_key or in the Authorization header")
        key = await in_thread(self.state.keys.find, secret)
        if key is None:
            raise ServeError(403, "Invalid API key")
        own = key.limits
        quota = self.limits if own.characters is None else own
        limits = KeyLimits(own.per_minute or self.limits.per_minute, quota.characters, quota.period)
        return Client(key.owner, key.owner, limits)

    async def count_request(self, client: Client) -> None:
        """Count one request; raise `ServeError` with status 429 if there were too many in the last minute."""
        if (most := client.limits.per_minute) is not None:
            wait = await in_thread(self.state.limiter.request, client.subject, most)
            if wait is not None:
                message = f"Slowdown: {most:,} requests a minute are allowed"
                raise ServeError(429, message, retry_after=wait, reason="requests")

    async def charge(self, client: Client, characters: int) -> None:
        """Count characters; raise `QuotaExceededError` if there are too many in this day or month."""
        limits = client.limits
        if self._is_counted(client):
            wait = await in_thread(
                self.state.limiter.charge, client.subject, characters, limits.characters, limits.period
            )
            if wait is not None:
                message = f"Slowdown: {limits.characters:,} characters a {limits.period} are allowed"
                raise QuotaExceededError(429, message, retry_after=wait, reason="characters")

    async def refund(self, client: Client, characters: int) -> None:
        """Subtract characters that were not translated after all."""
        if self._is_counted(client):
            await in_thread(self.state.limiter.refund, client.subject, characters, client.limits.period)

    def _is_counted(self, client: Client) -> bool:
        return client.limits.characters is not None or self.keys_required
