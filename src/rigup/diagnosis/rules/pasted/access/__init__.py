"""Who may open a card's nodes."""
