"""Driving an implementation over HTTP through the behavioural rules, as a black box."""
