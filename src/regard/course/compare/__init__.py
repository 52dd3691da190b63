"""Comparison of several systems on the same data, test and budget: plan, train, translate, report."""
