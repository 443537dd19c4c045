// Checks a metadata folder of version 3 against the published types of Hasura's metadata: reads the YAML files with
// their includes as the engine's command line does, writes them out as one literal of type Metadata, and has
// TypeScript judge it (unknown keys, missing keys, wrong values). The types of version 3 lack three things that
// the engine documents: insertion_order, checked here, and event triggers and the arguments of computed fields, which
// the types of version 2 have.
//
//   npm ci && node validate.mjs ../metadata [--json FILE]     FILE gets the metadata as JSON
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import YAML from 'yaml';

const here = path.dirname(fileURLToPath(import.meta.url));

function read(file) {
  const expand = (value) => {
    if (typeof value === 'string' && value.startsWith('!include ')) {
      return read(path.join(path.dirname(file), value.slice('!include '.length)));
    }
    if (Array.isArray(value)) return value.map(expand);
    if (value && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, expand(v)]));
    }
    return value;
  };
  return expand(YAML.parse(fs.readFileSync(file, 'utf8')));
}

export function load(dir) {
  const part = (name) => read(path.join(dir, `${name}.yaml`));
  const { actions, custom_types } = part('actions');
  return {
    version: part('version').version,
    sources: read(path.join(dir, 'databases', 'databases.yaml')),
    actions,
    custom_types,
    allowlist: part('allow_list'),
    cron_triggers: part('cron_triggers'),
    inherited_roles: part('inherited_roles'),
    query_collections: part('query_collections'),
    remote_schemas: part('remote_schemas'),
    rest_endpoints: part('rest_endpoints'),
    graphql_schema_introspection: part('graphql_schema_introspection'),
  };
}

// Takes out what the types of version 3 lack; gives it, and complaints.
function takeOut(metadata) {
  const computed = [];
  const triggers = [];
  const errors = [];
  for (const table of metadata.sources.flatMap((s) => s.tables)) {
    for (const r of [...(table.object_relationships ?? []), ...(table.array_relationships ?? [])]) {
      const manual = r.using.manual_configuration;
      if (manual && ![undefined, null, 'before_parent', 'after_parent'].includes(manual.insertion_order)) {
        errors.push(`${table.table.name}.${r.name}: insertion_order: ${manual.insertion_order}`);
      }
      if (manual) delete manual.insertion_order;
    }
    for (const f of table.computed_fields ?? []) {
      computed.push(structuredClone(f));
      f.definition = { function: f.definition.function };
    }
    triggers.push(...(table.event_triggers ?? []));
    delete table.event_triggers;
  }
  return { computed, triggers, errors };
}

function judge(metadata) {
  const file = path.join(here, 'metadata.check.ts');
  const { computed, triggers, errors } = takeOut(metadata);
  const text = "import type { Metadata } from 'hasura-metadata-types';\n"
    + "import { Columns, type ComputedField, type EventTrigger } from '@hasura/metadata';\n"
    + `export const metadata: Metadata['metadata'] = ${JSON.stringify(metadata, null, 2)};\n`
    + `export const computed: ComputedField[] = ${JSON.stringify(computed, null, 2)};\n`
    + `export const triggers: EventTrigger[] = ${JSON.stringify(triggers, null, 2)};\n`
      .replaceAll('"columns": "*"', '"columns": Columns.Empty'); // the enumeration's name for "*"
  const host = ts.createCompilerHost({});
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (name, target) => (name === file ? ts.createSourceFile(name, text, target) : original(name, target));
  host.fileExists = ((exists) => (name) => name === file || exists(name))(host.fileExists.bind(host));
  const program = ts.createProgram([file], {
    noEmit: true, strict: true, skipLibCheck: true, types: [],
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  }, host);
  return errors.concat(ts.getPreEmitDiagnostics(program).map((d) => {
    const at = d.file && d.start !== undefined ? d.file.getLineAndCharacterOfPosition(d.start) : null;
    return `${at ? text.split('\n')[at.line].trim() + ': ' : ''}${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
  }));
}

const args = process.argv.slice(2);
const metadata = load(args[0] ?? path.join(here, '..', 'metadata'));
if (args[1] === '--json') fs.writeFileSync(args[2], JSON.stringify(metadata, null, 1));
const errors = judge(metadata);
for (const error of errors) console.error(error);
console.log(`${metadata.sources[0].tables.length} tables, ${errors.length} errors`);
process.exit(errors.length ? 1 : 0);
