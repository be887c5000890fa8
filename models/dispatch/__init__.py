"""The dispatch problem: jobs of a supercomputer under a power cap.

Instance, schedule and audit; formulations need Pyomo or OR-Tools and are imported from their own
modules, so that reading and auditing files stays quick.
"""

from models.dispatch.audit import DispatchAuditReport, audit
from models.dispatch.instance import (
    DispatchInstance,
    Job,
    Node,
    load_instance,
    save_instance,
)
from models.dispatch.reach import pack_job
from models.dispatch.schedule import (
    DispatchSchedule,
    JobSchedule,
    build_schedule,
    load_schedule,
    save_schedule,
    weighted_queue_time,
)

__all__ = [
    "DispatchAuditReport",
    "DispatchInstance",
    "DispatchSchedule",
    "Job",
    "JobSchedule",
    "Node",
    "audit",
    "build_schedule",
    "load_instance",
    "load_schedule",
    "pack_job",
    "save_instance",
    "save_schedule",
    "weighted_queue_time",
]
