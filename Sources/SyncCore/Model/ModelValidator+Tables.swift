// The names of tables and columns that a model gives.
extension ModelValidator {
    mutating func checkTableNames() {
        for entity in entities {
            let path = ModelPath.entity(entity.name)
            check(entity.table, at: path["table"])
            if entity.table != nil, entity.parent != nil {
                note(path["table"], "an entity with a parent is in the parent's table")
            }
            for attribute in entity.attributes {
                check(attribute.column, at: .attribute(attribute.name, of: entity.name)["column"])
            }
            for relationship in entity.relationships { checkColumns(of: relationship, entity.name) }
        }
    }

    private mutating func check(_ name: String?, at path: ModelPath) {
        if let problem = name.flatMap(Self.problem(withTableName:)) { note(path, problem) }
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
                note(path[key], "only a many-to-many relationship has a join table")
            }
            guard relationship.column != nil, let inverse else { return }
            if relationship.isToMany {
                note(path["column"], "the foreign key is that of '\(inverse.name)', which leads back: say it there")
            } else if inverse.column != nil, owner <= relationship.destination, inverse != relationship {
                note(path["column"], "'\(inverse.name)' has one too, and one of them is enough to link two rows")
            }
            return
        }
        guard let inverse, inverse != relationship else { return }
        let others = [
            ("table", inverse.table), ("column", inverse.inverseColumn), ("inverseColumn", inverse.column),
        ]
        for ((key, name), (_, other)) in zip(names, others) {
            if let name, let other, name != other, owner <= relationship.destination {
                note(path[key], "is '\(name)' here and '\(other)' as '\(inverse.name)' says")
            }
        }
    }

    // MARK: Names that are taken

    /// Refuses models that have two tables or views, or two columns of one table, of one name.
    ///
    /// - Throws: ``SyncError`` `invalidModel`.
    static func checkTables(of model: CompiledModel) throws {
        var problems: [SyncError.Problem] = []
        // Views are called as their entities, whatever their table is.
        let roots = Set(model.trees.map(\.root))
        let views = model.entities.filter { !roots.contains($0.id) }
        var taken = Set(views.map { $0.name.foldedForSQL })
        let tables = model.trees.map { ($0, tableName(of: $0.root, model)) }
        for (tree, name) in tables.filter({ model.declarations[$0.0.root].table == nil })
            + tables.filter({
                model.declarations[$0.0.root].table != nil
            }) where !taken.insert(name.foldedForSQL).inserted
        {
            let path = ModelPath.entity(model.entities[tree.root].name)["table"]
            problems.append(.init(path: path.text, message: "the name of its table, \(name), is taken"))
        }
        for link in model.links where link.storage == .joinTable {
            let name = link.joinTableName(in: model)
            guard !taken.insert(name.foldedForSQL).inserted else { continue }
            let path = ModelPath.relationship(
                link.first.relationship?.name ?? "", of: model.entities[link.first.entity].name)
            problems.append(.init(path: path.text, message: "the name of its table, \(name), is taken"))
        }
        for tree in model.trees { problems += takenColumns(of: tree, model) }
        guard problems.isEmpty else { throw error(problems) }
    }

    private static func tableName(of root: Int, _ model: CompiledModel) -> String {
        model.declarations[root].table ?? model.entities[root].name
    }

    private static func takenColumns(of tree: EntityTree, _ model: CompiledModel) -> [SyncError.Problem] {
        var problems: [SyncError.Problem] = []
        var taken: Set<String> = []
        func take(_ name: String, _ path: ModelPath) {
            if taken.insert(name.foldedForSQL).inserted { return }
            problems.append(.init(path: path["column"].text, message: "the table has a column '\(name)' already"))
        }
        // Those that are called as their attribute first: whoever gives another name is to blame.
        for isGiven in [false, true] {
            for attribute in tree.attributes where (attribute.column != nil) == isGiven {
                let owner = tree.entities.first { model.declarations[$0].attributes.contains(attribute) } ?? tree.root
                take(attribute.columnName, .attribute(attribute.name, of: model.entities[owner].name))
            }
        }
        for id in tree.foreignKeys {
            guard let relationship = model[id].first.relationship, let column = relationship.column else { continue }
            take(column, .relationship(relationship.name, of: model.entities[model[id].first.entity].name))
        }
        return problems
    }
}

extension SyncModel.Attribute {
    /// The name of its column.
    package var columnName: String { column ?? name }
}

extension Link {
    /// The name of the join table.
    package func joinTableName(in model: CompiledModel) -> String {
        first.relationship?.table ?? second.relationship?.table
            ?? "\(model.entities[first.entity].name)_\(first.relationship?.name ?? "")"
    }
}
