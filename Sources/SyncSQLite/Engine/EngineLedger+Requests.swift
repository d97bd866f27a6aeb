import Foundation
import GRDB
import SyncCore
import SyncStore

struct SentField {
    let name: String
    let value: DatabaseValue
}

// Requests whose outcome is not final, the changes for which requests are built, and the values that were sent.
extension EngineLedger {
    func hasRequests() throws -> Bool { try db.finds("SELECT 1 FROM sync_request") }

    /// Returns the requests of an entity, in the order in which they were built.
    func requests(of table: TrackedTable) throws -> [OutgoingRequest] {
        try db.rows(
            """
            SELECT id, kind, remote, body, version, idempotency_key, prepared_at, attempts, natural_key, accepted_seq, k, seq
            FROM sync_request WHERE e = ? ORDER BY id
            """, table.number
        ).map { row in
            func json(_ index: Int) throws -> JSONValue? {
                try row.decode(String?.self, atIndex: index).map { try EngineTableCheck.json($0) }
            }
            let id = try table.json(row[10], in: db)
            return OutgoingRequest(
                id: try row.decode(atIndex: 0),
                PushOperation(
                    entity: table.entity.name, kind: try row.state(atIndex: 1), id: try json(2),
                    record: try json(3) ?? .object([]), version: try row.decode(atIndex: 4),
                    idempotencyKey: try row.decode(atIndex: 5)),
                edit: try row.decode(atIndex: 11), preparedAt: try row.decode(atIndex: 6),
                attempts: try row.decode(atIndex: 7), naturalKey: try json(8),
                isRestoration: try row.decode(atIndex: 5) == CreationID(reviving: id, of: table).text,
                acceptedAtEdit: try row.decode(atIndex: 9))
        }
    }

    /// Returns the keys of the rows that have a request.
    func keysWithRequests(among keys: [DatabaseValue], _ table: TrackedTable) throws -> Set<BinaryComparedValue> {
        var found: Set<BinaryComparedValue> = []
        try db.forEachRow("SELECT k FROM sync_request WHERE e = \(table.number) AND k IN ", keys) {
            found.insert($0[0].exact)
        }
        return found
    }

