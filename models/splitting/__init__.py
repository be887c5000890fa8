"""The splitting problem (arXiv 2111.07006): instance, routing, times.

The formulations need Pyomo and are imported from their own modules, so that reading and
auditing files stays quick.
"""

from models.splitting.audit import audit
from models.splitting.instance import (
    Job,
    Layer,
    Link,
    Node,
    SplittingInstance,
    load_instance,
    save_instance,
)
from models.splitting.route import (
    Queues,
    Route,
    completion_time,
    fictitious_completions,
    service_time,
)
from models.splitting.routing import (
    JobRouting,
    SplittingRouting,
    build_routing,
    load_routing,
    routes_of,
    save_routing,
)

__all__ = [
    "Job",
    "JobRouting",
    "Layer",
    "Link",
    "Node",
    "Queues",
    "Route",
    "SplittingInstance",
    "SplittingRouting",
    "audit",
    "build_routing",
    "completion_time",
    "fictitious_completions",
    "load_instance",
    "load_routing",
    "routes_of",
    "save_instance",
    "save_routing",
    "service_time",
]
