"""Cases with separate brokers and directories."""
import dataclasses
import os
import shutil
import typing

from sites import Site


@dataclasses.dataclass
class Case:
    name: str
    run: typing.Callable  # Takes a Ground; a generator of faults.
    known: dict = dataclasses.field(default_factory=dict)  # Kind of fault that is expected, with its reason.


def case_of(function):
    return Case(function.__name__.replace("_", " "), function)


class Ground:
    """The parent of the sites of cases; each site is removed when its case ends."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.sites, self.kept = [], {}
        self.number = 0

    def place(self):
        self.number += 1
        return os.path.join(self.directory, f"site.{self.number}")

    def site(self, arguments=(), wrapper=()):
        site = Site(self.program, self.place(), arguments, wrapper)
        self.sites.append(site)
        return site

    def copy_of(self, make, arguments=()):
        """Copies a site that is created once for all cases; its broker has ended."""
        if make not in self.kept:
            self.kept[make] = make(self)
            self.sites = [site for site in self.sites if site is not self.kept[make]]
        copy = self.kept[make].copy(self.place(), arguments)
        self.sites.append(copy)
        return copy

    def clear(self):
        for site in self.sites:
            site.kill()
            shutil.rmtree(site.broker.directory, ignore_errors=True)
        self.sites = []

    def leave(self):
        self.clear()
        for site in self.kept.values():
            shutil.rmtree(site.broker.directory, ignore_errors=True)
