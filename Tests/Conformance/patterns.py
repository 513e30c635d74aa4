"""Patterns that JSON is compared with; README.md describes them."""

import re


def mismatch(found, wanted, where="", missing=False):
    """Why a value does not match a pattern; None if it does."""
    if isinstance(wanted, dict) and any(name.startswith("$") for name in wanted):
        return _operator(found, wanted, where, missing)
    if missing:
        return f"{where or '/'} is missing"
    if wanted == "*":
        return None if found is not None else f"{where or '/'} is null"
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return f"{where or '/'} is {short(found)}, not an object"
        for name, pattern in wanted.items():
            fault = mismatch(found.get(name), pattern, f"{where}/{name}", name not in found)
            if fault:
                return fault
        return None
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            return f"{where or '/'} is {short(found)}, not {short(wanted)}"
        for index, (one, pattern) in enumerate(zip(found, wanted)):
            fault = mismatch(one, pattern, f"{where}/{index}")
            if fault:
                return fault
        return None
    if found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
        return f"{where or '/'} is {short(found)}, not {short(wanted)}"
    return None


def _operator(found, wanted, where, missing):
    (name, argument), = wanted.items()
    if name == "$missing":
        return None if missing == argument else f"{where} is {short(found)}; wanted missing: {argument}"
    if name == "$not":
        fails = mismatch(found, argument, where, missing)
        return None if fails else f"{where} is {short(found)}, which it must not be"
    if name == "$any":
        faults = [mismatch(found, one, where, missing) for one in argument]
        return None if None in faults else "; ".join(faults)
    if missing:
        return f"{where or '/'} is missing"
    if name == "$size":
        has_size = len(found or ()) == argument
        return None if has_size else f"{where} has not {argument} members: {short(found)}"
    raise AssertionError(f"unknown operator {name}")


def filled(value, saved):
    """A value of a scenario with `$name` and `${name}` replaced."""
    if isinstance(value, dict):
        return {filled(name, saved): filled(one, saved) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, saved) for one in value]
    if isinstance(value, str):
        if value.startswith("$") and value[1:] in saved:
            return saved[value[1:]]
        return re.sub(r"\$\{(\w+)\}", lambda m: str(saved.get(m[1], m[0])), value)
    return value


def dig(value, path):
    """The member at a path such as `items.0.id`; None if there is none."""
    for step in path.split("."):
        try:
            value = value[int(step) if isinstance(value, list) else step]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def short(value):
    text = str(value)
    return text if len(text) <= 600 else text[:600] + "…"
