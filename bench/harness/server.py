"""A PostgreSQL server of the benchmark's own, and psql on it.

A single client and its session are put on one core. Left to itself the kernel has them now on one, now on two, and to wake the
other core takes several times longer than a point select.
"""
import os
import subprocess
import time

SETTINGS = {
    "listen_addresses": "''",
    "shared_preload_libraries": "'pg_doublets'",
    "shared_buffers": "2GB",
    "min_dynamic_shared_memory": "1GB",
    "max_wal_size": "16GB",
    "min_wal_size": "1GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "jit": "off",
    "max_connections": "60",
    "log_min_messages": "fatal",
}


class Server:
    """Started in a folder of its own; `sql` answers the lines that psql -At prints."""

    def __init__(self, bindir, folder, port=54329, settings=None):
        self.bindir, self.folder, self.port = bindir, folder, port
        self.data = os.path.join(folder, "data")
        self.settings = dict(SETTINGS, **(settings or {}))
        self.environment = dict(os.environ, PGHOST=folder, PGPORT=str(port), PGUSER="postgres", PGDATABASE="postgres",
                                PATH=bindir + os.pathsep + os.environ["PATH"])

    def create(self):
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as conf:
            for name, value in self.settings.items():
                conf.write(f"{name} = {value}\n")
            conf.write(f"port = {self.port}\nunix_socket_directories = '{self.folder}'\n")
        self.start()
        self.sql("CREATE EXTENSION pg_doublets")

    def start(self):
        self._run("pg_ctl", "-D", self.data, "-l", os.path.join(self.folder, "server.log"), "-w", "-t", "300", "start")

    def stop(self):
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            self._run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "-t", "300", "stop")

    def pin(self, core):
        """New sessions run on that core, as does who is started with preexec_fn=on_core(core); None: where they like."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
            postmaster = int(file.readline())
        os.sched_setaffinity(postmaster, os.sched_getaffinity(0) if core is None else {core})

    def conninfo(self, schema="public", **settings):
        """For libpq: a session whose links table is the one of this schema."""
        return f"host={self.folder} port={self.port} user=postgres dbname=postgres options='{options(schema, settings)}'"

    def session(self, schema, **settings):
        """The environment of a program of PostgreSQL's that is to see this schema."""
        return dict(self.environment, PGOPTIONS=options(schema, settings))

    def sql(self, text, schema="public"):
        """Run a script; the last lines that it prints, rows with | between columns."""
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=text, text=True,
                              capture_output=True, env=self.session(schema), check=False)
        if done.returncode:
            raise RuntimeError(f"{done.stderr.strip()}\nin schema {schema}: {text[:2000]}")
        return done.stdout.splitlines()

    def value(self, text, schema="public"):
        return self.sql(text, schema)[-1]

    def timed(self, text, schema="public", before=""):
        """Seconds that one statement takes, from inside the server's session."""
        marks = self.sql(f"{before};\nSELECT extract(epoch FROM clock_timestamp());\n{text};\n"
                         "SELECT extract(epoch FROM clock_timestamp());", schema)
        return float(marks[-1]) - float(marks[0])

    def set(self, **settings):
        """Settings of the whole server; in force when this returns."""
        for name, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {name} = {value}")
        self.sql("SELECT pg_reload_conf()")
        time.sleep(0.3)

    def _run(self, program, *arguments):
        # pg_ctl's child keeps what it inherits, so the output must not be a pipe
        log = os.path.join(self.folder, "commands.log")
        with open(log, "a", encoding="utf-8") as out:
            if subprocess.run([os.path.join(self.bindir, program), *arguments], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                              env=self.environment, check=False).returncode:
                raise RuntimeError(f"{program} failed: see {log}")


def last_core():
    return max(os.sched_getaffinity(0))


def on_core(core):
    """For Popen's preexec_fn."""
    return None if core is None else lambda: os.sched_setaffinity(0, {core})


def options(schema, settings):
    words = [f"-c search_path={schema},public"] + [f"-c {name}={value}" for name, value in settings.items()]
    return " ".join(words)
