"""regard: neural machine translation you can see inside of."""

__version__ = "0.1.0"
