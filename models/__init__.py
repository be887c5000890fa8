"""What a problem is: instances, solutions with their audit, formulations, the solver engine."""
