"""The devices and everybody who is on the way, from instant to instant."""

from fractions import Fraction

from . import traces, units
from .device import SECOND, Device, Span
from .shared import shares


class World:
    def __init__(self, scenario, bits_down, bits_up):
        self.bits_down, self.bits_up = bits_down, bits_up
        self.now = 0
        self.trips = []
        # Clients that are back at this instant and were not heard yet: of several, one after the other.
        self.unheard = set()
        places, self.devices = {}, []
        for keys in scenario.classes():
            place = places.get(keys["name"], 0)
            places[keys["name"]] = place + 1
            recording = traces.replayed(keys["trace"], "file", scenario, place) if "trace" in keys else None
            self.devices.append(Device({**keys, "place": place}, scenario, recording))
        limit = lambda key: Fraction(units.rate(scenario.fleet[key])) / SECOND if key in scenario.fleet else None
        # A download leaves by the server's uplink.
        self.limits = {"down": limit("server_uplink"), "up": limit("server_downlink")}

    def affect(self, clients, kind, value, begin, end):
        for client in clients:
            self.devices[client].spans.append(Span(kind, value, begin, end))

    def busy(self):
        return {trip.client for trip in self.trips} | self.unheard

    def present(self):
        return [client for client, device in enumerate(self.devices) if device.present(self.now)]

    def send(self, trip, company):
        """A client sets out; `company` are asked in the same round, itself included."""
        trip.company = company
        self.trips.append(trip)
        self.enter(trip, "down" if self.limits["down"] is not None else "down wait")

    def enter(self, trip, stage):
        device = self.devices[trip.client]
        if stage.endswith("wait"):
            trip.enter(stage, self.now, wait=device.latency)
        elif stage == "compute":
            trip.enter(stage, self.now, amount=1)
        else:
            trip.enter(stage, self.now, amount=self.bits_down if stage == "down" else self.bits_up)

    def next_time(self):
        times = [trip.due for trip in self.trips]
        times += [trip.closes for trip in self.trips if trip.gives_up and trip.phase == "download"]
        times += [device.next_change(self.now) for device in self.devices]
        for trip in self.trips:
            latency = self.ahead(trip)
            if latency and (change := self.devices[trip.client].next_change(self.now + latency)) is not None:
                times.append(change - latency)
        for trip in self.trips:
            heat = self.devices[trip.client].heat
            if heat and trip.stage == "compute":
                times.append(heat.next_change(self.now))
        return min((time for time in times if time is not None), default=None)

    def advance(self, time):
        """Lets time pass until an instant. Returns those who arrived, gave up or were lost, in order."""
        for trip in self.trips:
            trip.settle(time)
        working = {trip.client for trip in self.trips if trip.stage == "compute"}
        for client, device in enumerate(self.devices):
            if device.heat:
                device.heat.settle(time, client in working)
        self.now = time
        return self.settle()

    def settle(self):
        """Everything that happens at this very instant."""
        ended = self.complete() + self.lose()
        self.allot()
        while any(trip.due == self.now for trip in self.trips):
            ended += self.complete() + self.lose()
            self.allot()
        self.unheard.update(trip.client for trip in ended)
        return sorted(ended, key=lambda trip: trip.tie)

    def complete(self):
        """Stages that are over; several may be at once where one takes no time."""
        for trip in self.trips:
            while trip.stage and trip.due == self.now:
                self.next_stage(trip)
            if trip.stage and trip.phase == "download" and trip.gives_up and trip.closes <= self.now:
                trip.end("no_step", self.now)
        return self.collect()

    def next_stage(self, trip):
        shared = self.limits["down"] is not None
        if trip.stage == ("down wait" if shared else "down"):
            self.another_step(trip)
        elif trip.phase == "download":
            self.enter(trip, "down wait" if shared else "down")
        elif trip.stage == "compute":
            trip.tau += 1
            self.another_step(trip)
        elif trip.stage == "up wait":
            self.enter(trip, "up")
        else:
            trip.end("arrived", self.now)

    def another_step(self, trip):
        if trip.planned is not None and trip.tau >= trip.planned or not self.fits(trip):
            if trip.tau == 0:
                trip.phase = "compute"
                trip.end("no_step", self.now)
            else:
                self.enter(trip, "up wait")
        else:
            self.enter(trip, "compute")

    def fits(self, trip):
        """Whether another step and the upload end by the deadline, at the speeds of now."""
        if trip.deadline is None:
            return True
        device = self.devices[trip.client]
        rate = device.link("up", self.now)
        if self.limits["up"] is not None:
            part = self.limits["up"] / trip.company
            rate = part if rate is None else min(part, rate)
        if rate == 0:
            return False
        upload = device.latency + (units.ceiling(self.bits_up / rate) if rate is not None else 0)
        return self.now + units.ceiling(device.cost(self.now)) + upload <= trip.deadline

    def lose(self):
        """Who is away now, or has lost the link it needs for good."""
        for trip in self.trips:
            device = self.devices[trip.client]
            away = not device.present(self.now) or device.lost(self.now) and trip.asked_at < self.now
            if away or (trip.stage in ("down", "up") and self.cut_off(device, trip)):
                trip.end("offline", self.now)
        return self.collect()

    def cut_off(self, device, trip):
        now = self.now + self.ahead(trip)
        return device.link(trip.stage, now) == 0 and device.ends_for_good(trip.stage, now)

    def collect(self):
        ended = [trip for trip in self.trips if trip.stage is None]
        self.trips = [trip for trip in self.trips if trip.stage is not None]
        return ended

    def ahead(self, trip):
        """What leaves the server now on a shared link comes to the client's own link a latency later."""
        shared = trip.stage == "down" and self.limits["down"] is not None
        return self.devices[trip.client].latency if shared else 0

    def allot(self):
        """Gives everybody the rate at which it goes on."""
        for way, limit in self.limits.items():
            trips = [trip for trip in self.trips if trip.stage == way]
            rates = {trip: self.devices[trip.client].link(way, self.now + self.ahead(trip)) for trip in trips}
            if limit is not None:
                rates = shares(limit, rates)
            for trip in trips:
                self.go_on(trip, rates[trip])
        for trip in self.trips:
            if trip.stage == "compute":
                self.go_on(trip, 1 / self.devices[trip.client].cost(self.now))

    def go_on(self, trip, rate):
        if trip.rate is None or rate is None or trip.rate != rate:
            trip.at_rate(rate, self.now)
