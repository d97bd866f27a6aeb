package import SyncCore

extension StoreLayout {
    /// Checks that a store can keep the names of the layout and the default values of the model. A store calls this
    /// method when it opens a model, before it writes anything.
    ///
    /// - Throws: ``SyncError`` `invalidModel`. Its problems list each name and each default value beyond the limits,
    ///   with its path in the model.
    package func check(_ capabilities: StoreCapabilities) throws {
        guard !capabilities.areUnlimited else { return }
        let problems = longNames(capabilities) + unstorableDefaults(capabilities)
        guard let first = problems.first else { return }
        let isOne = problems.count == 1
        throw SyncError(
            .invalidModel,
            "the store cannot keep "
                + (isOne ? "a name or default value" : "\(problems.count) names or default values") + " of the model",
            entity: problems.allSatisfy { $0.entity == first.entity } ? first.entity : nil,
            path: isOne ? first.path : nil, problems: problems)
    }

    /// The name of the unique index over the key of an entity, in a table with a surrogate key.
    package static func keyIndexName(of entity: CompiledEntity) -> String { "sync_key_\(entity.name)" }

    // MARK: Names

    /// A name of the database that comes from the model.
    private struct Name {
        enum Kind: String {
            case table, view, column, index
        }

        let kind: Kind
        let text: String
        let entity: String
        let path: ModelPath
        /// The change of the model that makes the name shorter.
        let advice: String
    }

    private func longNames(_ capabilities: StoreCapabilities) -> [SyncDiagnostic] {
        guard let limit = capabilities.identifierLength else { return [] }
        let names = model.hierarchies.flatMap(names(of:)) + model.links.flatMap(names(of:))
        return names.filter { $0.text.utf8.count > limit }.map { name in
            SyncDiagnostic(
                .invalidModel, entity: name.entity, path: name.path.text,
                message: "the \(name.kind.rawValue) '\(name.text)' has \(name.text.utf8.count) bytes, and the store "
                    + "keeps names of at most \(limit) bytes; \(name.advice)")
        }
    }

    private func names(of hierarchy: EntityHierarchy) -> [Name] {
        let table = self[hierarchy.id]
        let root = model.entities[hierarchy.root].name
        var names = [
            Name(
                kind: .table, text: table.name, entity: root, path: .entity(root), advice: "declare a shorter 'table'")
        ]
        for (attribute, column) in zip(hierarchy.attributes, table.columns) {
            let owner = owner(of: attribute, hierarchy)
            names.append(
                Name(
                    kind: .column, text: column, entity: owner, path: .attribute(attribute.name, of: owner),
                    advice: "declare a shorter 'column'"))
        }
        if hasExistingTables { return names }
        for entity in hierarchy.entities.map({ model.entities[$0] }) {
            if entity.id != hierarchy.root { names.append(name(.view, entity.name, of: entity)) }
            guard table.hasSurrogateKey, entity.keyOwner == entity.id else { continue }
            names.append(name(.index, Self.keyIndexName(of: entity), of: entity))
        }
        return names
    }

    private func name(_ kind: Name.Kind, _ text: String, of entity: CompiledEntity) -> Name {
        Name(
            kind: kind, text: text, entity: entity.name, path: .entity(entity.name),
            advice: "give the entity a shorter name")
    }

    private func names(of link: CompiledAssociation) -> [Name] {
        let side = link.first.relationship == nil ? link.second : link.first
        guard let relationship = side.relationship else { return [] }
        let owner = declaringEntity(of: relationship.name, model.entities[side.entity])
        func name(_ kind: Name.Kind, _ text: String, _ members: String) -> Name {
            Name(
                kind: kind, text: text, entity: owner, path: .relationship(relationship.name, of: owner),
                advice: "declare a shorter \(members)")
        }
        var names: [Name] = []
        switch self[link.id] {
        case .foreignKey(_, let column, let order):
            names.append(name(.column, column, "'column'"))
            if let order { names.append(name(.column, order, "name of the relationship")) }
        case .joinTable(let table, let first, let second, _, _):
            names.append(name(.table, table, "'table'"))
            names.append(name(.column, first, "'inverseColumn'"))
            names.append(name(.column, second, "'column'"))
        }
        if !hasExistingTables { names.append(name(.index, indexNames[link.id.index], "'table' or 'column'")) }
        return names
    }

    // MARK: Default values

    private func unstorableDefaults(_ capabilities: StoreCapabilities) -> [SyncDiagnostic] {
        model.hierarchies.flatMap { hierarchy in
            hierarchy.attributes.compactMap { attribute in
                guard let value = attribute.defaultValue,
                    let limit = capabilities.limit(of: attribute.type, isKey: false), !limit.admits(value)
                else { return nil }
                let owner = owner(of: attribute, hierarchy)
                return SyncDiagnostic(
                    .invalidModel, entity: owner, path: ModelPath.attribute(attribute.name, of: owner)["default"].text,
                    message: "the store keeps values of type \(attribute.type)\(limit.text)")
            }
        }
    }

    // MARK: Entities

    /// Returns the name of the entity that declares an attribute of a table.
    private func owner(of attribute: SyncModel.Attribute, _ hierarchy: EntityHierarchy) -> String {
        let owner = hierarchy.entities.first { id in
            model.declarations[id].attributes.contains { $0.name == attribute.name }
        }
        return model.entities[owner ?? hierarchy.root].name
    }

    /// Returns the name of the entity that declares a relationship of an entity.
    private func declaringEntity(of relationship: String, _ entity: CompiledEntity) -> String {
        model.entities[entity.relationship(named: relationship)?.owner ?? entity.id].name
    }
}
