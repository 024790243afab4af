"""`python -m reference_gateway`."""

import sys

from reference_gateway.cli import main

sys.exit(main())
