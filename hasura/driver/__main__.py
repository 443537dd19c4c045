"""python3 -m driver: conformance, workload and the rest, on any endpoint.

An endpoint is NAME=TARGET, where TARGET is the URL of an engine with Hasura's API (http://...), or a connection string
of a database, on which an engine's statements are then replayed through libpq."""
import argparse
import json
import os
import sys

from . import conformance, events, http_endpoint, libpq, project, subscriptions, workload, yamlite
from . import report as report_module
from .replay import engine, facts


def endpoint(target):
    if target.startswith(("http://", "https://")):
        return http_endpoint.Endpoint(target, os.environ.get("HASURA_GRAPHQL_ADMIN_SECRET"))
    return engine.Endpoint(target)


def named(text):
    name, _, target = text.partition("=")
    if not target:
        raise argparse.ArgumentTypeError("NAME=TARGET is wanted")
    return name, target


def report(results):
    """Print results as lines "ok" and "not ok"; the exit status."""
    bad = 0
    for what, holds in results:
        print(f"{'ok' if holds else 'not ok'}: {what}", flush=True)
        bad += not holds
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(prog="driver", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("migrate", help="apply the project's migrations to a database")
    p.add_argument("conninfo")
    p.add_argument("--access-method", default="doublets", choices=("doublets", "heap"))
    p.add_argument("--down", action="store_true", help="take them back")
    p.add_argument("--only", action="append", help="only those whose names contain this")
    p.add_argument("--event-triggers", action="store_true", help="also what the event trigger of the metadata leaves")
    p = commands.add_parser("deploy", help="apply migrations to a database and metadata to an engine")
    p.add_argument("url")
    p.add_argument("conninfo")
    p = commands.add_parser("conformance", help="run the cases on one endpoint or compare two")
    p.add_argument("endpoint", nargs="+", type=named)
    p.add_argument("--record", action="store_true", help="write the first endpoint's responses into the cases")
    p.add_argument("--only", help="only files whose names contain this")
    p = commands.add_parser("facts", help="check the replay's statements against the engine's")
    p.add_argument("conninfo")
    p = commands.add_parser("events", help="exercise event triggers (a database with the links migration and them)")
    p.add_argument("conninfo")
    p.add_argument("--rows", type=int, default=1000)
    for name, text in (("live", "live queries beside writers"), ("stream", "streaming subscriptions beside a writer")):
        p = commands.add_parser(name, help=text)
        p.add_argument("target")
        p.add_argument("--seconds", type=float, default=5)
    p = commands.add_parser("yaml", help="check the reader of YAML against the sources that another one read, as JSON")
    p.add_argument("json")
    p = commands.add_parser("workload", help="measure the eight operations on two endpoints")
    p.add_argument("endpoint", nargs="+", type=named)
    p.add_argument("--results", required=True, help="file of results; what it has is not measured again")
    p.add_argument("--sizes", default="1000,10000,100000,1000000")
    p.add_argument("--n", type=int, default=100)
    p.add_argument("--samples", type=int, default=10)
    p.add_argument("--warmups", type=int, default=2)
    p.add_argument("--types", type=int, default=10)
    p.add_argument("--variant", default="links")
    p.add_argument("--operations", default=",".join(workload.OPERATIONS))
    p.add_argument("--note", default="")
    p = commands.add_parser("report", help="write the tables into a README, and draw the charts")
    p.add_argument("results")
    p.add_argument("readme")
    p.add_argument("--charts", help="folder for the charts")
    p = commands.add_parser("standin", help="serve a replay over HTTP, to test this driver")
    p.add_argument("conninfo")
    p.add_argument("--port", type=int, default=0)
    o = parser.parse_args()

    if o.command == "migrate":
        conn = libpq.Connection(o.conninfo)
        project.migrate(conn, o.access_method, "down" if o.down else "up", o.only)
        if o.event_triggers:
            project.event_triggers(conn)
        return 0
    if o.command == "deploy":
        print(project.deploy(o.url, libpq.Connection(o.conninfo)))
        return 0
    if o.command == "conformance":
        return 0 if conformance.run({n: endpoint(t) for n, t in o.endpoint}, o.record, o.only) else 1
    if o.command == "facts":
        differences, compared = facts.check(o.conninfo)
        print("\n".join(differences + [f"{compared - len(differences)} of {compared} statements are the engine's"]))
        return 1 if differences or not compared else 0
    if o.command == "events":
        return report(events.exercise(endpoint(o.conninfo), libpq.Connection(o.conninfo), o.rows))
    if o.command == "live":
        return report(subscriptions.live_queries(lambda: endpoint(o.target), o.seconds))
    if o.command == "stream":
        return report(subscriptions.streams(lambda: endpoint(o.target), o.seconds))
    if o.command == "workload":
        workload.run({n: endpoint(t) for n, t in o.endpoint}, o.results, [int(x) for x in o.sizes.split(",")], o.n, o.samples,
                     o.warmups, o.types, o.variant, o.operations.split(","), o.note)
        return 0
    if o.command == "report":
        report_module.write(o.results, o.readme)
        if o.charts:
            report_module.charts(o.results, o.charts)
        return 0
    if o.command == "yaml":
        same = project.metadata()["sources"] == json.load(open(o.json))["sources"]
        print("same" if same else "not the same")
        return 0 if same else 1
    if o.command == "standin":
        from . import standin
        import threading
        print(f"http://127.0.0.1:{standin.serve(o.conninfo, o.port).server_address[1]}", flush=True)
        threading.Event().wait()
    return 2


if __name__ == "__main__":
    sys.exit(main())
