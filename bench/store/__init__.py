"""Not yet."""


def run(server, records, size, say):
    return []
