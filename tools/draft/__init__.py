"""The drafts rendered as text, HTML and XML, offline; and what checkers say of them, zero or argued."""
