import Foundation
import GRDB
import SyncCore
import SyncStore

struct SentField {
    let name: String
    let value: DatabaseValue
}

// Requests whose outcome is not final, and the values of fields: sent values, attempted values and base values.
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
            let id = try table.json(row[10], in: db).text
            return OutgoingRequest(
                id: try row.decode(atIndex: 0),
                PushOperation(
                    entity: table.entity.name, kind: try row.state(atIndex: 1), id: try json(2),
                    record: try json(3) ?? .object([]), version: try row.decode(atIndex: 4),
                    idempotencyKey: try row.decode(atIndex: 5)),
                edit: try row.decode(atIndex: 11), preparedAt: try row.decode(atIndex: 6),
                attempts: try row.decode(atIndex: 7), naturalKey: try json(8),
                isRestoration: try row.decode(atIndex: 5) == CreationID(reviving: id, of: table.entity.name).text,
                acceptedAtEdit: try row.decode(atIndex: 9))
        }
    }

    /// Returns the current key of the row of a request, and whether its change is the change that was sent. Returns nil
    /// if the request was completed before.
    func sentRow(ofRequest id: Int64) throws -> (key: DatabaseValue, isUnchanged: Bool)? {
        try sentRows(ofRequests: [id])[id]
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

    /// Records that an attempt may have created the row, because the service rejected a repetition.
    func addRejectedAttempt(ofRequest id: Int64) throws {
        try db.run("UPDATE sync_request SET attempts = attempts + 1, accepted_seq = NULL WHERE id = ?", id)
    }

    func addCreatingAttempt(ofRequest id: Int64) throws {
        try db.run("UPDATE sync_request SET attempts = attempts + 1 WHERE id = ?", id)
    }

    func deleteRequest(_ id: Int64) throws { try deleteRequests([id]) }

    /// Deletes the request of a row whose outcome is unknown, and keeps its sent values as attempted values. Returns
    /// the idempotency key and the number of attempts, for the next request; nil if there is no request.
    func takeRequest(of key: DatabaseValue, _ table: TrackedTable) throws -> (key: String, attempts: Int)? {
        let row = try db.row(
            "SELECT id, idempotency_key, attempts FROM sync_request WHERE e = ? AND k = ?", table.number, key)
        guard let row else { return nil }
        let id = try row.decode(Int64.self, atIndex: 0)
        try insertAttemptedValues(ofRequest: id)
        try deleteRequest(id)
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

    /// Deletes the sent values of requests that are not stored any more.
    func deleteOrphanedSentValues() throws {
        try db.run("DELETE FROM sync_sent WHERE request NOT IN (SELECT id FROM sync_request)")
    }

    // MARK: Sent values

    func sentFields(ofRequest id: Int64) throws -> [SentField] { try sentFields(ofRequests: [id])[id] ?? [] }

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
            values[try row.decode(atIndex: 0), default: []].append(try row.wholeValue(at: 1))
        }
    }

    /// Keeps the sent values of a request as attempted values. Call this method before the request is deleted.
    func insertAttemptedValues(ofRequest id: Int64) throws {
        try db.run(
            """
            INSERT INTO sync_tried (e, k, field, value)
            SELECT r.e, r.k, s.field, s.value FROM sync_request AS r JOIN sync_sent AS s ON s.request = r.id WHERE r.id = ?
            """, id)
    }

    func deleteAttemptedValues(of key: DatabaseValue, _ table: TrackedTable) throws {
        try deleteAttemptedValues(of: [key], table)
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

    // MARK: Base values

    /// A base value, and when the field was edited.
    struct Base {
        let value: DatabaseValue
        var cause = PendingChange.Cause.edit
        /// In milliseconds since 1970.
        let editTime: Int64
        /// The value that the field had when its row was deleted; nil if the row is not deleted, or was not edited.
        var held: DatabaseValue?

        static let columns = "field, value, cause, edited, is_held, held"

        init(value: DatabaseValue, editTime: Int64) { (self.value, self.editTime) = (value, editTime) }

        init(_ row: Row) throws {
            value = row[1]
            cause = try row.state(atIndex: 2)
            editTime = try row.decode(atIndex: 3)
            held = try row.decode(Bool.self, atIndex: 4) ? row[5] : nil
        }
    }

    func bases(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: Base] {
        try db.rows("SELECT \(Base.columns) FROM sync_base WHERE e = ? AND k = ?", table.number, key).reduce(into: [:])
        { $0[try $1.decode(atIndex: 0)] = try Base($1) }
    }

    func base(of field: String, _ key: DatabaseValue, _ table: TrackedTable) throws -> DatabaseValue? {
        try db.value("SELECT value FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
    }

    func hasBase(_ field: String, _ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
    }

    /// Stores the base value of an edited field. The edit time of an existing entry stays. `base` is the base value;
    /// nil to delete it, because the field does not differ any more. `editTime` is the edit time of a new entry, in
    /// milliseconds since 1970.
    func setBase(
        _ base: DatabaseValue?, of field: String, _ key: DatabaseValue, _ table: TrackedTable,
        editTime: Int64 = SQLiteEngineStore.now
    ) throws {
        guard let base else {
            return try db.run("DELETE FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
        }
        try db.run(
            """
            INSERT INTO sync_base (e, k, field, value, edited) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value
            """, table.number, key, field, base, editTime)
    }

    func deleteBases(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run("DELETE FROM sync_base WHERE e = ? AND k = ?", table.number, key)
    }

    // MARK: Base orders of lists

    /// Returns the base order of a list: the last order that both sides had. Returns nil if the list is not ordered, or
    /// if no base order is stored.
    func baseOrder(
        of joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ table: TrackedTable
    ) throws -> [DatabaseValue]? {
        guard joinTable.isOrdered else { return nil }
        return try base(of: joinTable.field, key, table).map(LinkedRowList.keys)
    }

    /// Stores the base order of a list. `keys` is the base order; nil to delete it.
    func setBaseOrder(
        _ keys: [DatabaseValue]?, of joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ table: TrackedTable,
        editTime: Int64 = SQLiteEngineStore.now
    ) throws { try setBase(keys.map(LinkedRowList.text), of: joinTable.field, key, table, editTime: editTime) }

    /// Replaces the key of a linked row in the base orders of a relationship. If the row is stored, call this method
    /// after it has the new key. The statement reads only lists that contain the row or have a join edit of it. Other
    /// base orders cannot contain its key.
    func rekeyBaseOrders(
        of joinTable: TrackedTable.JoinTable, _ table: TrackedTable, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        guard joinTable.isOrdered else { return }
        let names = joinTable.table
        try db.run(
            """
            UPDATE sync_base SET value = (
              SELECT json_group_array(CASE WHEN value IS :old THEN :new ELSE value END)
              FROM json_each(sync_base.value))
            WHERE e = :e AND field = :field AND EXISTS (SELECT 1 FROM json_each(sync_base.value) WHERE value IS :old)
              AND k IN (
                SELECT \(names.mine) FROM \(names.table) WHERE \(names.other) IN (:old, :new)
                UNION SELECT owner FROM sync_link WHERE link = :link AND other IN (:old, :new))
            """, ["old": old, "new": new, "e": table.number, "field": joinTable.field, "link": joinTable.name])
    }

    // MARK: Fields of another model

    /// Gives the entries of an entity's fields the names and values that the fields have in another model. Deletes the
    /// entries that do not fit the model. Calls `lose` with the key and the base value of a row whose edit is deleted.
    func migrateFields(
        of number: Int, _ fields: [String: MigratedFields.Field],
        lose: (MigratedFields.Field, _ key: DatabaseValue, _ base: DatabaseValue) throws -> Void
    ) throws {
        /// `converted` is the number of columns whose values are converted. An entry is deleted if its first value cannot
        /// be converted.
        func migrate(_ table: String, _ columns: [String], converted: Int = 0, if isOf: String = "e = ?") throws {
            let list = columns.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db, sql: "SELECT field, \(list) FROM \(table) WHERE \(isOf)", arguments: [number])
            try db.execute(sql: "DELETE FROM \(table) WHERE \(isOf)", arguments: [number])
            for row in rows {
                var name = try row.decode(String.self, atIndex: 0)
                var values = try columns.indices.map { try row.wholeValue(at: $0 + 1) }
                if let field = fields[name] {
                    let new = try field.new == nil ? [] : values.prefix(converted).map(field.converted)
                    guard let newName = field.new, converted == 0 || new[0] != nil else {
                        if table == "sync_base" { try lose(field, row[3], row[1]) }
                        continue
                    }
                    name = newName
                    values.replaceSubrange(..<converted, with: new.map { $0 ?? .null })
                } else if table == "sync_base" || table == "sync_unreadable" {
                    // The old model does not have the field.
                    continue
                }
                let bound = values.map(ColumnValue.bound)
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO \(table) (field, \(list))
                        VALUES (?, \(bound.map(\.sql).joined(separator: ", ")))
                        """, arguments: StatementArguments([name.databaseValue] + bound.map(\.value)))
            }
        }
        // The values that columns had when their row was deleted are only logged, so they need not fit.
        try migrate("sync_base", ["value", "held", "k", "e", "edited", "cause", "is_held"], converted: 2)
        // The next pull determines whether the new model can read these values.
        try migrate("sync_unreadable", ["k", "e", "value"])
        let isOfRequest = "request IN (SELECT id FROM sync_request WHERE e = ?)"
        try migrate("sync_sent", ["value", "request"], converted: 1, if: isOfRequest)
        // The service may have carried out such a request.
        try migrate("sync_tried", ["value", "id", "e", "k"], converted: 1)
        try migrate("sync_made", ["k", "e", "edited", "is_restored"])
    }

    // MARK: Keys in values

    /// Replaces the key of a referenced row in the base values and sent values of a foreign key.
    func rekeyReferences(
        in column: TrackedTable.Column, of table: TrackedTable, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        try db.run(
            """
            UPDATE sync_base INDEXED BY sync_base_value SET value = :new
            WHERE e = :e AND field = :field AND \(EngineSchema.isBase("sync_base", ":old"))
            """, ["new": new, "e": table.number, "field": column.name, "old": old])
        try db.run(
            """
            UPDATE sync_sent SET value = ? WHERE field = ? AND value = ?
              AND request IN (SELECT id FROM sync_request WHERE e = ?)
            """, new, column.name, old, table.number)
        try db.run(
            "UPDATE sync_tried SET value = ? WHERE e = ? AND field = ? AND value = ?", new, table.number, column.name,
            old)
    }

    /// Replaces the keys of referenced rows in the base values and sent values of foreign keys and lists. `keys` has
    /// the replaced keys and their new keys. `destination` is the table of the referenced rows.
    func rekeyReferences(
        _ keys: [(old: DatabaseValue, new: DatabaseValue)], to destination: TableID, of table: TrackedTable
    ) throws {
        let pairs = keys.compactMap { String.fromDatabaseValue(LinkedRowList.text([$0.old, $0.new])) }
        let map = "[\(pairs.joined(separator: ", "))]"
        func new(_ key: String) -> String {
            """
            coalesce((SELECT json_extract(m.value, '$[1]') FROM json_each(:map) AS m
              WHERE json_extract(m.value, '$[0]') IS \(key)), \(key))
            """
        }
        let isOfRow = "e = :e"
        let isSent = "request IN (SELECT id FROM sync_request WHERE e = :e)"
        for (name, condition) in [("sync_base", isOfRow), ("sync_tried", isOfRow), ("sync_sent", isSent)] {
            let list = "(SELECT json_group_array(\(new("l.value"))) FROM json_each(\(name).value) AS l)"
            let columns = table.columns.filter { $0.destination == destination }
            let lists = table.joinTables.filter { $0.destination == destination }
            let fields = columns.map { ($0.name, new("\(name).value")) } + lists.map { ($0.field, list) }
            for (field, value) in fields {
                try db.run(
                    "UPDATE \(name) SET value = \(value) WHERE \(condition) AND field = :field AND value IS NOT NULL",
                    ["map": map, "e": table.number, "field": field])
            }
        }
    }
}
