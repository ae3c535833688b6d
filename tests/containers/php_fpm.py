"""Asks the pages of a php-fpm in a container."""

import json
import subprocess

from engine import Failed


class PhpFpm:
    """php-fpm in a container; its pages are requested through FastCGI."""

    def __init__(self, address: str, within: list):
        self.command = [*within, "/usr/bin/cgi-fcgi", "-bind", "-connect", f"{address}:9000"]

    def listens(self) -> bool:
        return self._request("tags", []).returncode == 0

    def ask(self, *tags: str) -> dict:
        return self._answer("tags", tags)

    def click(self, *clicks: str) -> dict:
        """Whether each is new."""
        answer = self._answer("clicks", clicks)
        if answer["availability"] != "Ready":
            raise Failed(str(answer))
        return answer["new"]

    def _answer(self, page: str, keys) -> dict:
        done = self._request(page, keys)
        headers, _, body = done.stdout.partition("\n\n")
        if not body.startswith("{"):
            raise Failed(f"{self.command}: exit status {done.returncode}: {done.stdout}")
        return json.JSONDecoder().raw_decode(body)[0]

    def _request(self, page: str, keys) -> subprocess.CompletedProcess:
        environment = {
            "SCRIPT_FILENAME": f"/var/www/{page}.php",
            "REQUEST_METHOD": "GET",
            "QUERY_STRING": f"{page}=" + ",".join(keys).replace(" ", "+"),
        }
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
        return subprocess.run(self.command, env=environment, timeout=60, **output)
