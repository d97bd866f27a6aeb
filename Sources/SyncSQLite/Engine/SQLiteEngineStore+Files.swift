import GRDB
package import SyncCore
package import SyncStore

// Files to upload. `sync_file` describes the files, and a folder has their bytes.
extension SQLiteEngineStore {
    package func checkFile(of entity: String, key: JSONValue, attribute: String) async throws {
        let table = try table(entity)
        try await reading { [self] db in _ = try column(of: table, key, attribute, in: db) }
    }

    package func attach(_ content: FileContent, to entity: String, key: JSONValue, attribute: String) async throws {
        let table = try table(entity)
        try await transaction { [self] db, _ in
            let (key, _) = try column(of: table, key, attribute, in: db)
            try db.run(
                """
                INSERT INTO sync_file (e, k, attribute, hash, name, type) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET hash = excluded.hash, name = excluded.name, type = excluded.type,
                  reason = NULL, attempts = 0
                """, table.number, key, attribute, content.hash, content.name, content.type)
        }
    }

    package func file(of entity: String, key: JSONValue, attribute: String) async throws -> FileAttributeState {
        let table = try table(entity)
        return try await reading { [self] db in
            let (key, column) = try column(of: table, key, attribute, in: db)
            let waiting = try db.first(
                String.self, "SELECT hash FROM sync_file WHERE e = ? AND k = ? AND attribute = ?", table.number, key,
                attribute)
            let name = try db.first(
                String.self, "SELECT \(column.quoted) FROM \(table.sql) WHERE \(table.keySQL) = ?", key)
            return FileAttributeState(
                pendingHash: waiting, name: name, remoteID: try OutgoingRecordBuilder(self, db).remoteID(of: key, table)
            )
        }
    }

    package func pendingFiles() async throws -> [PendingUpload] {
        try await reading { [self] db in try tables.flatMap { try files(of: $0, "true", in: db) } }
    }

    package func pendingFileHashes() async throws -> Set<String> {
        try await reading { db in Set(try db.all(String.self, "SELECT hash FROM sync_file")) }
    }

    package func filesToSend(_ entities: [String], _ lease: EngineLease) async throws -> [PendingUpload] {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { [self] db in
            try tables.flatMap { table in
                // Files of deleted rows are not sent.
                try db.run(
                    """
                    DELETE FROM sync_file WHERE e = ? AND NOT EXISTS (
                      SELECT 1 FROM \(table.sql) AS r WHERE r.\(table.keySQL) = sync_file.k)
                    """, table.number)
                return try files(of: table, "reason IS NULL AND \(EngineLedger.isKnownEntry)", in: db)
            }
        }
    }

    package func complete(_ file: PendingUpload, _ outcome: PendingUpload.Outcome, _ lease: EngineLease) async throws {
        try await writing(lease) { db in
            // Another file may have been attached in the meantime.
            let own: StatementArguments = [file.number, file.content.hash]
            switch outcome {
            case .sent: try db.run("DELETE FROM sync_file WHERE id = ? AND hash = ?", own)
            case .rejected(let reason):
                try db.run("UPDATE sync_file SET reason = ? WHERE id = ? AND hash = ?", [reason] + own)
            case .failed:
                try db.run("UPDATE sync_file SET attempts = attempts + 1 WHERE id = ? AND hash = ?", own)
            }
        }
    }

    private func files(of table: TrackedTable, _ condition: String, in db: Database) throws -> [PendingUpload] {
        let rows = try db.rows(
            """
            SELECT id, k, attribute, hash, name, type, reason FROM sync_file AS f WHERE e = ? AND \(condition)
            ORDER BY attempts, id
            """, table.number)
        let bodies = try OutgoingRecordBuilder(self, db)
        return try rows.compactMap { row in
            let key: DatabaseValue = row[1]
            let attribute: String = try row.decode(atIndex: 2)
            guard try table.isStored(key, in: db), let path = path(of: attribute, table) else { return nil }
            return PendingUpload(
                number: try row.decode(atIndex: 0), entity: table.entity.name, key: try table.recordKey(key, in: db),
                remoteID: try bodies.remoteID(of: key, table), attribute: attribute, path: path,
                content: try FileContent(
                    hash: row.decode(atIndex: 3), name: row.decode(atIndex: 4), type: row.decode(atIndex: 5)),
                reason: try row.decode(atIndex: 6))
        }
    }

    /// Returns the key of a row, and the column of an attribute that can hold a file name.
    private func column(
        of table: TrackedTable, _ key: JSONValue, _ attribute: String, in db: Database
    ) throws -> (key: DatabaseValue, column: String) {
        let name = table.entity.name
        guard let slot = table.entity.slotByName[attribute] else {
            throw SyncError(
                .unknownAttribute,
                "unknown attribute '\(attribute)'"
                    + SimilarName.hint(for: attribute, among: table.entity.slotByName.keys), entity: name)
        }
        guard model.compiled[table.entity.table].attributes[slot].type == .string, path(of: attribute, table) != nil
        else {
            throw SyncError(
                .invalidOption,
                "'\(attribute)' cannot store the name of a file; use an exported attribute of type string",
                entity: name)
        }
        guard !table.key.isSurrogate else {
            throw SyncError(
                .invalidOption, "files can only be attached to rows whose key is one attribute", entity: name)
        }
        guard let own = try currentKey(key, table, in: db) else {
            throw SyncError(.rowNotFound, "no row with the key \(key.text)", entity: name)
        }
        return (own, table.table.columns[slot])
    }

    /// Returns the key of a stored row, also if `key` is its former key; nil if the row is not stored.
    private func currentKey(_ key: JSONValue, _ table: TrackedTable, in db: Database) throws -> DatabaseValue? {
        guard let own = try table.key.engineKey(of: key, in: db) else { return nil }
        if try table.isStored(own, in: db) { return own }
        let alias = try EngineLedger(db).laterKey(than: own, ofEntities: "\(table.number)")
        guard let alias, try table.isStored(alias, in: db) else { return nil }
        return alias
    }

    private func path(of attribute: String, _ table: TrackedTable) -> [String]? {
        guard let slot = table.entity.slotByName[attribute], let shape = try? OutgoingSchema(table.entity, of: model)
        else { return nil }
        return shape.members.first { $0.field == .attribute(slot: slot) }?.path
    }
}