    /// Returns whether a request without an attempt of unknown outcome is in flight.
    func isInFlight(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_request WHERE e = ? AND k = ? AND attempts = 0 AND accepted_seq IS NULL", table.number,
            key)
    }

    /// Returns whether an attempt of unknown outcome may have created the row.
    func mayBeCreated(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_request WHERE e = ? AND k = ? AND kind = 'create' AND attempts > 0", table.number, key)
    }

    /// Returns the current keys of the rows of requests, and whether their changes are the changes that were sent.
    func sentRows(ofRequests ids: [Int64]) throws -> [Int64: (key: DatabaseValue, isUnchanged: Bool)] {
        var rows: [Int64: (key: DatabaseValue, isUnchanged: Bool)] = [:]
        try db.forEachRow(
            """
            SELECT r.id, r.k, c.kind IS r.kind AND c.seq <= r.seq FROM sync_request AS r
            LEFT JOIN sync_outbox AS c ON c.e = r.e AND c.k = r.k WHERE r.id IN\u{20}
            """, ids.map(\.databaseValue)
        ) { rows[try $0.decode(atIndex: 0)] = ($0[1], try $0.decode(atIndex: 2)) }
        return rows
    }

    // MARK: Changes to send

    /// The changes that one pass of a push examines.
    enum Selection {
        /// New and changed rows.
        case rows
        case newRows
        case deletions

        /// The clause that names the index. Without it, SQLite would also scan the deletions.
        fileprivate var index: String { self == .deletions ? "" : " INDEXED BY sync_outbox_row" }

        fileprivate var condition: String {
            switch self {
            case .rows: "kind <> 'delete'"
            case .newRows: "kind <> 'delete' AND kind = 'create'"
            case .deletions: "kind = 'delete'"
            }
        }
    }

    /// Returns the next changes that can be sent, in the order of their keys.
    ///
    /// - Parameters:
    ///   - repeatsCreates: See ``EngineRegistration/mayRepeatCreates``.
    ///   - key: The key after which the changes begin; NULL for the first changes.
    ///   - count: The largest number of changes to return.
    func changesToSend(
        of table: TrackedTable, _ selection: Selection, repeatsCreates: Bool, after key: DatabaseValue,
        upTo lastEdit: Int64, atMost count: Int
    ) throws -> [PendingChange] {
        let start = key.isNull ? [] : [key]
        let sql =
            Self.changesToSend(of: table, selection, repeatsCreates)
            + "\(key.isNull ? "" : " AND k > ?") ORDER BY k LIMIT ?"
        return try db.rows(sql, list: [lastEdit.databaseValue] + start + [count.databaseValue]).map(PendingChange.init)
    }

    /// Returns the query for changes to send. Changes that have a request are excluded.
    ///
    /// If creates may be repeated, a create with an earlier attempt is not excluded if its outcome is unknown and the row
    /// was edited since.
    private static func changesToSend(
        of table: TrackedTable, _ selection: Selection, _ repeatsCreates: Bool
    ) -> String {
        let repeated = """

              AND NOT (r.kind = 'create' AND c.kind = 'create' AND r.attempts > 0 AND r.seq < c.seq AND r.accepted_seq IS NULL)
            """
        return """
            SELECT \(PendingChange.columns) FROM sync_outbox AS c\(selection.index)
            WHERE e = \(table.number) AND seq <= ? AND state = 'ready' AND \(selection.condition)
              AND NOT EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = c.e AND r.k = c.k\(repeatsCreates ? repeated : ""))
            """
    }

    /// Returns the changes of rows that can be sent, and whose last edit is not after `lastEdit`.
    func changesToSend(
        of keys: [DatabaseValue], _ table: TrackedTable, _ selection: Selection, repeatsCreates: Bool,
        upTo lastEdit: Int64
    ) throws -> [PendingChange] {
        var changes: [PendingChange] = []
        let sql = Self.changesToSend(of: table, selection, repeatsCreates) + " AND k IN "
        try db.forEachRow(sql, head: [lastEdit], keys) {
            changes.append(try PendingChange($0))
        }
        return changes
    }

    /// Returns a row of the same table that referenced a row and whose deletion is pending.
    func deletedRow(
        of table: TrackedTable, referencing key: DatabaseValue, in column: TrackedTable.Column
    ) throws -> DatabaseValue? {
        try db.row(
            """
            SELECT c.k FROM sync_base AS b INDEXED BY sync_base_value CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE b.e = :e AND b.field = :field AND \(EngineSchema.isBase("b", ":key"))
              AND c.kind = 'delete' AND c.state = 'ready' AND c.k IS NOT :key
            LIMIT 1
            """, ["e": table.number, "field": column.name, "key": key])?[0]
    }

    // MARK: New rows

    /// Returns the new rows of an entity that are stored, with the values of columns after the key. `key`: nil to read
    /// all new rows.
    func newRows(of table: TrackedTable, _ columns: [String], _ key: DatabaseValue? = nil) throws -> [ResultRow] {
        let values = (["c.k"] + columns.map { "r.\($0.quoted)" }).joined(separator: ", ")
        return try db.rows(
            "SELECT \(values) \(Self.newRows(table))\(key == nil ? "" : " AND c.k = ?")",
            list: [table.number.databaseValue] + [key].compactMap(\.self))
    }

    /// Returns whether a row is new and stored, and has these values.
    func isNew(
        _ key: DatabaseValue, _ table: TrackedTable, having values: [(column: String, value: DatabaseValue)]
    ) throws -> Bool {
        let condition = values.map { " AND r.\($0.column.quoted) IS ? COLLATE BINARY" }.joined()
        return try db.finds(
            "SELECT 1 \(Self.newRows(table)) AND c.k = ?\(condition)",
            list: [table.number.databaseValue, key] + values.map(\.value))
    }

    private static func newRows(_ table: TrackedTable) -> String {
        """
        FROM sync_outbox c JOIN \(table.sql) r ON r.\(table.keySQL) = c.k
        WHERE c.e = ? AND c.kind = 'create'\(table.isOwn("r"))
        """
    }

    /// Returns the rows with a temporary key whose remote ID is known.
    func rowsWithUnusedID(of table: TrackedTable) throws -> [(key: DatabaseValue, id: JSONValue)] {
        let key = "r.\(table.keySQL)"
        return try db.rows(
            """
            SELECT \(key), n.remote FROM \(table.sql) AS r
            JOIN sync_known AS n ON n.e = \(table.number) AND n.k = +\(key)
            WHERE n.remote IS NOT NULL AND \(table.key.isLocal)\(table.isOwn("r"))
            """
        ).map { ($0[0], try EngineTableCheck.json($0.decode(atIndex: 1))) }
    }

    // MARK: Building and deleting requests

    /// A request to store.
    struct NewRequest {
        let request: OutgoingRequest
        let key: DatabaseValue
        let table: Int
        let sent: [SentField]
    }

    func nextRequest() throws -> (id: Int64, time: Int64) {
        let row = try db.row("SELECT ifnull(max(id), 0) + 1, \(Database.nowSQL) FROM sync_request")
        guard let row else { throw SyncError(.databaseError, "SQLite returned no request ID") }
        return try (row.decode(atIndex: 0), row.decode(atIndex: 1))
    }

    func insertRequests(_ requests: [NewRequest]) throws {
        try db.insert(
            requests,
            """
            INSERT INTO sync_request
              (id, e, k, kind, idempotency_key, remote, version, body, natural_key, seq, prepared_at, attempts) VALUES\u{20}
            """, row: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ""
        ) { new in
            let (request, operation) = (new.request, new.request.operation)
            return [
                request.id.databaseValue, new.table.databaseValue, new.key, operation.kind.rawValue.databaseValue,
                operation.idempotencyKey.databaseValue, (operation.id?.text).databaseValue,
                operation.version.databaseValue, operation.record.text.databaseValue,
                (request.naturalKey?.text).databaseValue, request.edit.databaseValue,
                request.preparedAt.databaseValue, request.attempts.databaseValue,
            ]
        }
        try db.insert(
            requests.flatMap { new in new.sent.map { (new.request.id, $0) } },
            "INSERT INTO sync_sent (request, field, value) VALUES ", row: "(?, ?, ?)", ""
        ) { id, field in [id.databaseValue, field.name.databaseValue, field.value] }
    }

    /// Deletes a request. `keepsValues`: whether its sent values become attempted values.
    func deleteRequest(_ id: Int64, keepsValues: Bool = false) throws {
        if keepsValues {
            try db.run(
                """
                INSERT INTO sync_tried (e, k, field, value)
                SELECT r.e, r.k, s.field, s.value FROM sync_request AS r JOIN sync_sent AS s ON s.request = r.id WHERE r.id = ?
                """, id)
        }
        try deleteRequests([id])
    }

    func deleteRequests(_ ids: [Int64]) throws {
        for start in ["sync_sent WHERE request", "sync_request WHERE id"] {
            try db.run("DELETE FROM \(start) IN ", keys: ids.map(\.databaseValue))
        }
    }

    /// Deletes the request of a row whose outcome is unknown, and keeps its sent values as attempted values. Returns
    /// the idempotency key and the number of attempts, for the next request; nil if there is no request.
    func takeRequest(of key: DatabaseValue, _ table: TrackedTable) throws -> (key: String, attempts: Int)? {
        let row = try db.row(
            "SELECT id, idempotency_key, attempts FROM sync_request WHERE e = ? AND k = ?", table.number, key)
        guard let row else { return nil }
        let id = try row.decode(Int64.self, atIndex: 0)
        try deleteRequest(id, keepsValues: true)
        return try (row.decode(atIndex: 1), row.decode(atIndex: 2))
    }

    /// Deletes the create request of a row that may have been carried out, because its outcome is known or not needed
    /// any more. Such a request has an attempt without a response, or the service accepted it without returning the
    /// row.
    func deleteOpenCreate(of key: DatabaseValue, _ table: TrackedTable) throws {
        let open =
            "FROM sync_request WHERE e = ? AND k = ? AND kind = 'create' AND (attempts > 0 OR accepted_seq IS NOT NULL)"
        try db.run("DELETE FROM sync_sent WHERE request IN (SELECT id \(open))", table.number, key)
        try db.run("DELETE \(open)", table.number, key)
    }

    // MARK: Outcomes

    /// Records an attempt of unknown outcome. The next attempt does not count the service's acceptance of the row.
    func addUnknownAttempt(ofRequest id: Int64, at time: Int64) throws {
        try db.run(
            "UPDATE sync_request SET attempts = attempts + 1, prepared_at = ?, accepted_seq = NULL WHERE id = ?", time,
            id)
    }

    /// Records that the service accepted a new row without returning it. `isCertain`: whether the service itself
    /// responded.
    func setAccepted(request id: Int64, isCertain: Bool, at time: Int64) throws {
        try db.run(
            """
            UPDATE sync_request SET accepted_seq = coalesce(accepted_seq, \(Self.currentEdit)), prepared_at = ?,
              attempts = CASE WHEN ? THEN 0 ELSE attempts + 1 END WHERE id = ?
            """, time, isCertain, id)
    }

    /// Records that the service may have lost the rows of an entity that it accepted without returning them. Their
    /// requests are sent once more if the service does not list the rows. See ``OutgoingRequest/isSentOnceMore``.
    func setAcceptedUncertain(of table: TrackedTable) throws {
        try db.run("UPDATE sync_request SET attempts = 1 WHERE e = ? AND accepted_seq IS NOT NULL", table.number)
    }

    /// Records that an attempt may have created the row, because the service rejected a repetition.
    func addRejectedAttempt(ofRequest id: Int64) throws {
        try db.run("UPDATE sync_request SET attempts = attempts + 1, accepted_seq = NULL WHERE id = ?", id)
    }

    func addCreatingAttempt(ofRequest id: Int64) throws {
        try db.run("UPDATE sync_request SET attempts = attempts + 1 WHERE id = ?", id)
    }

    // MARK: Sent values

    func sentFields(ofRequest id: Int64) throws -> [SentField] { try sentFields(ofRequests: [id])[id] ?? [] }

    func sentFields(ofRequests ids: [Int64]) throws -> [Int64: [SentField]] {
        var fields: [Int64: [SentField]] = [:]
        try db.forEachRow("SELECT request, field, value FROM sync_sent WHERE request IN ", ids.map(\.databaseValue)) {
            row in
            fields[try row.decode(atIndex: 0), default: []].append(
                SentField(name: try row.decode(atIndex: 1), value: row[2]))
        }
        return fields
    }

    /// Returns the attempted values of a row by field: values that requests sent and that the service did not confirm.
    /// The outcome of such a request is unknown, or the service had another version of the row. The service may have
    /// stored the values anyway. Then their presence at the service is not a change by another device.
    func attemptedValues(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: [DatabaseValue]] {
        let rows = try db.rows(
            """
            SELECT field, value FROM sync_tried WHERE e = ? AND k = ?
            UNION ALL SELECT s.field, s.value FROM sync_request AS r JOIN sync_sent AS s ON s.request = r.id
            WHERE r.e = ? AND r.k = ?
            """, table.number, key, table.number, key)
        return try rows.reduce(into: [:]) { values, row in
            values[try row.decode(atIndex: 0), default: []].append(row[1])
        }
    }

    func deleteAttemptedValues(of key: DatabaseValue, _ table: TrackedTable) throws {
        try deleteAttemptedValues(of: [key], table)
    }

    func deleteAttemptedValues(of keys: [DatabaseValue], _ table: TrackedTable) throws {
        try db.run("DELETE FROM sync_tried WHERE e = \(table.number) AND k IN ", keys: keys)
    }

    /// Deletes the attempted values of rows without a pending change, and the edit times of rows that are not to be
    /// created any more.
    func deleteFinishedValues() throws {
        try db.run(
            """
            DELETE FROM sync_tried WHERE NOT EXISTS (
              SELECT 1 FROM sync_outbox AS c WHERE c.e = sync_tried.e AND c.k = sync_tried.k)
            """)
        try db.run(
            """
            DELETE FROM sync_made WHERE NOT EXISTS (
              SELECT 1 FROM sync_outbox AS c WHERE c.e = sync_made.e AND c.k = sync_made.k AND c.creation_id IS NOT NULL)
            """)
    }

    /// Deletes the sent values of requests that are not stored any more.
    func deleteOrphanedSentValues() throws {
        try db.run("DELETE FROM sync_sent WHERE request NOT IN (SELECT id FROM sync_request)")
    }

    // MARK: Unsent rows

    /// Returns the values of a column in rows to be created that have no base value of the field. `table`, `keyColumn`:
    /// the quoted names of the table with the rows and of its key.
    func newValues(
        of column: String, field: String, _ number: Int, table: String, keyColumn: String
    ) throws -> [(key: DatabaseValue, value: DatabaseValue)] {
        let column = "r.\(column.quoted)"
        let sql = """
            SELECT c.k, \(column) FROM sync_outbox AS c JOIN \(table) AS r ON r.\(keyColumn) = c.k
            WHERE c.e = ? AND c.kind = 'create' AND \(column) IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM sync_base AS b WHERE b.e = c.e AND b.k = c.k AND b.field = ?)
            """
        return try db.rows(sql, number, field).map { ($0[0], $0[1]) }
    }
}
