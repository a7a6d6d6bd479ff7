"""Operations, outcomes, profiles and states of the model in readable words.

Reports, the doctor, stories of counterexamples and the pipeline say a step in the same words. Each
component has a module for its steps and one for its states. Begin with ``words``: what is common.
"""
