"""`python -m cctest`."""

import sys

from cctest.cli.main import main

sys.exit(main())
