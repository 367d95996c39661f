"""The Java that Spark runs on.

python tests/java.py     installs Debian's package if there is no Java
"""

import os
import shutil

BY_HAND = "install Java 17 or newer by hand and put it on the PATH, or name its folder in the variable JAVA_HOME"


def installed():
    """Whether Spark finds a Java."""
    return "JAVA_HOME" in os.environ or shutil.which("java") is not None


if __name__ == "__main__" and not installed():
    from debian import install

    install("openjdk-17-jre-headless", BY_HAND)
