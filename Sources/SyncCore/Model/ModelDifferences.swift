/// The differences between a stored model and a given model, as far as the differences affect the tables.
///
/// Differences in remote keys, transformers and export do not count. A different delete rule counts only if one of the
/// two rules is `cascade`, because the foreign key then has `ON DELETE CASCADE`.
package struct ModelDifferences: Sendable {
    /// The differences, sorted by the name of the entity. Each path is a path in a schema file.
    package private(set) var problems: [SyncDiagnostic] = []
    /// Whether the stored model has all that the given model has, and possibly more.
    package private(set) var isStoredSuperset = true

    private let stored: CompiledModel
    private let given: CompiledModel
    /// The given model's name for each entity that both models have, by the stored name.
    private let names: [String: String]

    package init(stored: SyncModel, given: SyncModel) {
        (self.stored, self.given) = (stored.compiled, given.compiled)
        let matched = Self.matchedMembers(
            stored.entities, given.entities, FormerNames(of: given.entities, in: stored.entities))
        names = Dictionary(
            matched.compactMap { _, old, new in old.flatMap { old in new.map { (old.name, $0.name) } } },
            uniquingKeysWith: { first, _ in first })
        for (name, old, new) in matched {
            switch (old, new) {
            case (let old?, let new?):
                compare("entities.\(name)", old.name, new.name)
                compare(old, new)
                compare("entities.\(name).primaryKey", key(old.name, stored.compiled), key(name, given.compiled))
            case (_?, nil): addStoredOnly("entities.\(name)")
            case (nil, _?): add("entities.\(name)", "is in the model but not in the store")
            case (nil, nil): break
            }
        }
    }

    /// Pairs the entities, attributes or relationships of two models. The pairs are sorted by name.
    private static func matchedMembers<Member: RenamableMember>(
        _ old: [Member], _ new: [Member], _ formerNames: FormerNames
    ) -> [(name: String, old: Member?, new: Member?)] {
        var left = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var matched = new.map { member -> (name: String, old: Member?, new: Member?) in
            (member.name, formerNames[member.name].flatMap { left.removeValue(forKey: $0) }, member)
        }
        matched += left.map { ($0.key, $0.value, nil) }
        return matched.sorted { $0.name < $1.name }
    }

    private mutating func compare(_ old: SyncModel.Entity, _ new: SyncModel.Entity) {
        let path = "entities.\(new.name)"
        compare("\(path).parent", renamed(old.parent) ?? "none", new.parent ?? "none")
        compare("\(path).abstract", "\(old.isAbstract)", "\(new.isAbstract)")
        compare("\(path).table", old.table ?? "none", new.table ?? "none")
        guard let before = stored.entityID(old.name).map({ stored.entities[$0] }),
            let after = given.entityID(new.name).map({ given.entities[$0] })
        else { return }
        // An attribute or relationship can exchange its name with an inherited one.
        let attributes = FormerNames(of: given.attributes(of: after), in: stored.attributes(of: before))
        let relationships = FormerNames(
            of: after.relationships.map(\.relationship), in: before.relationships.map(\.relationship))
        compareMembers(
            "\(path).attributes", old.attributes, new.attributes, attributes,
            { attribute in
                [
                    ("type", attribute.type.rawValue), ("optional", "\(attribute.isOptional)"),
                    ("default", attribute.defaultValue.map { "\($0)" } ?? "none"),
                    ("column", attribute.column ?? "none"),
                ]
            })
        compareMembers(
            "\(path).relationships", old.relationships, new.relationships, relationships,
            { relationship in
                [
                    ("entity", relationship.destination), ("many", "\(relationship.isToMany)"),
                    ("ordered", "\(relationship.isOrdered)"), ("inverse", relationship.inverse ?? "none"),
                    ("deleteRule", relationship.deleteRule == .cascade ? "cascade" : "not cascade"),
                    ("table", relationship.table ?? "none"), ("column", relationship.column ?? "none"),
                    ("inverseColumn", relationship.inverseColumn ?? "none"),
                ]
            })
    }

    private mutating func compareMembers<Member: RenamableMember>(
        _ path: String, _ old: [Member], _ new: [Member], _ formerNames: FormerNames,
        _ facts: (Member) -> [(String, String)]
    ) {
        for (place, old, new) in Self.matchedMembers(old, new, formerNames) {
            switch (old, new) {
            case (let old?, let new?):
                compare("\(path).\(place)", old.name, new.name)
                for (before, after) in zip(facts(old), facts(new)) {
                    let isName = before.0 == "entity" && after.1 == renamed(before.1)
                    if !isName { compare("\(path).\(place).\(before.0)", before.1, after.1) }
                }
            case (_?, nil): addStoredOnly("\(path).\(place)")
            case (nil, _?): add("\(path).\(place)", "is in the model but not in the store")
            case (nil, nil): break
            }
        }
    }

    private func renamed(_ entity: String?) -> String? { entity.map { names[$0] ?? $0 } }

    private func key(_ name: String, _ model: CompiledModel) -> String {
        guard let entity = model.entityID(name).map({ model.entities[$0] }), entity.isKeyed else { return "none" }
        return model.keyNames(of: entity).joined(separator: ", ")
    }

    private mutating func compare(_ path: String, _ old: String, _ new: String) {
        if old != new { add(path, "is \(old) in the store, \(new) in the model") }
    }

    /// Adds a member that only the stored model has.
    private mutating func addStoredOnly(_ path: String) {
        problems.append(SyncDiagnostic(.tableChange, path: path, message: "is in the store but not in the model"))
    }

    private mutating func add(_ path: String, _ message: String) {
        isStoredSuperset = false
        problems.append(SyncDiagnostic(.tableChange, path: path, message: message))
    }
}

// MARK: - Former names

/// An entity, attribute or relationship, which a later model can rename.
package protocol RenamableMember {
    var name: String { get }
    /// The name in an earlier model.
    var renamedFrom: String? { get }
}

extension SyncModel.Entity: RenamableMember {}
extension SyncModel.Attribute: RenamableMember {}
extension SyncModel.Relationship: RenamableMember {}

/// The old name of each member of a new model. The members are the entities, or the attributes or relationships of one
/// entity.
///
/// These rules apply in order:
///
/// 1. A renamed member succeeds the old member that `renamedFrom` names. The rename is done already if the old model
///    has the member with the same `renamedFrom`, because a model keeps `renamedFrom` after the migration.
/// 2. Any other member succeeds the old member of its own name, unless a renamed member succeeds it.
/// 3. A member that has no old member yet succeeds the one that `renamedFrom` names, unless another member succeeds it.
///
/// Members can therefore exchange their names, in swaps, chains and rings.
package struct FormerNames: Sendable {
    private var names: [String: String] = [:]

    package init<Member: RenamableMember>(of new: [Member], in old: [Member]) {
        let stored = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for member in new {
            guard let source = member.renamedFrom, source != member.name, stored[source] != nil,
                stored[member.name]?.renamedFrom != source
            else { continue }
            names[member.name] = source
        }
        let renamed = Set(names.values)
        for member in new where names[member.name] == nil && stored[member.name] != nil {
            if !renamed.contains(member.name) { names[member.name] = member.name }
        }
        let succeeded = Set(names.values)
        for member in new where names[member.name] == nil {
            guard let source = member.renamedFrom, stored[source] != nil, !succeeded.contains(source) else { continue }
            names[member.name] = source
        }
    }

    /// Returns the old name of a member; nil if the old model does not have the member.
    package subscript(name: String) -> String? { names[name] }
}
