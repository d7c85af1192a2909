"""Which accesses of an analysed program may race, and the reasons why others cannot."""
