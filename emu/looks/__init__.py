"""What a character looks like, as far as login server and world must agree on it.

How colors and sliders are coded (`coding`), and which number stands for which body (`models`).
"""
