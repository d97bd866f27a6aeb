/// A path to a single value, for display and sorting. It is an attribute or relationship of the row, or of a row at the
/// end of to-one relationships.
///
///     title    user    user.login    notes.@count
package struct RowPath: Sendable {
    package enum End: Sendable {
        case attribute(slot: Int)
        /// The key of the row that a to-one relationship references.
        case target(CompiledRelationship)
        /// The number of rows of a to-many relationship.
        case count(CompiledRelationship)
    }

    /// The path as the caller wrote it.
    package let name: String
    /// The to-one relationships before the end.
    package let hops: [CompiledRelationship]
    package let end: End

    /// Resolves a path.
    ///
    /// - Throws: ``SyncError`` `unknownAttribute` for an unknown name, or for a name after an attribute.
    ///   `invalidOption` for a to-many relationship without `@count`, or for `@count` of a to-one relationship.
    package init(_ text: String, on root: CompiledEntity, in model: CompiledModel) throws {
        name = text
        var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isCount = parts.count > 1 && parts.last == PredicatePath.countName
        if isCount { parts.removeLast() }
        var (entity, hops): (CompiledEntity, [CompiledRelationship]) = (root, [])
        for part in parts.dropLast() {
            guard let hop = entity.relationship(named: part) else {
                if entity.slotByName[part] != nil {
                    throw SyncError(
                        .unknownAttribute, "'\(part)' is an attribute; no name can follow it in '\(text)'",
                        entity: entity.name)
                }
                throw Self.unknown(part, "relationship", of: entity, in: model)
            }
            guard !hop.isToMany else { throw Self.many(hop, text) }
            hops.append(hop)
            entity = model.entities[hop.destination]
        }
        self.hops = hops
        let last = parts.last ?? ""
        if let slot = entity.slotByName[last], !isCount {
            end = .attribute(slot: slot)
        } else if let relationship = entity.relationship(named: last) {
            guard relationship.isToMany == isCount else {
                throw isCount
                    ? SyncError(.invalidOption, "@count requires a to-many relationship, and '\(last)' is not one")
                    : Self.many(relationship, text)
            }
            end = isCount ? .count(relationship) : .target(relationship)
        } else {
            throw Self.unknown(last, "attribute", of: entity, in: model)
        }
    }

    /// Returns the paths of an entity's attributes, inherited ones first, followed by its to-one relationships.
    package static func all(of entity: CompiledEntity, in model: CompiledModel) -> [RowPath] {
        entity.slots.map { RowPath(model[entity.table].attributes[$0].name, .attribute(slot: $0)) }
            + entity.relationships.filter { !$0.isToMany }.map { RowPath($0.name, .target($0)) }
    }

    private init(_ name: String, _ end: End) {
        self.name = name
        hops = []
        self.end = end
    }

    /// Returns the type of the values. A composite key is a JSON list, and a surrogate key is an integer.
    package func type(from root: CompiledEntity, in model: CompiledModel) -> AttributeType {
        switch end {
        case .attribute(let slot):
            let owner = hops.last.map { model.entities[$0.destination] } ?? root
            return model[owner.table].attributes[slot].type
        case .target(let relationship):
            switch model.keyType(of: relationship.destination) {
            case .single(let type): return type
            case .composite: return .json
            case nil: return .integer
            }
        case .count: return .integer
        }
    }

    // MARK: Errors

    private static func many(_ relationship: CompiledRelationship, _ path: String) -> SyncError {
        SyncError(
            .invalidOption,
            "'\(relationship.name)' of '\(path)' is a to-many relationship; use \(relationship.name).@count "
                + "for the number of rows"
        )
    }

    private static func unknown(
        _ name: String, _ kind: String, of entity: CompiledEntity, in model: CompiledModel
    ) -> SyncError {
        let paths = all(of: entity, in: model).map(\.name)
        let names = paths + entity.relationships.filter(\.isToMany).map(\.name)
        let known = TruncatedList(names).text
        return SyncError(
            .unknownAttribute,
            "unknown \(kind) '\(name)'; available: \(known.isEmpty ? "none" : known)"
                + SimilarName.hint(for: name, among: names), entity: entity.name)
    }
}

/// A path of a condition, with resolved names.
struct ResolvedPredicatePath {
    enum End {
        case attribute(slot: Int)
        /// A member of the JSON in an attribute, by the keys that lead to it.
        case member(slot: Int, keys: [String])
        case relationship(CompiledRelationship)
        case count(CompiledRelationship)
    }

    /// The relationships before the end.
    let hops: [CompiledRelationship]
    let end: End
    let name: String

    /// Resolves a path.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` for an unknown name, and for `@count` of anything but a to-many
    ///   relationship. For an unknown name, the message lists known names.
    init(
        _ path: PredicatePath, from root: CompiledEntity, in model: CompiledModel, at location: PredicateSourceLocation
    )
        throws
    {
        var hops: [CompiledRelationship] = []
        var entity = root
        name = path.name
        for (index, name) in path.components.dropLast().enumerated() {
            if let slot = entity.slotByName[name], model[entity.table].attributes[slot].type == .json, !path.isCount {
                self.hops = hops
                end = .member(slot: slot, keys: try Self.keys(path.components[(index + 1)...], root, location))
                return
            }
            guard let relationship = entity.relationship(named: name) else {
                throw Self.unknown(name, "relationship", entity, model, location)
            }
            hops.append(relationship)
            entity = model.entities[relationship.destination]
        }
        self.hops = hops
        let last = path.components.last ?? ""
        if path.isCount {
            guard let relationship = entity.relationship(named: last), relationship.isToMany else {
                throw location.error(
                    "@count requires a to-many relationship, and '\(last)' is not one", entity: entity.name)
            }
            end = .count(relationship)
        } else if let slot = entity.slotByName[last] {
            end = .attribute(slot: slot)
        } else if let relationship = entity.relationship(named: last) {
            end = .relationship(relationship)
        } else {
            throw Self.unknown(last, "attribute or relationship", entity, model, location)
        }
    }

    /// Checks the keys of a member of JSON. Paths in SQL have no syntax for quotes and control characters.
    private static func keys(
        _ names: ArraySlice<String>, _ root: CompiledEntity, _ location: PredicateSourceLocation
    ) throws -> [String] {
        for name in names where name.utf8.contains(where: { $0 < .blank || $0 == .quote || $0 == .backslash }) {
            throw location.error("a condition cannot name the JSON key '\(name)'", entity: root.name)
        }
        return Array(names)
    }

    private static func unknown(
        _ name: String, _ kind: String, _ entity: CompiledEntity, _ model: CompiledModel,
        _ location: PredicateSourceLocation
    ) -> SyncError {
        if entity.slotByName[name] != nil {
            return location.error("'\(name)' is an attribute; no name can follow it", entity: entity.name)
        }
        let attributes = entity.slots.map { model[entity.table].attributes[$0].name }
        let relationships = entity.relationships.map(\.name)
        let known = [("attributes", attributes), ("relationships", relationships)].filter { !$0.1.isEmpty }
            .map { "the \($0.0) \(TruncatedList($0.1).text)" }
        let has = known.isEmpty ? "no attributes" : known.joined(separator: " and ")
        let hint = SimilarName.hint(
            for: name, among: kind == "relationship" ? relationships : attributes + relationships)
        return location.error("unknown \(kind) '\(name)'; \(entity.name) has \(has)\(hint)", entity: entity.name)
    }
}
