"""What instructions, intrinsics and pure library functions compute, said once.

`integers` and `floats` define the operations on numbers. Everything that computes with numbers (the
machine, the folding of constants in formulas) calls these definitions.
"""
