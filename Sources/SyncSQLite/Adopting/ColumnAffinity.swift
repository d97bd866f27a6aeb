import SyncCore

/// What a column makes of the values that are put into it, by the rules of SQLite.
enum ColumnAffinity {
    case integer, text, none, real, numeric

    init(_ declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        self =
            if has("INT") {
                .integer
            } else if has("CHAR", "CLOB", "TEXT") {
                .text
            } else if has("BLOB") || type.isEmpty {
                .none
            } else if has("REAL", "FLOA", "DOUB") {
                .real
            } else {
                .numeric
            }
    }

    /// Whether all values of an attribute of this type come back from it as they were. The texts of dates and UUIDs are
    /// never taken for numbers.
    func keeps(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .boolean: self == .integer || self == .numeric || self == .none
        case .double: self == .real || self == .none
        case .string, .url, .decimal, .json, .transformable: self == .text || self == .none
        case .date, .uuid, .binary: true
        }
    }
}

extension AppTable {
    /// Whether a column keeps the values of attributes of this type as they are.
    func keeps(_ type: AttributeType, in column: Column) -> Bool {
        guard isStrict else { return column.affinity.keeps(type) }
        let declared = column.declaredType.uppercased()
        let wanted = SchemaSQL.columnType(type)
        return declared == "ANY" || declared == wanted || declared == "INT" && wanted == "INTEGER"
    }
}
