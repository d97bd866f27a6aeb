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

// MARK: - All rows of a store

/// All rows of a store as text. Compare two dumps to detect changes.
package struct StoreDump: Sendable, Hashable {
    /// The rows of each table as text, such as SQL literals, sorted. They are compared byte for byte.
    package let tables: [String: [StoredValue]]

    /// - Parameter tables: The rows of each table as text.
    package init(_ tables: [String: [String]]) {
        self.tables = tables.mapValues { rows in
            rows.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map(StoredValue.string)
        }
    }

    /// Returns a description of each table that differs. A description contains the row counts, and an example of a
    /// removed row and of an added row.
    package func differences(from earlier: StoreDump) -> [String] {
        Set(tables.keys).union(earlier.tables.keys).sorted().compactMap { name in
            let now = tables[name] ?? []
            let before = earlier.tables[name] ?? []
            guard now != before else { return nil }
            let gone = Set(before).subtracting(now).compactMap(\.string).sorted()
            let new = Set(now).subtracting(before).compactMap(\.string).sorted()
            let examples = gone.prefix(1).map { "-(\($0))" } + new.prefix(1).map { "+(\($0))" }
            return "\(name): \(before.count) rows before, \(now.count) after \(examples.joined(separator: " "))"
        }
    }
}

// MARK: - Errors

// The errors of calls that name an entity, an attribute, a relationship or the key of a row.
extension SyncError {
    package static func unknownAttribute(_ name: String, of entity: CompiledEntity) -> SyncError {
        let names = entity.slotByName.keys.sorted()
        let known = TruncatedList(names).text
        let hint =
            relationship(meantBy: name, of: entity).map {
                "; '\($0)' is a relationship: set its rows with 'relationships'"
            }
            ?? SimilarName.hint(for: name, among: names)
        return SyncError(
            .unknownAttribute, "unknown attribute '\(name)'; available: \(known.isEmpty ? "none" : known)\(hint)",
            entity: entity.name)
    }

    /// Returns the relationship that a name probably means; nil if there is none. The name may have a suffix for IDs:
    /// `shelf`, `shelf_id`, `shelfID`.
    private static func relationship(meantBy name: String, of entity: CompiledEntity) -> String? {
        func folded(_ name: String) -> String { name.lowercased().filter { $0 != "_" } }
        let written = folded(name)
        return entity.relationships.map(\.name).first { [folded($0), folded($0) + "id"].contains(written) }
    }

    package static func unknownRelationship(_ name: String, of entity: CompiledEntity) -> SyncError {
        let known = TruncatedList(entity.relationships.map(\.name)).text
        return SyncError(
            .unknownRelationship,
            "unknown relationship '\(name)'; available: \(known.isEmpty ? "none" : known)"
                + SimilarName.hint(for: name, among: entity.relationships.map(\.name)), entity: entity.name)
    }
}

extension CompiledModel {
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    package func keyedEntity(named name: String) throws -> CompiledEntity {
        let entity = try entity(named: name)
        guard entity.isKeyed else {
            throw SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key; its rows cannot be fetched by key",
                entity: entity.name)
        }
        return entity
    }

    /// Returns the error for a key that another row of an entity has.
    package func duplicateKey(of entity: CompiledEntity) -> SyncError {
        SyncError(
            .duplicateKey, "another row has this key", entity: entity.name,
            path: keyNames(of: entity).joined(separator: ", "))
    }
}
