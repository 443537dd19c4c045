"""Hasura's statements without Hasura: what engine 2.48 sends to PostgreSQL for a GraphQL request, built from the same
metadata and run through libpq with the same framing (queries prepared, parameters binary, outside a transaction;
mutations in one transaction with literals in the text). It shows what the database does under such an engine. It is
no GraphQL server and nothing measured with it is a measurement of one."""
