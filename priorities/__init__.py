"""priorities"""
