/// Where two models need different tables. What only says how JSON is mapped (remote keys, transformers, export)
/// or what is deleted with what is no difference, unless a foreign key declares it.
package struct ModelDifferences: Sendable {
    /// In name order; the path is the one in a schema file.
    package private(set) var problems: [SyncError.Problem] = []

    package init(stored: Model, given: Model) {
        let names = Set(stored.entities.map(\.name)).union(given.entities.map(\.name)).sorted()
        for name in names {
            switch (stored.entity(named: name), given.entity(named: name)) {
            case (let old?, let new?):
                compare(old, new)
                compareKeys(name, stored.compiled, given.compiled)
            case (_?, nil): note("entities.\(name)", "is in the store, not in the model")
            case (nil, _?): note("entities.\(name)", "is in the model, not in the store")
            case (nil, nil): break
            }
        }
    }

    private mutating func compare(_ old: Entity, _ new: Entity) {
        let path = "entities.\(old.name)"
        compare("\(path).parent", old.parent ?? "none", new.parent ?? "none")
        compare("\(path).abstract", "\(old.isAbstract)", "\(new.isAbstract)")
        compareMembers(
            "\(path).attributes", old.attributes, new.attributes, name: \.name,
            { attribute in
                [
                    ("type", attribute.type.rawValue), ("optional", "\(attribute.isOptional)"),
                    ("default", attribute.defaultValue.map { "\($0)" } ?? "none"),
                ]
            })
        compareMembers(
            "\(path).relationships", old.relationships, new.relationships, name: \.name,
            { relationship in
                [
                    ("entity", relationship.destination), ("many", "\(relationship.isToMany)"),
                    ("ordered", "\(relationship.isOrdered)"), ("inverse", relationship.inverse ?? "none"),
                    ("deleteRule", relationship.deleteRule == .cascade ? "cascade" : "not cascade"),
                ]
            })
    }

    private mutating func compareMembers<Member>(
        _ path: String, _ old: [Member], _ new: [Member], name: (Member) -> String,
        _ facts: (Member) -> [(String, String)]
    ) {
        let old = Dictionary(old.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
        let new = Dictionary(new.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
        for name in Set(old.keys).union(new.keys).sorted() {
            switch (old[name], new[name]) {
            case (let old?, let new?):
                for (before, after) in zip(facts(old), facts(new)) {
                    compare("\(path).\(name).\(before.0)", before.1, after.1)
                }
            case (_?, nil): note("\(path).\(name)", "is in the store, not in the model")
            case (nil, _?): note("\(path).\(name)", "is in the model, not in the store")
            case (nil, nil): break
            }
        }
    }

    private mutating func compareKeys(_ name: String, _ old: CompiledModel, _ new: CompiledModel) {
        compare("entities.\(name).primaryKey", key(name, old), key(name, new))
    }

    private func key(_ name: String, _ model: CompiledModel) -> String {
        guard let entity = model.entityID(name).map({ model.entities[$0] }), let slot = entity.keySlot else {
            return "none"
        }
        return model.trees[entity.tree].attributes[slot].name
    }

    private mutating func compare(_ path: String, _ old: String, _ new: String) {
        if old != new { note(path, "is \(old) in the store, \(new) in the model") }
    }

    private mutating func note(_ path: String, _ message: String) {
        problems.append(SyncError.Problem(path: path, message: message))
    }
}
