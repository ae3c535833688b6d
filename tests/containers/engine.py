"""Podman with its own storage, networks and settings in one folder: those of the machine stay untouched."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import time

SETTINGS = """
[containers]
default_ulimits = [{limits}]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
compat_api_enforce_docker_hub = false
[network]
network_config_dir = "{work}/networks"
"""
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{work}/storage"
runroot = "{work}/run"
"""
# A name without a registry refers to an image made here.
REGISTRIES = """
unqualified-search-registries = ["localhost"]
short-name-mode = "disabled"
"""


MOST = 16384  # files, processes


class Failed(Exception):
    pass


class Engine:
    def __init__(self, work: pathlib.Path):
        self.work = work
        self.socket = work / "socket"
        self.service = None
        self.environment = os.environ | {"DOCKER_HOST": f"unix://{self.socket}"}
        for name, text in {
            "CONTAINERS": SETTINGS,
            "CONTAINERS_STORAGE": STORAGE,
            "CONTAINERS_REGISTRIES": REGISTRIES,
        }.items():
            path = work / f"{name.lower()}.conf"
            path.write_text(text.format(work=work, limits=self._limits()))
            self.environment[f"{name}_CONF"] = str(path)

    @staticmethod
    def _limits() -> str:
        """Limits within this process's: Podman's are higher, and root cannot raise its own everywhere."""
        held = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
        limits = {
            name: min(hard, MOST) if (hard := resource.getrlimit(kind)[1]) >= 0 else MOST
            for name, kind in held.items()
        }
        return ", ".join(f'"{name}={limit}:{limit}"' for name, limit in limits.items())

    def run(self, *command: str, folder=None, text=None, fails=False) -> str:
        """The output of the command. Throws Failed with it if the command fails, or should and does not."""
        done = subprocess.run(
            command,
            cwd=folder,
            input=text,
            env=self.environment,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if (done.returncode != 0) != fails:
            raise Failed(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip() + (done.stderr.strip() if fails else "")

    def podman(self, *arguments: str, **options) -> str:
        return self.run("podman", *arguments, **options)

    def add_program(self, name: str, text: str) -> None:
        """Adds a program for the commands of run()."""
        programs = self.work / "programs"
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
        self.environment["PATH"] = f"{programs}:{os.environ['PATH']}"

    def serve(self) -> None:
        """Serves Docker's API, for docker-compose."""
        if self.service:
            return
        self.service = subprocess.Popen(
            ["podman", "system", "service", "--time", "0", f"unix://{self.socket}"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        reached(self.socket.exists)

    def address_of(self, container: str) -> str:
        networks = json.loads(self.podman("inspect", container))[0]["NetworkSettings"]["Networks"]
        return next(iter(networks.values()))["IPAddress"]

    def end(self) -> None:
        if self.service:
            self.service.terminate()
            self.service.wait()
        self.podman("rm", "--all", "--force", "--time", "0")
        self.podman("volume", "prune", "--force")
        self.podman("network", "prune", "--force")
        subprocess.run(["umount", "--quiet", str(self.work / "storage/overlay")], check=False)
        shutil.rmtree(self.work, ignore_errors=True)


def reached(condition, seconds: float = 60) -> bool:
    """Whether the condition comes true in time."""
    end = time.monotonic() + seconds
    while not (is_true := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return is_true
