import GRDB

extension PhoneStore {
  /// The tables. All rows name the profile that they belong to.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          -- Profiles: the number of the last item, the cursor of outcomes, and the push token to send.
          CREATE TABLE profile (
            id TEXT PRIMARY KEY NOT NULL,
            submitted INTEGER NOT NULL DEFAULT 0,
            outcomeCursor TEXT,
            pushToken TEXT,
            pushSentFor TEXT
          );
          CREATE TABLE following (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            profile TEXT NOT NULL,
            name TEXT NOT NULL,
            definition TEXT NOT NULL,   -- JSON: types, filter, args
            cursor TEXT,
            UNIQUE (profile, name)
          );
          -- Entities as Larder sent them.
          CREATE TABLE replica (
            entity INTEGER PRIMARY KEY,
            profile TEXT NOT NULL,
            type TEXT NOT NULL,
            id TEXT NOT NULL,
            data TEXT NOT NULL,
            UNIQUE (profile, type, id)
          );
          -- Which followings have which entities; stale ones are not in the snapshot that is being applied.
          CREATE TABLE holding (
            following INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            isStale INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (following, entity)
          ) WITHOUT ROWID;
          CREATE INDEX holdingOfEntity ON holding (entity);
          -- Entities with overlays, as they show; without data where an overlay deletes them.
          CREATE TABLE shadow (
            profile TEXT NOT NULL,
            type TEXT NOT NULL,
            id TEXT NOT NULL,
            data TEXT,
            PRIMARY KEY (profile, type, id)
          ) WITHOUT ROWID;
          -- What the app sees.
          CREATE VIEW shown AS
            SELECT profile, type, id, data FROM replica
            WHERE NOT EXISTS (
              SELECT 1 FROM shadow
              WHERE shadow.profile = replica.profile AND shadow.type = replica.type
                AND shadow.id = replica.id)
            UNION ALL
            SELECT profile, type, id, data FROM shadow WHERE data IS NOT NULL;
          CREATE TABLE item (
            profile TEXT NOT NULL,
            number INTEGER NOT NULL,
            key TEXT NOT NULL UNIQUE,
            operation TEXT NOT NULL,
            payload BLOB NOT NULL,
            isForced INTEGER NOT NULL,
            state TEXT NOT NULL,
            wasTried INTEGER NOT NULL DEFAULT 0,
            mutation TEXT,
            report TEXT,                -- the latest of Larder's reports, JSON
            PRIMARY KEY (profile, number)
          );
          CREATE TABLE overlay (
            profile TEXT NOT NULL,
            number INTEGER NOT NULL,
            step INTEGER NOT NULL,
            op TEXT NOT NULL,
            type TEXT NOT NULL,
            id TEXT NOT NULL,
            fields TEXT NOT NULL,
            PRIMARY KEY (profile, number, step)
          ) WITHOUT ROWID;
          CREATE INDEX overlayOfEntity ON overlay (profile, type, id);
          CREATE TABLE outcome (
            profile TEXT NOT NULL,
            number INTEGER NOT NULL,
            key TEXT NOT NULL,
            operation TEXT NOT NULL,
            content TEXT NOT NULL,      -- JSON: state, reason, problem, response
            PRIMARY KEY (profile, number)
          );
          -- Reports of mutations that no item is known to be: one without a response can be it.
          CREATE TABLE report (
            profile TEXT NOT NULL,
            mutation TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (profile, mutation)
          ) WITHOUT ROWID;
          CREATE TABLE temporary (
            profile TEXT NOT NULL,
            id TEXT NOT NULL,
            real TEXT NOT NULL,
            at REAL NOT NULL,
            PRIMARY KEY (profile, id)
          ) WITHOUT ROWID;
          CREATE INDEX temporaryOfReal ON temporary (profile, real);
          CREATE TABLE response (
            profile TEXT NOT NULL,
            name TEXT NOT NULL,
            etag TEXT,
            body TEXT NOT NULL,
            at REAL NOT NULL,
            PRIMARY KEY (profile, name)
          );
          CREATE TABLE upload (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            profile TEXT NOT NULL,
            target TEXT NOT NULL,
            path TEXT NOT NULL,
            size INTEGER NOT NULL,
            modified REAL NOT NULL,
            partBytes INTEGER NOT NULL,
            uploadID TEXT,
            isCompleting INTEGER NOT NULL DEFAULT 0,
            UNIQUE (profile, target)
          );
          """)
    }
    migrator.registerMigration("2") { db in
      try db.execute(
        sql: """
          -- The user of a profile: finds its rows again if the credentials are lost.
          ALTER TABLE profile ADD COLUMN user TEXT;
          -- Whether the app has withdrawn an item that Larder may have.
          ALTER TABLE item ADD COLUMN isWithdrawn INTEGER NOT NULL DEFAULT 0;
          CREATE INDEX itemToSend ON item (profile, isWithdrawn, isForced DESC, number)
            WHERE state = 'waiting';
          CREATE INDEX itemWithdrawn ON item (profile) WHERE isWithdrawn;
          CREATE INDEX itemTried ON item (profile) WHERE state = 'waiting' AND wasTried;
          CREATE INDEX itemOfMutation ON item (profile, mutation) WHERE mutation IS NOT NULL;
          -- Outcomes in the order of their ends.
          ALTER TABLE outcome ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
          UPDATE outcome SET ended = number;
          CREATE INDEX outcomeByEnd ON outcome (profile, ended);
          """)
    }
    return migrator
  }
}
