"""What stands between callers and the end points: the log, the metrics and the credentials in force."""

from dataclasses import dataclass, field

from reference_gateway.gatewaylog import GatewayLog
from reference_gateway.live_credentials import LiveCredentials
from reference_gateway.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Front:
    """The parts of the gateway's front."""

    credentials: LiveCredentials
    log: GatewayLog
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        credentials, log = self.credentials, self.log
        self.metrics.counters |= {
            "log_lines_lost": ("Lines of the log for which there was no room.", lambda: log.lost),
            "credentials_changes": ("New credentials that came into force.", lambda: credentials.changes),
        }
        self.metrics.gauges["credentials_stale"] = (
            "1 while the credentials file is wrong and the last good one is in force.",
            lambda: float(credentials.problem is not None),
        )
