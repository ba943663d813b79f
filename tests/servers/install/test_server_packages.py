"""Which packages and suites carry the server; tests/servers/ubuntu tries them with real apt."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.apt_sources import Distribution, Source
from conformance.servers.install.server_packages import fits, no_archive, releases_with, server_packages, suites_of

NOBLE = Distribution(id="ubuntu", codename="noble")
NAMED = {"mysql-server-core-8.0": "8.0.46-0ubuntu0.24.04.4", "mysql-client-core-8.0": "8.0.46-0ubuntu0.24.04.4"}
PLAIN = {"mysql-server-core": "8.4.10-0ubuntu0.26.04.1", "mysql-client-core": "8.4.10-0ubuntu0.26.04.1"}
EMPTY = {"mysql-server-core-8.0": "8.4.10-0ubuntu0.26.04.1", "mysql-client-core-8.0": "8.4.10-0ubuntu0.26.04.1"}
OTHERS = {"mysql-server": "8.4.10", "mysql-server-core-dbg": "9.9.9", "mysql-client-core-dbg": "9.9.9"}


@dataclass
class Index:
    versions: dict[str, str]
    architecture: str = "amd64"

    def candidates(self, prefix: str) -> dict[str, str]:
        return {name: version for name, version in self.versions.items() if name.startswith(prefix)}


@pytest.mark.parametrize(
    ("versions", "series"),
    [
        (PLAIN, ""),
        (NAMED, "-8.0"),
        ({**OTHERS, **NAMED}, "-8.0"),
        ({**NAMED, **PLAIN}, ""),
        ({**EMPTY, **PLAIN}, ""),  # empty packages for upgrades, of the same version
        ({**PLAIN, **{f"mysql-{part}-core-26.7": "26.7.0-1" for part in ("server", "client")}}, "-26.7"),
        ({**NAMED, "mysql-server-core-8.4": "8.4.10-1"}, "-8.0"),  # the newer one has no client beside it
        ({**PLAIN, "mysql-server-core": "1:8.4.10-1"}, ""),
    ],
)
def test_the_newest_server_with_its_client_is_taken(versions: dict[str, str], series: str) -> None:
    found = server_packages(Index(versions), "ubuntu", ("noble",))
    assert found == (f"mysql-server-core{series}", f"mysql-client-core{series}")


@pytest.mark.parametrize(
    "versions", [{}, OTHERS, {"mysql-server-core-8.0": "8.0.46-1"}, {**PLAIN, "mysql-server-core": "x"}]
)
def test_without_one_the_release_and_the_architecture_are_named(versions: dict[str, str]) -> None:
    with pytest.raises(
        ServerUnavailable, match=r"^ubuntu noble, noble-updates .* has no MySQL server for armhf"
    ) as error:
        server_packages(Index(versions, "armhf"), "ubuntu", ("noble", "noble-updates"))
    assert "BINLOG_LAB_MIRROR" in error.value.remedy


BOTH = {**PLAIN, **NAMED}


@pytest.mark.parametrize(
    ("versions", "wanted", "series"),
    [
        (BOTH, "8.0", "-8.0"),
        (BOTH, "8.4", ""),
        (BOTH, None, ""),
        (BOTH, "8.0.46-0ubuntu0.24.04.4", ""),  # one version is compared later: apt would take the newest
        (NAMED, "8.0", "-8.0"),
    ],
)
def test_a_series_that_is_wanted_is_taken(versions: dict[str, str], wanted: str | None, series: str) -> None:
    found = server_packages(Index(versions), "ubuntu", ("noble",), wanted)
    assert found == (f"mysql-server-core{series}", f"mysql-client-core{series}")


def test_a_series_that_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(ServerUnavailable) as caught:
        server_packages(Index(BOTH), "ubuntu", ("noble", "noble-updates"), "9.7")
    assert caught.value.missing == (
        "ubuntu noble, noble-updates of the machine's mirror has no MySQL 9.7: "
        "it has 8.0.46-0ubuntu0.24.04.4, 8.4.10-0ubuntu0.26.04.1"
    )
    assert caught.value.remedy == "an image of that series: --server docker:mysql:9.7"


@pytest.mark.parametrize(
    ("version", "wanted", "fitting"),
    [
        ("8.4.10-0ubuntu0.26.04.1", "8.4", True),
        ("8.4.10-0ubuntu0.26.04.1", "8.0", False),
        ("1:8.4.10-1", "8.4", True),
        ("8.40.1-1", "8.4", False),
        ("9.7.4-2", "9.7.4-2", True),
        ("9.7.4-2", "9.7.4-1", False),
        ("9.7.4-2", "9.7.4", False),
        ("9.7.4-2", None, True),
        ("x", "8.4", False),
    ],
)
def test_a_wish_is_one_version_or_a_series(version: str, wanted: str | None, fitting: bool) -> None:
    assert fits(version, wanted) is fitting


def test_other_releases_of_ubuntu_are_looked_at_for_a_series_only() -> None:
    assert releases_with(NOBLE, "8.4") == ("noble", "resolute")
    assert releases_with(NOBLE, "8.0") == ("noble", "jammy")
    assert releases_with(NOBLE, "9.7") == ("noble",)
    assert releases_with(NOBLE, None) == ("noble",)
    assert releases_with(NOBLE, "8.4.10-0ubuntu0.26.04.1") == ("noble",)
    assert releases_with(Distribution(id="debian", codename="bookworm"), "8.4") == ("bookworm",)


def test_of_another_release_those_pockets_are_taken_that_the_machine_takes_of_its_own() -> None:
    source = Source(uri="http://m/x", suites=("noble", "noble-updates", "noble-backports"), components=("main",))
    assert suites_of(source, NOBLE, "resolute") == (("resolute", "resolute-updates"), ("main",))
    assert suites_of(source, Distribution(id="debian", codename="bookworm"), "resolute") == (("sid",), ("main",))


def test_debian_s_server_comes_from_sid_and_ubuntu_s_from_its_own_suites() -> None:
    source = Source(
        uri="http://m/x", suites=("noble", "noble-updates", "noble-backports"), components=("main", "contrib")
    )
    assert suites_of(source, Distribution(id="debian", codename="bookworm")) == (("sid",), ("main",))
    assert suites_of(source, NOBLE) == (("noble", "noble-updates"), ("main",))
    whole = Source(uri="http://m/x", suites=(), components=())
    assert suites_of(whole, NOBLE) == (("noble", "noble-updates", "noble-security"), ("main", "universe"))


def test_a_machine_that_does_not_say_its_release_is_told() -> None:
    with pytest.raises(ServerUnavailable, match=r"which release of Ubuntu this is \(other without a codename\)"):
        suites_of(Source(uri="http://m/x", suites=()), Distribution(id="other", like=("ubuntu",)))


@pytest.mark.parametrize(
    ("here", "words", "whose"),
    [
        (Distribution(id=""), "(unknown)", "Debian"),
        (NOBLE, "(ubuntu noble)", "Ubuntu"),
        (Distribution(id="linuxmint", codename="noble", like=("ubuntu",)), "(linuxmint noble)", "Ubuntu"),
    ],
)
def test_a_machine_without_an_archive_is_told_whose_mirror_it_needs(here: Distribution, words: str, whose: str) -> None:
    error = no_archive(here)
    assert error.missing == f"apt's configuration names no archive of this distribution {words}"
    assert f"{whose}'s archive" in error.remedy
