"""Names in a formula replaced by formulas."""

from __future__ import annotations

from collections.abc import Mapping

from sciharness_publisher.expression import Binary, Call, Expression, Name, Negative


def replaced(tree: Expression, parts: Mapping[str, Expression]) -> Expression:
    """Return the tree with every name of ``parts`` replaced by its tree."""
    if isinstance(tree, Name):
        return parts.get(tree.name, tree)
    if isinstance(tree, Binary):
        return Binary(tree.operator, replaced(tree.left, parts), replaced(tree.right, parts))
    if isinstance(tree, Call):
        return Call(tree.function, replaced(tree.argument, parts))
    if isinstance(tree, Negative):
        return Negative(replaced(tree.operand, parts))
    return tree
