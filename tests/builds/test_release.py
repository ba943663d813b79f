"""The requirements of a release are looked at: each fault is told."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from conformance.version import __version__
from tests.builds import release
from tests.builds.release import DoesNotHoldError, require_licences, require_links, require_tag

if TYPE_CHECKING:
    from pathlib import Path

AT_TAG = f"{release.ADDRESS}/blob/v{__version__}"


def wheel(place: Path, page: str, *names: str) -> Path:
    path = place / "lab.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lab.dist-info/METADATA", f"Name: lab\n\n{page}")
        for name in names:
            archive.writestr(f"lab.dist-info/licenses/{name}", "")
    return path


def test_links_to_files_at_the_tag_hold(tmp_path: Path) -> None:
    assert require_links(wheel(tmp_path, f"[a]({AT_TAG}/docs/index.md) [b](https://dev.mysql.com/)")) == 2


@pytest.mark.parametrize("link", ["docs/index.md", f"{AT_TAG}/docs/nothing.md"])
def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, link: str) -> None:
    with pytest.raises(DoesNotHoldError, match=r"not an address|there is no such file"):
        require_links(wheel(tmp_path, f"[a]({link})"))


def test_an_archive_without_its_origins_is_told(tmp_path: Path) -> None:
    require_licences(wheel(tmp_path, "", "LICENSE", "REUSE.toml"))
    with pytest.raises(DoesNotHoldError, match=r"no REUSE\.toml"):
        require_licences(wheel(tmp_path, "", "LICENSE"))


def test_a_tag_of_another_version_is_told() -> None:
    with pytest.raises(DoesNotHoldError, match="expected v"):
        require_tag("v99.0")


def test_two_builds_with_other_bytes_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_repository: Path, folder: Path, *, compiled: bool) -> list[Path]:
        folder.mkdir(parents=True)
        (folder / f"{compiled}.whl").write_text(folder.name)
        return [folder / f"{compiled}.whl"]

    monkeypatch.setattr(release, "build", build)
    with pytest.raises(DoesNotHoldError, match="two builds differ"):
        release.built_twice(tmp_path, tmp_path / "out", compiled=False)
