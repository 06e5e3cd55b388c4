"""predicates"""
