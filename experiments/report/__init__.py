"""The report: one page of HTML, from the results store, that needs nothing beside itself."""
