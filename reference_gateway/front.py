"""What stands between callers and the end points."""

from reference_gateway.admission import Admission
from reference_gateway.body import BodyReader
from reference_gateway.gatewaylog import GatewayLog
from reference_gateway.limits import Limits
from reference_gateway.live_credentials import LiveCredentials
from reference_gateway.metrics import Metrics
from reference_gateway.namespace_quota import NamespaceQuota


class Front:
    """The credentials in force, the log, the metrics, and whatever keeps to the limits.

    `allow_chat_template`: whether callers may bring chat templates of their own (READ-38).
    """

    def __init__(
        self,
        credentials: LiveCredentials,
        log: GatewayLog,
        limits: Limits | None = None,
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
        self._publish()

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
