"""Named checklists of laws, guidance and agencies: which lines are computed, which a person answers."""
