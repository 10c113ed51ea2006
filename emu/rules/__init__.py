"""The rules of the game as pure functions: formulas, prices, shares, and who may do what.

They take numbers, and a `Random` where chance decides, and return values. They know nothing of the
world, so that a table of cases tests each. A function that answers whether somebody may do
something returns the text of the refusal, or None.
"""
