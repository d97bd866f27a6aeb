// Checks names. The names of entities, attributes and relationships become names of tables and columns. SQLite compares
// these without regard to the case of A to Z.
extension ModelValidator {
    /// Returns the problem of the name of an entity, attribute or relationship; nil if the name is valid.
    private static func problem(with name: String) -> String? {
        // A dot separates the names of a key path.
        name.contains(".") ? "a name must not contain a dot" : problem(withTableName: name)
    }

    /// Returns the problem of a table or column name; nil if the name is valid.
    static func problem(withTableName name: String) -> String? {
        if name.isEmpty { return "a name must not be empty" }
        if name.unicodeScalars.contains(where: { $0 == "\"" || $0.properties.generalCategory == .control }) {
            return "a name must not contain quotes or control characters"
        }
        let folded = name.foldedForSQL
        if folded.hasPrefix("sync_") || folded.hasPrefix("sqlite_") {
            return "names that begin with 'sync_' or 'sqlite_' are reserved"
        }
        return nil
    }

    mutating func checkNames() {
        var seen: [String: String] = [:]
        for entity in entities {
            let path = ModelPath.entity(entity.name)
            if let problem = Self.problem(with: entity.name) { report(path, problem) }
            if let other = seen.updateValue(entity.name, forKey: entity.name.foldedForSQL) {
                report(path, Self.collision("an entity", entity.name, with: other))
            }
            checkMembers(of: entity)
        }
    }

    private mutating func checkMembers(of entity: SyncModel.Entity) {
        var seen: [String: String] = [:]
        for member in Self.members(of: entity) {
            if let problem = Self.problem(with: member.name) { report(member.path, problem) }
            if let other = seen.updateValue(member.name, forKey: member.name.foldedForSQL) {
                report(member.path, Self.collision("an attribute or relationship", member.name, with: other))
            }
        }
    }

    private static func collision(_ what: String, _ name: String, with other: String) -> String {
        name == other
            ? "the model already has \(what) of this name" : "differs only in case from '\(other)'"
    }

    // MARK: Inheritance

    /// Checks that no entity declares an attribute or relationship that it inherits, because all attributes of a
    /// hierarchy are columns of one table. Siblings may declare the same attribute if `difference` finds no difference.
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
                    report(member.path, "is inherited from \(owner.name) and must not be declared again")
                }
            }
        }
        checkSiblings()
    }

    /// An attribute or relationship, with its path.
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
                    report(
                        member.path,
                        "must have the same '\(difference)' as in \(first.entity), which has the same table"
                    )
                }
            }
        }
    }

    /// Returns the first property in which two attributes with the same name in SQL differ; nil if there is none. For
    /// relationships, only the case of the names is compared.
    private static func difference(_ left: Member, _ right: Member) -> String? {
        if left.name != right.name { return "case" }
        guard let left = left.attribute, let right = right.attribute else { return nil }
        if left.type != right.type { return "type" }
        if left.isOptional != right.isOptional { return "optional" }
        if left.defaultValue != right.defaultValue { return "default" }
        if left.remoteKey != right.remoteKey { return "remoteKey" }
        if left.transformers != right.transformers { return "transformer" }
        if left.format != right.format { return "format" }
        if left.column != right.column { return "column" }
        return left.isExported != right.isExported ? "export" : nil
    }
}

// MARK: - Relationships

extension ModelValidator {
    mutating func checkRelationships() {
        for entity in entities {
            for relationship in entity.relationships {
                let path = ModelPath.relationship(relationship.name, of: entity.name)
                if relationship.isOrdered, !relationship.isToMany {
                    report(path["ordered"], "only a to-many relationship can be ordered")
                }
                if relationship.remoteKey?.isEmpty ?? false { report(path["remoteKey"], "must not be empty") }
                if self.entity(named: relationship.destination) == nil {
                    report(path["entity"], unknown(relationship.destination))
                }
            }
        }
        checkInverses()
    }

    // MARK: Inverses

    /// The largest number of other relationships in the message of a problem.
    private static let namedClaimants = 5

