"""The training problem (arXiv 2108.02917): instance, schedule, audit, formulations.

The formulations need Pyomo and are imported from their own modules
(`models.training.dmlrs`, `.r_dmlrs`, `.dual`, `.slot_program`, `.pooled`), so that reading and
auditing files stays quick.
"""

from models.training.audit import audit
from models.training.instance import Job, Machine, TrainingInstance, load_instance, save_instance
from models.training.schedule import (
    Allocation,
    JobSchedule,
    TrainingSchedule,
    build_schedule,
    load_schedule,
    placements_of,
    save_schedule,
)
from models.training.utility import SigmoidUtility

__all__ = [
    "Allocation",
    "Job",
    "JobSchedule",
    "Machine",
    "SigmoidUtility",
    "TrainingInstance",
    "TrainingSchedule",
    "audit",
    "build_schedule",
    "load_instance",
    "load_schedule",
    "placements_of",
    "save_instance",
    "save_schedule",
]
