"""Events as the API server gets them: counted, gathered, sent."""
