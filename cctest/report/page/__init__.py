"""A report as one HTML page that needs no network and no script."""
