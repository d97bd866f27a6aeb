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
