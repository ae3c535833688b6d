"""Runs the pod of a Kubernetes manifest: volumes as a kubelet makes them, and each container with its user,
groups, rights and limits. Sidecars start first, each until its startup probe succeeds."""

import base64
import pathlib
import subprocess
import urllib.error
import urllib.request

import yaml

from engine import Engine, Failed, reached


class Pod:
    def __init__(
        self, engine: Engine, manifest: pathlib.Path, folder: pathlib.Path, network: list, name: str = "pages"
    ):
        """`name` is its Deployment's or DaemonSet's, `folder` holds its volumes; pods of one folder share the node's."""
        documents = list(yaml.safe_load_all(manifest.read_text()))
        self.engine = engine
        self.name = name
        self.folder = folder
        self.network = network
        self.objects = {(document["kind"], document["metadata"]["name"]): document for document in documents}
        makers = ("Deployment", "DaemonSet")
        self.spec = next(
            document["spec"]["template"]["spec"]
            for document in documents
            if document["kind"] in makers and document["metadata"]["name"] == name
        )
        self.group = self.spec["securityContext"]["fsGroup"]
        self.mounts = []

    def start(self) -> None:
        for volume in self.spec["volumes"]:
            self._make_volume(volume)
        # The network and the IPC namespace, which all containers share, belong to a container that does not end.
        self.engine.podman(
            "run",
            "--detach",
            "--name",
            self._id("network"),
            "--ipc",
            "shareable",
            *self.network,
            "debian:12-slim",
            "sleep",
            "infinity",
        )
        for container in self._containers():
            self._run(container)
            if "startupProbe" in container and not self._has_started(container):
                raise Failed(f"{container['name']} does not start: {self.logs(container['name'])}")

    def logs(self, name: str) -> str:
        return self.engine.run("sh", "-c", f"podman logs {self._id(name)} 2>&1")

    def execute(self, name: str, *command: str, **options) -> str:
        return self.engine.podman("exec", self._id(name), *command, **options)

    def kill(self, name: str) -> None:
        """Acts like a container that dies: the pod and its volumes stay."""
        container = next(each for each in self._containers() if each["name"] == name)
        self.engine.podman("kill", self._id(name))
        self.engine.podman("start", self._id(name))
        if not self._has_started(container):
            raise Failed(f"{name} does not start again")

    @property
    def address(self) -> str:
        return self.engine.address_of(self._id("network"))

    @property
    def process(self) -> int:
        """The id of a process in the pod's network."""
        return int(self.engine.podman("inspect", "--format", "{{.State.Pid}}", self._id("network")))

    def end(self) -> None:
        names = [container["name"] for container in reversed(self._containers())]
        for name in [*names, "network"]:
            self.engine.podman("rm", "--force", "--ignore", "--time", "0", self._id(name))
        for mount in self.mounts:
            subprocess.run(["umount", str(mount)], check=True)

    def _containers(self) -> list:
        """All containers, sidecars and those that end first."""
        return self.spec.get("initContainers", []) + self.spec["containers"]

    def _ends(self, container: dict) -> bool:
        """Whether the others wait for its end."""
        return container in self.spec.get("initContainers", []) and "restartPolicy" not in container

    def _id(self, name: str) -> str:
        return f"pod-{name}" if name != "network" else f"pod-{self.name}-network"

    def _make_volume(self, volume: dict) -> None:
        """With fsGroup, a volume and all files created in it belong to that group."""
        path = self.folder / volume["name"]
        if "hostPath" in volume:
            assert volume["hostPath"]["type"] == "DirectoryOrCreate"
            path.mkdir(parents=True, exist_ok=True)  # root's, for all pods
            return
        path.mkdir(parents=True)
        if "emptyDir" in volume:
            self._make_empty_dir(path, volume["emptyDir"] or {})
        elif "configMap" in volume:
            files = self.objects["ConfigMap", volume["configMap"]["name"]]["data"]
            self._write(path, files, volume["configMap"].get("defaultMode", 0o644))
        else:
            secret = volume["secret"]
            held = self.objects["Secret", secret["secretName"]]
            files = held.get("stringData", {}) | {
                name: base64.b64decode(text).decode() for name, text in held.get("data", {}).items()
            }
            self._write(path, files, secret.get("defaultMode", 0o644))

    def _make_empty_dir(self, path: pathlib.Path, options: dict) -> None:
        if options.get("medium") == "Memory":
            size = options["sizeLimit"].removesuffix("i").lower()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], check=True)
            self.mounts.append(path)
        subprocess.run(["chgrp", str(self.group), str(path)], check=True)
        path.chmod(0o2777)

    def _write(self, path: pathlib.Path, files: dict, mode: int) -> None:
        for name, text in files.items():
            (path / name).write_text(text)
            subprocess.run(["chgrp", str(self.group), str(path / name)], check=True)
            (path / name).chmod(mode | 0o040)

    def _run(self, container: dict) -> None:
        rights = container["securityContext"]
        if rights["runAsUser"] == 0 and self.spec["securityContext"].get("runAsNonRoot"):
            raise Failed(f"{container['name']}: container must not run as root")
        options = [f"--{shared}=container:{self._id('network')}" for shared in ("network", "ipc")]
        options += ["--user", f"{rights['runAsUser']}:{rights['runAsGroup']}", "--group-add", str(self.group)]
        options += ["--memory", container["resources"]["limits"]["memory"].removesuffix("i").lower()]
        options += [f"--cap-drop={name}" for name in rights["capabilities"]["drop"]]
        options += [f"--cap-add={name}" for name in rights["capabilities"].get("add", [])]
        if rights["readOnlyRootFilesystem"]:
            options += ["--read-only", "--read-only-tmpfs=false"]
        if not rights["allowPrivilegeEscalation"]:
            options += ["--security-opt", "no-new-privileges"]
        for mount in container["volumeMounts"]:
            access = "ro" if mount.get("readOnly") else "rw"
            options += ["--volume", f"{self.folder / mount['name']}:{mount['mountPath']}:{access}"]
        if not self._ends(container):
            options.append("--detach")
        command = container.get("command", [])
        self.engine.podman("run", "--name", self._id(container["name"]), *options, container["image"], *command)

    def _has_started(self, container: dict) -> bool:
        probe = container["startupProbe"]
        return reached(
            lambda: self._answers(probe["httpGet"]), probe["periodSeconds"] * probe["failureThreshold"]
        )

    def _answers(self, get: dict) -> bool:
        try:
            with urllib.request.urlopen(
                f"http://{self.address}:{get['port']}{get['path']}", timeout=60
            ) as answer:
                return 200 <= answer.status < 400
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
