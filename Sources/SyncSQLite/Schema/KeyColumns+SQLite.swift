import GRDB
import SyncCore
import SyncStore

// Keys in statements of SQLite.
extension KeyColumns {
    /// Returns the values of the key columns of a row with this key.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the key references a row that is not stored; `typeMismatch` if a
    ///   composite key does not have this type.
    func values(of key: RowKey, entity: String, in db: Database) throws -> [DatabaseValue] {
        guard case .composite(let types) = type else { return [key.databaseValue] }
        guard let values = key.parts(types), values.count == parts.count else {
            throw SyncError(.typeMismatch, "the value is not a valid key", entity: entity)
        }
        return try zip(parts, values).map { part, value in
            guard case .target(_, let target) = part else { return value.databaseValue }
            let bound = target.bound(value) ?? []
            let found = try db.value(
                "SELECT \(target.table.keyColumn.quoted) FROM \(target.table.name.quoted) WHERE "
                    + target.condition(of: target.table.name, equals: bound.map(\.sql)),
                StatementArguments(bound.map(\.value)))
            guard let found else {
                throw SyncError(.rowNotFound, "a row referenced by the key is not stored", entity: entity)
            }
            return found
        }
    }

    /// Returns the leaves of a key as parameters; nil if a composite key does not have this type.
    func bound(_ key: RowKey) -> [(sql: String, value: DatabaseValue)]? {
        guard let leaves = key.leaves(type), leaves.count == self.leaves.count else { return nil }
        return leaves.map { ColumnValue.bound($0.databaseValue) }
    }

    /// Binds the leaves of a key, starting at a parameter.
    ///
    /// - Returns: False if a composite key does not have this type.
    func bind(_ key: RowKey, to statement: RawStatement, at first: Int) -> Bool {
        guard let leaves = key.leaves(type), leaves.count == self.leaves.count else { return false }
        for (index, leaf) in leaves.enumerated() { statement.bind(leaf, at: first + index) }
        return true
    }

    /// Returns the key in columns; nil if a part is missing.
    func key(_ statement: RawStatement, at first: Int) -> RowKey? {
        guard isComposite else { return statement.key(first) }
        var text = CompositeKeyText()
        return values.read(statement, at: first, into: &text) ? .text(text.text) : nil
    }
}

extension KeyColumns {
    /// Returns the composite key of a selected row; nil if a part is missing.
    func recordKey(_ row: some SelectedColumns, at first: Int) throws -> PrimaryKeyValue? {
        var text = CompositeKeyText()
        guard try read(row, at: first, into: &text) else { return nil }
        return RowKey.text(text.text).recordKey(type)
    }

    private func read(
        _ row: some SelectedColumns, at first: Int, into text: inout CompositeKeyText
    ) throws -> Bool {
        text.open()
        var column = first
        for part in parts {
            if case .target(_, let key) = part, key.isComposite {
                guard try key.read(row, at: column, into: &text) else { return false }
                column += key.leaves.count
            } else {
                guard let value = try RowKey(row.wholeValue(at: column)) else { return false }
                text.append(value)
                column += 1
            }
        }
        text.close()
        return true
    }
}
