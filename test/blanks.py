"""Tests in a folder whose path has blanks: RUN lines do not quote, so they see it through a link whose path has none."""
import atexit
import os
import shutil
import tempfile

import lit.formats


def without_blanks(path):
    """A link to `path` for as long as lit runs, or `path` itself when it has no blanks."""
    if len(path.split()) == 1:
        return path
    folder = tempfile.mkdtemp(prefix="tilec-test-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = os.path.join(folder, "link")
    os.symlink(path, link)
    return link


class Format(lit.formats.ShTest):
    """Tests whose %s and %t stand in the folders given. In a module of its own, since lit sends it to its workers."""

    def __init__(self, source_root, exec_root):
        super().__init__(execute_external=False)
        self.roots = source_root, exec_root

    def execute(self, test, lit_config):
        test.suite.source_root, test.suite.exec_root = self.roots
        return super().execute(test, lit_config)
