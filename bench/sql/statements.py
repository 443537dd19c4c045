"""Transactions a second of each statement, on each table in turn."""
import collections

from sql import checks, pgbench, scripts
from sql.scripts import BY_NAME
from sql.variants import VARIANTS, create, fill, same_everywhere

Conditions = collections.namedtuple("Conditions", "links types unlogged clients synchronous rows")


class Statements:
    """One set of tables with the same links, and the statements that are timed on them."""

    def __init__(self, server, records, plan, links, types, unlogged, say):
        self.server, self.records, self.plan, self.say = server, records, plan, say
        self.links, self.types, self.unlogged = links, types, unlogged
        self.schemas = {variant: variant for variant in VARIANTS}
        self.turn = 0
        for variant, schema in self.schemas.items():
            create(server, variant, schema, unlogged)
            fill(server, schema, links, types)
        same_everywhere(server, self.schemas.values(), "after loading")
        server.sql("CHECKPOINT")

    def measure(self, names, clients=1, synchronous=False):
        """Time these statements; reads should come before writes, whose updates move targets."""
        for name in names:
            script = BY_NAME[name]
            steps = [script] + ([BY_NAME[script.undo]] if script.undo else [])
            for step in steps:
                checks.check(self.server, list(self.schemas.values()), step, scripts.constants(self.links, self.types))
            count = self._calibrate(script, clients, synchronous)
            self.say(f"  {name}: {count} transactions, {clients} clients")
            for _ in range(self.plan.repeats):
                self.turn += 1
                order = list(self.schemas)
                order = order[self.turn % len(order):] + order[:self.turn % len(order)]
                for variant in order:
                    self._steps(variant, steps, count, clients, synchronous)
                if script.writes:
                    same_everywhere(self.server, self.schemas.values(), "after " + name)

    def _constants(self, clients, written):
        return scripts.constants(self.links, self.types, clients, self.links, written)

    def _settings(self, synchronous):
        return {"synchronous_commit": "on" if synchronous else "off"}

    def _calibrate(self, script, clients, synchronous):
        """How many transactions take the planned time on heap; the same number then runs on all."""
        probe = clients * (40 if script.rows == 1 else 4)
        if script.name.startswith(("count(*)", "all rows", "Hasura")):
            probe = clients * 2
        schema = self.schemas["heap"]
        text = script.pgbench(self._constants(clients, None))
        # the first transactions read the catalogs and plan: they are left out
        done = pgbench.run(self.server, schema, text, clients, transactions=probe, settings=self._settings(synchronous))
        if script.undo:
            self.server.sql(f"DELETE FROM links WHERE id > {self.links}; VACUUM links", schema)
        elif script.writes:
            for other in list(self.schemas.values())[1:]:
                pgbench.run(self.server, other, text, clients, transactions=probe, settings=self._settings(synchronous))
        late = done.done[len(done.done) // 2:]
        one = sum(t for _, t in late) / len(late) / 1e6
        count = int(self.plan.seconds * clients / one) // clients * clients
        return min(max(count, clients * 3), self.plan.most)

    def _steps(self, variant, steps, count, clients, synchronous):
        schema = self.schemas[variant]
        if steps[0].writes:
            self.server.sql(f"SELECT setval('links_id_seq', {self.links})", schema)
        for step in steps:
            text = step.pgbench(self._constants(clients, count * step.rows))
            run = pgbench.run(self.server, schema, text, clients, transactions=count, settings=self._settings(synchronous))
            self.records.add("sql", step.name, variant, run.per_second(self.plan.discard) * step.rows * step.repeat,
                             "rows/s" if step.rows > 1 else "statements/s", higher=True, links=self.links, types=self.types,
                             logged=not self.unlogged, clients=clients, synchronous_commit=synchronous)
        if steps[0].writes:
            self.server.sql("VACUUM links", schema)
