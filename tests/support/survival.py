"""A contract whose final labels are computed after its predictor is frozen."""

from __future__ import annotations

SURVIVAL = """\
schema: research-contract-v1
title: Survival
goal: Classify survival.
inputs: [{name: ring, path: ring.json, role: lattice}]
capabilities: [beam.generate, symbolic_regression.search, evaluation.classification]
acceptance: [{metric: balanced_accuracy, op: ">=", value: 0.95, trusted: true}]
holdout: {generated_by: final}
steps:
  - {id: points, use: beam.generate, inputs: {lattice: ring}, with: {role: training}}
  - {id: fit, use: symbolic_regression.search, inputs: {data: points}}
  - {id: final, use: beam.generate, inputs: {lattice: ring, predictor: fit},
     with: {role: evaluation}}
  - {id: judge, use: evaluation.classification, inputs: {predictor: fit, data: final}}
"""