    /// A relationship, with the entity that declares it.
    private struct End: Hashable {
        var entity: String
        var name: String
    }

    /// If only one of two inverse relationships names its inverse, sets the inverse of the other. Reports relationships
    /// that name the same inverse.
    private mutating func checkInverses() {
        var claims: [End: [End]] = [:]
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = checkedInverse(of: relationship, entity.name) else { continue }
                claims[inverse, default: []].append(End(entity: entity.name, name: relationship.name))
            }
        }
        for (index, entity) in entities.enumerated() {
            for (position, relationship) in entity.relationships.enumerated() where relationship.inverse == nil {
                let claimants = claims[End(entity: entity.name, name: relationship.name)] ?? []
                if claimants.count == 1 { setInverse(claimants[0].name, index, position) }
                guard claimants.count > 1 else { continue }
                for claimant in claimants {
                    let names = claimants.lazy.filter { $0 != claimant }.prefix(Self.namedClaimants)
                        .map { "\($0.entity).\($0.name)" }
                    let others = TruncatedList(Array(names), upTo: nil, of: claimants.count - 1)
                    report(
                        .relationship(claimant.name, of: claimant.entity)["inverse"],
                        "\(entity.name).\(relationship.name) is also the inverse of \(others.text)")
                }
            }
        }
    }

    /// Returns the relationship that another one names as its inverse; nil if it names none or the inverse is invalid.
    /// Reports an invalid inverse.
    private mutating func checkedInverse(of relationship: SyncModel.Relationship, _ owner: String) -> End? {
        guard let name = relationship.inverse else { return nil }
        let path = ModelPath.relationship(relationship.name, of: owner)["inverse"]
        let line = lineage(of: relationship.destination)
        guard let declarer = line.first(where: { self.relationship(name, of: $0.name) != nil }),
            let inverse = self.relationship(name, of: declarer.name)
        else {
            if isMissing(name, in: line) { report(path, "\(relationship.destination) has no relationship '\(name)'") }
            return nil
        }
        let index = "\(declarer.name).\(name)"
        guard entity(inverse.destination, isKindOf: owner) else {
            // Validation already reports an unknown destination.
            if entity(named: inverse.destination) != nil {
                report(path, "\(index) is not the inverse: its destination is \(inverse.destination)")
            }
            return nil
        }
        if let back = inverse.inverse, back != relationship.name {
            report(path, "\(index) is not the inverse: its inverse is '\(back)'")
            return nil
        }
        return End(entity: declarer.name, name: name)
    }
}

// MARK: - Tables

// Checks the names of tables and columns that a model declares.
extension ModelValidator {
    mutating func checkTableNames() {
        for entity in entities {
            let path = ModelPath.entity(entity.name)
            check(entity.table, at: path["table"])
            if entity.table != nil, entity.parent != nil {
                report(path["table"], "an entity with a parent uses the table of the parent")
            }
            for attribute in entity.attributes {
                check(attribute.column, at: .attribute(attribute.name, of: entity.name)["column"])
            }
            for relationship in entity.relationships { checkColumns(of: relationship, entity.name) }
        }
    }

    private mutating func check(_ name: String?, at path: ModelPath) {
        if let problem = name.flatMap(Self.problem(withTableName:)) { report(path, problem) }
    }

    private mutating func checkColumns(of relationship: SyncModel.Relationship, _ owner: String) {
        let path = ModelPath.relationship(relationship.name, of: owner)
        let names = [
            ("table", relationship.table), ("column", relationship.column),
            ("inverseColumn", relationship.inverseColumn),
        ]
        for (key, name) in names { check(name, at: path[key]) }
        let inverse = relationship.inverse.flatMap { name in
            lineage(of: relationship.destination).lazy.flatMap(\.relationships).first { $0.name == name }
        }
        guard relationship.isToMany, inverse?.isToMany ?? true else {
            for key in ["table", "inverseColumn"] where names.contains(where: { $0.0 == key && $0.1 != nil }) {
                report(path[key], "only a many-to-many relationship has a join table")
            }
            guard relationship.column != nil, let inverse else { return }
            if relationship.isToMany {
                report(
                    path["column"], "the foreign key belongs to the inverse '\(inverse.name)'; declare the column there"
                )
            } else if inverse.column != nil, owner <= relationship.destination, inverse != relationship {
                report(
                    path["column"],
                    "its inverse '\(inverse.name)' has a column too; declare the foreign key at one end only")
            }
            return
        }
        guard let inverse, inverse != relationship else { return }
        let others = [
            ("table", inverse.table), ("column", inverse.inverseColumn), ("inverseColumn", inverse.column),
        ]
        for ((key, name), (_, other)) in zip(names, others) {
            if let name, let other, name != other, owner <= relationship.destination {
                report(path[key], "is '\(name)' here, but '\(other)' at the inverse '\(inverse.name)'")
            }
        }
    }

