"""What is in `inside` runs in a network namespace of its own, which test_namespace.py makes."""

import os

collect_ignore = [] if "LANECRYPT_INSIDE_NAMESPACE" in os.environ else ["inside"]
