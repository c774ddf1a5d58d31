"""Programs made by drawing intents and resolving them against a model of what is alive."""
