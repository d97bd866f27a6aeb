import Foundation

/// Validates the entities of a model together, and reports all problems with their paths.
///
/// A problem that another one causes is not reported. For example, a key may refer to an attribute that could not be
/// read.
struct ModelValidator {
    private(set) var entities: [SyncModel.Entity]
    private var problems: [SyncDiagnostic]
    private let unreadable: Set<String>
    private var lineages: [String: [SyncModel.Entity]] = [:]
    /// The index of each entity, by name. If two entities have the same name, the first one counts.
    private let indexes: [String: Int]
    /// For each entity, the index of each of its relationships, by name.
    private let relationshipIndexes: [[String: Int]]
    /// The largest number of ancestors of an entity. It is limited because each compiled entity has the attributes and
    /// relationships of all its ancestors.
    private static let maximumDepth = 100

    /// Returns the entities of a draft, sorted by name. Sets missing inverses, and converts default values to their
    /// stored form.
    ///
    /// - Throws: ``SyncError`` `invalidModel`, with all problems. Those found while reading come first.
    static func validated(_ draft: ModelDraft) throws -> [SyncModel.Entity] {
        var validator = ModelValidator(draft)
        validator.checkNames()
        validator.checkParents()
        validator.checkInheritedNames()
        validator.checkAttributes()
        validator.checkKeys()
        validator.checkRelationships()
        validator.checkKeyRules(draft.rules)
        validator.checkShapes()
        validator.checkTableNames()
        guard validator.problems.isEmpty else { throw error(validator.problems) }
        return validator.entities
    }

    static func error(_ problems: [SyncDiagnostic]) -> SyncError {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return SyncError(.invalidModel, "the model has \(count)", problems: problems)
    }

    private init(_ draft: ModelDraft) {
        entities = draft.entities.sorted { $0.name < $1.name }
        problems = draft.problems
        unreadable = draft.unreadable
        indexes = Self.indexes(entities, name: \.name)
        relationshipIndexes = entities.map { Self.indexes($0.relationships, name: \.name) }
    }

