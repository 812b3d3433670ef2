"""Reads numbers back from how the page writes them."""

import re

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def number(text):
    """0.8406, −3, 45 000, 1.5 · 10⁻⁷, 12.5 %, 49 m 58 s, 5.57 MB."""
    text = text.strip().replace("\u202f", "").replace("\u00a0", " ").removeprefix("< ").replace("−", "-")
    if text.endswith("%"):
        return number(text[:-1]) / 100
    if power := re.fullmatch(r"(?:(-?[\d.]+) · )?(-?)10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", text):
        mantissa, sign, exponent = power.groups()
        return float(f"{sign}{mantissa or 1}e{exponent.translate(RAISED)}")
    if parts := re.findall(r"([\d.]+) (ns|µs|ms|s|m|h|d)\b", text):
        seconds = sum(float(value) * SECONDS[unit] for value, unit in parts)
        return -seconds if text.startswith("-") else seconds
    if size := re.fullmatch(r"(-?[\d.]+) (B|kB|MB|GB|TB)", text):
        return float(size[1]) * BYTES[size[2]]
    return float(text)
