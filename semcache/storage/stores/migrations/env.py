"""Run migrations on the connection, and in the transaction, of the store that is being opened."""

from alembic import context

from semcache.storage.stores import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.METADATA,
    version_table=tables.VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
