"""Contracts: read, check, plan and pin what a scientist asks for."""
