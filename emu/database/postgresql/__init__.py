"""PostgreSQL: connections that can be interrupted, transactions, migrations, and errors.

Only this package imports the driver, psycopg, besides the bus over PostgreSQL.
"""

from emu.database.postgresql.database import PostgresqlDatabase

__all__ = ["PostgresqlDatabase"]
