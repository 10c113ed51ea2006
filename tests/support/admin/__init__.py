"""What tests of the administration ports share: worked examples, snapshots and actors."""
