package import GRDB
public import SyncCore

/// A row as it was when it was fetched.
///
/// ```swift
/// let user = try await stack.fetch("User", id: 6)
/// user?["firstName"]?.string
/// ```
public struct SyncRecord: Sendable {
    /// The entity the row is of; for a fetch over an inheritance tree, the most specific one.
    public let entity: String
    /// The key the row is stored under, also where the key attribute reads as nil because the key is local. The rows of
    /// a keyless entity have one too, which is this store's own.
    public let key: RecordKey
    /// The primary key of the row in its table, which foreign keys refer to.
    package let rowKey: DatabaseValue
    package let type: CompiledEntity
    /// One per slot of the tree.
    package let values: [StoredValue]

    /// The value of the attribute with this name; nil if the entity has no such attribute.
    public subscript(attribute: String) -> StoredValue? {
        type.slotByName[attribute].map { values[$0] }
    }

    /// The names of the entity's attributes, inherited ones first.
    public var attributes: [String] {
        type.slotByName.sorted { $0.value < $1.value }.map(\.key)
    }
}

extension SyncRecord: Hashable {
    /// Whether both are the same row with the same values.
    public static func == (left: SyncRecord, right: SyncRecord) -> Bool {
        left.entity == right.entity && left.rowKey == right.rowKey && left.values == right.values
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(rowKey)
        hasher.combine(values)
    }
}

extension SyncRecord: CustomStringConvertible {
    /// `User 6 (age: 20, firstName: "Ann")`, without what is nil.
    public var description: String {
        let values = attributes.compactMap { name in
            self[name].flatMap { $0.isNull ? nil : "\(name): \(Self.text($0))" }
        }
        return "\(entity) \(key) (\(values.joined(separator: ", ")))"
    }

    private static func text(_ value: StoredValue) -> String {
        let stored = ColumnValue.databaseValue(value, as: .string)
        return switch stored.storage {
        case .null: "nil"
        case .int64(let number): value.bool.map { "\($0)" } ?? "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): value.string == nil ? text : "\"\(text)\""
        case .blob(let data): "\(data.count) bytes"
        }
    }
}
