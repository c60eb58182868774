"""A config on disk: written whole or not at all, only if it is what was seen, and kept in every other way."""

import os
import stat

import pytest

from notes_mcp.faults import EnvironmentFault
from notes_mcp.install import configfile
from notes_mcp.install.configfile import look, write

posix = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "设置 '1'.json"
    file.write_bytes(b"{\r\n}")
    return file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_bytes_from_before_are_kept_beside(config, tmp_path):
    kept = write(look(config), '{"中": 1}\r\n')
    assert config.read_bytes() == '{"中": 1}\r\n'.encode()
    assert kept == tmp_path / "设置 '1'.json.bak-notes-mcp"
    assert kept.read_bytes() == b"{\r\n}"
    assert names(tmp_path) == sorted([config.name, kept.name])


def test_a_later_change_keeps_the_bytes_before_that_change(config):
    write(look(config), "1")
    assert write(look(config), "2").read_bytes() == b"1"


def test_a_new_file_is_made_with_its_folders(tmp_path):
    file = tmp_path / "a" / "b" / "c.json"
    assert look(file).seen is None and look(file).text == ""
    assert write(look(file), "{}") is None
    assert names(file.parent) == ["c.json"]
    assert file.read_bytes() == b"{}"


def test_a_byte_order_mark_stays_and_is_no_text(config):
    config.write_bytes(b"\xef\xbb\xbf{}")
    seen = look(config)
    assert seen.text == "{}"
    write(seen, '{"a": 1}')
    assert config.read_bytes() == b'\xef\xbb\xbf{"a": 1}'
    assert look(config).earlier() == "{}"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o640])
def test_the_mode_stays_and_the_copy_has_it_too(config, mode):
    config.chmod(mode)
    kept = write(look(config), "{}")
    assert [stat.S_IMODE(file.stat().st_mode) for file in (config, kept)] == [mode, mode]


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root can give a file away")
def test_the_owner_stays(config):
    os.chown(config, 12345, 12346)
    kept = write(look(config), "{}")
    assert [(file.stat().st_uid, file.stat().st_gid) for file in (config, kept)] == [(12345, 12346)] * 2


@posix
def test_a_link_stays_a_link_and_its_target_is_written(config, tmp_path):
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    config.rename(dotfiles / "real.json")
    config.symlink_to("dotfiles/real.json")
    kept = write(look(config), "new")
    assert config.is_symlink() and config.read_text() == "new"
    assert names(dotfiles) == ["real.json", "real.json.bak-notes-mcp"]
    assert kept.parent == dotfiles
    assert names(tmp_path) == sorted(["dotfiles", config.name])


@posix
def test_a_link_to_nothing_yet_gets_its_target(tmp_path):
    (tmp_path / "link").symlink_to("real/file.json")
    write(look(tmp_path / "link"), "new")
    assert (tmp_path / "real" / "file.json").read_text() == "new"


@posix
def test_a_link_in_a_circle_is_told(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(EnvironmentFault) as caught:
        look(tmp_path / "circle")
    assert str(tmp_path / "circle") in caught.value.seen


@pytest.mark.parametrize("meanwhile", ["changed", "gone", "linked elsewhere"])
def test_what_was_changed_meanwhile_is_not_overwritten(config, tmp_path, meanwhile):
    seen = look(config)
    (tmp_path / "other").write_bytes(seen.seen)
    if meanwhile == "changed":
        config.write_text("theirs")
    else:
        config.unlink()
    if meanwhile == "linked elsewhere":
        config.symlink_to("other")
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(EnvironmentFault, match="changed since"):
        write(seen, "ours")
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_what_is_changed_in_the_last_instant_is_not_overwritten(config, tmp_path, monkeypatch):
    make = configfile.tempfile.mkstemp

    def make_while_another_saves(**where):
        config.write_text("theirs")
        return make(**where)

    monkeypatch.setattr(configfile.tempfile, "mkstemp", make_while_another_saves)
    with pytest.raises(EnvironmentFault, match="changed since"):
        write(look(config), "ours")
    assert (config.read_text(), names(tmp_path)) == ("theirs", [config.name])


def test_what_came_meanwhile_is_not_overwritten(tmp_path):
    file = tmp_path / "new.json"
    seen = look(file)
    file.write_text("theirs")
    with pytest.raises(EnvironmentFault, match="changed since"):
        write(seen, "ours")
    assert (file.read_text(), names(tmp_path)) == ("theirs", ["new.json"])


def test_a_read_only_file_is_left_alone(config, tmp_path):
    config.chmod(0o444)
    with pytest.raises(EnvironmentFault, match="read-only") as caught:
        write(look(config), "{}")
    assert "--print" in caught.value.fix
    assert names(tmp_path) == [config.name]


@pytest.mark.parametrize("name", ["replace", "fsync"])
def test_a_failure_of_the_disk_leaves_all_as_it_was(config, tmp_path, monkeypatch, name):
    seen = look(config)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(configfile.os, name, full)
    with pytest.raises(EnvironmentFault, match="No space left"):
        write(seen, "new")
    assert (config.read_bytes(), names(tmp_path)) == (b"{\r\n}", [config.name])


def test_a_folder_in_its_place_is_told(tmp_path):
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        look(tmp_path)


@pytest.mark.parametrize("data", [b'{\n"a": "\xff"}', "{\n}".encode("utf-16")])
def test_what_is_not_utf_8_is_told_with_its_line(config, data):
    config.write_bytes(data)
    with pytest.raises(EnvironmentFault, match="not UTF-8") as caught:
        _ = look(config).text
    assert f"line {2 if data[0] == 0x7B else 1}" in caught.value.seen


def test_a_backup_that_is_no_text_is_none(config):
    seen = look(config)
    assert seen.earlier() is None
    seen.backup.write_bytes(b"\xff")
    assert seen.earlier() is None
