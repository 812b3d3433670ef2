"""Totals of a predicted run, by their keys in summary.json."""

OUTCOMES = ["used", "late", "no_step", "unfinished", "dropped", "offline"]



def of(found):
    totals = {
        "rounds": len(found.rows),
        "virtual_seconds": found.world.now / 1e9,
        "chi2": found.learner.chi2(),
        "missing_mass": found.learner.missing_mass(),
        "waste": waste(found.trips),
        "waited.rounds": sum(row["waited_ns"] > 0 for row in found.rows),
    }
    for outcome in OUTCOMES:
        totals[f"outcomes.{outcome}"] = sum(trip.outcome == outcome for trip in found.trips)
    for phase in ("download", "compute", "upload"):
        lost = [trip for trip in found.trips if (trip.outcome, trip.phase) == ("offline", phase)]
        totals[f"losses.offline.{phase}"] = len(lost)
    for metric, value in found.start.items():
        totals[f"start.{metric}"] = value
    for metric, value in found.learner.task.metrics(found.learner.x).items():
        totals[f"metrics.{metric}"] = value
    steps = [trip.tau for trip in found.trips if trip.outcome == "used"]
    if steps:
        totals.update({"tau.min": min(steps), "tau.max": max(steps), "tau.mean": sum(steps) / len(steps)})
    return {**totals, **device_time(found), **latencies(found.trips)}


def waste(trips):
    """Of those who arrived or were lost, the part of computing time that was not used."""
    over = [trip for trip in trips if counts(trip)]
    total = sum(trip.spent["compute"] for trip in over)
    unused = sum(trip.spent["compute"] for trip in over if trip.outcome != "used")
    return unused / total if total else 0.0


def device_time(found):
    """Time of all devices of a class: computing, transferring, away, and the rest idle."""
    totals = {}
    for client, device in enumerate(found.world.devices):
        trips = [trip for trip in found.trips if trip.client == client]
        compute = sum(trip.spent["compute"] for trip in trips)
        transfer = sum(trip.spent["download"] + trip.spent["upload"] for trip in trips)
        away = away_time(device, found.world.now)
        parts = {"compute": compute, "transfer": transfer, "offline": away}
        parts["idle"] = found.world.now - sum(parts.values())
        for part, time in parts.items():
            key = f"time.{device.name}.{part}_seconds"
            totals[key] = totals.get(key, 0) + time / 1e9
    return totals


def away_time(device, end):
    now, away = 0, 0
    while now < end:
        change = device.next_change(now)
        change = end if change is None else min(change, end)
        away += 0 if device.present(now) else change - now
        now = change
    return away


def latencies(trips):
    """Counts and maxima; means and percentiles are of histograms with three digits."""
    past = {"download": ["compute", "upload", "done"], "compute": ["upload", "done"], "upload": ["done"]}
    totals = {}
    for phase, later in past.items():
        times = [trip.spent[phase] for trip in trips if trip.phase in later and counts(trip)]
        add(totals, phase, times)
    back = [trip for trip in trips if trip.phase == "done" and counts(trip)]
    add(totals, "round", [trip.arrived_at - trip.asked_at for trip in back])
    return totals


def counts(trip):
    """Who was heard or lost, not who was on the way at the end."""
    return trip.tau > 0 or trip.outcome == "offline"


def add(totals, name, times):
    totals[f"latency_seconds.{name}.count"] = len(times)
    if times:
        totals[f"latency_seconds.{name}.max"] = max(times) / 1e9
