"""How much the benches of attacks try: `LIVE_ATTACKS=short` leaves out the loops that take long."""

import os

THOROUGH = os.environ.get("LIVE_ATTACKS", "") != "short"
