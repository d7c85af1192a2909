"""What instructions, intrinsics and pure library functions compute, said once.

- `operations`: the table, with operands, results and edge cases;
- `concrete`: the definition with numbers, out of `integers`, `floats` and `mathematics`;
- `domain`: what an executor leaves out.

The machine, formulas, abstract values and printed C fill the table in; `tests/semantics` compares
what they compute with the definition, and with native code.
"""