    private static func indexes<Member>(_ members: [Member], name: (Member) -> String) -> [String: Int] {
        Dictionary(members.enumerated().map { (name($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func report(_ path: ModelPath, _ message: String) {
        problems.append(SyncDiagnostic(.invalidModel, path: path.text, message: message))
    }

    mutating func setInverse(_ name: String, _ entity: Int, _ relationship: Int) {
        entities[entity].relationships[relationship].inverse = name
    }

    func isReadable(_ entity: String, _ member: String? = nil) -> Bool {
        !unreadable.contains(member.map { "\(entity).\($0)" } ?? entity)
    }

    func entity(named name: String) -> SyncModel.Entity? { indexes[name].map { entities[$0] } }

    /// Returns a relationship that the entity itself declares; nil if it declares none with this name.
    func relationship(_ name: String, of entity: String) -> SyncModel.Relationship? {
        guard let index = indexes[entity], let position = relationshipIndexes[index][name] else { return nil }
        return entities[index].relationships[position]
    }

    // MARK: Lineage

    /// Returns the entity and its ancestors, the nearest first. An unknown parent, a cycle or ``maximumDepth`` ends the
    /// list.
    func lineage(of name: String) -> [SyncModel.Entity] { lineages[name] ?? [] }

    /// Returns whether an attribute or relationship that was not found in a lineage does not exist. Returns false if
    /// the lineage is incomplete or could not be read completely, because the member may then exist.
    func isMissing(_ member: String, in line: [SyncModel.Entity]) -> Bool {
        guard let root = line.last, root.parent == nil else { return false }
        return line.allSatisfy { isReadable($0.name) && isReadable($0.name, member) }
    }

    /// Returns whether an entity is `ancestor` or inherits from it, at any depth.
    func entity(_ name: String, isKindOf ancestor: String) -> Bool {
        lineage(of: name).contains { $0.name == ancestor }
    }

    private mutating func checkParents() {
        for entity in entities {
            var line = [entity]
            while let parent = line[line.count - 1].parent {
                guard line.count <= Self.maximumDepth else {
                    report(.entity(entity.name)["parent"], "has more than \(Self.maximumDepth) ancestors")
                    break
                }
                guard let next = self.entity(named: parent) else {
                    if line.count == 1 { report(.entity(entity.name)["parent"], unknown(parent)) }
                    break
                }
                guard !line.contains(where: { $0.name == next.name }) else {
                    let circle = TruncatedList(line.map(\.name) + [next.name]).text(between: " → ")
                    if next.name == entity.name {
                        report(.entity(entity.name)["parent"], "contains itself: \(circle)")
                    }
                    break
                }
                line.append(next)
            }
            lineages[entity.name] = line
        }
    }

    func unknown(_ entity: String) -> String {
        "unknown entity '\(entity)'; the model has \(TruncatedList(entities.lazy.map(\.name)).text)"
    }
}

// MARK: - Attributes

extension ModelValidator {
    mutating func checkAttributes() {
        for (index, entity) in entities.enumerated() {
            for (position, attribute) in entity.attributes.enumerated() {
                let path = ModelPath.attribute(attribute.name, of: entity.name)
                if attribute.remoteKey?.isEmpty ?? false { report(path["remoteKey"], "must not be empty") }
                guard let value = attribute.defaultValue, isReadable(entity.name, attribute.name) else { continue }
                if let stored = value.inStoredForm(of: attribute.type) {
                    entities[index].attributes[position].defaultValue = stored == .null ? nil : stored
                } else {
                    report(path["default"], "is not a value of type \(attribute.type.rawValue)")
                }
            }
        }
    }

    // MARK: Keys

    mutating func checkKeys() {
        for entity in entities {
            checkKeyFlags(of: entity)
            guard let key = entity.primaryKey, isReadable(entity.name) else { continue }
            let path = ModelPath.entity(entity.name)["primaryKey"]
            if key.parts.isEmpty { report(path, "names no attribute") }
            if Set(key.parts).count < key.parts.count { report(path, "names an attribute twice") }
            for part in key.parts { checkPart(part, of: entity, isOnly: key.parts.count == 1, path) }
        }
        checkKeyCircles()
    }

    private mutating func checkPart(_ name: String, of entity: SyncModel.Entity, isOnly: Bool, _ path: ModelPath) {
        let line = lineage(of: entity.name)
        if let attribute = line.flatMap(\.attributes).first(where: { $0.name == name }) {
            if !attribute.type.canBeKey, line.allSatisfy({ isReadable($0.name, name) }) {
                report(path, Self.cannotBeKey(attribute.type))
            }
        } else if let relationship = line.flatMap(\.relationships).first(where: { $0.name == name }) {
            guard isReadable(entity.name, name) else { return }
            if relationship.isToMany {
                report(
                    path, "'\(name)' is a to-many relationship; a key consists of attributes and to-one relationships")
            } else if !isOnly, inverse(of: relationship).map({ !$0.isToMany }) ?? false {
                report(path, "'\(name)' is one-to-one and identifies a row by itself; make it the only part of the key")
            }
        } else if isMissing(name, in: line) {
            report(path, "the entity has no attribute or to-one relationship '\(name)'")
        }
    }

    private func inverse(of relationship: SyncModel.Relationship) -> SyncModel.Relationship? {
        guard let name = relationship.inverse else { return nil }
        return lineage(of: relationship.destination).flatMap(\.relationships).first { $0.name == name }
    }

    /// Returns the to-one relationships that are parts of the primary key that an entity or its nearest ancestor
    /// declares.
    private func keyRelationships(of entity: String) -> [SyncModel.Relationship] {
        let line = lineage(of: entity)
        let attributes = Set(line.flatMap(\.attributes).map(\.name))
        let parts = line.lazy.compactMap(\.primaryKey).first?.parts ?? []
        return parts.filter { !attributes.contains($0) }.compactMap { part in
            line.flatMap(\.relationships).first { $0.name == part && !$0.isToMany }
        }
    }

    /// Checks the relationships that are parts of keys: their destinations must have a key, and no key may contain
    /// itself.
    private mutating func checkKeyCircles() {
        for entity in entities where entity.primaryKey != nil && isReadable(entity.name) {
            let path = ModelPath.entity(entity.name)["primaryKey"]
            for part in keyRelationships(of: entity.name) where !hasKey(part.destination) {
                report(path, "the destination of '\(part.name)', \(part.destination), has no key")
            }
            if let circle = keyCircle(from: entity.name) {
                report(path, "contains itself: \(TruncatedList(circle).text(between: " → "))")
            }
        }
    }

    /// Returns a cycle of entities that begins with `entity` and in which each key contains the key of the next; nil if
    /// there is none.
    private func keyCircle(from entity: String) -> [String]? {
        var seen: Set<String> = []
        var open = [[entity]]
        while let trail = open.popLast(), let last = trail.last {
            for part in keyRelationships(of: last) {
                let next = part.destination
                let isKin = self.entity(entity, isKindOf: next) || self.entity(next, isKindOf: entity)
                if isKin { return trail + [next] }
                if seen.insert(next).inserted { open.append(trail + [next]) }
            }
        }
        return nil
    }

    private func hasKey(_ entity: String) -> Bool {
        let line = lineage(of: entity)
        return line.isEmpty || !line.allSatisfy { isReadable($0.name) }
            || line.contains { entity in
                entity.primaryKey != nil
                    || entity.attributes.contains {
                        $0.isPrimaryKey || AttributeNaming.isID($0.name) && $0.type.canBeKey
                    }
            }
    }

    private mutating func checkKeyFlags(of entity: SyncModel.Entity) {
        let flagged = entity.attributes.filter(\.isPrimaryKey)
        for attribute in flagged {
            let path = ModelPath.attribute(attribute.name, of: entity.name)["primaryKey"]
            if let key = entity.primaryKey, !key.parts.contains(attribute.name) {
                report(path, "the entity declares another primary key, '\(key.parts.joined(separator: "', '"))'")
            }
            if !attribute.type.canBeKey, isReadable(entity.name, attribute.name) {
                report(path, Self.cannotBeKey(attribute.type))
            }
        }
    }

    private static func cannotBeKey(_ type: AttributeType) -> String {
        let types = AttributeType.allCases.filter(\.canBeKey).map(\.rawValue).joined(separator: ", ")
        return "an attribute of type \(type.rawValue) cannot be a key; use one of \(types)"
    }
}

// MARK: - Conversions

// Checks ignored keys, transformers and date formats.
extension ModelValidator {
    mutating func checkKeyRules(_ rules: KeyRules) {
        checkPatterns(rules.ignoredKeys, at: .root)
        for entity in entities {
            checkPatterns(entity.ignoredKeys, at: .entity(entity.name))
            for attribute in entity.attributes where isReadable(entity.name, attribute.name) {
                checkConversion(of: attribute, at: .attribute(attribute.name, of: entity.name))
            }
        }
    }

    private mutating func checkPatterns(_ patterns: [String], at path: ModelPath) {
        for problem in patterns.compactMap(IgnoredKeys.problem) { report(path["ignore"], problem) }
    }

    private mutating func checkConversion(of attribute: SyncModel.Attribute, at path: ModelPath) {
        if attribute.transformers.contains("") { report(path["transformer"], "must not be empty") }
        // Only `commaSeparated`, and possibly a registered transformer, makes a list of a string.
        let givesList = attribute.transformers.last {
            [nil, .commaSeparated].contains(StandardTransformer(rawValue: $0))
        }
        if givesList == StandardTransformer.commaSeparated.rawValue, attribute.type != .json,
            attribute.type != .transformable
        {
            report(path["transformer"], "'commaSeparated' returns a list; use the type json")
        }
        guard let format = attribute.format else { return }
        if attribute.type != .date {
            report(path["format"], "only a date can have a format; the type is \(attribute.type.rawValue)")
        } else if let problem = format.problem {
            report(path["format"], problem)
        }
    }
}

// MARK: - Shapes

// Checks the declarations about the shape of records in JSON: keyed lists, discriminators and resource types.
extension ModelValidator {
    mutating func checkShapes() {
        for entity in entities {
            for relationship in entity.relationships { checkNames(relationship, of: entity) }
            if let discriminator = entity.discriminator { check(discriminator, of: entity) }
        }
        checkResourceTypes()
    }

    private mutating func checkNames(_ relationship: SyncModel.Relationship, of entity: SyncModel.Entity) {
        guard let names = relationship.keyedBy else { return }
        let path = ModelPath.relationship(relationship.name, of: entity.name)["keyedBy"]
        guard relationship.isToMany else {
            return report(path, "only a to-many relationship can be keyed by object keys")
        }
        guard case .attribute(let name) = names else { return }
        let line = lineage(of: relationship.destination)
        let isKnown = line.contains { $0.attributes.contains { $0.name == name } }
        if !isKnown, isMissing(name, in: line) {
            report(path, "\(relationship.destination) has no attribute '\(name)'")
        }
    }

    private mutating func check(_ discriminator: SyncModel.Discriminator, of entity: SyncModel.Entity) {
        let path = ModelPath.entity(entity.name)["discriminator"]
        if discriminator.key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            report(path["key"], "'\(discriminator.key)' is not a key path")
        }
        if discriminator.kinds.isEmpty { report(path["values"], "must not be empty") }
        if discriminator.fallback == .parent, entity.isAbstract {
            report(path["otherwise"], "\(entity.name) is abstract and has no rows")
        }
        var seen: Set<String> = []
        for kind in discriminator.kinds {
            if !seen.insert(kind.value).inserted { report(path["values"][kind.value], "is declared twice") }
            guard self.entity(named: kind.entity) != nil else {
                report(path["values"][kind.value], unknown(kind.entity))
                continue
            }
            if !self.entity(kind.entity, isKindOf: entity.name) {
                report(path["values"][kind.value], "\(kind.entity) does not inherit from \(entity.name)")
            }
        }
    }

    private mutating func checkResourceTypes() {
        var owners: [String: String] = [:]
        for entity in entities {
            guard let type = entity.resourceType else { continue }
            if let other = owners.updateValue(entity.name, forKey: type) {
                report(.entity(entity.name)["type"], "'\(type)' is also the type of \(other)")
            }
        }
    }
}
