"""The contract as types: operations, outcomes, reasons, profiles, cases, and the rules."""
