import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The engine's tables of earlier versions of the library.
@Suite("Upgrades of the engine's tables")
struct EngineUpgradeTests {
    /// The tables of version 2.
    private static let version2 = """
        CREATE TABLE sync_engine ( id INTEGER PRIMARY KEY CHECK (id = 1), protocol INTEGER NOT NULL, service
          TEXT NOT NULL, user TEXT NOT NULL, seq INTEGER NOT NULL DEFAULT 0, clock INTEGER NOT NULL DEFAULT 0,
          not_before INTEGER, attempts INTEGER NOT NULL DEFAULT 0 ) STRICT;
        CREATE TABLE sync_entity ( e INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, triggers TEXT NOT NULL
          DEFAULT '', columns TEXT NOT NULL DEFAULT '' ) STRICT;
        CREATE TABLE sync_known ( e INTEGER NOT NULL, k ANY NOT NULL, version TEXT, time INTEGER, whole INTEGER
          NOT NULL DEFAULT 1, seq INTEGER NOT NULL, remote TEXT, name TEXT, PRIMARY KEY (e, k) ) STRICT, WITHOUT
          ROWID;
        CREATE TABLE sync_change ( e INTEGER NOT NULL, k ANY NOT NULL, kind TEXT NOT NULL CHECK (kind IN
          ('create', 'update', 'delete')), birth TEXT, seq INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'ready'
          CHECK (state IN ('ready', 'conflicted', 'parked')), reason TEXT, attempts INTEGER NOT NULL DEFAULT 0,
          rounds INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (e, k) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_base ( e INTEGER NOT NULL, k ANY NOT NULL, domain TEXT NOT NULL, value ANY, edited
          INTEGER NOT NULL, PRIMARY KEY (e, k, domain) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_link ( link TEXT NOT NULL, owner ANY NOT NULL, other ANY NOT NULL, op INTEGER NOT
          NULL, edited INTEGER NOT NULL, PRIMARY KEY (link, owner, other) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_request ( id INTEGER PRIMARY KEY, e INTEGER NOT NULL, k ANY NOT NULL, kind TEXT NOT
          NULL, idem TEXT NOT NULL, remote TEXT, version TEXT, body TEXT NOT NULL, natural TEXT, seq INTEGER NOT
          NULL, frozen INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, taken INTEGER ) STRICT;
        CREATE UNIQUE INDEX sync_request_row ON sync_request (e, k);
        CREATE TABLE sync_sent ( request INTEGER NOT NULL, domain TEXT NOT NULL, value ANY, PRIMARY KEY
          (request, domain) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_cursor ( e INTEGER PRIMARY KEY, cursor TEXT, fingerprint TEXT NOT NULL DEFAULT '',
          next TEXT, last_sync INTEGER, swept INTEGER, initial INTEGER NOT NULL DEFAULT 0 ) STRICT;
        CREATE TABLE sync_sweep ( e INTEGER PRIMARY KEY, seq INTEGER NOT NULL ) STRICT;
        CREATE TABLE sync_seen ( e INTEGER NOT NULL, k ANY NOT NULL, PRIMARY KEY (e, k) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_gone ( e INTEGER NOT NULL, id TEXT NOT NULL, guarded INTEGER NOT NULL, PRIMARY KEY (e,
          id) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_inbound ( e INTEGER NOT NULL, k TEXT NOT NULL, body TEXT NOT NULL, version TEXT, time
          INTEGER, reason TEXT NOT NULL, PRIMARY KEY (e, k) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_conflict ( id INTEGER PRIMARY KEY, at INTEGER NOT NULL, e INTEGER NOT NULL, k ANY NOT
          NULL, domain TEXT NOT NULL, base ANY, local ANY, remote ANY, winner TEXT NOT NULL, why TEXT NOT NULL,
          open INTEGER NOT NULL DEFAULT 0 ) STRICT;
        CREATE INDEX sync_conflict_row ON sync_conflict (e, k);
        CREATE TABLE sync_alias ( e INTEGER NOT NULL, old ANY NOT NULL, k ANY NOT NULL, PRIMARY KEY (e, old) )
          STRICT, WITHOUT ROWID;
        CREATE TABLE sync_lease ( name TEXT PRIMARY KEY NOT NULL, holder TEXT NOT NULL, token INTEGER NOT NULL,
          until INTEGER NOT NULL ) STRICT;
        CREATE TABLE sync_mute ( n INTEGER PRIMARY KEY ) STRICT;
        CREATE TABLE sync_file ( id INTEGER PRIMARY KEY, e INTEGER NOT NULL, k ANY NOT NULL, attribute TEXT NOT
          NULL, hash TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, reason TEXT, attempts INTEGER NOT
          NULL DEFAULT 0, UNIQUE (e, k, attribute) ) STRICT;
        CREATE TABLE sync_unread ( e INTEGER NOT NULL, k ANY NOT NULL, domain TEXT NOT NULL, value TEXT NOT
          NULL, PRIMARY KEY (e, k, domain) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_unsent ( e INTEGER NOT NULL, k ANY NOT NULL, PRIMARY KEY (e, k) ) STRICT, WITHOUT
          ROWID;
        CREATE TABLE sync_parting ( list TEXT NOT NULL, owner ANY NOT NULL, other ANY NOT NULL, place ANY,
          PRIMARY KEY (list, owner, other) ) STRICT, WITHOUT ROWID;
        CREATE TABLE sync_tried ( id INTEGER PRIMARY KEY, e INTEGER NOT NULL, k ANY NOT NULL, domain TEXT NOT
          NULL, value ANY ) STRICT;
        CREATE TABLE sync_made ( e INTEGER NOT NULL, k ANY NOT NULL, domain TEXT NOT NULL, edited INTEGER NOT
          NULL, PRIMARY KEY (e, k, domain) ) STRICT, WITHOUT ROWID;
        """

