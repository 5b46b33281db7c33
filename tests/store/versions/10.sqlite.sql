CREATE TABLE workspaces (
  owner TEXT NOT NULL, id TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (owner, id)
) WITHOUT ROWID
--;
CREATE TABLE chats (
  key INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, title TEXT NOT NULL,
  created INTEGER NOT NULL, used INTEGER NOT NULL, turns INTEGER NOT NULL DEFAULT 0, head INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, id)
)
--;
CREATE INDEX chats_of_workspace ON chats (owner, workspace)
--;
CREATE TABLE contents (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL,
  body BLOB NOT NULL, UNIQUE (owner, hash)
)
--;
CREATE TABLE uses (
  content INTEGER NOT NULL REFERENCES contents (key), chat INTEGER NOT NULL REFERENCES chats (key),
  owner TEXT NOT NULL, fence INTEGER NOT NULL, PRIMARY KEY (content, chat)
) WITHOUT ROWID
--;
CREATE INDEX uses_of_chat ON uses (chat, fence)
--;
CREATE TABLE turns (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, chat INTEGER NOT NULL REFERENCES chats (key),
  sequence INTEGER NOT NULL, parent INTEGER, depth INTEGER NOT NULL, status TEXT NOT NULL,
  fence INTEGER NOT NULL, started INTEGER NOT NULL, took INTEGER, epoch INTEGER,
  model TEXT NOT NULL, endpoint TEXT NOT NULL, outcome TEXT NOT NULL DEFAULT '',
  certificate TEXT NOT NULL, usage TEXT NOT NULL DEFAULT '', refs TEXT NOT NULL DEFAULT '',
  frame INTEGER, plan BLOB NOT NULL, UNIQUE (owner, id)
)
--;
CREATE INDEX turns_of_chat ON turns (chat, sequence)
--;
CREATE UNIQUE INDEX one_open_turn ON turns (chat) WHERE status = 'open'
--;
CREATE TABLE messages (
  turn INTEGER NOT NULL REFERENCES turns (key), position INTEGER NOT NULL, owner TEXT NOT NULL,
  role TEXT NOT NULL, carries TEXT NOT NULL, content INTEGER NOT NULL, PRIMARY KEY (turn, position)
) WITHOUT ROWID
--;
CREATE TABLE partials (
  turn INTEGER NOT NULL REFERENCES turns (key), position INTEGER NOT NULL, owner TEXT NOT NULL,
  text BLOB NOT NULL, PRIMARY KEY (turn, position)
) WITHOUT ROWID
--;
CREATE TABLE requests (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, turn INTEGER NOT NULL REFERENCES turns (key),
  position INTEGER NOT NULL, certificate TEXT NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL,
  frame INTEGER, recipe BLOB NOT NULL, UNIQUE (turn, position)
)
--;
CREATE TABLE leases (
  chat INTEGER PRIMARY KEY REFERENCES chats (key), owner TEXT NOT NULL, fence INTEGER NOT NULL,
  holder TEXT NOT NULL, expires INTEGER NOT NULL
)
--;
CREATE TABLE tokenizers (key INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (owner, id))
--;
CREATE TABLE counts (
  tokenizer INTEGER NOT NULL REFERENCES tokenizers (key), hash BLOB NOT NULL, owner TEXT NOT NULL,
  tokens INTEGER NOT NULL, PRIMARY KEY (tokenizer, hash)
) WITHOUT ROWID
--;
CREATE TABLE attempts (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, chat TEXT NOT NULL, turn TEXT NOT NULL,
  category TEXT NOT NULL, model TEXT NOT NULL, endpoint TEXT NOT NULL, started INTEGER NOT NULL,
  reserved INTEGER, settled INTEGER, outcome TEXT NOT NULL DEFAULT '', status INTEGER,
  predicted INTEGER, tokenizer TEXT NOT NULL, ratio DOUBLE PRECISION NOT NULL,
  usage TEXT NOT NULL DEFAULT '', cost INTEGER, UNIQUE (owner, id)
)
--;
CREATE INDEX attempts_by_time ON attempts (owner, started)
--;
CREATE INDEX attempts_of_chat ON attempts (owner, chat, started)
--;
CREATE INDEX attempts_of_turn ON attempts (owner, turn)
--;
CREATE TABLE prices (
  owner TEXT NOT NULL, model TEXT NOT NULL, body TEXT NOT NULL, updated INTEGER NOT NULL,
  PRIMARY KEY (owner, model)
) WITHOUT ROWID
--;
CREATE TABLE proposals (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, chat TEXT NOT NULL, turn TEXT NOT NULL,
  status TEXT NOT NULL, created INTEGER NOT NULL, decided INTEGER, decided_by TEXT NOT NULL DEFAULT '',
  codec INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (owner, id)
)
--;
CREATE INDEX proposals_of_chat ON proposals (owner, chat)
--;
CREATE TABLE memories (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, text BLOB NOT NULL,
  turn TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, UNIQUE (owner, id)
)
--;
CREATE INDEX memories_of_workspace ON memories (owner, workspace)
--;
CREATE VIRTUAL TABLE words USING fts5 (
  text, content='', tokenize='unicode61 remove_diacritics 2'
)
--;
CREATE TABLE users (
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
  password TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL
) WITHOUT ROWID
--;
CREATE TABLE tokens (
  id TEXT PRIMARY KEY, user_id TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, label TEXT NOT NULL,
  created INTEGER NOT NULL, used INTEGER, expires INTEGER
) WITHOUT ROWID
--;
CREATE INDEX tokens_of_user ON tokens (user_id)
--;
CREATE TABLE sessions (hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID
--;
CREATE INDEX sessions_of_user ON sessions (user_id)
--;
CREATE TABLE rates (
  user_id TEXT NOT NULL, what TEXT NOT NULL, amount DOUBLE PRECISION NOT NULL, moment INTEGER NOT NULL,
  PRIMARY KEY (user_id, what)
) WITHOUT ROWID
--;
CREATE TABLE places (
  id TEXT PRIMARY KEY, user_id TEXT NOT NULL, what TEXT NOT NULL, expires INTEGER NOT NULL
) WITHOUT ROWID
--;
CREATE INDEX places_of_user ON places (user_id, what)
--;
CREATE TABLE pins (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, chat INTEGER NOT NULL REFERENCES chats (key), turn TEXT NOT NULL,
  path TEXT NOT NULL, UNIQUE (chat, turn, path)
)
--;
CREATE TABLE meanings (
  content INTEGER NOT NULL REFERENCES contents (key) ON DELETE CASCADE, model TEXT NOT NULL, owner TEXT NOT NULL,
  vector BLOB NOT NULL, PRIMARY KEY (content, model)
)
--;
CREATE INDEX meanings_of_owner ON meanings (owner, model)
--;
DROP TABLE prices
--;
ALTER TABLE memories ADD COLUMN document TEXT NOT NULL DEFAULT ''
--;
CREATE TABLE prices (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, model TEXT NOT NULL, endpoint TEXT NOT NULL, body TEXT NOT NULL,
  since INTEGER NOT NULL, UNIQUE (owner, model, endpoint, body)
)
--;
ALTER TABLE attempts ADD COLUMN price INTEGER REFERENCES prices (key)
--;
ALTER TABLE turns ADD COLUMN cites INTEGER
--;
ALTER TABLE messages ADD COLUMN said INTEGER NOT NULL DEFAULT 0
--;
ALTER TABLE contents ADD COLUMN chat INTEGER REFERENCES chats (key)
--;
ALTER TABLE contents ADD COLUMN fence INTEGER
--;
UPDATE contents SET (chat, fence) =
  (SELECT uses.chat, uses.fence FROM uses WHERE uses.content = contents.key ORDER BY uses.chat LIMIT 1)
--;
DELETE FROM uses WHERE chat = (SELECT chat FROM contents WHERE key = uses.content)
--;
CREATE INDEX contents_of_chat ON contents (chat, fence)
--;
CREATE TABLE recordings (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, certificate TEXT NOT NULL, size INTEGER NOT NULL,
  hash BLOB NOT NULL, frame INTEGER, recipe BLOB NOT NULL, plan_frame INTEGER, plan BLOB
)
--;
INSERT INTO recordings (key, owner, certificate, size, hash, frame, recipe)
  SELECT requests.turn * 65536 + requests.position, requests.owner, requests.certificate, requests.size,
  requests.hash, base.turn * 65536 + base.position, requests.recipe
  FROM requests LEFT JOIN requests AS base ON base.key = requests.frame
--;
DROP TABLE requests
--;
ALTER TABLE recordings RENAME TO requests
--;
DROP TABLE words
--;
CREATE VIRTUAL TABLE words USING fts5 (
  text, content='', detail=none, columnsize=0, tokenize='unicode61 remove_diacritics 2'
)
--;
CREATE TABLE unindexed (turn INTEGER PRIMARY KEY)
--;
INSERT INTO unindexed SELECT key FROM turns WHERE status <> 'open'
--;
CREATE TABLE loose (
  key INTEGER PRIMARY KEY, owner TEXT NOT NULL, chat INTEGER NOT NULL REFERENCES chats (key),
  fence INTEGER NOT NULL, turn TEXT NOT NULL, said BLOB NOT NULL,
  base TEXT, number INTEGER, start INTEGER, request BLOB
)
--;
INSERT INTO prices (key, owner, model, endpoint, body, since) VALUES (1, 'local', 'm', 'http://x', '["the settings",[5,7,1,null],[[200,[9,11,null,null]]]]', 1794749922580)
--;
INSERT INTO workspaces (owner, id, created) VALUES ('local', 'w', 1794749922547)
--;
INSERT INTO chats (key, owner, id, workspace, title, created, used, turns, head, pinned, archived) VALUES (1, 'local', 'cc92269c500ab5995031fc197dd7c0cc', 'w', 'A frozen chat', 1794749922547, 1794749922568, 2, 1, 0, 0)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (1, 'local', X'5f37a12d90a62e28176547f24fc3150ae7f7f81a1d5cf81f4484a9c5e3caba4a', 111, 2, X'8bcc2f55482c4a55c8cecc4b5128c9572848cd2fc849554884f0d23273528bf51422a9a60800', 1, 1)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (2, 'local', X'dcb7d4becb1bcaa4d8eacfaaecd7b7383ab7feb4619c61a5c712022e2cbb16a0', 240, 2, X'cbcf4b55c8482c4aca2f2d52c81f016c00', 1, 1)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (3, 'local', X'3a973d2fc3110defffcb103944b107ffc6e302f4cb22ef0fa6aea205f2917477', 5, 0, X'626f617473', 1, 1)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (4, 'local', X'8cb74f1de1ecdd73d3b8eb2cbbd932d70a1ca58e73bf99bb4ee2f42a89791ebd', 11, 0, X'5b226e6f74652e6d64225d', 1, 1)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (5, 'local', X'3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', 3, 0, X'74776f', 1, 2)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (6, 'local', X'adc6f38845e6cd0b7b33a0c03a049171b2dc403711e0cab663c5961b62417d8a', 79, 2, X'8b36d451324b4b353535b7b430b434b64c4c31b230b634324b49354d314d4c33b334484d51d2898e264291416c6c2c00', 1, 2)
--;
INSERT INTO contents (key, owner, hash, size, codec, body, chat, fence) VALUES (7, 'local', X'a11ae06469c63740d7b0ecf802f282a0d46e94f31a654dfcd3c0dc6dc277f904', 4, 0, X'68616c66', 1, 2)
--;
INSERT INTO turns (key, owner, id, chat, sequence, parent, depth, status, fence, started, took, epoch, model, endpoint, outcome, certificate, usage, refs, frame, plan, cites) VALUES (1, 'local', '6fe557981939ad283926de5d5af690ed', 1, 1, NULL, 0, 'complete', 1, 1794749922560, 5, NULL, 'm', 'http://localhost/v1', 'stop', '["exact","words",12,"template",13]', '[13,4,2,1,3]', '', NULL, X'0f0000ab56ca2c49cd2d56b2528856cacf4b55c8482c4aca2f2d5218096ca5d85a00', 4)
--;
INSERT INTO turns (key, owner, id, chat, sequence, parent, depth, status, fence, started, took, epoch, model, endpoint, outcome, certificate, usage, refs, frame, plan, cites) VALUES (2, 'local', '676427acd3778fa43ac3dec95fd60096', 1, 2, 1, 1, 'partial', 2, 1794749922568, 5, 6, 'm', 'http://localhost/v1', 'stop', '["exact","words",12,"template",13]', '[13,4,2,1,3]', '', NULL, X'0700007b226974656d73223a205b2274776f225d7d', 4)
--;
INSERT INTO messages (turn, position, owner, role, carries, content, said) VALUES (1, 0, 'local', 'user', '', 2, 0)
--;
INSERT INTO messages (turn, position, owner, role, carries, content, said) VALUES (1, 1, 'local', 'assistant', '', 3, 0)
--;
INSERT INTO messages (turn, position, owner, role, carries, content, said) VALUES (2, 0, 'local', 'user', '', 5, 0)
--;
INSERT INTO messages (turn, position, owner, role, carries, content, said) VALUES (2, 1, 'local', 'assistant', '', 7, 0)
--;
INSERT INTO requests (key, owner, certificate, size, hash, frame, recipe, plan_frame, plan) VALUES (65536, 'local', '["exact","words",12,"template",null]', 508, X'3b7d89e7e77975d94de783028954db549e2502a828f169807625d857335e443d', NULL, X'0f00004d8e410a02311004d18b077f31e71cd66bbe2212c26e238b494632135042feb3cff1492688e2b1bb8aa65fbb4a911704b214c9508488bf42c89e2b650ee8bd3c4531e0cc499194ec2134f3c34590ffe171dbb74b5ff20fa77c43ea5ba76932249ae12359cd05dfe4f8ae2b0fa5d29ae65016b8320e7cb4d6de', NULL, NULL)
--;
INSERT INTO requests (key, owner, certificate, size, hash, frame, recipe, plan_frame, plan) VALUES (65537, 'local', '["exact","words",12,"template",null]', 5, X'b09fbdfbc6b87b7655c5a79588704ce218beccd0b1fd33740b831925f3b6ec7b', NULL, X'07000014ff20726177', NULL, NULL)
--;
INSERT INTO requests (key, owner, certificate, size, hash, frame, recipe, plan_frame, plan) VALUES (131072, 'local', '["exact","words",12,"template",null]', 271, X'23d4f0066d478de701a656780b16edb52e5a64974259b0de9dedcb5ba341dbc9', NULL, X'0f00004d8e410a02311004110ffea3cf39acd77c452484dd4116938c6426a884fc679fe3934c10c56377154dbf761591170ab088308824e22f24b0a78acc817a2f4f511a70e6a49414f6b0ed9bf9f12294ff29f4ce68e73ee61f4ef94aa9cf1da7c94034938fb09a0b7d93e39bae3c948a35cda12ce4caf8f0d15a7b03', NULL, NULL)
--;
INSERT INTO leases (chat, owner, fence, holder, expires) VALUES (1, 'local', 2, 'vm:674c0488-d9aa-4870-ba92-08256dc3b47a:pid:[4026531836]/5115/3625387/198856ffcd7e7f011a0a096256ce4bec', 0)
--;
INSERT INTO tokenizers (key, owner, id) VALUES (1, 'local', 'words')
--;
INSERT INTO counts (tokenizer, hash, owner, tokens) VALUES (1, X'a4c2b77e81b7abdab7197412aeb4252edd3af0b573c2b2c83b181370eec258ec', 'local', 7)
--;
INSERT INTO attempts (key, owner, id, chat, turn, category, model, endpoint, started, reserved, settled, outcome, status, predicted, tokenizer, ratio, usage, cost, price) VALUES (1, 'local', '44024ec07a9bd0f44e294cc903b74294', 'cc92269c500ab5995031fc197dd7c0cc', '676427acd3778fa43ac3dec95fd60096', 'main', 'm', 'http://x', 1794749922580, 2, 1794749922584, 'complete', 200, 1, '', '1.0', '', 3, 1)
--;
INSERT INTO proposals (key, owner, id, chat, turn, status, created, decided, decided_by, codec, body) VALUES (1, 'local', 'p', 'cc92269c500ab5995031fc197dd7c0cc', '676427acd3778fa43ac3dec95fd60096', 'open', 1794749922585, NULL, '', 0, X'7b7d')
--;
INSERT INTO memories (key, owner, id, workspace, text, turn, created, updated, document) VALUES (1, 'local', 'ffd63e54842f5791ceeeb5fc8b4bd720', 'w', X'746561', '', 1794749922600, 1794749922600, '')
--;
INSERT INTO pins (key, owner, chat, turn, path) VALUES (1, 'local', 1, '6fe557981939ad283926de5d5af690ed', '')
--;
INSERT INTO words (rowid, text) VALUES (1, 'one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour one harbour 

boats')
--;
INSERT INTO words (rowid, text) VALUES (2, 'two

half')
--;
PRAGMA user_version=10
