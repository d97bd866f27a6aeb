// Names become those of tables and columns, which SQLite compares without regard to the case of A to Z.
extension ModelValidator {
    /// What is wrong with a name by itself.
    private static func problem(with name: String) -> String? {
        // Key paths have dots between names.
        name.contains(".") ? "a name must not contain a dot" : problem(withTableName: name)
    }

    /// What is wrong with the name of a table or a column by itself.
    static func problem(withTableName name: String) -> String? {
        if name.isEmpty { return "a name must not be empty" }
        if name.unicodeScalars.contains(where: { $0 == "\"" || $0.properties.generalCategory == .control }) {
            return "a name must not contain quotes or control characters"
        }
        let folded = name.foldedForSQL
        if folded.hasPrefix("sync_") || folded.hasPrefix("sqlite_") { return "names beginning so are reserved" }
        return nil
    }

    mutating func checkNames() {
        var seen: [String: String] = [:]
        for entity in entities {
            let path = ModelPath.entity(entity.name)
            if let problem = Self.problem(with: entity.name) { note(path, problem) }
            if let other = seen.updateValue(entity.name, forKey: entity.name.foldedForSQL) {
                note(path, Self.collision("an entity", entity.name, with: other))
            }
            checkMembers(of: entity)
        }
    }

    private mutating func checkMembers(of entity: SyncModel.Entity) {
        var seen: [String: String] = [:]
        for member in Self.members(of: entity) {
            if let problem = Self.problem(with: member.name) { note(member.path, problem) }
            if let other = seen.updateValue(member.name, forKey: member.name.foldedForSQL) {
                note(member.path, Self.collision("an attribute or relationship", member.name, with: other))
            }
        }
    }

    private static func collision(_ what: String, _ name: String, with other: String) -> String {
        name == other
            ? "there is \(what) of this name already" : "differs only in case from '\(other)'"
    }

    // MARK: Inheritance

    /// The attributes of a tree are columns of one table: none may be declared again below, and what siblings both
    /// declare has to be the same.
    mutating func checkInheritedNames() {
        let parents = Set(entities.compactMap(\.parent))
        let names = Dictionary(
            entities.filter { parents.contains($0.name) }.map { entity in
                (entity.name, Set(Self.members(of: entity).map { $0.name.foldedForSQL }))
            }, uniquingKeysWith: { first, _ in first })
        for entity in entities where entity.parent != nil {
            let ancestors = lineage(of: entity.name).dropFirst()
            for member in Self.members(of: entity) {
                let name = member.name.foldedForSQL
                if let owner = ancestors.first(where: { names[$0.name]?.contains(name) ?? false }) {
                    note(member.path, "is inherited from \(owner.name) and cannot be declared again")
                }
            }
        }
        checkSiblings()
    }

    /// An attribute or a relationship.
    private struct Member {
        var name: String
        var path: ModelPath
        var attribute: SyncModel.Attribute?
    }

    private static func members(of entity: SyncModel.Entity) -> [Member] {
        entity.attributes.map { Member(name: $0.name, path: .attribute($0.name, of: entity.name), attribute: $0) }
            + entity.relationships.map { Member(name: $0.name, path: .relationship($0.name, of: entity.name)) }
    }

    private mutating func checkSiblings() {
        var firsts: [[String]: (entity: String, member: Member)] = [:]
        for entity in entities where entity.parent != nil {
            guard let root = lineage(of: entity.name).last?.name else { continue }
            for member in Self.members(of: entity) where isReadable(entity.name, member.name) {
                let key = [root, member.name.foldedForSQL]
                guard let first = firsts[key] else {
                    firsts[key] = (entity.name, member)
                    continue
                }
                let isInherited =
                    self.entity(entity.name, isKindOf: first.entity) || self.entity(first.entity, isKindOf: entity.name)
                if !isInherited, let difference = Self.difference(first.member, member) {
                    note(
                        member.path, "differs in \(difference) from that of \(first.entity), which is in the same table"
                    )
                }
            }
        }
    }

    /// In what two members of one name differ so that one table cannot have both.
    private static func difference(_ left: Member, _ right: Member) -> String? {
        if left.name != right.name { return "case" }
        guard let left = left.attribute, let right = right.attribute else { return nil }
        return difference(left, right)
    }

    /// In what two attributes differ that are one column.
    private static func difference(_ left: SyncModel.Attribute, _ right: SyncModel.Attribute) -> String? {
        if left.name != right.name { return "case" }
        if left.type != right.type { return "type" }
        if left.isOptional != right.isOptional { return "optional" }
        if left.defaultValue != right.defaultValue { return "default" }
        if left.remoteKey != right.remoteKey { return "remoteKey" }
        if left.transformers != right.transformers { return "transformer" }
        if left.format != right.format { return "format" }
        if left.column != right.column { return "column" }
        return left.isExportable != right.isExportable ? "export" : nil
    }
}
