"""Mounts of a test process's own, so that tests as root touch no daemon and no /dev/shm of the
machine. Programs started later inherit them; they vanish with the last of these processes.
"""
import ctypes
import os
import stat
from pathlib import Path

from .availability import unavailable

_CLONE_NEWNS = 0x00020000  # linux/sched.h
_MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 32, 0x4000, 1 << 18  # linux/mount.h
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def enter_private_mounts():
    """Moves this process, which must be single-threaded, into a mount namespace of its own.

    Raises OSError where that is not allowed (not root, or a container without CAP_SYS_ADMIN).
    """
    _check(_libc.unshare(_CLONE_NEWNS), "unshare(CLONE_NEWNS)")
    _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "making / private")


def require_private_mounts():
    """enter_private_mounts, or a skip (in CI a failure) where that is not allowed."""
    try:
        enter_private_mounts()
    except OSError as error:
        unavailable(f"needs root and mounts of its own: {error}")


def mount_tmpfs(folder, options="mode=0777"):
    """Mounts an empty tmpfs on folder, which is created; options as of mount(8): "size=64k"."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    result = _libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options.encode())
    _check(result, f"tmpfs on {folder}")


def unmount(folder):
    """Undoes mount_tmpfs."""
    _check(_libc.umount(os.fsencode(folder)), f"umount {folder}")


def make_read_only(folder):
    """Makes a mounted tmpfs read-only: root too gets EROFS from then on."""
    flags = _MS_REMOUNT | _MS_RDONLY
    _check(_libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, None), f"remount {folder}")


def mount_bare_dev():
    """Replaces /dev by one that has the few devices every program needs, and no /dev/shm."""
    names = ("null", "zero", "random", "urandom")
    devices = {name: os.stat(f"/dev/{name}").st_rdev for name in names}
    mount_tmpfs("/dev")
    for name, number in devices.items():
        os.mknod(f"/dev/{name}", stat.S_IFCHR | 0o666, number)
