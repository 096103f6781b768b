"""Every exit code of Driver.h must be expected by exit-codes.test. usage: exit-codes.py ROOT"""
import os
import re
import sys

root = sys.argv[1]
header = open(os.path.join(root, "include/tilec/Driver/Driver.h"), encoding="utf-8").read()
codes = re.findall(r"^  (Exit\w+) = (\d+)", header, re.M)
assert len(codes) >= 7, codes
test = open(os.path.join(root, "test/Driver/exit-codes.test"), encoding="utf-8").read()
expected = set(re.findall(r"^[A-Z]+: .*\bcode (\d+)", test, re.M)) | {"0"}  # a RUN line without `not` expects 0
missing = [f"{name} ({code})" for name, code in codes if code not in expected]
print("\n".join("no test ends with " + m for m in missing) or "every exit code is tested")
