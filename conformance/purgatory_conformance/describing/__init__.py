"""Operations, outcomes, profiles and states of the model in readable words; ``words`` first."""
