"""Columns that `mask` leaves out until somebody decides: what looks like a name is not published unasked."""

from qidsql.column_roles.table_proposals import proposed_roles
from qidsql.core.tables import PolicyRole, Table
from qidsql.engines.base import Engine
from qidsql.errors import Stopped

NOT_PUBLISHED = (PolicyRole.SENSITIVE, PolicyRole.DIRECT_IDENTIFIER)


def undecided(engine: Engine, table: Table) -> dict[str, str]:
    """The columns that `init` would propose as sensitive or as identifiers, with the reason for leaving them out.

    Queries only the system catalog.
    """
    try:
        proposals = proposed_roles(engine, table)
    except Stopped:
        return {}
    return {
        name: f"proposed as {proposal.role} ({proposal.reason}), undecided; --column {name} searches it too"
        for name, proposal in proposals.items()
        if proposal.role in NOT_PUBLISHED and not proposal.doubt
    }