    // MARK: Name collisions

    /// Checks that no two tables or views have the same name, and no two attributes or declared columns of one table.
    ///
    /// - Throws: ``SyncError`` `invalidModel`.
    static func checkTables(of model: CompiledModel) throws {
        var problems: [SyncDiagnostic] = []
        // A view is named after its entity, even if the entity's table has another name.
        let roots = Set(model.hierarchies.map(\.root))
        let views = model.entities.filter { !roots.contains($0.id) }
        var taken = Set(views.map { $0.name.foldedForSQL })
        let tables = model.hierarchies.map { ($0, tableName(of: $0.root, model)) }
        for (hierarchy, name) in tables.filter({ model.declarations[$0.0.root].table == nil })
            + tables.filter({
                model.declarations[$0.0.root].table != nil
            }) where !taken.insert(name.foldedForSQL).inserted
        {
            let path = ModelPath.entity(model.entities[hierarchy.root].name)["table"]
            problems.append(.init(.invalidModel, path: path.text, message: "the table name '\(name)' is already used"))
        }
        for link in model.links where link.storage == .joinTable {
            let name = link.joinTableName(in: model)
            guard !taken.insert(name.foldedForSQL).inserted else { continue }
            let path = ModelPath.relationship(
                link.first.relationship?.name ?? "", of: model.entities[link.first.entity].name)
            problems.append(.init(.invalidModel, path: path.text, message: "the table name '\(name)' is already used"))
        }
        for hierarchy in model.hierarchies { problems += takenColumns(of: hierarchy, model) }
        guard problems.isEmpty else { throw error(problems) }
    }

    private static func tableName(of root: Int, _ model: CompiledModel) -> String {
        model.declarations[root].table ?? model.entities[root].name
    }

    private static func takenColumns(of hierarchy: EntityHierarchy, _ model: CompiledModel) -> [SyncDiagnostic] {
        var problems: [SyncDiagnostic] = []
        var taken: Set<String> = []
        func take(_ name: String, _ path: ModelPath) {
            if taken.insert(name.foldedForSQL).inserted { return }
            problems.append(
                .init(.invalidModel, path: path["column"].text, message: "the table already has a column '\(name)'"))
        }
        // Attributes without a declared column come first, so that a collision is reported at the attribute that
        // declares its column.
        for isGiven in [false, true] {
            for attribute in hierarchy.attributes where (attribute.column != nil) == isGiven {
                let owner =
                    hierarchy.entities.first { model.declarations[$0].attributes.contains(attribute) } ?? hierarchy.root
                take(attribute.columnName, .attribute(attribute.name, of: model.entities[owner].name))
            }
        }
        for id in hierarchy.foreignKeys {
            guard let relationship = model[id].first.relationship, let column = relationship.column else { continue }
            take(column, .relationship(relationship.name, of: model.entities[model[id].first.entity].name))
        }
        return problems
    }
}

extension SyncModel.Attribute {
    /// The declared column name of the attribute, or else the name of the attribute.
    package var columnName: String { column ?? name }
}

extension CompiledAssociation {
    /// Returns the declared name of the join table, or else `<entity>_<relationship>` of the first end.
    package func joinTableName(in model: CompiledModel) -> String {
        first.relationship?.table ?? second.relationship?.table
            ?? "\(model.entities[first.entity].name)_\(first.relationship?.name ?? "")"
    }
}
