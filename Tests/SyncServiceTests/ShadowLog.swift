import Foundation
import GRDB
import Sync
import SyncTesting

/// A record of a device's edits apart from the engine: each value written locally, and the rows at the last complete
/// sync. The outbox is compared with the difference.
actor ShadowLog {
    private let device: Device
    /// The values that were written locally and not replaced locally. Each value is written once in a history.
    private var written: Set<String> = []
    /// Whether the outbox was empty when the rows were last copied.
    private var isInStep = true
    private var copy: (database: DatabaseQueue, written: Set<String>, isInStep: Bool)?
    private let ledger: HistoryLedger
    private let index: Int

    /// The columns of each entity.
    private let columns: [String: [String]]

    private static let numbers = ["Project": 1, "Task": 2, "Tag": 3]

    /// - Parameters:
    ///   - ledger: Receives each edit.
    ///   - index: The number of the device in the ledger.
    init(_ device: Device, _ ledger: HistoryLedger = HistoryLedger(), index: Int = 0) async throws {
        (self.device, self.ledger, self.index) = (device, ledger, index)
        let references = try await device.stack.read(HistoryLedger.oneToOneColumns)
        let columns = [
            "Project": ["name"] + references, "Task": ["title", "done", "points", "projectID"], "Tag": ["name"],
        ]
        self.columns = columns
        try await device.stack.write { db in
            for (entity, columns) in columns.sorted(by: { $0.key < $1.key }) {
                try db.execute(sql: "CREATE TABLE shadow_\(entity) (remoteID, \(columns.joined(separator: ", ")))")
            }
            try db.execute(
                sql: """
                    CREATE TABLE shadow_pairs (taskID, tagID, place);
                    CREATE TABLE shadow_pending (owner_entity, owner_key, relationship, target_key)
                    """)
        }
    }

    // MARK: Edits

    func write(_ sql: String) async throws { try await edit { db in try db.execute(sql: sql) } }

    /// Updates a row from a record, which may reference rows that are not stored.
    func update(_ entity: String, _ id: JSONValue, _ record: JSONValue) async throws {
        let stack = device.stack
        try await edit { db in _ = try stack.update(entity, id: id, with: record, in: db) }
    }

    private func edit(_ change: @escaping @Sendable (Database) throws -> Void) async throws {
        ledger.clock.advance()
        let (before, after, old, new) = try await device.stack.write { [columns] db in
            let (before, old) = (try Self.cells(db, columns), try HistoryLedger.lines(db))
            try change(db)
            return (before, try Self.cells(db, columns), old, try HistoryLedger.lines(db))
        }
        written.subtract(before.subtracting(after).map(Self.value))
        written.formUnion(after.subtracting(before).map(Self.value))
        await ledger.note(old, new, by: index)
    }

    func insert(_ entity: String, _ attribute: String, _ value: String, key: String?) async throws {
        var values: [String: JSONValue] = [attribute: .string(value)]
        if let key { values["remoteID"] = .string(key) }
        let old = try await device.stack.read(HistoryLedger.lines)
        ledger.clock.advance()
        try await device.stack.insert(entity, values: values)
        written.insert(value)
        await ledger.note(old, try await device.stack.read(HistoryLedger.lines), by: index)
    }

    /// Forgets the written values, after all rows were deleted.
    func forget() { (written, isInStep) = ([], false) }

    /// Skips the comparison of the outbox until the next run.
    func lookAway() { isInStep = false }

    /// Returns the cells whose values are written once: row and column, and after the last space the value. They include
    /// references to rows that are not stored.
    private static func cells(_ db: Database, _ columns: [String: [String]]) throws -> Set<String> {
        let absent = columns.flatMap { entity, columns in
            columns.filter { ReferenceSQL.relationships[$0] != nil }.map { column -> String in
                let value = ReferenceSQL.value(of: column, entity, entity)
                return """
                    UNION ALL SELECT '\(entity) ' || remoteID || ' \(column) ' || \(value) FROM \(entity)
                    WHERE \(AbsentRow.condition(value))
                    """
            }
        }
        return try String.fetchSet(
            db,
            sql: """
                SELECT 'Task ' || remoteID || ' title ' || title FROM Task WHERE title IS NOT NULL
                UNION ALL SELECT 'Task ' || remoteID || ' points ' || points FROM Task WHERE points IS NOT NULL
                UNION ALL SELECT 'Project ' || remoteID || ' name ' || name FROM Project WHERE name IS NOT NULL
                UNION ALL SELECT 'Tag ' || remoteID || ' name ' || name FROM Tag WHERE name IS NOT NULL
                UNION ALL SELECT 'Task ' || taskID || ' tags ' || tagID FROM (\(pairs))
                  WHERE \(AbsentRow.condition("tagID"))
                \(absent.joined(separator: "\n"))
                """)
    }

    private static func value(_ cell: String) -> String { String(cell.split(separator: " ").last ?? "") }

    /// Returns the values that were written locally and neither reached the service nor the conflict log.
    func lost(accepted: [JSONValue]) async throws -> Set<String> {
        var told = Set(try await device.rows("SELECT local FROM sync_conflict"))
        // A list is logged as JSON.
        for text in told where text.hasPrefix("[") {
            if let list = try? JSONValue(parsing: text) { told.formUnion(list.scalars) }
        }
        for body in accepted {
            guard case .object(let members) = body else { continue }
            for member in members {
                switch member.value {
                case .string(let text), .number(let text): told.insert(text)
                case .array(let ids): told.formUnion(ids.filter(AbsentRow.contains).map(\.plain))
                default: break
                }
            }
        }
        return written.subtracting(told)
    }

    // MARK: The outbox

    /// Copies the rows, if nothing is left to send.
    func look() async throws {
        isInStep = try await device.leftovers().isEmpty
        guard isInStep else { return }
        try await device.stack.write { [columns] db in
            for (entity, columns) in columns {
                let names = (["remoteID"] + columns).joined(separator: ", ")
                try db.execute(sql: "DELETE FROM shadow_\(entity)")
                try db.execute(sql: "INSERT INTO shadow_\(entity) SELECT \(names) FROM \(entity)")
            }
            try db.execute(
                sql:
                    "DELETE FROM shadow_pairs; INSERT INTO shadow_pairs SELECT taskID, tagID, \(Device.place) FROM Tag_tasks"
            )
            try db.execute(
                sql: """
                    DELETE FROM shadow_pending;
                    INSERT INTO shadow_pending SELECT owner_entity, owner_key, relationship, target_key FROM sync_pending
                    """)
        }
    }

    /// Compares the outbox with the edits. The value of a pending reference is the key of the row that is not stored.
    ///
    /// - Returns: The differences; nil if there are none.
    func compare() async throws -> String? {
        guard isInStep else { return nil }
        var wrong: [String] = []
        for (entity, columns) in columns.sorted(by: { $0.key < $1.key }) {
            guard let number = Self.numbers[entity] else { continue }
            // A row that `REPLACE` removed is captured as an update, since it may be gone.
            let noted = """
                SELECT e, k, CASE WHEN kind = 'update' AND k NOT IN (SELECT remoteID FROM \(entity)) THEN 'delete' ELSE kind END AS kind
                FROM sync_outbox
                """
            let change = "(SELECT kind FROM (\(noted)) WHERE e = \(number) AND k = +x.remoteID)"
            wrong += try await device.rows(
                """
                SELECT 'made, but', \(change), '\(entity)', remoteID FROM \(entity) AS x
                  WHERE remoteID NOT IN (SELECT remoteID FROM shadow_\(entity)) AND \(change) IS NOT 'create'
                UNION ALL SELECT 'deleted, but', \(change), '\(entity)', remoteID FROM shadow_\(entity) AS x
                  WHERE remoteID NOT IN (SELECT remoteID FROM \(entity)) AND \(change) IS NOT 'delete'
                UNION ALL SELECT 'neither made nor deleted, but', kind, '\(entity)', k FROM (\(noted))
                  WHERE e = \(number) AND CASE kind WHEN 'create' THEN k IN (SELECT remoteID FROM shadow_\(entity))
                    WHEN 'delete' THEN k NOT IN (SELECT remoteID FROM shadow_\(entity))
                    ELSE k NOT IN (SELECT remoteID FROM \(entity)) END
                """)
            for column in columns {
                let now = ReferenceSQL.value(of: column, entity, "x")
                let old = ReferenceSQL.value(of: column, entity, "s", pendingIn: "shadow_pending")
                wrong += try await device.rows(
                    """
                    SELECT 'edited, but not noted', '\(entity)', x.remoteID, '\(column)'
                    FROM \(entity) AS x JOIN shadow_\(entity) AS s ON s.remoteID = x.remoteID
                    WHERE \(now) IS NOT \(old) AND (\(change) IS NOT 'update' OR NOT EXISTS (
                      SELECT 1 FROM sync_base WHERE e = \(number) AND k = +x.remoteID AND field = '\(column)'))
                    UNION ALL SELECT 'the base is another', '\(entity)', k, '\(column)' FROM sync_base AS b
                    JOIN shadow_\(entity) AS s ON s.remoteID = b.k
                    WHERE e = \(number) AND field = '\(column)' AND value IS NOT \(old)
                    """)
            }
        }
        // The list of a new row is sent whole, and its edits are ignored. `REPLACE` of such a row may leave one.
        let isNew = "SELECT k FROM sync_outbox WHERE e = 2 AND kind = 'create'"
        // The pending references of a deleted row are deleted with it, and their edits stay until the deletion is sent.
        wrong += try await device.rows(
            """
            WITH new(taskID, tagID) AS (\(Self.pairs)),
            old(taskID, tagID) AS (
              SELECT taskID, tagID FROM shadow_pairs UNION SELECT owner_key, target_key FROM shadow_pending
              WHERE owner_entity = 'Task' AND relationship = 'tags' AND owner_key IN (SELECT remoteID FROM Task)),
            edited(op, taskID, tagID) AS (
              SELECT 1, * FROM (SELECT * FROM new EXCEPT SELECT * FROM old)
              UNION ALL SELECT -1, * FROM (SELECT * FROM old EXCEPT SELECT * FROM new)),
            noted(op, taskID, tagID) AS (SELECT op, owner, other FROM sync_link)
            SELECT 'a pair edited, but not noted', * FROM (SELECT * FROM edited EXCEPT SELECT * FROM noted)
            UNION ALL SELECT 'a pair noted, but not edited', * FROM (SELECT * FROM noted EXCEPT SELECT * FROM edited)
              WHERE taskID NOT IN (\(isNew))
                AND (taskID IN (SELECT remoteID FROM Task) OR (taskID, tagID) IN (SELECT taskID, tagID FROM shadow_pairs))
            """)
        wrong += try await device.rows(
            """
            WITH old(task, list) AS (\(Self.lists("shadow_pairs", "place"))),
              new(task, list) AS (\(Self.lists("Tag_tasks", Device.place)))
            SELECT 'an order edited, but not noted', task, old.list, new.list FROM old JOIN new USING (task)
            WHERE old.list <> new.list AND NOT EXISTS (
              SELECT 1 FROM sync_base WHERE e = 2 AND k = +task AND field GLOB 'Tag_tasks *' AND value = '[' || old.list || ']')
            """)
        return wrong.isEmpty ? nil : wrong.joined(separator: "; ")
    }

    /// The tags of the tasks, also those that are not stored.
    private static let pairs = """
        SELECT taskID, tagID FROM Tag_tasks UNION SELECT owner_key, target_key FROM sync_pending
        WHERE owner_entity = 'Task' AND relationship = 'tags' AND owner_key IN (SELECT remoteID FROM Task)
        """

    /// Returns SQL for the lists of all tasks, as JSON.
    private static func lists(_ table: String, _ place: String) -> String {
        """
        SELECT taskID, group_concat(json_quote(tagID), ',')
        FROM (SELECT * FROM \(table) ORDER BY taskID, \(place) NULLS LAST, tagID) GROUP BY taskID
        """
    }

    // MARK: Older copies

    /// Discards the copy. A store from before ``SyncEngine/reset(_:only:)`` would not be reset.
    func discardCopy() { copy = nil }

    /// Copies the store, or restores it, on every second call.
    func restore() async throws {
        if let copy {
            try copy.database.backup(to: device.stack.writer)
            (written, isInStep) = (copy.written, copy.isInStep)
            self.copy = nil
        } else {
            let database = try DatabaseQueue()
            try device.stack.writer.backup(to: database)
            copy = (database, written, isInStep)
        }
    }
}