    private let service = InMemoryService(
        ServiceCapabilities(
            idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
            supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 1))

    /// Returns a store with the tables of version 2 and these entries. The number of the entity `Task` is 1.
    private func store(_ entries: String = "", tasks: Int = 0) throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try stack.write { db in
            for id in 0..<tasks {
                try db.execute(sql: "INSERT INTO Task (remoteID, title) VALUES (?, 'here')", arguments: [id + 1])
            }
            try createTables(db)
            try db.execute(sql: entries)
        }
        return stack
    }

    private func createTables(_ db: Database, version: Int = 2) throws {
        // Version 1 had no names of known rows.
        try db.execute(
            sql: version == 2 ? Self.version2 : Self.version2.replacing("remote TEXT, name TEXT", with: "remote TEXT"))
        try db.execute(
            sql: "INSERT INTO sync_engine (id, protocol, service, user, seq) VALUES (1, ?, ?, '', 100)",
            arguments: [version, service.identity])
        try db.execute(sql: "INSERT INTO sync_entity (e, name) VALUES (1, 'Task'), (2, 'Project'), (3, 'Tag')")
    }

    // MARK: States

    private static let mark = "'cascade' || char(31) || "

    @Test(
        "A pending change keeps its state, its cause and its message",
        arguments: [
            ("'update', NULL, 'ready', NULL, 0, 0", "update ready edit nil nil 0 0"),
            ("'update', NULL, 'ready', 'cascade', 0, 0", "update ready cascade nil nil 0 0"),
            ("'update', NULL, 'ready', 'status 422: no', 1, 0", "update ready edit nil nil 1 0"),
            ("'update', NULL, 'conflicted', NULL, 0, 2", "update conflicted edit nil nil 0 2"),
            ("'delete', 'ab', 'ready', NULL, 0, 0", "delete ready edit nil nil 0 0"),
            ("'delete', NULL, 'parked', \(mark)'status 422', 1, 0", "delete blocked cascade rejected status 422 1 0"),
            ("'update', NULL, 'parked', 'status 409: no', 2, 0", "update blocked edit rejected status 409: no 2 0"),
            (
                "'update', NULL, 'parked', 'the service no longer has the row', 0, 0",
                "update blocked edit missing the service no longer has the row 0 0"
            ),
            (
                "'update', NULL, 'parked', 'the server does not have it any more', 0, 0",
                "update blocked edit missing the server does not have it any more 0 0"
            ),
            ("'create', 'ab', 'parked', 'a cycle: b', 0, 0", "create blocked edit cycle a cycle: b 0 0"),
            ("'update', NULL, 'parked', 'contended: c', 0, 3", "update blocked edit contended contended: c 0 0"),
            (
                "'update', NULL, 'parked', 'the service failed', 0, 3",
                "update blocked edit failing the service failed 0 0"
            ),
            ("'update', NULL, 'parked', 'rows of \"A\"', 0, 0", "update blocked edit rejected rows of \"A\" 0 0"),
            (
                "'update', NULL, 'parked', 'its key is a local one', 0, 0",
                "update blocked edit unsendable its key is a local one 0 0"
            ),
            (
                "'update', NULL, 'parked', 'it was sent as ''x', 0, 0",
                "update blocked edit misnamed it was sent as 'x 0 0"
            ),
            ("'create', 'ab', 'parked', 'status 500', 0, 0", "create blocked edit rejected status 500 0 0"),
        ])
    func changes(before: String, after: String) async throws {
        let stack = try store(
            """
            INSERT INTO sync_change (e, k, kind, birth, state, reason, attempts, rounds, seq) VALUES (1, 1, \(before), 7);
            INSERT INTO sync_known (e, k, seq) VALUES (1, 1, 5)
            """, tasks: before.hasPrefix("'delete'") ? 0 : 1)
        let device = try Device(stack, service, entities: ["Project"])
        #expect(
            try await device.rows(
                "SELECT kind, state, cause, reason, message, rejections, contentions FROM sync_outbox WHERE k = 1")
                == [after])
        #expect(try await device.rows("SELECT seq FROM sync_outbox WHERE k = 1") == ["7"])
    }

    @Test("A blocked create with a stored request is uncertain, and the request is kept")
    func uncertain() async throws {
        let stack = try store(
            """
            INSERT INTO sync_change (e, k, kind, birth, state, reason, seq)
              VALUES (1, -1, 'create', 'ab', 'parked', 'status 422', 7);
            INSERT INTO sync_request (id, e, k, kind, idem, body, seq, frozen, attempts, natural) VALUES
              (4, 1, -1, 'create', 'ab', '{"title":"a"}', 7, 9, 2, '{}');
            INSERT INTO sync_sent (request, domain, value) VALUES (4, 'title', 'a')
            """)
        let device = try Device(stack, service, entities: ["Project"])
        #expect(try await device.rows("SELECT reason FROM sync_outbox") == ["uncertain"])
        #expect(
            try await device.rows("SELECT id, idempotency_key, prepared_at, attempts, natural_key FROM sync_request")
                == ["4 ab 9 2 {}"])
        #expect(try await device.rows("SELECT field, value FROM sync_sent") == ["title a"])
    }

    @Test("A known row keeps its origin and its version")
    func knownRows() async throws {
        let stack = try store(
            """
            INSERT INTO sync_known (e, k, version, whole, seq) VALUES (1, 1, 'v', 0, 3), (1, 2, 'v', 1, 3), (1, 3, 'v', 2, 3),
              (1, 4, NULL, 3, 3), (1, 5, NULL, 4, 3), (1, 6, NULL, 1, -1), (1, 7, NULL, 2, -1), (1, 8, NULL, 3, -1)
            """, tasks: 8)
        let device = try Device(stack, service, entities: ["Project"])
        #expect(
            try await device.rows("SELECT k, version, origin, trust, heard FROM sync_known WHERE e = 1 ORDER BY k") == [
                "1 v pulled recheck 3", "2 v pulled current 3", "3 v pulled uncaptured 3", "4 nil nested recheck 3",
                "5 nil nested uncaptured 3", "6 nil preexisting current 0", "7 nil preexisting uncaptured 0",
                "8 nil nested recheck 0",
            ])
    }

    @Test("Base values keep the values that their columns had when the row was deleted, and their cause")
    func bases() async throws {
        let stack = try store(
            """
            INSERT INTO sync_change (e, k, kind, seq) VALUES (1, 9, 'delete', 1);
            INSERT INTO sync_known (e, k, seq) VALUES (1, 9, 1);
            INSERT INTO sync_base (e, k, domain, value, edited) VALUES (1, 9, 'title', 'there', 5), (1, 9, 'points', 1, 6),
              (1, 9, 'title when it was deleted', 'here', 7), (1, 9, 'projectID', 4, 0);
            INSERT INTO sync_link (link, owner, other, op, edited)
              VALUES ('Tag_tasks', 9, 1, 1, 5), ('Tag_tasks', 9, 2, 0, 5);
            INSERT INTO sync_made (e, k, domain, edited) VALUES (1, 9, '', -1), (1, 9, 'title', 8)
            """)
        let device = try Device(stack, service, entities: ["Project"])
        #expect(
            try await device.rows("SELECT field, value, cause, edited > 8, is_held, held FROM sync_base ORDER BY field")
                == ["points 1 edit 0 0 nil", "projectID 4 cascade 1 0 nil", "title there edit 0 1 here"])
        #expect(try await device.rows("SELECT other, op FROM sync_link") == ["1 1"])
        #expect(
            try await device.rows("SELECT field, edited, is_restored FROM sync_made ORDER BY field")
                == [" 0 1", "title 8 0"])
    }

    @Test("Tombstones, quarantined records, former keys and cursors are kept")
    func others() async throws {
        let stack = try store(
            """
            INSERT INTO sync_gone (e, id, guarded) VALUES (1, '1', 0), (1, '2', 1);
            INSERT INTO sync_inbound (e, k, body, reason) VALUES (1, '3', '{"id":3}', 'refused');
            INSERT INTO sync_alias (e, old, k) VALUES (1, -3, 3);
            INSERT INTO sync_seen (e, k) VALUES (1, 4);
            INSERT INTO sync_unread (e, k, domain, value) VALUES (1, 5, 'due', '"x"');
            INSERT INTO sync_cursor (e, cursor, fingerprint, swept) VALUES (1, 'c', 'f', 8)
            """)
        let device = try Device(stack, service, entities: ["Project"])
        #expect(
            try await device.rows("SELECT id, source FROM sync_tombstone ORDER BY id") == ["1 reported", "2 missing"])
        #expect(try await device.rows("SELECT k, body, message FROM sync_quarantine") == ["3 {\"id\":3} refused"])
        #expect(try await device.rows("SELECT old, k FROM sync_former_key") == ["-3 3"])
        #expect(try await device.rows("SELECT k FROM sync_listed") == ["4"])
        #expect(try await device.rows("SELECT k, field, value FROM sync_unreadable") == ["5 due \"x\""])
        #expect(try await device.rows("SELECT cursor, filter, listed_at FROM sync_cursor WHERE e = 1") == ["c f 8"])
    }

    // MARK: Conflict log

    @Test(
        "An entry of the conflict log keeps its reason and its details",
        arguments: [
            ("deleted by the service", "deletedRemotely nil 0"), ("deleted there", "deletedRemotely nil 0"),
            ("deleted there, or hidden", "missingRemotely nil 0"), ("deleted there, restored", "deletedRemotely nil 1"),
            ("resolver: 5", "resolver 5 0"), ("editWins: deleted there", "editWins deleted there 0"),
            ("serverWins: it gave no time", "noRemoteTime nil 0"), ("clientWins", "clientWins nil 0"),
            ("pending edit of a field that is no longer in the model", "fieldRemoved nil 0"),
            ("an edit that was not sent: it is not in the model any more", "fieldRemoved nil 0"),
            ("went along with a row that was deleted there", "cascaded nil 0"),
            (
                "deleted there, and may have been edited here while triggers were missing",
                "deletedWhileUncaptured nil 0"
            ),
            ("edits may have been missed, and the service has another version", "editedWhileUncaptured nil 0"),
            ("something else", "unknown something else 0"),
        ])
    func conflicts(text: String, after: String) async throws {
        let stack = try store(
            "INSERT INTO sync_conflict (at, e, k, domain, winner, why) VALUES (1, 1, 1, 'title', 'remote', '\(text)')")
        let device = try Device(stack, service)
        #expect(try await device.rows("SELECT reason, note, is_restored FROM sync_conflict") == [after])
    }

    @Test("The details of an entry stay if the text of a later entry is a code of version 3")
    func textsThatAreCodes() async throws {
        let stack = try store(
            """
            INSERT INTO sync_conflict (at, e, k, domain, winner, why) VALUES
              (1, 1, 1, 'title', 'remote', 'resolver: 5'), (2, 1, 1, 'title', 'remote', 'resolver')
            """)
        let device = try Device(stack, service)
        #expect(
            try await device.rows("SELECT reason, note FROM sync_conflict ORDER BY id")
                == ["resolver 5", "resolver nil"])
    }

    @Test("An open conflict stays open")
    func openConflict() async throws {
        let stack = try store(
            """
            INSERT INTO sync_conflict (at, e, k, domain, local, remote, winner, why, open) VALUES
              (1, 1, 1, 'title', 'here', 'there', 'open', 'manual', 1);
            INSERT INTO sync_change (e, k, kind, state, seq) VALUES (1, 1, 'update', 'conflicted', 1);
            INSERT INTO sync_known (e, k, seq) VALUES (1, 1, 1)
            """, tasks: 1)
        let device = try Device(stack, service)
        let conflict = try #require(try await device.engine.conflicts().first)
        #expect(conflict.outcome?.winner == nil && conflict.outcome?.reason == .manual)
        try await device.engine.resolve("Task", key: 1, field: "title", keeping: .local)
        #expect(try await device.rows("SELECT state FROM sync_outbox") == ["ready"])
    }

    // MARK: Use

    /// Returns a store with the tables of an earlier version, two rows, and triggers whose checksums show that they
    /// missed no edit.
    private func watchedStore(version: Int = 2) async throws -> DataStack {
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "there"]) }
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await Device(stack, service).engine.sync()
        try await stack.write { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, triggers FROM sync_entity")
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'sync_*'")
            let kept = ["sync_model", "sync_pending"]
            for name in names where !kept.contains(name) { try db.execute(sql: "DROP TABLE \(name)") }
            try createTables(db, version: version)
            for row in triggers {
                try db.execute(
                    sql: "UPDATE sync_entity SET triggers = ? WHERE name = ?",
                    arguments: [row["triggers"], row["name"]])
            }
            try db.execute(
                sql: "INSERT INTO sync_known (e, k, version, whole, seq) VALUES (1, 1, 'v', 1, 3), (1, 2, 'v', 1, 3)")
        }
        return stack
    }

    @Test("An upgraded database syncs, without an audit if the triggers were there", arguments: [1, 2])
    func syncs(version: Int) async throws {
        let stack = try await watchedStore(version: version)
        let device = try Device(stack, service)
        #expect(try await device.rows("SELECT protocol FROM sync_engine") == ["3"])
        #expect(try await device.rows("SELECT k FROM sync_known WHERE trust = 'uncaptured'") == [])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["there", "there"])
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test("An import upgrades a database and keeps the triggers of an engine", arguments: ["Task", "Project"])
    func imported(entity: String) async throws {
        let stack = try await watchedStore()
        try await Sync.importPages(
            from: service, entity: SyncedEntity(entity), stack: stack, configuration: Device.configuration)
        try await stack.write { db in try db.execute(sql: "UPDATE Task SET title = 'mine' WHERE remoteID = 1") }
        #expect(try await stack.pendingChangeCount() == 1)
        let device = try Device(stack, service)
        #expect(try await device.rows("SELECT k FROM sync_known WHERE trust = 'uncaptured'") == [])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
    }

    /// Opens a database of version 2 with another model.
    private func migrate(_ old: String, _ new: String, _ entries: String) async throws -> DataStack {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
        let stack = try DataStack(model: SyncModel(schemaData: Data(Device.schema.utf8)), at: url)
        try await stack.write { db in
            try createTables(db)
            try db.execute(sql: "INSERT INTO Task (remoteID, title) VALUES (1, 'here'), (2, 'here')")
            try db.execute(sql: entries)
        }
        try stack.close()
        #expect(Device.schema.contains(old))
        let schema = Device.schema.replacing(old, with: new)
        return try DataStack(model: SyncModel(schemaData: Data(schema.utf8)), at: url)
    }

    @Test("A changed model without changed tables unblocks changes in tables of version 2")
    func unblocked() async throws {
        let stack = try await migrate(
            #""title": {"type": "string"}"#, #""title": {"type": "string", "remoteKey": "name"}"#,
            """
            INSERT INTO sync_change (e, k, kind, state, reason, rounds, seq) VALUES
              (1, 1, 'update', 'parked', 'the service does not store ''title'' there', 3, 1),
              (1, 2, 'update', 'parked', 'the service no longer has the row', 0, 1),
              (1, 3, 'delete', 'parked', \(Self.mark)'status 422', 0, 1)
            """)
        #expect(
            try await stack.read { db in
                try String.fetchAll(db, sql: "SELECT k || state || coalesce(reason, '') || rounds FROM sync_change")
            } == ["1ready0", "2parkedthe service no longer has the row0", "3readycascade0"])
    }

    @Test("A migration before the upgrade keeps a trigger of the app")
    func migrated() async throws {
        let stack = try await migrate(
            #""points": {"type": "integer"}"#, #""points": {"type": "double"}"#,
            """
            CREATE TABLE log (title TEXT);
            CREATE TRIGGER mine AFTER UPDATE ON Task WHEN NOT EXISTS (SELECT 1 FROM SYNC_MUTE) BEGIN
              INSERT INTO log VALUES (NEW.title); END
            """)
        try await stack.write { db in try db.execute(sql: "UPDATE Task SET title = 'mine' WHERE remoteID = 1") }
        #expect(
            try await stack.read { db in try String.fetchAll(db, sql: "SELECT title FROM log") } == ["mine"])
    }

    @Test("Rows of an upgraded database without triggers are audited")
    func audited() async throws {
        let stack = try store("INSERT INTO sync_known (e, k, version, whole, seq) VALUES (1, 1, 'v', 1, 3)", tasks: 1)
        let device = try Device(stack, service)
        #expect(try await device.rows("SELECT trust FROM sync_known") == ["uncaptured"])
    }

    @Test("A run of an earlier version ends at its next transaction, and a trigger of the app follows the new name")
    func otherProcess() async throws {
        let stack = try store(
            """
            INSERT INTO sync_lease (name, holder, token, until) VALUES ('run', 'host 1 old', 5, 99999999999999);
            INSERT INTO sync_known (e, k, version, whole, seq) VALUES (1, 1, 'v', 1, 3);
            CREATE TABLE log (title TEXT);
            CREATE TRIGGER mine AFTER UPDATE ON Task WHEN NOT EXISTS (SELECT 1 FROM sync_mute) BEGIN
              INSERT INTO log VALUES (NEW.title); END
            """, tasks: 1)
        await service.set("Task", 1, ["title": "there"])
        let device = try Device(stack, service)
        #expect(try await device.rows("SELECT token FROM sync_lease") == ["6"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM log") == [])
        try await device.write("UPDATE Task SET title = 'mine'")
        #expect(try await device.rows("SELECT title FROM log") == ["mine"])
    }

    @Test("Tables of a later version are refused, and stay as they are")
    func later() async throws {
        let stack = try store("UPDATE sync_engine SET protocol = 4")
        let error = #expect(throws: SyncError.self) { try Device(stack, service) }
        #expect(error?.code == .cannotOpenStore)
        #expect(try await stack.read { db in try db.tableExists("sync_change") })
    }

    @Test("Calls without an engine use the tables of version 2")
    func withoutEngine() async throws {
        let entries = """
            INSERT INTO sync_change (e, k, kind, birth, seq) VALUES (1, 1, 'update', NULL, 1), (1, 2, 'create', 'ab', 1);
            INSERT INTO sync_alias (e, old, k) VALUES (1, -9, 1)
            """
        let stack = try store(entries, tasks: 2)
        #expect(try await stack.pendingChangeCount() == 2)
        try await stack.removeSyncState(deletingRows: false)
        #expect(try await stack.read { db in try db.tableExists("sync_engine") } == false)
        let other = try store(entries, tasks: 2)
        try other.deleteAllRows()
        #expect(try await other.pendingChangeCount() == 0)
        let device = try Device(other, service)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(try await device.rows("SELECT count(*) FROM sync_outbox") == ["0"])
    }
}
