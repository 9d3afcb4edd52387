"""A talk with a model by any endpoint that speaks OpenAI's form: what is asked, what comes back, what is kept."""
