"""Ask about a folder of notes, look at what the model saw, change a file and take that back.

Run it as it is: the sample vault that comes with Sill, and whatever model is configured or found on this
machine. The `# %%` lines make it a notebook in editors that know them.
"""

# %% Open a folder
import shutil
import sys
import tempfile
from pathlib import Path

import sill

source = Path(sill.__file__).parent / "sample" / "vault"
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "vault"
if not folder.exists():
    shutil.copytree(source, folder)
workspace = sill.open(folder)
print(workspace.model)

# %% What would be sent, before anything is
note = workspace.search("plan", mode="text", limit=1)[0].path
chat = workspace.chat(files=[note])
before = chat.plan("What is this note about?")
print(before)

# %% Ask
answer = chat.ask("What is this note about?")
print(answer.text, answer.outcome, answer.certificate)

# %% What the model really saw: the same tokens
if answer.turn is not None:
    window = workspace.explain(answer.turn)
    for item in window.items:
        print(f"{item.fate:8} {item.tokens:6,}  {item.name}  {item.reason}")

# %% A change is a proposal first
proposal = workspace.edit("Add a line with today's weather at the end.", [note])
print(proposal.outcome, proposal.message)
print(proposal.diff)
if proposal.ok:
    print(proposal.apply())
    print(workspace.undo())

# %% What it cost
print(workspace.spent())
workspace.close()
