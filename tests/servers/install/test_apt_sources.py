from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.install.apt_sources import (
    Distribution,
    Source,
    archives,
    parse_deb822,
    parse_one_line,
    parse_os_release,
    read_sources,
)

if TYPE_CHECKING:
    from pathlib import Path

DEBIAN = Distribution(id="debian", codename="bookworm")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deb http://m/d bookworm main", [("http://m/d", ("bookworm",), ("main",), "")]),
        ("  deb\thttp://m/d  bookworm   main contrib # why", [("http://m/d", ("bookworm",), ("main", "contrib"), "")]),
        ("deb [signed-by=/k.gpg arch=amd64] http://m/d sid main", [("http://m/d", ("sid",), ("main",), "/k.gpg")]),
        ("deb [ arch=amd64 Signed-By=/k.gpg ] http://m/d sid main", [("http://m/d", ("sid",), ("main",), "/k.gpg")]),
        ("deb http://m/flat ./", [("http://m/flat", ("./",), (), "")]),
        ("# deb http://m/d bookworm main", []),
        ("#deb http://m/d bookworm main", []),
        ("deb-src http://m/d bookworm main", []),
        ("", []),
        ("deb", []),
        ("deb http://m/d", []),
    ],
)  # fmt: skip
def test_one_line_format(line: str, expected: list[tuple[str, tuple[str, ...], tuple[str, ...], str]]) -> None:
    found = [(source.uri, source.suites, source.components, source.signed_by) for source in parse_one_line(line)]
    assert found == expected


def test_options_about_the_age_of_the_index_are_kept_and_those_that_weaken_other_checks_are_not() -> None:
    (line,) = parse_one_line("deb [check-valid-until=no trusted=yes allow-insecure=yes] http://m/d bookworm main")
    text = "Types: deb\nURIs: http://m/d\nSuites: bookworm\nComponents: main\n"
    (stanza,) = parse_deb822(text + "Trusted: yes\nAllow-Insecure: yes\ncheck-valid-until: no\nCheck-Date: no\n")
    assert line.dates == (("Check-Valid-Until", "no"),)
    assert stanza.dates == (("Check-Valid-Until", "no"), ("Check-Date", "no"))
    assert line.stanza(("sid",), ("main",)) == (
        "Types: deb\nURIs: http://m/d\nSuites: sid\nComponents: main\nCheck-Valid-Until: no\n"
    )


def test_deb822_stanzas_fields_comments_and_continuations() -> None:
    text = """\
# a comment between
Types: deb deb-src
# http://commented/debian
URIs: http://one/debian http://two/debian
suites: bookworm
  bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/k.gpg


Types: deb-src
URIs: http://source/debian
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://off/debian
Suites: bookworm
Components: main
"""
    assert parse_deb822(text) == [
        Source(
            uri=uri,
            suites=("bookworm", "bookworm-updates"),
            components=("main",),
            signed_by="/usr/share/keyrings/k.gpg",
        )
        for uri in ("http://one/debian", "http://two/debian")
    ]


def test_a_key_inside_a_stanza_is_kept_and_written_again() -> None:
    block = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n =abcd\n -----END PGP PUBLIC KEY BLOCK-----"
    text = f"Types: deb\nURIs: http://m/d\nSuites: sid\nComponents: main\nSigned-By:\n {block}\n"
    (source,) = parse_deb822(text)
    assert source.signed_by.splitlines() == [
        "-----BEGIN PGP PUBLIC KEY BLOCK-----",
        "",
        "mQINBF",
        "=abcd",
        "-----END PGP PUBLIC KEY BLOCK-----",
    ]
    assert "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n" in source.stanza(("sid",), ("main",))
    assert parse_deb822(source.stanza(("sid",), ("main",))) == [source]


def test_a_line_that_is_no_field_is_skipped() -> None:
    assert parse_deb822("Types deb\n continued\nURIs: http://m/d\n") == []


def test_files_are_read_in_apt_s_order_and_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://first/debian bookworm main\n")
    (tmp_path / "sources.list.d/b.list").write_text(
        "deb cdrom:[disc]/ bookworm main\ndeb http://third/debian sid main\n"
    )
    (tmp_path / "sources.list.d/a.sources").write_text(
        "Types: deb\nURIs: http://second/debian\nSuites: sid\nComponents: main\n"
    )
    (tmp_path / "sources.list.d/c.list.save").write_text("deb http://saved/debian sid main\n")
    assert [source.uri for source in read_sources(tmp_path)] == [
        "http://first/debian",
        "http://second/debian",
        "http://third/debian",
    ]
    assert read_sources(tmp_path / "nowhere") == []


