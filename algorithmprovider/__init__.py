"""algorithmprovider"""
