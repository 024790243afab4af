"""What stands between callers and the end points."""

import hmac

from reference_gateway.callers.admission import Admission
from reference_gateway.callers.body import BodyReader
from reference_gateway.callers.limits import Limits
from reference_gateway.callers.live_credentials import LiveCredentials
from reference_gateway.callers.namespace_quota import NamespaceQuota
from reference_gateway.refusal import unauthenticated
from reference_gateway.telemetry.gatewaylog import GatewayLog
from reference_gateway.telemetry.metrics import Metrics


class Front:
    """The credentials in force, the log, the metrics, and whatever keeps to the limits.

    With a `metrics_key`, only whoever sends it as a bearer token sees the metrics. With
    `allow_chat_template`, callers may bring chat templates of their own (READ-38).
    """

    def __init__(
        self,
        credentials: LiveCredentials,
        log: GatewayLog,
        limits: Limits | None = None,
        metrics_key: str | None = None,
        *,
        allow_chat_template: bool = False,
    ) -> None:
        self.credentials = credentials
        self.log = log
        self.limits = limits or Limits()
        self.allow_chat_template = allow_chat_template
        self.metrics = Metrics()
        self.admission = Admission(self.limits)
        self.bodies = BodyReader(self.limits)
        self.namespaces = NamespaceQuota(self.limits)
        self._metrics_key = metrics_key
        self._publish()

    def authorize_scrape(self, authorization: str) -> None:
        """Let in whoever may see the metrics. Raises RefusalError (401)."""
        expected = f"Bearer {self._metrics_key}".encode()
        if self._metrics_key is not None and not hmac.compare_digest(expected, authorization.encode()):
            raise unauthenticated("the metrics need their own key as a bearer token")

    def _publish(self) -> None:
        self.metrics.counters |= {
            "log_lines_lost": ("Lines of the log that couldn't be written.", lambda: self.log.lost),
            "credentials_changes": (
                "New credentials that came into force.",
                lambda: self.credentials.changes,
            ),
        }
        self.metrics.gauges |= {
            "credentials_stale": (
                "1 while the credentials file is wrong and the last good one is in force.",
                lambda: float(self.credentials.problem is not None),
            ),
            "large_bodies_bytes": ("Bytes in large bodies under way.", lambda: self.bodies.held),
        }
