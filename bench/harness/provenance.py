"""Where and from what a run was made."""
import datetime
import os
import platform
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def _prefixed(name, *command):
    line = first_line(*command)
    return line and f"{name} {line}"


def _cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def provenance(server):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": os.environ.get("BENCH_COMMIT", "unknown"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9),
        "kernel": platform.release(),
        "load_at_start": os.getloadavg()[0],
        "postgresql": server.value("SHOW server_version"),
        "settings": {k: v for k, v in server.settings.items() if k not in ("listen_addresses", "log_min_messages")},
        "redis": first_line("redis-server", "--version"),
        "sqlite": _prefixed("SQLite", os.path.join(HERE, "build", "store"), "--sqlite-version"),
        "gcc": first_line("gcc", "--version"),
        "crate": "doublets crate 0.18.0" if os.environ.get("BENCH_CARGO") else None,
        "cargo": os.environ.get("BENCH_CARGO") or None,
    }
