"""Checks the pages that `tilec --explain` prints against the compiler.

Usage: pages.py TILEC DIAGNOSTICS.DEF PAGES

Each code of the table has a page PAGES/<code>.md, whose wrong example is the test of the code. A page has two sections,
"## Wrong" and "## Right", each with one block of code:

    ```tile      the file to compile
    ```python    a program that prints the file, for bytes and sizes that no page can hold
    ```sh        a command line, for faults of the command line; it runs in an empty folder with tilec in the PATH

A line "Options: `-x`" gives options, "Also gives: E0001, E0002" names codes that the wrong example cannot be without.
The wrong example must give its own code and no other; the right one compiles without any message.
"""
import os
import re
import subprocess
import sys
import tempfile

tilec, table, pages = sys.argv[1:4]
codes = re.findall(r"^DIAG\((\w+),", open(table, encoding="utf-8").read(), re.M)
assert codes, "no codes in the table"


def run(section, folder):
    """Returns the codes that the example of a section gives, and its output."""
    block = re.search(r"^```(\w+)\n(.*?)^```$", section, re.S | re.M)
    if not block:
        raise ValueError("a section has no block of code")
    language, text = block.groups()
    options = re.search(r"^Options: `(.*)`$", section, re.M)
    environment = dict(os.environ, PATH=os.path.dirname(tilec) + os.pathsep + os.environ["PATH"])
    if language == "sh":
        command = ["sh", "-e", "-c", text]
    else:
        source = text.encode()
        if language == "python":
            source = subprocess.run([sys.executable, "-c", text], check=True, stdout=subprocess.PIPE).stdout
        with open(os.path.join(folder, "example.tile"), "wb") as file:
            file.write(source)
        command = [tilec, "-fsyntax-only", "example.tile"] + (options.group(1).split() if options else [])
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = done.stdout.decode("utf-8", "replace")
    return set(re.findall(r"(?:error|warning|remark)\[([EWR]\d{4})\]: ", output)), done.returncode, output


def check(code):
    path = os.path.join(pages, code + ".md")
    if not os.path.exists(path):
        return [f"{code}: no page"]
    text = open(path, encoding="utf-8").read()
    # E0690 is a defect of tilec: whoever knows an example mends it. E0540 guards stages that Sema shields from sources.
    if code in ("E0540", "E0690"):
        return [] if text.startswith(f"# {code}: ") else [f"{code}: the page wants a title"]
    if not text.startswith(f"# {code}: ") or "\n## Wrong\n" not in text or "\n## Right\n" not in text:
        return [f"{code}: the page wants a title `# {code}: ...` and the sections Wrong and Right"]
    wrong, right = text.split("\n## Wrong\n")[1].split("\n## Right\n")
    problems = []
    allowed = set(re.findall(r"\w+", "".join(re.findall(r"^Also gives: (.*)$", wrong, re.M)))) | {code}
    with tempfile.TemporaryDirectory() as folder:
        found, _, output = run(wrong, folder)
        if code not in found or not found <= allowed:
            problems.append(f"{code}: the wrong example gives {sorted(found)}\n{output}")
    with tempfile.TemporaryDirectory() as folder:
        found, status, output = run(right, folder)
        if found or status:
            problems.append(f"{code}: the right example gives {sorted(found)}, exit code {status}\n{output}")
    return problems


problems = [problem for code in codes for problem in check(code)]
extra = {name[:-3] for name in os.listdir(pages) if name.endswith(".md")} - set(codes)
problems += [f"{code}: a page, but no such code in the table" for code in sorted(extra)]
print("\n".join(problems))
print(f"{len(codes)} codes, {len(problems)} problems")
sys.exit(bool(problems))
