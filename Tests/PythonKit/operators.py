"""What the admin servers of daemons ask for."""

# For daemons that a test starts itself.
TOKEN = "the-operator-s-token-of-daemons-that-a-test-starts"
ENVIRONMENT = {"TOUCHSYNC_OPERATOR_TOKEN": TOKEN}


def fields(token=TOKEN):
    """The field of a request that presents a token."""
    return {"Authorization": f"Bearer {token}"}
