import SyncCore
import SyncStore

/// The SQL of what a condition compares: a column, or a subquery that yields one value or NULL.
struct PredicateOperand {
    /// As stored; a local key is there.
    let stored: String
    /// As the attribute reads: NULL for a local key.
    let value: String
    let type: AttributeType
    /// Which local keys it may hold, if any.
    let localKeys: LocalKeys?
    /// Whether it is cheap to repeat, and may be looked up in an index.
    let isColumn: Bool

    /// The keys of rows that the service does not know yet.
    enum LocalKeys {
        case integer
        case text

        /// `local-` and a UUID.
        private static let pattern =
            "local-" + [8, 4, 4, 4, 12].map { String(repeating: "[0-9A-Fa-f]", count: $0) }.joined(separator: "-")

        /// The condition that a column holds one.
        func isLocal(_ column: String) -> String {
            switch self {
            case .integer: "\(column) < \(LocalKey.integerBound)"
            case .text: "\(column) GLOB '\(Self.pattern)'"
            }
        }

        func masked(_ column: String) -> String { "CASE WHEN \(isLocal(column)) THEN NULL ELSE \(column) END" }

        func isLocal(value integer: Int64) -> Bool { self == .integer && integer < LocalKey.integerBound }

        func isLocal(value text: String) -> Bool {
            guard self == .text, text.utf8.count == 42, text.hasPrefix("local-") else { return false }
            return text.utf8.dropFirst(6).enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : Unicode.Scalar(byte).properties.isASCIIHexDigit
            }
        }
    }

    /// - Parameter wrap: makes the whole expression of the expression of the last column.
    init(
        _ column: String, _ type: AttributeType, localKeys: LocalKeys? = nil,
        wrappedBy wrap: ((String) -> String)? = nil
    ) {
        self.type = type
        self.localKeys = localKeys
        let masked = localKeys?.masked(column) ?? column
        stored = wrap?(column) ?? column
        value = wrap?(masked) ?? (localKeys == nil ? column : "(\(masked))")
        isColumn = wrap == nil
    }
}
