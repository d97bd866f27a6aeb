import Foundation

/// A copy of the values of a stored row.
///
/// ```swift
/// let user = try await stack.fetch("User", id: 6)
/// user?["firstName"]?.string
/// ```
public struct SyncRow: Sendable, Hashable {
    /// The name of the entity of the row. In an inheritance hierarchy, the name is that of the most specific entity.
    public let entity: String
    /// The primary key of the row; the surrogate key if the entity has no primary key. If the primary key is temporary,
    /// the value of the key attribute is ``StoredValue/null``.
    public let key: PrimaryKeyValue
    /// The key that foreign keys reference: the primary key or the surrogate key.
    package let rowKey: RowKey
    private let compiledEntity: EqualityIgnored<CompiledEntity>
    package var type: CompiledEntity { compiledEntity.value }
    /// One value per attribute slot of the inheritance hierarchy.
    package let values: [StoredValue]

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - type: The most specific entity of the row.
    ///   - key: The primary key; the surrogate key if the entity has no primary key.
    ///   - values: One value per attribute slot of the inheritance hierarchy. A temporary key is null, and so are the
    ///     attributes of other entities.
    package init(type: CompiledEntity, key: PrimaryKeyValue, rowKey: RowKey, values: [StoredValue]) {
        entity = type.name
        self.key = key
        self.rowKey = rowKey
        compiledEntity = EqualityIgnored(type)
        self.values = values
    }

    /// The value of an attribute, which may be ``StoredValue/null``; nil if the entity has no attribute of this name.
    public subscript(attribute: String) -> StoredValue? {
        type.slotByName[attribute].map { values[$0] }
    }

    /// The names of the attributes. Inherited attributes come first.
    public var attributes: [String] {
        type.slotByName.sorted { $0.value < $1.value }.map(\.key)
    }
}

extension SyncRow: CustomStringConvertible {
    /// The entity, the key and the values that are not null, such as `User 6 (id: 6, firstName: "Ann")`.
    public var description: String {
        let values = attributes.compactMap { name in
            self[name].flatMap { $0.isNull ? nil : "\(name): \(Self.text($0))" }
        }
        return "\(entity) \(key) (\(values.joined(separator: ", ")))"
    }

    private static func text(_ value: StoredValue) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .string(let text): "\"\(text)\""
        case .date(let date): date.milliseconds.map(DateText.string) ?? "nil"
        case .uuid(let id): id.uuidString
        case .url(let text): text
        case .binary(let data): "\(data.count) bytes"
        case .json(let value): String(decoding: CanonicalJSON.bytes(value), as: UTF8.self)
        }
    }
}
