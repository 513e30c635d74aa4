"""The reference client, a part of the contract in each file."""
