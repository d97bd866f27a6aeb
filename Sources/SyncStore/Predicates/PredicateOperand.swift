import SyncCore

/// The SQL of what a condition compares: a column, or a subquery that yields one value or NULL.
struct PredicateOperand {
    /// As stored; a local key is there.
    let stored: String
    /// As the attribute reads: NULL for a local key.
    let value: String
    let type: AttributeType
    /// Which local keys it may hold, if any.
    let localKeys: LocalKeys?
    /// The condition that the column holds one.
    let isLocal: String?
    /// Whether it is cheap to repeat, and may be looked up in an index.
    let isColumn: Bool

    /// The keys of rows that the service does not know yet.
    enum LocalKeys {
        case integer
        case text

        /// Whether the attribute never reads as the value, because it is such a key.
        func include(_ value: PredicateConstant) -> Bool {
            switch (self, value) {
            case (.integer, .integer(let integer)): integer < LocalKey.integerBound
            case (.text, .text(let text)): LocalKey.isLocal(text)
            default: false
            }
        }

        fileprivate func areIn(_ column: String, _ dialect: any SQLDialect) -> String {
            switch self {
            case .integer: "\(column) < \(LocalKey.integerBound)"
            case .text: dialect.isLocalKey(column)
            }
        }
    }

    /// - Parameter wrap: makes the whole expression of the expression of the last column.
    init(
        _ column: String, _ type: AttributeType, _ dialect: any SQLDialect, localKeys: LocalKeys? = nil,
        wrappedBy wrap: ((String) -> String)? = nil
    ) {
        self.type = type
        self.localKeys = localKeys
        isLocal = localKeys?.areIn(column, dialect)
        let masked = isLocal.map { "CASE WHEN \($0) THEN NULL ELSE \(column) END" } ?? column
        stored = wrap?(column) ?? column
        value = wrap?(masked) ?? (localKeys == nil ? column : "(\(masked))")
        isColumn = wrap == nil
    }
}