def test_the_main_archive_is_told_from_security_and_from_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BINLOG_LAB_MIRROR", raising=False)
    sources = [
        Source(uri="https://vendor/apt", suites=("tool-bookworm",), components=("main",)),
        Source(uri="https://vendor/node", suites=("nodistro",), components=("main",)),
        Source(uri="https://vendor/copy", suites=("bookworm",), components=("main",)),
        Source(uri="http://m/debian-security", suites=("bookworm-security",), components=("main",)),
        Source(uri="http://m/debian/", suites=("bookworm", "bookworm-updates"), components=("main",), signed_by="/k"),
        Source(uri="http://m/debian", suites=("bookworm",), components=("contrib",)),
    ]
    assert [source.uri for source in archives(sources, DEBIAN)] == ["http://m/debian/", "https://vendor/copy"]


def test_a_mirror_in_the_environment_is_used_alone_with_the_machine_s_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINLOG_LAB_MIRROR", "http://other/debian")
    machine = Source(uri="http://m/d", suites=("bookworm",), components=("main",), signed_by="/k")
    (alone,) = archives([machine], DEBIAN)
    assert (alone.uri, alone.signed_by) == ("http://other/debian", "/k")
    assert archives([], DEBIAN)[0].signed_by == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ID=debian\nVERSION_CODENAME=bookworm\n", DEBIAN),
        ('ID="ubuntu"\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n', Distribution(id="ubuntu", codename="noble")),
        (
            'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n',
            Distribution(id="linuxmint", codename="noble", like=("ubuntu", "debian")),
        ),
        (
            "ID=linuxmint\nID_LIKE=debian\nVERSION_CODENAME=faye\nDEBIAN_CODENAME=bookworm\n",
            Distribution(id="linuxmint", codename="bookworm", like=("debian",)),
        ),
        ("ID=ubuntu\nUBUNTU_CODENAME=\nVERSION_CODENAME=noble\n", Distribution(id="ubuntu", codename="noble")),
        ("# ID=x\nID=debian\n", Distribution(id="debian")),
        ("", Distribution(id="")),
    ],
)  # fmt: skip
def test_os_release(text: str, expected: Distribution) -> None:
    assert parse_os_release(text) == expected


@pytest.mark.parametrize(
    ("here", "family"),
    [
        (DEBIAN, "debian"),
        (Distribution(id="ubuntu"), "ubuntu"),
        (Distribution(id="pop", like=("ubuntu", "debian")), "ubuntu"),
        (Distribution(id="kali", like=("debian",)), "debian"),
        (Distribution(id=""), "debian"),
    ],
)
def test_whose_archive_a_distribution_uses(here: Distribution, family: str) -> None:
    assert here.family == family


def test_lines_of_one_archive_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BINLOG_LAB_MIRROR", raising=False)
    sources = parse_one_line("""\
deb http://m/ubuntu noble main restricted
deb http://m/ubuntu/ noble-updates main
deb http://m/ubuntu noble universe
deb [signed-by=/other] http://m/ubuntu noble-security main
deb http://s/ubuntu noble-security main
""")
    (found,) = archives(sources, Distribution(id="ubuntu", codename="noble"))
    assert (found.uri, found.signed_by) == ("http://m/ubuntu", "")
    assert (found.suites, found.components) == (("noble", "noble-updates"), ("main", "restricted", "universe"))


def test_names_that_every_debian_has_are_no_release_of_ubuntu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BINLOG_LAB_MIRROR", raising=False)
    chrome = parse_one_line("deb http://vendor/chrome stable main")
    assert archives(chrome, DEBIAN) == chrome
    assert archives(chrome, Distribution(id="ubuntu", codename="noble")) == []


def test_packages_of_a_local_archive_are_copied() -> None:
    local = Source(uri="file:///srv/debian", suites=())
    assert "URIs: copy:///srv/debian\n" in local.stanza(("sid",), ("main",))
    listed = Source(uri="mirror+file:/etc/apt/mirrors.txt", suites=())
    assert "URIs: mirror+file:/etc/apt/mirrors.txt\n" in listed.stanza(("sid",), ("main",))
