"""The rules, by what they are about. `refusals` has them all."""
